use super::{DER_START, KEY_BODIES, PASSWORD_HASHES, PUTTY_LINES};
use crate::report::Confidence;

/// One kind of credential that its shape gives away, as the files under `vocabulary/` have it.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The name of the rule, in reports.
    pub(crate) id: &'static str,
    /// The name in the marker.
    pub(crate) kind: &'static str,
    pub(crate) glue: Glue,
    pub(crate) confidence: Confidence,
    pub(crate) checks: &'static [Check],
    /// When the token is the public half of a pair: the length of the secret half, in base64, that may follow it.
    pub(crate) secret_chars: usize,
    /// Templates of texts that must be redacted.
    #[cfg(test)]
    pub(super) examples: &'static [&'static str],
    /// Templates of texts that must stay.
    #[cfg(test)]
    pub(super) counterexamples: &'static [&'static str],
}

/// Whether the token is recognised with a letter or digit directly before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glue {
    /// Its beginning hardly occurs otherwise.
    Allowed,
    /// Its beginning is short or common: it must start a word.
    Refused,
}

/// What of a token's inside can be verified. A check that holds raises the confidence; one that fails clears nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// The last six characters are the CRC-32 of what stands between the first `_` and them, in base 62.
    Crc32Base62,
    /// The last eight characters are the CRC-32 of what stands before the sign in front of them, in hexadecimal.
    Crc32Hex,
    /// The first piece is base64 of a JSON object with a member `alg`.
    JwtHeader,
}

/// What a token looks like.
#[derive(Debug)]
pub(crate) struct Shape {
    kind: u16,
    pub(crate) steps: &'static [Step],
}

impl Shape {
    pub(crate) fn kind(&self) -> Option<&'static Kind> {
        KINDS.get(usize::from(self.kind))
    }

    /// Whether fixed text comes first, or one character that may be part of it.
    pub(crate) fn begins_fixed(&self) -> bool {
        matches!(self.steps.first(), Some(Step::Text(_) | Step::OneOf(_) | Step::Run { max: 1, .. }))
    }
}

/// A piece of a shape. Pieces are matched in order, each as long as it goes, never undone.
#[derive(Debug)]
pub(crate) enum Step {
    /// Exactly this text.
    Text(&'static str),
    /// The first of these texts that is there.
    OneOf(&'static [&'static str]),
    /// Characters of a class.
    Run { class: Class, min: usize, max: usize },
    /// These pieces, if they are there.
    Maybe(&'static [Self]),
    /// What was read so far stays.
    Begin,
    /// What is read from here on stays.
    End,
}

/// A set of ASCII characters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Class {
    mask: u128,
    /// The same as a function, for whoever remembers only how a secret goes on.
    pub(crate) has: fn(char) -> bool,
}

impl Class {
    pub(crate) const fn contains(self, c: char) -> bool {
        c.is_ascii() && self.mask >> (c as u32) & 1 != 0
    }

    /// A bit for each of its characters: what it is known by.
    pub(crate) const fn mask(self) -> u128 {
        self.mask
    }

    /// Whether it has other characters than letters, digits, `_` and `-`.
    pub(crate) fn goes_beyond_words(self) -> bool {
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        (0..128_u8).map(char::from).any(|c| self.contains(c) && !word(c))
    }
}

/// A shape that begins with a pair of characters, and the first eight bytes of its fixed text, as far as it has them.
#[derive(Debug)]
struct Start {
    shape: u16,
    text: u64,
    mask: u64,
    /// The highest bit of each byte behind the fixed text that is a letter or digit.
    word: u64,
}

/// The shapes that can begin with these two characters, the more telling first; with the next eight bytes, where they stand
/// for themselves, only those whose fixed text they are, and what follows it.
pub(crate) fn shapes_from(
    first: char,
    second: char,
    next: Option<[u8; 8]>,
) -> impl Iterator<Item = &'static Shape> {
    let place = (first.is_ascii() && second.is_ascii())
        .then(|| PAIRS.get(first as usize * 128 + second as usize))
        .flatten()
        .map_or(0, |place| usize::from(*place));
    let list = LISTS.get(place).copied().unwrap_or_default();
    let next = next.map(u64::from_le_bytes).map(|next| (next, words(next)));
    list.iter()
        .filter(move |start| {
            next.is_none_or(|(next, words)| {
                next & start.mask == start.text && words & start.word == start.word
            })
        })
        .filter_map(|start| SHAPES.get(usize::from(start.shape)))
}

/// The highest bit of each of eight ASCII bytes that is a letter or digit.
const fn words(eight: u64) -> u64 {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    const HIGHEST: u64 = EACH << 7;
    const fn is_at_least(eight: u64, least: u8) -> u64 {
        (eight + EACH * (0x80 - least as u64)) & HIGHEST
    }
    let small = eight | (EACH * 0x20);
    is_at_least(small, b'a') & !is_at_least(small, b'z' + 1)
        | is_at_least(eight, b'0') & !is_at_least(eight, b'9' + 1)
}

/// Fixed text that every token of a shape contains, and what may stand before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Anchor {
    pub(crate) literal: &'static str,
    /// The fewest characters of the token before it.
    pub(crate) before_min: usize,
    /// The most.
    pub(crate) before_max: usize,
    /// Which ASCII characters may stand there, one bit each.
    pub(crate) before_class: u128,
    /// Whether any token that begins with it may stand directly behind a letter or digit.
    pub(crate) glue: Glue,
    /// Whether it is of a token's shape.
    pub(crate) is_of_shape: bool,
    /// How many letters and digits follow, at least.
    pub(crate) after: u8,
}

/// Where a secret may be: every token has one of these texts in it, and key blocks and password hashes begin with theirs.
pub(crate) fn anchors() -> impl Iterator<Item = Anchor> {
    let key_blocks = ["BEGIN ", "BEGIN%20", "BEGIN+"].map(|literal| Anchor {
        literal,
        before_min: 4,
        before_max: 6,
        before_class: (1 << b'-') | (1 << b' '),
        glue: Glue::Allowed,
        is_of_shape: false,
        after: 0,
    });
    let starts = KEY_BODIES
        .iter()
        .chain([&DER_START, &PUTTY_LINES])
        .chain(PASSWORD_HASHES.iter().map(|(start, _)| start))
        .map(|literal| Anchor {
            literal,
            before_min: 0,
            before_max: 0,
            before_class: 0,
            glue: Glue::Allowed,
            is_of_shape: false,
            after: 0,
        });
    ANCHORS.iter().copied().chain(key_blocks).chain(starts)
}

include!(concat!(env!("OUT_DIR"), "/kinds.rs"));

#[cfg(test)]
#[path = "kinds_tests.rs"]
mod tests;
