//! Values without a shape of their own, by the words before them: `wandb 0f3c…`, `Unseal Key 2: 5bCo…`, `acmeAPI-KEY-…`.
//!
//! A service's name, or a word for a credential, and nothing but such words up to a value that looks drawn. Asked where a
//! digit stands beside a letter or digit, and where many letters of one case have pairs that words have not. What lost: a rule for each service, with the length and alphabet of its keys;
//! there are thousands of services, and they change their keys more often than their names.

use super::Found;
use super::behind::Behind;
use super::class::{RUN, is};
use super::cursor::{Cursor, DIGIT_BYTES_MAX, HIDDEN_BYTES_MAX, Starved};
use super::drawn::{LETTERS_MIN, is_letters};
use super::placeholder::is_placeholder;
use super::plausible::is_sequence;
use super::seen::Seen;
use super::swallow::Swallow;
use crate::limits::WINDOW_BYTES;
use crate::report::{Confidence, Source};
pub(super) use bare::is_access_id;
use look::{Look, begins_with_word};
use said::{Before, Said, said_before, said_behind};

mod bare;
mod look;
mod said;

/// How much of a value is looked at.
const VALUE_CHARS_MAX: usize = 200;
/// The least length of a value after a service's name.
const VALUE_CHARS_MIN: usize = 16;
/// The least length of a value after words for credentials alone.
const UNNAMED_CHARS_MIN: usize = 20;

/// How many beginnings of a value inside a run are tried.
const JOINS_MAX: usize = 10;

/// Finds a value that starts at the cursor with `first`, by the words before it, or one that such words are tied to in
/// one run: then all of the run goes, since which sign ends the words and which begins the value cannot be told.
pub(super) fn find(
    first: char,
    cursor: &Cursor<'_>,
    behind: &Behind<'_>,
    seen: &Seen,
) -> Result<Option<Found>, Starved> {
    let begins_value = begins_value(behind);
    let begins_run = !behind.peek().is_some_and(is_value_char);
    if !(first.is_ascii_alphanumeric() || first == '_') || !(begins_value || begins_run) {
        return Ok(None);
    }
    let Some(run) = Run::read(cursor, seen)? else { return Ok(None) };
    if let Some(found) = bare::find(&run, cursor, behind)? {
        return Ok(Some(found));
    }
    let tied = || begins_run && joins(run.value()).any(|at| run.is_secret(at, behind));
    let enough = begins_value && (run.is_secret(0, behind) || run.is_letters_named(behind))
        || tied()
        || begins_run && run.is_named_behind(cursor)?;
    Ok(enough.then(|| Found {
        rule: "context",
        kind: "api-key",
        source: Source::Context,
        confidence: Confidence::Medium,
        keep: 0,
        cut: run.end - cursor.offset(),
        then: (run.text.len() >= VALUE_CHARS_MAX).then_some(Swallow::While(is_value_char)),
    }))
}

/// What stands at a position, as far as a value is written.
#[derive(Debug)]
struct Run {
    text: String,
    /// Behind the last sign that is surely of it, and padding.
    end: usize,
}

impl Run {
    /// Nothing where a marker is in it or directly behind it, or what gives it away is far: a digit, or a beginning of plain
    /// letters.
    fn read(cursor: &Cursor<'_>, seen: &Seen) -> Result<Option<Self>, Starved> {
        let mut ahead = cursor.clone();
        let plain = ahead.take_plain(VALUE_CHARS_MAX, |b| is(b, RUN));
        let near = || plain.bytes().take(DIGIT_BYTES_MAX);
        let is_far = plain.len() > HIDDEN_BYTES_MAX && !near().any(|b| b.is_ascii_digit());
        if is_far && !near().all(|b| b.is_ascii_alphabetic()) {
            if plain.len() < DIGIT_BYTES_MAX {
                ahead.peek()?;
            }
            return Ok(None);
        }
        let mut end = ahead.offset() - (plain.len() - plain.trim_end_matches(['.', '-']).len());
        let may_be_letters = plain.len() >= LETTERS_MIN;
        // Whatever goes on behind what is invisible has none either.
        let digit = |near: &[u8]| near.iter().position(u8::is_ascii_digit);
        let window = cursor.bytes_ahead(WINDOW_BYTES).filter(|_| ahead.is_at_odd());
        if !may_be_letters
            && window.is_some_and(|window| seen.digits.is_without(cursor.offset(), window, digit))
        {
            return Ok(None);
        }
        let mut text = String::with_capacity(plain.len());
        text.push_str(plain);
        let is_quiet = |c| matches!(c, '.' | '-');
        loop {
            let before = text.len();
            ahead.read_into(&mut text, VALUE_CHARS_MAX, |c| is_value_char(c) && !is_quiet(c))?;
            if text.len() > before {
                end = ahead.offset();
            }
            let before = text.len();
            ahead.read_into(&mut text, VALUE_CHARS_MAX, is_quiet)?;
            if text.len() == before {
                break;
            }
        }
        // Letters alone are judged as such; those that a digit follows far behind are not.
        let has_digit = text.bytes().any(|b| b.is_ascii_digit());
        if if has_digit { is_far } else { !may_be_letters } {
            return Ok(None);
        }
        if text.len() < VALUE_CHARS_MIN && ahead.peek()? != Some('|') {
            return Ok(None);
        }
        // `application|secret`, as one credential.
        if text.len() >= 8 && text.bytes().all(|b| b.is_ascii_digit()) {
            let mut pair = cursor.after(end - cursor.offset());
            if pair.eat('|')? {
                text.push('|');
                while text.len() < VALUE_CHARS_MAX
                    && let Some(c) = pair.peek()?
                    && is_value_char(c)
                {
                    text.push(c);
                    pair.next()?;
                }
                end = pair.offset();
            }
        }
        let mut padding = cursor.after(end - cursor.offset());
        padding.run(2, |c| c == '=')?;
        let end = padding.offset();
        let marked = padding.is_at_marker()? || ahead.is_before_marker()?;
        Ok((!marked).then_some(Self { text, end }))
    }

