//! Words that stand behind each other, whatever is between them.

use std::ops::Range;

use super::Sameness;
use crate::atoms::{GAP_BYTES_MAX, is_gap, lower_word, words};

/// How far from its rarest word the other words of an atom may stand, in bytes.
const PARTS_BYTES_MAX: usize = 96;

/// Longer phrases are not looked for in parts.
const PARTS_WORDS_MAX: usize = 6;

/// What is looked for.
pub(super) struct Phrase<'a> {
    /// In lower case.
    pub(super) words: Vec<String>,
    /// Where each begins in the text.
    starts: Vec<usize>,
    text: &'a str,
    /// Whether what stands between the words counts too.
    is_literal: bool,
}

impl<'a> Phrase<'a> {
    /// Words in lower case with one space between, which stand in a text as `text`.
    pub(super) fn of_words(joined: &str, text: &'a str) -> Self {
        Self {
            words: joined.split(' ').map(str::to_owned).collect(),
            starts: starts(text),
            text,
            is_literal: false,
        }
    }

    /// This text with its punctuation, whatever its capitals.
    pub(super) fn literal(text: &'a str) -> Self {
        let words = words(text).filter_map(|word| text.get(word)).map(lower_word).collect();
        Self { words, starts: starts(text), text, is_literal: true }
    }

    /// How much one look costs, in looks for a single word.
    pub(super) fn cost(&self) -> usize {
        1 + self.words.len() / 8
    }
}

fn starts(text: &str) -> Vec<usize> {
    words(text).map(|word| word.start).collect()
}

/// Whether a phrase stands where its word of that position does.
pub(super) fn phrase_at(
    text: &str,
    phrase: &Phrase<'_>,
    anchor: usize,
    place: Range<usize>,
) -> Option<(Range<usize>, Sameness)> {
    if let Some(range) = literal_at(text, phrase, anchor, &place) {
        return Some((range, Sameness::Bytes));
    }
    let (before, rest) = phrase.words.split_at_checked(anchor)?;
    let (word, after) = rest.split_first()?;
    let mut end = word_forward(text, place.start, word)?;
    let mut start = place.start;
    for word in after {
        end = word_forward(text, skip_forward(text, end)?, word)?;
    }
    for word in before.iter().rev() {
        start = word_backward(text, skip_backward(text, start)?, word)?;
    }
    let is_same = !phrase.is_literal || text.get(start..end).map(lower_word) == Some(lower_word(phrase.text));
    let sameness = if text.get(start..end) == Some(phrase.text) { Sameness::Bytes } else { Sameness::Value };
    is_same.then_some((start..end, sameness))
}

/// The very bytes of the phrase, as whole words.
fn literal_at(text: &str, phrase: &Phrase<'_>, anchor: usize, place: &Range<usize>) -> Option<Range<usize>> {
    let start = place.start.checked_sub(*phrase.starts.get(anchor)?)?;
    let end = start + phrase.text.len();
    let is_whole = |inside: Option<char>, outside: Option<char>| {
        !inside.is_some_and(char::is_alphanumeric) || !outside.is_some_and(char::is_alphanumeric)
    };
    let (before, behind) = (text.get(..start)?, text.get(end..)?);
    let is_same = text.get(start..end)? == phrase.text
        && is_whole(phrase.text.chars().next(), before.chars().next_back())
        && is_whole(phrase.text.chars().next_back(), behind.chars().next());
    is_same.then_some(start..end)
}

/// Whether all words of a phrase stand near the one of that position, in their order.
pub(super) fn near(
    text: &str,
    phrase: &Phrase<'_>,
    anchor: usize,
    place: Range<usize>,
) -> Option<Range<usize>> {
    if phrase.words.len() > PARTS_WORDS_MAX
        || lower_word(text.get(place.clone())?) != *phrase.words.get(anchor)?
    {
        return None;
    }
    let (before, rest) = phrase.words.split_at_checked(anchor)?;
    let (_, after) = rest.split_first()?;
    let window_start = text.floor_char_boundary(place.start.saturating_sub(PARTS_BYTES_MAX));
    let window_end = text.ceil_char_boundary((place.end + PARTS_BYTES_MAX).min(text.len()));
    let left: Vec<Range<usize>> = words(text.get(window_start..place.start)?).collect();
    let right: Vec<Range<usize>> = words(text.get(place.end..window_end)?).collect();
    let mut end = place.end;
    let mut following = right.iter();
    for word in after {
        let found = following.find(|range| is_word(text, place.end, range, word))?;
        end = place.end + found.end;
    }
    let mut start = place.start;
    let mut preceding = left.iter().rev();
    for word in before.iter().rev() {
        let found = preceding.find(|range| is_word(text, window_start, range, word))?;
        start = window_start + found.start;
    }
    Some(start..end)
}

fn is_word(text: &str, base: usize, range: &Range<usize>, word: &str) -> bool {
    let is_whole =
        !text.get(..base + range.start).is_some_and(|before| before.ends_with(char::is_alphanumeric));
    is_whole && word_forward(text, base + range.start, word).is_some()
}

/// Where a word in lower case ends if it stands at an offset, as a whole word on this side.
fn word_forward(text: &str, start: usize, word: &str) -> Option<usize> {
    let rest = text.get(start..)?;
    let mut wanted = word.chars();
    let mut length = 0;
    for character in rest.chars() {
        if wanted.as_str().is_empty() {
            return (!character.is_alphanumeric()).then_some(start + length);
        }
        character.to_lowercase().all(|lower| wanted.next() == Some(lower)).then_some(())?;
        length += character.len_utf8();
    }
    wanted.as_str().is_empty().then_some(start + length)
}

/// Where a word in lower case begins if it ends at an offset, as a whole word on this side.
fn word_backward(text: &str, end: usize, word: &str) -> Option<usize> {
    let rest = text.get(..end)?;
    let mut wanted = word.chars();
    let mut length = 0;
    for character in rest.chars().rev() {
        if wanted.as_str().is_empty() {
            return (!character.is_alphanumeric()).then_some(end - length);
        }
        character.to_lowercase().rev().all(|lower| wanted.next_back() == Some(lower)).then_some(())?;
        length += character.len_utf8();
    }
    wanted.as_str().is_empty().then_some(end - length)
}

fn skip_forward(text: &str, end: usize) -> Option<usize> {
    let mut gap = 0;
    for character in text.get(end..)?.chars() {
        if character.is_alphanumeric() {
            break;
        }
        gap += character.len_utf8();
        if gap > GAP_BYTES_MAX {
            return None;
        }
    }
    is_gap(text.get(end..end + gap)?).then_some(end + gap)
}

fn skip_backward(text: &str, start: usize) -> Option<usize> {
    let mut gap = 0;
    for character in text.get(..start)?.chars().rev() {
        if character.is_alphanumeric() {
            break;
        }
        gap += character.len_utf8();
        if gap > GAP_BYTES_MAX {
            return None;
        }
    }
    is_gap(text.get(start - gap..start)?).then_some(start - gap)
}
