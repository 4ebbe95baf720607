//! What hangs on what in a run and the tasks it started, computed from their records and from nothing else.
//!
//! Every entry of every record is a node, in its order, so a node's place in the record is its number. Behind them stand the
//! nodes that are no entry: places in windows, the tools that were offered, and what went in without being recorded
//! ([`UnknownReason`]). Edges lead from a node to what it was made of. Kinds are bytes and targets `u32` in compressed rows;
//! a graph library lost because its nodes are allocations. Decisions and what lost: `docs/design/graph.md`.

mod build;
mod calls;
mod compare;
mod csr;
mod diverge;
mod facts;
mod items;
mod node;
mod seen;
mod slice;
mod span;
mod walk;
mod way;
mod who;
mod window;

use std::sync::OnceLock;

use probity_contract::{CallId, ItemId, ModelCallId, RunId};

use crate::line::Line;
use crate::record::Record;
use build::Builder;
use calls::CallNodes;
use csr::Rows;

pub use compare::{ComparedCall, DIFFERENCES_MAX, Difference, Form, FormStage};
pub use diverge::{Differs, Divergence, first_divergence};
pub use node::{Edge, EdgeKind, NodeId, NodeKind, Provenance, RunAt, UnknownReason};
pub use seen::{SeenItem, SeenWindow, WINDOW_SEPARATOR, WINDOW_TEXT_BYTES_MAX};
pub use slice::{Follow, Slice, UnknownNode};
pub use who::{Author, Authorship, LetIn, Step};

/// Nodes that a graph has at most. What records hold beyond is left out, and the node `TooLarge` says so.
const NODES_MAX: usize = 1 << 30;

/// What hangs on what, over one run and as many others as were given.
///
/// Nodes are numbered in the order of the records that were given, and within one in the order of its entries. Every edge
/// follows from a recorded fact; of records that were imported they are inferred. The graph holds no content. Building takes
/// time and room with the size of the records and not faster, whatever stands in them.
#[derive(Debug)]
pub struct Graph<'r> {
    runs: Vec<Run<'r>>,
    // INVARIANT: as many kinds as nodes; the first `entries` nodes are entries, and `anchors` tells the entry of each other.
    kinds: Vec<NodeKind>,
    entries: usize,
    anchors: Vec<u32>,
    backward: Rows,
    forward: OnceLock<Rows>,
}

/// One record and where its nodes are.
#[derive(Debug)]
struct Run<'r> {
    record: &'r Record,
    first: u32,
    length: u32,
    provenance: Provenance,
    // INVARIANT: sorted, no number twice.
    models: Vec<(ModelCallId, u32)>,
    calls: Vec<(CallId, CallNodes)>,
    answer: Option<u32>,
    end: Option<u32>,
}

impl<'r> Graph<'r> {
    /// The graph of these records. The first is the run in question; others are joined to it where a call of one has started
    /// the other. Of two records of one run the first is joined.
    #[must_use]
    pub fn of(records: &[&'r Record]) -> Self {
        Builder::new(records).build()
    }

    /// The runs, in the order in which they were given.
    pub fn runs(&self) -> impl Iterator<Item = RunAt> + use<> {
        (0..u32::try_from(self.runs.len()).unwrap_or(u32::MAX)).map(RunAt)
    }

    /// The place of a run.
    #[must_use]
    pub fn run(&self, run: &RunId) -> Option<RunAt> {
        self.runs().find(|at| self.record(*at).and_then(Record::start).is_some_and(|start| start.run == *run))
    }

    /// The record of a run.
    #[must_use]
    pub fn record(&self, run: RunAt) -> Option<&'r Record> {
        self.at(run).map(|run| run.record)
    }

