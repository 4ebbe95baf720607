//! The ways from review to effect.

use crate::action::Field;

/// A step on the way that takes fields from where somebody else can write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// What it is called.
    pub name: String,
    /// Which fields it takes.
    pub selects: Vec<Field>,
}

/// A way from review to effect: what is rebuilt on it, step by step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    /// What it is called.
    pub name: String,
    /// Its edges, in order.
    pub edges: Vec<Edge>,
}

/// The names of the known topologies.
pub const TOPOLOGIES: [&str; 4] =
    ["durable_grant", "tool_rebinding", "transcript_projection", "workflow_replacement"];

const WHAT: [Field; 3] = [Field::Target, Field::Content, Field::Operation];

impl Topology {
    /// The topology with these edges. Those of the known topologies select what belongs to them; any other edge selects
    /// target, content and operation.
    #[must_use]
    pub fn new(name: &str, edges: &[&str]) -> Self {
        let edge = |edge: &&str| Edge { name: (*edge).to_owned(), selects: selects(name, edge) };
        Self { name: name.to_owned(), edges: edges.iter().map(edge).collect() }
    }

    /// One of the known topologies with its edges.
    #[must_use]
    pub fn known(name: &str) -> Self {
        let edges: &[&str] = match name {
            "durable_grant" => &["reload"],
            "tool_rebinding" => &["rebind"],
            "transcript_projection" => &["project", "history"],
            "workflow_replacement" => &["resume", "reload"],
            _ => &[],
        };
        Self::new(name, edges)
    }

    /// Each edge with each field that it selects: what an attacker can replace.
    pub fn replaceable(&self) -> impl Iterator<Item = (usize, Field)> {
        let edges = self.edges.iter().enumerate();
        edges.flat_map(|(at, edge)| edge.selects.iter().map(move |field| (at, *field)))
    }
}

fn selects(topology: &str, edge: &str) -> Vec<Field> {
    let also = match (topology, edge) {
        // A grant that is looked up can be found for somebody else.
        ("durable_grant", "reload") => vec![Field::Caller],
        // What stands behind a tool's name, and who judges it, is found anew.
        ("tool_rebinding", "rebind") => vec![Field::Workflow, Field::Policy],
        // A transcript can be that of another run.
        ("transcript_projection", "project") => vec![Field::Session],
        // Which workflow goes on: a reference, and nothing of what it says.
        ("workflow_replacement", "resume") => return vec![Field::Workflow],
        _ => Vec::new(),
    };
    WHAT.into_iter().chain(also).collect()
}
