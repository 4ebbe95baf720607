//! The holders of an atom.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::chance::Chance;
use super::index::{CopyIndex, Entry, date_keys, number_key, place_in, time_key, word_key};
use super::phrase::{Phrase, near, phrase_at};
use super::{Copies, HOLDERS_MAX, Holder, Sameness};
use crate::atoms::{Atom, AtomValue, Decimal, Token, TokenKind, Tokens, lower_word_hash, unit_at};

/// The most places of one kind that are looked at for one atom; a long phrase counts for several.
const LOOKS_MAX: usize = 4096;

/// What it costs to look around a place, in looks at the place itself.
const AROUND_LOOKS: usize = 8;

impl<K: Clone> CopyIndex<'_, K> {
    /// Where an atom stands in all sources.
    #[must_use]
    pub fn find(&self, atom: &Atom) -> Copies<K> {
        self.find_in_first(atom, self.sources.len())
    }

    /// Where an atom stands in the first sources of the list: what there was before it.
    #[must_use]
    pub fn find_in_first(&self, atom: &Atom, sources: usize) -> Copies<K> {
        let sources = sources.min(self.sources.len());
        let mut search = Search { index: self, atom, sources, found: Vec::new(), left_out: 0 };
        search.values();
        search.words();
        if search.found.is_empty() {
            search.parts();
        }
        let not_looked_at = search.left_out;
        let found = apart(search.found);
        let left_out = not_looked_at + found.len().saturating_sub(HOLDERS_MAX);
        let holders = found.into_iter().take(HOLDERS_MAX).filter_map(|place| self.holder(place)).collect();
        Copies { holders, left_out, chance: Chance::of(atom, self.places(sources)) }
    }

    fn holder(&self, (position, range, sameness): Place) -> Option<Holder<K>> {
        let source = self.sources.get(position)?;
        Some(Holder { source: source.key.clone(), range: source.decoded.original(range), sameness })
    }

    fn places(&self, sources: usize) -> super::index::Places {
        sources
            .checked_sub(1)
            .and_then(|last| self.sources.get(last))
            .map(|last| last.places)
            .unwrap_or_default()
    }
}

/// The position of a source, a place in its decoded text, and what is the same there.
type Place = (usize, Range<usize>, Sameness);

struct Search<'s, 't, K> {
    index: &'s CopyIndex<'t, K>,
    atom: &'s Atom,
    sources: usize,
    found: Vec<Place>,
    left_out: usize,
}

impl<'s, 't, K> Search<'s, 't, K> {
    fn values(&mut self) {
        let values = [Some(&self.atom.value), self.atom.other.as_ref()];
        for value in values.into_iter().flatten() {
            for key in keys(value) {
                let atom = self.atom;
                self.look(self.index.entries(key, self.sources), 1, |text, place| {
                    same_value(atom, value, text, place)
                });
            }
        }
    }

    /// Numbers too: `7504069` stands in `certificate_7504069`.
    fn words(&mut self) {
        let phrase = match &self.atom.value {
            AtomValue::Words(words) => Phrase::of_words(words, &self.atom.text),
            AtomValue::Literal(_) | AtomValue::Number(_) => Phrase::literal(&self.atom.text),
            AtomValue::Date(_) | AtomValue::Time(_) => return,
        };
        if let Some((anchor, entries)) = self.anchor(&phrase) {
            self.look(entries, phrase.cost(), |text, place| phrase_at(text, &phrase, anchor, place));
        }
        // `0123` on its own is a number where it stands.
        if let ([digits], AtomValue::Words(_)) = (phrase.words.as_slice(), &self.atom.value)
            && let Some(number) = digits.parse().ok().and_then(|number| Decimal::new(number, 0))
        {
            let entries = self.index.entries(number_key(number), self.sources);
            self.look(entries, 1, |text, place| phrase_at(text, &phrase, 0, place));
        }
    }

    fn parts(&mut self) {
        let AtomValue::Words(words) = &self.atom.value else { return };
        let phrase = Phrase::of_words(words, &self.atom.text);
        if phrase.words.len() < 2 {
            return;
        }
        let Some((anchor, entries)) = self.anchor(&phrase) else { return };
        self.look(entries, AROUND_LOOKS, |text, place| {
            near(text, &phrase, anchor, place).map(|range| (range, Sameness::Parts))
        });
    }

