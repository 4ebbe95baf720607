//! Where each atom is from: copied, computed, repeated from the model's own words, or from nowhere.

use std::collections::HashMap;

use probity_trace::{CopyIndex, CopySource, atoms_of_json, atoms_of_text};

use super::ask::Target;
use super::sources::Sources;
use super::{AskedAtom, AtomSource, Place};
use crate::search::SuspectKind;

/// How likely a computation may be found by accident at most, to be taken for one.
pub(crate) const CHANCE_MAX: f64 = 0.05;

pub(super) fn atoms(target: &Target, sources: &Sources) -> Vec<AskedAtom> {
    let text = &target.text.text;
    let all = if target.is_json { atoms_of_json(text) } else { atoms_of_text(text) };
    let span = &target.span;
    let meant: Vec<_> =
        all.into_iter().filter(|atom| atom.range.start < span.end && span.start < atom.range.end).collect();
    if meant.is_empty() {
        return Vec::new();
    }
    let texts = sources.texts.iter().map(|source| CopySource { key: source.place, text: &source.text.text });
    let index = CopyIndex::new(texts);
    let kinds: HashMap<Place, SuspectKind> =
        sources.texts.iter().map(|source| (source.place, source.kind)).collect();
    let is_reply = |place: &Place| kinds.get(place) == Some(&SuspectKind::Reply);
    let mut operands = None;
    let asked = meant.into_iter().map(|atom| {
        let copies = index.find(&atom);
        if copies.holders.iter().any(|holder| !is_reply(&holder.source)) {
            let (holders, left_out, chance) = (copies.holders, copies.left_out, copies.chance);
            return AskedAtom { atom, source: AtomSource::Copied { holders, left_out, chance } };
        }
        let values = operands.get_or_insert_with(|| index.operands(sources.texts.len()));
        let computed = values.computed(&atom);
        let source = if computed.within(CHANCE_MAX).is_some() {
            AtomSource::Computed(computed)
        } else if copies.holders.is_empty() {
            AtomSource::None
        } else {
            AtomSource::Repeated { said: copies.holders }
        };
        AskedAtom { atom, source }
    });
    asked.collect()
}
