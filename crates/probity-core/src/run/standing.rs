//! Whether a value stands word for word in a text.
//!
//! Whole or not at all: `bob@corp.example` does not stand in `bob@corp.example.evil.test`, nor `10` in `100` or `1,010`. Exact
//! bytes; spelling, case and white space are not evened out, for each way to even them out is a way to stand where nobody
//! wrote it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::Value;

/// Letters and digits that a text must have to be looked for in texts. Shorter ones (`to`, `of`, `b`) stand everywhere and tell
/// nothing; they may still be equal to a value that a tool vouches for.
const TEXT_ALPHANUMERICS_MIN: usize = 3;

/// A value that can be looked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Standing {
    /// A text.
    Text(String),
    /// A text that is too short to be looked for in others.
    Short(String),
    /// A number, by the bits of its double.
    Number(u64),
}

impl Standing {
    /// `None` for what means nothing by standing somewhere: `true`, `false`, null, and what has no letter, digit or value in it.
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::of_text(text),
            Value::Number(number) => number.as_f64().map(|number| Self::Number(bits(number))),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    pub(super) fn of_text(text: &str) -> Option<Self> {
        match text.chars().filter(|c| c.is_alphanumeric()).take(TEXT_ALPHANUMERICS_MIN).count() {
            0 => None,
            TEXT_ALPHANUMERICS_MIN.. => Some(Self::Text(text.to_owned())),
            _ => Some(Self::Short(text.to_owned())),
        }
    }

    /// Whether a text tells the value by having it.
    pub(super) fn stands_in(&self, text: &str, numbers: &Numbers<'_>) -> bool {
        match self {
            Self::Text(wanted) => stands(wanted, text),
            Self::Short(_) => false,
            Self::Number(wanted) => numbers.count(*wanted) > 0,
        }
    }

    /// Whether it is this value, and no part of it.
    pub(super) fn is(&self, value: &str) -> bool {
        match self {
            Self::Text(wanted) | Self::Short(wanted) => wanted == value,
            Self::Number(wanted) => {
                !value.contains(parts_words) && number_in(value).map(bits) == Some(*wanted)
            }
        }
    }

    /// How often it stands in a text, a short one as well.
    pub(super) fn count_in(&self, text: &str, numbers: &Numbers<'_>) -> usize {
        match self {
            Self::Text(wanted) | Self::Short(wanted) => count(&folded(wanted), text),
            Self::Number(wanted) => numbers.count(*wanted),
        }
    }

    /// Whether this text stands in it.
    pub(super) fn has(&self, text: &str) -> bool {
        match self {
            Self::Text(whole) | Self::Short(whole) => stands(text, whole),
            Self::Number(_) => false,
        }
    }
}

/// Whether a text stands word for word and whole in another.
pub(super) fn stands(wanted: &str, text: &str) -> bool {
    places(wanted, text).next().is_some()
}

/// How often it does.
pub(super) fn count(wanted: &str, text: &str) -> usize {
    places(wanted, text).count()
}

fn places<'a>(wanted: &'a str, text: &'a str) -> impl Iterator<Item = usize> + 'a {
    let whole = move |(at, found): &(usize, &str)| {
        let (before, rest) = text.split_at(*at);
        ends(before) && begins(rest.get(found.len()..).unwrap_or_default())
    };
    text.match_indices(wanted).filter(move |_| !wanted.is_empty()).filter(whole).map(|(at, _)| at)
}

/// The text with every run of white space as one blank, written out or escaped: whoever prints a long value breaks it into lines,
/// and in JSON a line of a value begins behind `\n`.
pub(super) fn folded(text: &str) -> String {
    let mut plain = text.replace("\\\"", "\"");
    for escaped in ["\\n", "\\r", "\\t", "\\\n", "\\ "] {
        plain = plain.replace(escaped, " ");
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The numbers that stand in a text and how often; read once, when the first is looked for.
pub(super) struct Numbers<'a> {
    text: &'a str,
    read: OnceLock<BTreeMap<u64, usize>>,
}

impl<'a> Numbers<'a> {
    pub(super) const fn of(text: &'a str) -> Self {
        Self { text, read: OnceLock::new() }
    }

    fn count(&self, number: u64) -> usize {
        self.read.get_or_init(|| numbers(self.text)).get(&number).copied().unwrap_or(0)
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
fn numbers(text: &str) -> BTreeMap<u64, usize> {
    let mut counts = BTreeMap::new();
    for number in text.split(parts_words).filter_map(number_in) {
        *counts.entry(bits(number)).or_default() += 1;
    }
    counts
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
