//! Whether a value stands word for word in a text.
//!
//! Whole or not at all: `bob@corp.example` does not stand in `bob@corp.example.evil.test`, nor `10` in `100` or `1,010`. Exact
//! bytes; spelling, case and white space are not evened out, for each way to even them out is a way to stand where nobody
//! wrote it.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::Value;

/// Letters and digits that a text must have to be looked for. Shorter ones (`to`, `of`, `b`) stand everywhere and tell nothing.
const TEXT_ALPHANUMERICS_MIN: usize = 3;

/// A value that can be looked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Standing {
    /// A text.
    Text(String),
    /// A number, by the bits of its double.
    Number(u64),
}

impl Standing {
    /// `None` for what means nothing by standing somewhere: `true`, `false`, null, short texts, and what has no value in it.
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::of_text(text),
            Value::Number(number) => number.as_f64().map(|number| Self::Number(bits(number))),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    pub(super) fn of_text(text: &str) -> Option<Self> {
        let is_long = text.chars().filter(|c| c.is_alphanumeric()).nth(TEXT_ALPHANUMERICS_MIN - 1).is_some();
        is_long.then(|| Self::Text(text.to_owned()))
    }

    pub(super) fn stands_in(&self, text: &str, numbers: &Numbers<'_>) -> bool {
        match self {
            Self::Text(wanted) => text.match_indices(wanted.as_str()).any(|(at, found)| {
                let (before, rest) = text.split_at(at);
                ends(before) && begins(rest.get(found.len()..).unwrap_or_default())
            }),
            Self::Number(wanted) => numbers.contain(*wanted),
        }
    }
}

/// The numbers that stand in a text; read once, when the first is looked for.
pub(super) struct Numbers<'a> {
    text: &'a str,
    read: OnceLock<BTreeSet<u64>>,
}

impl<'a> Numbers<'a> {
    pub(super) const fn of(text: &'a str) -> Self {
        Self { text, read: OnceLock::new() }
    }

    fn contain(&self, number: u64) -> bool {
        self.read.get_or_init(|| numbers(self.text)).contains(&number)
    }
}

/// What never belongs to a word, on whichever side of it.
fn parts_words(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '`' | '|' | ';' | '“' | '”' | '„')
}

/// Whether a word may begin behind this text: between it and the word before is a blank, a quote or the like.
fn ends(before: &str) -> bool {
    before.trim_end_matches(joins_words).chars().next_back().is_none_or(parts_words)
}

/// Whether a word may end before this text.
fn begins(after: &str) -> bool {
    let after = ["'s", "’s"].iter().find_map(|s| after.strip_prefix(s)).unwrap_or(after);
    after.trim_start_matches(joins_words).chars().next().is_none_or(parts_words)
}

/// What may stand within a word or at its end: a full stop may be either.
fn joins_words(c: char) -> bool {
    !c.is_alphanumeric() && !parts_words(c)
}

/// Every number that stands in a text by itself, in a plain spelling: `5`, `-5`, `5.50`, `$1,000`, `5%`. Not `1e3`, and not a
/// part of a date, a version or a word.
fn numbers(text: &str) -> BTreeSet<u64> {
    text.split(parts_words).flat_map(number_in).map(bits).collect()
}

fn number_in(word: &str) -> Option<f64> {
    let trimmed = word.trim_matches(|c: char| !c.is_alphanumeric());
    let (before, after) = word.split_once(trimmed)?;
    // `[100,200]` is two numbers, and no one of them stands by itself.
    if trimmed.contains(',') && format!("{before}{after}").contains(['[', ']', '(', ')', '{', '}']) {
        return None;
    }
    let plain = plain_number(trimmed)?;
    Some(if before.contains(['-', '−']) { -plain } else { plain })
}

fn plain_number(word: &str) -> Option<f64> {
    let (whole, fraction) = word.split_once('.').map_or((word, None), |(whole, rest)| (whole, Some(rest)));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let rest: Vec<&str> = groups.collect();
    let grouped = digits(first)
        && (rest.is_empty() || first.len() <= 3)
        && rest.iter().all(|group| group.len() == 3 && digits(group));
    if !grouped || !fraction.is_none_or(digits) {
        return None;
    }
    word.replace(',', "").parse().ok()
}

/// Zero has one form.
fn bits(number: f64) -> u64 {
    if number == 0.0 { 0 } else { number.to_bits() }
}

#[cfg(test)]
#[path = "standing_tests.rs"]
mod tests;
