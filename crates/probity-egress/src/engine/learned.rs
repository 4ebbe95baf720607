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
const VALUE_BYTES_MIN: usize = 8;
const VALUE_BYTES_MAX: usize = 256;

/// The last values that were removed and cannot be words.
#[derive(Debug, Default)]
pub(super) struct Learned(VecDeque<Value>);

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
        self.0.is_empty()
    }

    /// Remembers what `found` removes, if that is all of it and looks drawn.
    pub(super) fn learn(&mut self, found: &Found, removed: &str) {
        // Those are found again as they were.
        let is_found_anywhere =
            matches!(found.source, Source::Registered | Source::Decoded | Source::Location);
        if is_found_anywhere
            || found.then.is_some()
            || !is_telling(removed)
            || self.0.iter().any(|value| *value.text == *removed)
        {
            return;
        }
        if self.0.len() == VALUES_MAX {
            self.0.pop_front();
        }
        let mut chars = removed.chars();
        let begins_with = [chars.next().unwrap_or_default(), chars.next().unwrap_or_default()];
        self.0.push_back(Value { text: removed.into(), kind: found.kind, begins_with });
    }

    /// Finds one of the values at the cursor, which stands at the beginning of a word.
    pub(super) fn find(&self, cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
        let mut ahead = cursor.clone();
        let (Some(first), Some(second)) = (ahead.next()?, ahead.next()?) else { return Ok(None) };
        for value in self.0.iter().filter(|value| value.begins(first, second)) {
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
