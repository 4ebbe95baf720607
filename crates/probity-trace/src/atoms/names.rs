//! Proper names, by their capitals.
//!
//! A list of names lost: it knows the names of one language, and none of the names that matter in a run. What this costs:
//! a label in title case looks like a name unless a colon follows it, and a name that begins a sentence alone is missed.

use std::ops::Range;

use super::chars::{char_before, words};
use super::lexicon::is_common;

/// The most words of one name.
const NAME_WORDS_MAX: usize = 6;

/// Words in small letters that may stand inside a name.
const LINKS: [&str; 12] = ["of", "de", "la", "van", "von", "der", "den", "del", "du", "da", "di", "al"];

/// The names of a text, first to last.
pub(crate) fn names(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut name: Vec<Range<usize>> = Vec::new();
    let mut links: Vec<Range<usize>> = Vec::new();
    for word in words(text) {
        let shape = text.get(word.clone()).map_or(Shape::Small, shape);
        let before = links.last().or(name.last()).map(|last| last.end);
        let follows = before.is_some_and(|end| joins(text, end, word.start, name.last()));
        if name.len() == NAME_WORDS_MAX || (!follows && !name.is_empty()) {
            found.extend(finished(text, &name));
            name.clear();
        }
        if name.is_empty() {
            links.clear();
        }
        match shape {
            Shape::Capital => {
                name.push(word);
                links.clear();
            }
            Shape::Link if !name.is_empty() && links.len() < 2 => links.push(word),
            Shape::Link | Shape::Small => {
                found.extend(finished(text, &name));
                name.clear();
            }
        }
    }
    found.extend(finished(text, &name));
    found
}

enum Shape {
    Capital,
    Link,
    Small,
}

fn shape(word: &str) -> Shape {
    let first_is_capital = word.chars().next().is_some_and(char::is_uppercase);
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let is_code = word.chars().nth(1).is_some() && word.chars().all(char::is_uppercase);
    if first_is_capital && !has_digit && !is_code {
        Shape::Capital
    } else if LINKS.contains(&word) {
        Shape::Link
    } else {
        Shape::Small
    }
}

fn joins(text: &str, end: usize, start: usize, last: Option<&Range<usize>>) -> bool {
    match text.get(end..start) {
        Some(" " | "-" | "'" | "\u{2019}" | " & ") => true,
        // `J. Smith`, `St. Louis`; else a sentence ends there.
        Some(". ") => last.is_some_and(|last| last.end == end && last.len() <= 2),
        _ => false,
    }
}

/// What of a run of capitals is a name.
fn finished(text: &str, run: &[Range<usize>]) -> Option<Range<usize>> {
    let common = |word: &&Range<usize>| text.get((*word).clone()).is_some_and(is_common);
    let begins = begins_sentence(text, run.first()?.start);
    let leading = run.iter().take_while(common).count();
    // `New York` is a name inside a sentence, and `Your` none where one begins.
    let leading = if begins || leading == run.len() { leading } else { 0 };
    let trailing = run.iter().skip(leading).rev().take_while(common).count();
    let kept = run.get(leading..run.len() - trailing)?;
    let (first, last) = (kept.first()?, kept.last()?);
    let begins = begins && leading == 0;
    let is_label = begins && ends_label(text, last.end);
    let is_initial = kept.len() == 1 && first.len() < 2;
    let is_start = begins && kept.len() == 1;
    (!is_label && !is_initial && !is_start).then_some(first.start..last.end)
}

/// Whether a sentence, a line or a heading begins at an offset.
fn begins_sentence(text: &str, start: usize) -> bool {
    let mut at = start;
    while let Some(before) = char_before(text, at) {
        match before {
            '*' | '_' | '#' | '"' | '\'' | '(' | ' ' | '\t' | '>' | '-' | '\u{2022}' => {
                at -= before.len_utf8()
            }
            _ => break,
        }
        if start - at > MARKS_BYTES_MAX {
            return false;
        }
    }
    let before = text.get(..at).unwrap_or_default();
    let is_listed = before.ends_with(['.', ')'])
        && before.trim_end_matches(['.', ')']).ends_with(|last: char| last.is_ascii_digit());
    before.is_empty() || before.ends_with(['\n', '.', '!', '?']) || is_listed
}

/// The most bytes of marks (of Markdown, say) before the first word of a line.
const MARKS_BYTES_MAX: usize = 24;

/// Whether a colon follows, marks aside; or the line ends there.
fn ends_label(text: &str, end: usize) -> bool {
    let rest = text.get(end..).unwrap_or_default();
    let mut behind =
        rest.chars().take(MARKS_BYTES_MAX).skip_while(|mark| matches!(mark, '*' | '_' | ' ' | ')'));
    matches!(behind.next(), Some(':' | '\n'))
}
