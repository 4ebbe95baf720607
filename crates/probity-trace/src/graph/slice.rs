use serde::Serialize;

use super::csr::Rows;
use super::node::{EdgeKind, NodeId, NodeKind, Provenance, RunAt, UnknownReason};
use super::{Graph, facts};

/// Which edges a slice follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Follow {
    /// What things were made of.
    Data,
    /// That, and the decisions that let them happen.
    DataAndControl,
}

/// All nodes that are reached from some nodes, these among them.
///
/// A backward slice is all that they hang on: nothing else has reached them, except through the nodes that
/// [`Slice::unknown`] names. A forward slice is all that hangs on them.
#[derive(Debug, Clone)]
pub struct Slice<'g> {
    graph: &'g Graph<'g>,
    // INVARIANT: one bit for each node of the graph.
    reached: Vec<u64>,
    count: usize,
}

/// Something that has gone in and was not recorded, and at which entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UnknownNode {
    /// The node.
    pub node: NodeId,
    /// Why it is not known.
    pub reason: UnknownReason,
    /// Of which run.
    pub run: RunAt,
    /// At which entry.
    pub seq: u64,
}

impl Graph<'_> {
    /// All that these nodes hang on. Takes time with the size of what is reached, and room for one bit a node.
    pub fn backward(&self, from: impl IntoIterator<Item = NodeId>, follow: Follow) -> Slice<'_> {
        self.reach(&self.backward, from, follow)
    }

    /// All that hangs on these nodes. The first one takes time with the size of the graph.
    pub fn forward(&self, from: impl IntoIterator<Item = NodeId>, follow: Follow) -> Slice<'_> {
        self.reach(self.forward_rows(), from, follow)
    }

    fn reach(&self, rows: &Rows, from: impl IntoIterator<Item = NodeId>, follow: Follow) -> Slice<'_> {
        let mut slice = Slice { graph: self, reached: vec![0; self.len().div_ceil(64)], count: 0 };
        let mut open: Vec<u32> = Vec::new();
        for node in from {
            if (node.0 as usize) < self.len() && slice.mark(node.0) {
                open.push(node.0);
            }
        }
        while let Some(node) = open.pop() {
            for (to, kind) in rows.of_node(node) {
                if (kind == EdgeKind::Data || follow == Follow::DataAndControl) && slice.mark(to) {
                    open.push(to);
                }
            }
        }
        slice
    }
}

impl Slice<'_> {
    /// Whether it was not there before.
    fn mark(&mut self, node: u32) -> bool {
        let bit = 1_u64 << (node % 64);
        let Some(word) = self.reached.get_mut(node as usize / 64) else { return false };
        let is_new = *word & bit == 0;
        *word |= bit;
        self.count += usize::from(is_new);
        is_new
    }

    /// Whether a node is reached.
    #[must_use]
    pub fn contains(&self, node: NodeId) -> bool {
        self.reached.get(node.0 as usize / 64).is_some_and(|word| word & (1 << (node.0 % 64)) != 0)
    }

    /// How many nodes are reached, fronts of lists among them.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether nothing is reached.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The nodes that are reached, in their order; fronts of lists, which only stand for what is in them, are left out.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.all().filter(|node| self.graph.kind(*node) != Some(NodeKind::Front))
    }

    fn all(&self) -> impl Iterator<Item = NodeId> {
        (0_u32..).zip(&self.reached).flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                (bit < 64).then(|| {
                    left &= left - 1;
                    NodeId(at * 64 + bit)
                })
            })
        })
    }

    /// The nodes of one kind, in their order.
    pub fn of_kind(&self, kind: NodeKind) -> impl Iterator<Item = NodeId> {
        self.all().filter(move |node| self.graph.kind(*node) == Some(kind))
    }

    /// The items that are reached, in their order.
    pub fn items(&self) -> impl Iterator<Item = (RunAt, probity_contract::ItemId)> {
        self.of_kind(NodeKind::Item).filter_map(|node| {
            let (run, line) = self.graph.place(node)?;
            facts::item_of(line).map(|item| (run, item))
        })
    }

    /// How what is reached is known: inferred where any of it is of a record whose edges are.
    #[must_use]
    pub fn provenance(&self) -> Provenance {
        let inferred = self.graph.runs.iter().filter(|run| run.provenance == Provenance::Inferred);
        let mut nodes = inferred.flat_map(|run| run.first..run.first + run.length);
        if nodes.any(|node| self.contains(NodeId(node))) { Provenance::Inferred } else { Provenance::Exact }
    }

    /// What is reached and not known. Without one of these, nothing else has gone in.
    pub fn unknown(&self) -> impl Iterator<Item = UnknownNode> {
        self.all().filter_map(|node| {
            let reason = self.graph.kind(node)?.unknown()?;
            let (run, line) = self.graph.place(node)?;
            Some(UnknownNode { node, reason, run, seq: line.seq })
        })
    }
}
