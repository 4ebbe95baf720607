//! What to look at first. Leads, no verdicts.

use std::collections::{BTreeSet, HashMap, HashSet};

use probity_contract::{Body, Fact, ItemId, ModelCallId};
use probity_trace::{Graph, RunAt};

use super::ask::Target;
use super::sources::{Source, Sources};
use super::{AskedAtom, LEADS_MAX, Lead, Place};
use crate::search::{Features, rank};

/// Bytes of one text whose words are compared.
const WORD_BYTES_MAX: usize = 1 << 16;

pub(super) fn leads(
    graph: &Graph<'_>,
    target: &Target,
    sources: &Sources,
    atoms: &[AskedAtom],
) -> (Vec<Lead>, usize) {
    let mut held: HashMap<Place, BTreeSet<usize>> = HashMap::new();
    let mut weights = Vec::with_capacity(atoms.len());
    for (position, atom) in atoms.iter().enumerate() {
        let places: BTreeSet<Place> = atom.places().collect();
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        weights.push(1.0 / places.len().max(1) as f64);
        places.into_iter().for_each(|place| {
            held.entry(place).or_default().insert(position);
        });
    }
    let asked = asked_words(graph, target);
    let first_seen = first_seen(graph);
    let last = sources.texts.len().saturating_sub(1).max(1);
    let mut leads: Vec<Lead> = Vec::with_capacity(sources.texts.len());
    for (position, source) in sources.texts.iter().enumerate() {
        let atoms = held.get(&source.place);
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let copied = atoms.map_or(0.0, |held| {
            held.iter().filter_map(|at| weights.get(*at)).sum::<f64>() / weights.len() as f64
        });
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let recency = position as f64 / last as f64;
        let seen = source.place.item().filter(|_| source.place.run() == RunAt::FIRST);
        let features = Features {
            copied,
            alike: alike(&asked, source),
            distance: u32::from(source.place.run() != RunAt::FIRST),
            kind: source.kind,
            recency,
        };
        leads.push(Lead {
            place: source.place,
            node: source.node,
            kind: source.kind,
            score: rank(&features),
            atoms: atoms.map_or(0, BTreeSet::len),
            first_seen: seen.and_then(|item| first_seen.get(&item).copied()),
        });
    }
    leads.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.node.cmp(&other.node)));
    let left_out = leads.len().saturating_sub(LEADS_MAX);
    leads.truncate(LEADS_MAX);
    (leads, left_out)
}

/// The words of what was asked about and of what persons have asked.
fn asked_words(graph: &Graph<'_>, target: &Target) -> HashSet<String> {
    let mut words: HashSet<String> =
        target.text.text.get(target.span.clone()).map(|part| words_of(part).collect()).unwrap_or_default();
    let Some(record) = graph.record(RunAt::FIRST) else { return words };
    for item in record.items().filter(|item| matches!(item.body, Body::Person { .. })).take(8) {
        if let Some(text) = record.item_text(item.item) {
            words.extend(words_of(&text.text));
        }
    }
    words
}

fn words_of(text: &str) -> impl Iterator<Item = String> {
    let text = text.get(..text.floor_char_boundary(WORD_BYTES_MAX)).unwrap_or_default();
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| word.len() > 2)
        .map(str::to_lowercase)
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn alike(asked: &HashSet<String>, source: &Source) -> f64 {
    if asked.is_empty() {
        return 0.0;
    }
    let common: HashSet<String> = words_of(&source.text.text).filter(|word| asked.contains(word)).collect();
    common.len() as f64 / asked.len() as f64
}

/// The first model call whose window held an item.
fn first_seen(graph: &Graph<'_>) -> HashMap<ItemId, ModelCallId> {
    let mut seen = HashMap::new();
    let Some(record) = graph.record(RunAt::FIRST) else { return seen };
    for (_, fact) in record.facts() {
        if let Fact::ModelCalled { call, window, .. } = fact {
            window.added.iter().for_each(|item| {
                seen.entry(*item).or_insert(*call);
            });
        }
    }
    seen
}
