//! Ids, in and out: `i5`, `m2`, `c3`, `e17` (an entry), `n9` (a node that is no entry); of another run `r1/i5`.

use probity_contract::{CallId, Fact, ItemId, ModelCallId};
use probity_trace::{NodeId, NodeKind, Noted, RunAt};

use super::{Asked, TraceError};

/// An id as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Id(String);

impl Id {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Asked<'_> {
    pub(super) fn run_name(&self, run: RunAt) -> Id {
        let at = self.graph.runs().position(|other| other == run).unwrap_or_default();
        Id(format!("r{at}"))
    }

    fn within(&self, run: RunAt, name: impl std::fmt::Display) -> Id {
        if run == RunAt::FIRST {
            Id(name.to_string())
        } else {
            Id(format!("{}/{name}", self.run_name(run).0))
        }
    }

    pub(super) fn item_name(&self, run: RunAt, item: ItemId) -> Id {
        self.within(run, item)
    }

    pub(super) fn call_name(&self, run: RunAt, call: CallId) -> Id {
        self.within(run, call)
    }

    pub(super) fn model_call_name(&self, run: RunAt, call: ModelCallId) -> Id {
        self.within(run, call)
    }

    pub(super) fn name(&self, node: NodeId) -> Id {
        let graph = &self.graph;
        let is_entry = graph.kind(node).is_some_and(|kind| {
            !matches!(kind, NodeKind::Front | NodeKind::Tools | NodeKind::Tool | NodeKind::Unknown(_))
        });
        let Some((run, line)) = graph.place(node).filter(|_| is_entry) else {
            let at = serde_json::to_value(node).unwrap_or_default();
            return Id(format!("n{at}"));
        };
        if let Some((_, item)) = graph.item_of(node).filter(|(_, item)| graph.item(run, *item) == Some(node))
        {
            return self.within(run, item);
        }
        match &line.fact {
            Noted::Known(Fact::ModelCalled { call, .. }) if graph.model_call(run, *call) == Some(node) => {
                self.within(run, call)
            }
            Noted::Known(_) | Noted::Opaque { .. } => self.within(run, format_args!("e{}", line.seq)),
        }
    }

    /// The run that an id is of, and what stands behind it.
    pub(super) fn run_of<'t>(&self, id: &'t str) -> Result<(RunAt, &'t str), TraceError> {
        let id = id.trim();
        let Some((run, rest)) = id.split_once('/') else { return Ok((RunAt::FIRST, id)) };
        Ok((self.run_at(run)?, rest))
    }

    pub(super) fn run_at(&self, name: &str) -> Result<RunAt, TraceError> {
        let at = name.trim().strip_prefix('r').and_then(|at| at.parse::<usize>().ok());
        at.and_then(|at| self.graph.runs().nth(at)).ok_or(TraceError::NoSuchId)
    }

    pub(super) fn call_of(&self, id: &str) -> Result<(RunAt, CallId), TraceError> {
        let (run, id) = self.run_of(id)?;
        Ok((run, id.parse().map_err(|_| TraceError::WrongSort("tool call, like c3"))?))
    }

    pub(super) fn model_call_of(&self, id: &str) -> Result<(RunAt, ModelCallId), TraceError> {
        let (run, id) = self.run_of(id)?;
        Ok((run, id.parse().map_err(|_| TraceError::WrongSort("model call, like m2"))?))
    }

    /// The node that an id names. Of a tool call that is its last form, or its proposal.
    pub(super) fn node_of(&self, id: &str) -> Result<NodeId, TraceError> {
        let graph = &self.graph;
        let (run, id) = self.run_of(id)?;
        let found = if id == "answer" {
            graph.answer(run)
        } else if id == "end" {
            graph.end(run)
        } else if let Ok(item) = id.parse::<ItemId>() {
            graph.item(run, item)
        } else if let Ok(call) = id.parse::<ModelCallId>() {
            graph.model_call(run, call)
        } else if let Ok(call) = id.parse::<CallId>() {
            let forms = graph.frozen(run, call).or_else(|| graph.proposal(run, call));
            forms.or_else(|| graph.outcome(run, call)).or_else(|| graph.result(run, call))
        } else if let Some(seq) = id.strip_prefix('e') {
            seq.parse().ok().and_then(|seq| graph.entry(run, seq))
        } else {
            let at = id.strip_prefix('n').and_then(|at| at.parse::<usize>().ok());
            at.and_then(|at| graph.nodes().nth(at))
        };
        found.ok_or(TraceError::NoSuchId)
    }
}