    fn value(&self) -> &str {
        self.text.trim_end_matches(['.', '-'])
    }

    /// Whether it is surely drawn and a service is named behind it.
    fn is_named_behind(&self, cursor: &Cursor<'_>) -> Result<bool, Starved> {
        let value = self.value();
        let has = |class: fn(&u8) -> bool| value.bytes().any(|b| class(&b));
        let is_mixed =
            value.len() >= UNNAMED_CHARS_MIN && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
        Ok(is_mixed
            && said_behind(cursor.after(self.end - cursor.offset()))?
            && Look::of(value) == Look::SurelyDrawn
            && !is_placeholder(value))
    }

    /// Whether it is of letters alone, and a secret by the words before it.
    fn is_letters_named(&self, behind: &Behind<'_>) -> bool {
        let value = self.value();
        is_letters(value)
            && !is_sequence(value)
            && !is_placeholder(value)
            && match said_before(Before { words: "", behind: behind.clone() }) {
                Said::Service | Said::Credential | Said::Word { credential: true } => true,
                Said::Word { credential: false } | Said::Nothing => false,
            }
    }

    /// Whether what begins at `at` is a secret by the words before it.
    fn is_secret(&self, at: usize, behind: &Behind<'_>) -> bool {
        let (words, value) = self.value().split_at_checked(at).unwrap_or_default();
        if value.len() < VALUE_CHARS_MIN {
            return false;
        }
        let enough = match said_before(Before { words, behind: behind.clone() }) {
            Said::Service => Look::Identifier,
            Said::Word { credential: true } => Look::Drawn,
            Said::Credential if value.len() >= UNNAMED_CHARS_MIN => Look::SurelyDrawn,
            Said::Word { credential: false } | Said::Credential | Said::Nothing => return false,
        };
        Look::of(value) >= enough && !begins_with_word(value) && !is_placeholder(value)
    }
}

/// Where a value may begin inside a run: behind a sign that ties words.
fn joins(run: &str) -> impl Iterator<Item = usize> {
    let last = run.len().saturating_sub(VALUE_CHARS_MIN);
    let is_join = |(_, byte): &(usize, u8)| matches!(byte, b'-' | b'_' | b'.');
    run.bytes()
        .enumerate()
        .filter(is_join)
        .map(|(at, _)| at + 1)
        .take(JOINS_MAX)
        .take_while(move |at| *at <= last)
}

fn is_value_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '/' | '.' | '~')
}

/// Whether a value may begin here: at the start, or behind what ties names to values. Not in a path, an address, a number.
fn begins_value(behind: &Behind<'_>) -> bool {
    behind.peek().is_some_and(|c| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '`' | '=' | ':' | '-' | '_' | '(' | '[' | '{' | '>' | '|' | '*' | ',')
            || c == '.' && !digits_before(behind)
    })
}

/// Whether a digit stands before in the same run: the run is asked about where it begins.
fn digits_before(behind: &Behind<'_>) -> bool {
    let mut behind = behind.clone();
    behind.run(80, |c| c.is_ascii_alphabetic() || matches!(c, '_' | '-' | '.' | '+' | '/' | '~'));
    behind.peek().is_some_and(|c| c.is_ascii_digit())
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
