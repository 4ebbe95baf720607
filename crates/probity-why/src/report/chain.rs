//! The way from what was asked about to each source, and from the source to whoever let it in.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use probity_trace::{EdgeKind, Graph, NodeId, NodeKind, Provenance};

use super::ask::Target;
use super::{AskedAtom, AtomSource, Chain, Link, Place};

/// Sources of one atom that have a chain of their own: the oldest, and the oldest that are not the model's words. All are listed
/// with the atom.
const CHAINS_PER_ATOM_MAX: usize = 3;

/// Steps of one way that are told.
const LINKS_MAX: usize = 32;

pub(super) fn chains(graph: &Graph<'_>, target: &Target, atoms: &[AskedAtom]) -> Vec<Chain> {
    let mut places: BTreeMap<(u64, Place), Vec<usize>> = BTreeMap::new();
    for (position, atom) in atoms.iter().enumerate() {
        let told = match &atom.source {
            // All operands are needed.
            AtomSource::Computed(_) => usize::MAX,
            AtomSource::Copied { .. } | AtomSource::Repeated { .. } | AtomSource::None => CHAINS_PER_ATOM_MAX,
        };
        let mut seen = HashSet::new();
        for place in atom.places().filter(|place| seen.insert(*place)).take(told) {
            places.entry((age(graph, place), place)).or_default().push(position);
        }
    }
    let wanted: HashSet<NodeId> = places.keys().filter_map(|(_, place)| node_of(graph, *place)).collect();
    let ways = Ways::from(graph, target.node, &wanted);
    let chain = |((_, place), atoms): ((u64, Place), Vec<usize>)| {
        let node = node_of(graph, place);
        let links = node.map(|node| ways.to(node)).unwrap_or_default();
        let wrote = node.filter(|_| place.item().is_some()).map(|node| graph.who_wrote(node));
        Chain { place, atoms, links, wrote }
    };
    places.into_iter().map(chain).collect()
}

/// When a place came into being, in milliseconds since 1970.
fn age(graph: &Graph<'_>, place: Place) -> u64 {
    let started = graph.record(place.run()).and_then(probity_trace::Record::start);
    let at = node_of(graph, place).and_then(|node| graph.place(node)).map_or(0, |(_, line)| line.at_ms);
    started.map_or(0, |start| start.started_at_unix_ms).saturating_add(at)
}

/// The node of a place: an item, or, for the definition of a tool, what the run was given.
pub(super) fn node_of(graph: &Graph<'_>, place: Place) -> Option<NodeId> {
    match place {
        Place::Item { run, item } => graph.item(run, item),
        Place::Tool { run, .. } => graph.entry(run, 0),
    }
}

/// The shortest ways back from one node. Fronts of lists are no step.
struct Ways<'g, 'r> {
    graph: &'g Graph<'r>,
    from: NodeId,
    before: HashMap<NodeId, (NodeId, Provenance)>,
}

impl<'g, 'r> Ways<'g, 'r> {
    fn from(graph: &'g Graph<'r>, from: NodeId, wanted: &HashSet<NodeId>) -> Self {
        let mut before: HashMap<NodeId, (NodeId, Provenance)> = HashMap::new();
        let mut left = wanted.len();
        let mut settled = HashSet::new();
        let mut open = VecDeque::from([from]);
        while let Some(node) = open.pop_front() {
            if !settled.insert(node) {
                continue;
            }
            left -= usize::from(wanted.contains(&node));
            if left == 0 {
                break;
            }
            for edge in graph.edges(node).filter(|edge| edge.kind == EdgeKind::Data) {
                if settled.contains(&edge.to) {
                    continue;
                }
                let is_front = graph.kind(edge.to) == Some(NodeKind::Front);
                // A front costs nothing and so comes first; whoever found it first was nearer or as near.
                if is_front {
                    before.insert(edge.to, (node, edge.provenance));
                    open.push_front(edge.to);
                } else {
                    before.entry(edge.to).or_insert((node, edge.provenance));
                    open.push_back(edge.to);
                }
            }
        }
        Self { graph, from, before }
    }

    fn to(&self, node: NodeId) -> Vec<Link> {
        let mut links = Vec::new();
        let (mut at, mut worst) = (node, Provenance::Exact);
        while let Some(kind) = self.graph.kind(at) {
            let before = self.before.get(&at).filter(|_| at != self.from);
            worst = before.map_or(worst, |(_, provenance)| worst.max(*provenance));
            if kind != NodeKind::Front {
                links.push(Link { node: at, kind, provenance: worst });
                worst = Provenance::Exact;
            }
            match before {
                Some((next, _)) if links.len() < LINKS_MAX => at = *next,
                Some(_) | None => break,
            }
        }
        links.reverse();
        links
    }
}
