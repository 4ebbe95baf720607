use std::collections::{HashMap, HashSet};

use super::{Kind, Node};

/// How spans hang together.
pub(super) struct Links {
    parents: Vec<Option<usize>>,
    /// Spans with a model call somewhere below them.
    pub(super) wrapping: HashSet<usize>,
    /// Of each span, the nearest tool above it that has model calls below it.
    owners: Vec<Option<usize>>,
}

impl Links {
    pub(super) fn of(nodes: &[Node]) -> Self {
        let mut by_id = HashMap::new();
        for (index, node) in nodes.iter().enumerate() {
            by_id.entry((node.trace.as_str(), node.id.as_str())).or_insert(index);
        }
        let parents: Vec<_> = nodes
            .iter()
            .enumerate()
            .map(|(index, node)| {
                let parent = by_id.get(&(node.trace.as_str(), node.parent.as_str())).copied();
                parent.filter(|parent| *parent != index && !node.parent.is_empty())
            })
            .collect();
        let mut links = Self { parents, wrapping: HashSet::new(), owners: vec![None; nodes.len()] };
        for (index, node) in nodes.iter().enumerate() {
            if node.kind == Kind::Model {
                let mut above = links.parent(index);
                while let Some(parent) = above
                    && links.wrapping.insert(parent)
                {
                    above = links.parent(parent);
                }
            }
        }
        links.own(nodes);
        links
    }

    /// Walks up from each span until something is known, and writes it down on the way: each link is walked once.
    fn own(&mut self, nodes: &[Node]) {
        let mut known: Vec<bool> = vec![false; nodes.len()];
        for index in 0..nodes.len() {
            let mut path = Vec::new();
            let mut at = index;
            let owner = loop {
                if known.get(at).copied().unwrap_or(true) {
                    break self.owner(at);
                }
                if let Some(known) = known.get_mut(at) {
                    *known = true;
                }
                path.push(at);
                let Some(parent) = self.parent(at) else { break None };
                if self.wrapping.contains(&parent)
                    && nodes.get(parent).is_some_and(|node| node.kind == Kind::Tool)
                {
                    break Some(parent);
                }
                at = parent;
            };
            for at in path {
                if let Some(place) = self.owners.get_mut(at) {
                    *place = owner;
                }
            }
        }
    }

    fn parent(&self, index: usize) -> Option<usize> {
        self.parents.get(index).copied().flatten()
    }

    pub(super) fn owner(&self, index: usize) -> Option<usize> {
        self.owners.get(index).copied().flatten()
    }
}