    fn at(&self, run: RunAt) -> Option<&Run<'r>> {
        self.runs.get(run.0 as usize)
    }

    /// How many nodes there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// All nodes, in their order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.kinds.len()).unwrap_or(u32::MAX)).map(NodeId)
    }

    /// How many edges there are.
    #[must_use]
    pub const fn edge_count(&self) -> usize {
        self.backward.edge_count()
    }

    /// Bytes that the arrays of the graph take, the rows for forward slices left out.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let of_run = |run: &Run<'_>| {
            run.models.len() * size_of::<(ModelCallId, u32)>()
                + run.calls.len() * size_of::<(CallId, CallNodes)>()
        };
        let runs: usize = self.runs.iter().map(of_run).sum();
        self.kinds.len() + self.anchors.len() * size_of::<u32>() + self.backward.bytes() + runs
    }

    /// What a node is; `None` for one of another graph.
    #[must_use]
    pub fn kind(&self, node: NodeId) -> Option<NodeKind> {
        self.kinds.get(node.0 as usize).copied()
    }

    /// The entry that a node is, or for which it is there.
    #[must_use]
    pub fn place(&self, node: NodeId) -> Option<(RunAt, &'r Line)> {
        let at = node.0 as usize;
        let entry =
            if at < self.entries { node.0 } else { *self.anchors.get(at.checked_sub(self.entries)?)? };
        let run = self.runs.partition_point(|run| run.first <= entry).checked_sub(1)?;
        let found = self.runs.get(run)?;
        let line = found.record.lines().get(entry.checked_sub(found.first)? as usize)?;
        Some((RunAt(u32::try_from(run).ok()?), line))
    }

    /// The node of an entry, by its number in the record.
    #[must_use]
    pub fn entry(&self, run: RunAt, seq: u64) -> Option<NodeId> {
        let found = self.at(run)?;
        let seq = u32::try_from(seq).ok().filter(|seq| *seq < found.length)?;
        Some(NodeId(found.first + seq))
    }

    /// An item, where it was added.
    #[must_use]
    pub fn item(&self, run: RunAt, item: ItemId) -> Option<NodeId> {
        let place = self.at(run)?.record.item_place(item)?;
        self.entry(run, place as u64)
    }

    /// The item that a node adds.
    #[must_use]
    pub fn item_of(&self, node: NodeId) -> Option<(RunAt, ItemId)> {
        let (run, line) = self.place(node).filter(|_| self.kind(node) == Some(NodeKind::Item))?;
        facts::item_of(line).map(|item| (run, item))
    }

    /// A call to the model.
    #[must_use]
    pub fn model_call(&self, run: RunAt, call: ModelCallId) -> Option<NodeId> {
        let models = &self.at(run)?.models;
        let at = models.binary_search_by_key(&call, |(call, _)| *call).ok()?;
        models.get(at).map(|(_, node)| NodeId(*node))
    }

    fn call(&self, run: RunAt, call: CallId) -> Option<&CallNodes> {
        let calls = &self.at(run)?.calls;
        let at = calls.binary_search_by_key(&call, |(call, _)| *call).ok()?;
        calls.get(at).map(|(_, nodes)| nodes)
    }

    /// A call as the model proposed it.
    #[must_use]
    pub fn proposal(&self, run: RunAt, call: CallId) -> Option<NodeId> {
        self.call(run, call)?.proposal.node()
    }

    /// A call as it was frozen last.
    #[must_use]
    pub fn frozen(&self, run: RunAt, call: CallId) -> Option<NodeId> {
        self.call(run, call)?.frozen.node()
    }

    /// The last start of a call's tool.
    #[must_use]
    pub fn execution(&self, run: RunAt, call: CallId) -> Option<NodeId> {
        self.call(run, call)?.execution.node()
    }

    /// What a call came to: the tool's result, what it said later, the denial, or the rejection.
    #[must_use]
    pub fn outcome(&self, run: RunAt, call: CallId) -> Option<NodeId> {
        self.call(run, call)?.outcome.node()
    }

    /// The item in which the model reads what a call came to.
    #[must_use]
    pub fn result(&self, run: RunAt, call: CallId) -> Option<NodeId> {
        self.call(run, call)?.item.node()
    }

    /// The reply that is the answer of a run.
    #[must_use]
    pub fn answer(&self, run: RunAt) -> Option<NodeId> {
        self.at(run)?.answer.map(NodeId)
    }

    /// The entry that tells of the end of a run.
    #[must_use]
    pub fn end(&self, run: RunAt) -> Option<NodeId> {
        self.at(run)?.end.map(NodeId)
    }

    /// What a node was made of, and what let it happen.
    pub fn edges(&self, node: NodeId) -> impl Iterator<Item = Edge> {
        let from = self.provenance(node);
        self.backward.of_node(node.0).map(move |(to, kind)| {
            let to = NodeId(to);
            Edge { to, kind, provenance: from.max(self.provenance(to)) }
        })
    }

    fn provenance(&self, node: NodeId) -> Provenance {
        let run = self.place(node).and_then(|(run, _)| self.at(run));
        run.map_or(Provenance::Exact, |run| run.provenance)
    }

    fn forward_rows(&self) -> &Rows {
        self.forward.get_or_init(|| self.backward.reversed())
    }
}
