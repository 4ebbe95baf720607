//! Values that were removed once, and are removed wherever the same text has them again.
//!
//! `password = …` gives its value away; two lines on, the log of the login has it without a name. Only forwards: what is
//! out cannot be taken back, and in a stream it is out. Found where values are asked about anyway, so a text in which
//! nothing was learned pays nothing.

use std::collections::VecDeque;

use super::Found;
use super::cursor::{Cursor, Starved};
use super::drawn::{Drawn, is_drawn};
use super::placeholder::is_placeholder;
use super::plausible::is_plain_run;
use super::shape::looks_random;
use crate::report::{Confidence, Source};

/// How many values are remembered; the oldest is forgotten first.
const VALUES_MAX: usize = 32;
const PAIR_BITS: usize = 2_048;
const VALUE_BYTES_MIN: usize = 8;
const VALUE_BYTES_MAX: usize = 256;

/// The last values that were removed and cannot be words.
#[derive(Debug, Default)]
pub(super) struct Learned {
    values: VecDeque<Value>,
    /// The first two bytes of all that were ever remembered, one bit for each pair and some others.
    beginnings: [u64; PAIR_BITS / 64],
}

#[derive(Debug)]
struct Value {
    text: Box<str>,
    kind: &'static str,
    begins_with: [char; 2],
}

impl Value {
    fn begins(&self, first: char, second: char) -> bool {
        self.begins_with == [first, second]
    }
}

impl Learned {
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether one of the values may begin where `rest` does. A no is certain.
    pub(super) fn may_begin(&self, rest: &[u8]) -> bool {
        if self.is_empty() {
            return false;
        }
        match rest.first_chunk::<2>() {
            Some(pair) if pair.iter().all(u8::is_ascii_graphic) => {
                let bit = pair_bit(*pair);
                self.beginnings.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 != 0)
            }
            Some(_) | None => true,
        }
    }

    /// Remembers what `found` removes, if that is all of it and looks drawn.
    pub(super) fn learn(&mut self, found: &Found, removed: &str) {
        // Those are found again as they were.
        let is_found_anywhere =
            matches!(found.source, Source::Registered | Source::Decoded | Source::Location);
        if is_found_anywhere
            || found.then.is_some()
            || !is_telling(removed)
            || self.values.iter().any(|value| *value.text == *removed)
        {
            return;
        }
        if self.values.len() == VALUES_MAX {
            self.values.pop_front();
        }
        if let Some(pair) = removed.as_bytes().first_chunk() {
            let bit = pair_bit(*pair);
            if let Some(word) = self.beginnings.get_mut(bit / 64) {
                *word |= 1 << (bit % 64);
            }
        }
        let mut chars = removed.chars();
        let begins_with = [chars.next().unwrap_or_default(), chars.next().unwrap_or_default()];
        self.values.push_back(Value { text: removed.into(), kind: found.kind, begins_with });
    }

    /// Finds one of the values at the cursor, which stands at the beginning of a word.
    pub(super) fn find(&self, cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
        let mut ahead = cursor.clone();
        let (Some(first), Some(second)) = (ahead.next()?, ahead.next()?) else { return Ok(None) };
        for value in self.values.iter().filter(|value| value.begins(first, second)) {
            let mut ahead = cursor.clone();
            if ahead.literal(&value.text)? && !ahead.peek()?.is_some_and(|c| c.is_ascii_alphanumeric()) {
                return Ok(Some(Found {
                    rule: "learned",
                    kind: value.kind,
                    source: Source::Context,
                    confidence: Confidence::Medium,
                    keep: 0,
                    cut: ahead.offset() - cursor.offset(),
                    then: None,
                }));
            }
        }
        Ok(None)
    }
}

fn pair_bit([first, second]: [u8; 2]) -> usize {
    (usize::from(first) << 4 ^ usize::from(second)) % PAIR_BITS
}

/// Whether a value can be known again: no word or name is like it, and it is where values are looked for.
fn is_telling(text: &str) -> bool {
    let word = text.find(|c: char| !is_run(c)).map_or(text, |end| text.get(..end).unwrap_or_default());
    (VALUE_BYTES_MIN..=VALUE_BYTES_MAX).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_graphic())
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric() || "!?#$%^*+~=-_".contains(c))
        && is_plain_run(word.get(..word.len().min(WORD_BYTES_MAX)).unwrap_or_default())
        && (is_drawn(text) >= Drawn::Maybe || looks_random(text))
        && !is_placeholder(text)
}

/// How much of a value's beginning must have the digit by which values are looked for: no more than what is looked through
/// for something invisible.
const WORD_BYTES_MAX: usize = 32;

fn is_run(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '~')
}

#[cfg(test)]
#[path = "learned_tests.rs"]
mod tests;
