//! Edges in compressed rows: for each node a range of one array of targets.

use super::node::EdgeKind;

/// The bit of a target that tells a control edge. Nodes are fewer than that (`NODES_MAX`).
const CONTROL: u32 = 1 << 31;

/// Edges in the order in which they are found.
#[derive(Debug, Default)]
pub(super) struct EdgeList {
    edges: Vec<(u32, u32)>,
}

impl EdgeList {
    pub(super) fn push(&mut self, from: u32, to: u32, kind: EdgeKind) {
        let bit = if kind == EdgeKind::Control { CONTROL } else { 0 };
        self.edges.push((from, to | bit));
    }

    pub(super) fn into_rows(self, nodes: usize) -> Rows {
        Rows::of(nodes, || self.edges.iter().copied())
    }
}

/// The edges of every node. `starts` has one place more than there are nodes.
#[derive(Debug)]
pub(super) struct Rows {
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Rows {
    /// Sorts edges by their beginning, by counting. More than `u32::MAX` edges are not taken; a record of that size does not
    /// fit into memory.
    fn of<I: Iterator<Item = (u32, u32)>>(nodes: usize, edges: impl Fn() -> I) -> Self {
        let edges = || edges().take(u32::MAX as usize);
        let mut starts = vec![0_u32; nodes + 1];
        for (from, _) in edges() {
            if let Some(count) = starts.get_mut(from as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut targets = vec![0; sum as usize];
        // Each start moves to the end of its row, which is the start of the next.
        for (from, to) in edges() {
            if let Some(at) = starts.get_mut(from as usize)
                && let Some(target) = targets.get_mut(*at as usize)
            {
                *target = to;
                *at += 1;
            }
        }
        starts.rotate_right(1);
        if let Some(first) = starts.first_mut() {
            *first = 0;
        }
        Self { starts, targets }
    }

    /// The same edges, from their ends to their beginnings.
    pub(super) fn reversed(&self) -> Self {
        let nodes = self.starts.len().saturating_sub(1);
        Self::of(nodes, || {
            (0..u32::try_from(nodes).unwrap_or(u32::MAX)).flat_map(move |from| {
                self.row(from).iter().map(move |to| (to & !CONTROL, from | (to & CONTROL)))
            })
        })
    }

    fn row(&self, node: u32) -> &[u32] {
        let at = node as usize;
        let range = self.starts.get(at).zip(self.starts.get(at + 1));
        range.and_then(|(start, end)| self.targets.get(*start as usize..*end as usize)).unwrap_or_default()
    }

    pub(super) fn of_node(&self, node: u32) -> impl Iterator<Item = (u32, EdgeKind)> {
        self.row(node).iter().map(|to| {
            let kind = if to & CONTROL == 0 { EdgeKind::Data } else { EdgeKind::Control };
            (to & !CONTROL, kind)
        })
    }

    pub(super) const fn edge_count(&self) -> usize {
        self.targets.len()
    }

    pub(super) const fn bytes(&self) -> usize {
        (self.starts.len() + self.targets.len()) * size_of::<u32>()
    }
}
