//! Where a value stands, what it was computed from, or that it has no source.

use std::collections::HashSet;

use probity_contract::Body;
use probity_trace::{
    Atom, Chance, Computation, CopyIndex, CopySource, Follow, Holder, Sameness, atoms_of_json, atoms_of_text,
};

use super::answer::{Page, Row, TraceAnswer};
use super::texts::{Shown, excerpt, told};
use super::told::INNER_MAX;
use super::{Asked, TraceError, VALUE_BYTES_MAX};
use crate::report::CHANCE_MAX;

/// Atoms of one value that are looked for.
const ATOMS_MAX: usize = 8;

/// One row: an atom, and one place of it or what is known otherwise.
enum Found {
    Place(usize, &'static str, Holder<usize>, Option<Chance>),
    Computed(usize, Computation<usize>),
    Nowhere(usize),
}

impl Asked<'_> {
    pub(super) fn value(
        &self,
        value: &str,
        reached: Option<&str>,
        page: Page,
    ) -> Result<TraceAnswer, TraceError> {
        let value = Some(value.trim()).filter(|value| !value.is_empty() && value.len() <= VALUE_BYTES_MAX);
        let value = value.ok_or(TraceError::Value)?;
        let mut atoms = atoms_of_text(value);
        if atoms.is_empty() {
            atoms = atoms_of_json(&serde_json::Value::from(value).to_string());
        }
        let atoms_left_out = atoms.len().saturating_sub(ATOMS_MAX);
        atoms.truncate(ATOMS_MAX);
        let within = match reached {
            None => None,
            Some(id) => Some(self.reaching(id)?),
        };
        let texts = self.texts();
        let mut sources: Vec<&Shown> = texts.items.iter().filter(|shown| shown.text.is_some()).collect();
        sources
            .retain(|shown| within.as_ref().is_none_or(|within| within.contains(&(shown.run, shown.item))));
        sources.sort_by_key(|shown| shown.at_ms);
        let found = self.look(&atoms, &sources);
        let mut head = Row::new()
            .count("atoms", atoms.len())
            .count("atoms_left_out", atoms_left_out)
            .count("items_searched", sources.len())
            .count("items_not_searched", texts.left_out)
            .count("items_redacted_or_not_kept", texts.not_whole)
            .fixed("known", "exact: places were compared; that a value came from a place is not said by this")
            .fixed("rows_are", "atoms of the value, each with one place; the oldest item first");
        if atoms.is_empty() {
            head = head.fixed("note", "this is no number, date, id, name or phrase: use trace_find");
        }
        Ok(TraceAnswer::rows(head, &found, page, |found| self.found(&atoms, &sources, found)))
    }

    /// The items that had reached something, itself and the reply that it is left out.
    fn reaching(&self, id: &str) -> Result<HashSet<(usize, probity_contract::ItemId)>, TraceError> {
        let node = self.node_of(id)?;
        let slice = self.graph.backward([node], Follow::Data);
        let itself = self.graph.item_of(node);
        let runs: Vec<_> = self.graph.runs().collect();
        let items = slice.items().filter(|item| Some(*item) != itself);
        Ok(items
            .filter_map(|(run, item)| Some((runs.iter().position(|other| *other == run)?, item)))
            .collect())
    }

    fn look(&self, atoms: &[Atom], sources: &[&Shown]) -> Vec<Found> {
        let keyed = sources.iter().enumerate();
        let index = CopyIndex::new(keyed.map(|(key, shown)| CopySource { key, text: shown.as_str() }));
        let mut operands = None;
        let mut found = Vec::new();
        for (at, atom) in atoms.iter().enumerate() {
            let copies = index.find(atom);
            let is_copied = copies.holders.iter().any(|holder| !self.is_reply(sources, holder.source));
            if !is_copied {
                let values = operands.get_or_insert_with(|| index.operands(sources.len()));
                let computed = values.computed(atom);
                if let Some(computation) = computed.within(CHANCE_MAX) {
                    found.push(Found::Computed(at, computation.clone()));
                } else if copies.holders.is_empty() {
                    found.push(Found::Nowhere(at));
                }
            }
            let stands = if is_copied { "copied" } else { "repeated: only the model's own words hold it" };
            let chance = copies.chance;
            found.extend(
                copies.holders.into_iter().map(|holder| Found::Place(at, stands, holder, Some(chance))),
            );
        }
        found
    }

    fn is_reply(&self, sources: &[&Shown], source: usize) -> bool {
        let body = sources.get(source).and_then(|shown| {
            let run = self.graph.runs().nth(shown.run)?;
            Some(self.graph.record(run)?.item(shown.item)?.body)
        });
        matches!(body, Some(Body::Reply { .. }))
    }

    fn found(&self, atoms: &[Atom], sources: &[&Shown], found: &Found) -> Row {
        let (Found::Place(at, ..) | Found::Computed(at, _) | Found::Nowhere(at)) = found;
        let row = Row::new();
        let row = atoms.get(*at).map_or(row.clone(), |atom| {
            row.fixed("atom_kind", atom.kind.name()).passed("atom", &told(&atom.text, 80))
        });
        match found {
            Found::Nowhere(_) => row.fixed("stands", "no source: nothing that was searched holds it"),
            Found::Computed(_, computation) => row
                .fixed("stands", "computed")
                .named("operation", &format!("{:?}", computation.operation))
                .share("by_chance", computation.chance)
                .list(("from", "from_left_out"), INNER_MAX, &computation.operands, |operand| {
                    self.place(Row::new(), sources, operand.source, &operand.range).value()
                }),
            Found::Place(_, stands, holder, chance) => {
                let same = match holder.sameness {
                    Sameness::Bytes => "the very bytes",
                    Sameness::Value => "the value",
                    Sameness::Parts => "its words, with others between",
                };
                let row = row.fixed("stands", stands).fixed("same", same);
                let row = chance.map_or(row.clone(), |chance| row.share("by_chance", chance.probability));
                self.place(row, sources, holder.source, &holder.range)
            }
        }
    }

    fn place(&self, row: Row, sources: &[&Shown], source: usize, range: &std::ops::Range<usize>) -> Row {
        let Some(shown) = sources.get(source) else { return row };
        let node = self.graph.runs().nth(shown.run).and_then(|run| self.graph.item(run, shown.item));
        let row = node.map_or(row.clone(), |node| row.id("id", &self.name(node)));
        row.range(range).passed("untrusted", &excerpt(shown.as_str(), range))
    }
}