    /// The rarest word of a phrase, and its entries.
    fn anchor(&self, phrase: &Phrase) -> Option<(usize, &'s [Entry])> {
        let has_letters = |word: &str| !word.bytes().all(|byte| byte.is_ascii_digit());
        // Digits may stand as a number, which is no word of the index: they are asked for only where there is nothing else.
        let is_wordy = phrase.words.iter().any(|word| has_letters(word));
        let mut rarest: Option<(usize, &'s [Entry])> = None;
        for (position, word) in
            phrase.words.iter().enumerate().filter(|(_, word)| !is_wordy || has_letters(word))
        {
            let entries = self.index.entries(word_key(lower_word_hash(word)), self.sources);
            if rarest.is_none_or(|(_, fewest)| entries.len() < fewest.len()) {
                rarest = Some((position, entries));
            }
        }
        rarest
    }

    fn look(
        &mut self,
        entries: &'s [Entry],
        cost: usize,
        same: impl Fn(&str, Range<usize>) -> Option<(Range<usize>, Sameness)>,
    ) {
        let listed = self.found.len();
        for (look, entry) in entries.iter().enumerate() {
            if look * cost >= LOOKS_MAX || self.found.len() == listed + HOLDERS_MAX {
                self.left_out += entries.len() - look;
                break;
            }
            let Some((position, source)) = self.index.source_at(entry.start as usize) else { continue };
            let place = place_in(source, *entry);
            if let Some((range, sameness)) = same(&source.decoded.text, place) {
                self.found.push((position, range, sameness));
            }
        }
    }
}

/// The places in their order, no two of which overlap: of those that do, the one that is the same in more, then the first.
fn apart(mut found: Vec<Place>) -> Vec<Place> {
    found.sort_by_key(|(position, range, sameness)| (*position, Reverse(*sameness), range.start));
    let mut kept: BTreeMap<(usize, usize), (usize, Sameness)> = BTreeMap::new();
    for (position, range, sameness) in found {
        let (start, end) = ((position, range.start), (position, range.end));
        let is_free = kept
            .range(..end)
            .next_back()
            .is_none_or(|((before, _), (taken_to, _))| *before < position || *taken_to <= range.start);
        if is_free {
            kept.insert(start, (range.end, sameness));
        }
    }
    kept.into_iter().map(|((position, start), (end, sameness))| (position, start..end, sameness)).collect()
}

fn keys(value: &AtomValue) -> BTreeSet<u64> {
    match value {
        AtomValue::Number(number) => BTreeSet::from([number_key(*number)]),
        // A day is enough to be found by; a month needs its year.
        AtomValue::Date(date) => date_keys(*date).collect(),
        AtomValue::Time(time) => BTreeSet::from([time_key(*time)]),
        AtomValue::Words(_) | AtomValue::Literal(_) => BTreeSet::new(),
    }
}

/// Whether the value that stands at a place is the value asked for, read again there.
fn same_value(
    atom: &Atom,
    value: &AtomValue,
    text: &str,
    place: Range<usize>,
) -> Option<(Range<usize>, Sameness)> {
    let literal = text.get(place.clone())?;
    let is_same = match value {
        AtomValue::Number(number) => {
            let there = unit_at(text, place.start, place.end);
            let units_differ = atom.unit.zip(there).is_some_and(|(one, other)| one != other);
            !units_differ && read_again(text, &place).is_some_and(|token| is_number(&token, *number))
        }
        AtomValue::Date(date) => read_again(text, &place).is_some_and(|token| match token.kind {
            TokenKind::Date { value, other } => {
                date.is_said_by(value) || other.is_some_and(|other| date.is_said_by(other))
            }
            TokenKind::Word { .. } | TokenKind::Number { .. } | TokenKind::Time(_) => false,
        }),
        AtomValue::Time(time) => read_again(text, &place)
            .is_some_and(|token| matches!(token.kind, TokenKind::Time(there) if there.agrees(*time))),
        AtomValue::Words(_) | AtomValue::Literal(_) => false,
    };
    let sameness = if literal == atom.text { Sameness::Bytes } else { Sameness::Value };
    is_same.then_some((place, sameness))
}

fn is_number(token: &Token, number: Decimal) -> bool {
    matches!(token.kind, TokenKind::Number { value, other } if value == number || other == Some(number))
}

fn read_again(text: &str, place: &Range<usize>) -> Option<Token> {
    Tokens::starting_at(text, place.start).next().filter(|token| token.start == place.start)
}
