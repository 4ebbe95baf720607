//! Words: runs of letters and digits, in any script.

use std::ops::Range;

/// The most bytes between two words of one phrase.
pub(crate) const GAP_BYTES_MAX: usize = 4;

const SEPARATOR: u8 = 0;
const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const HIGH: u8 = 3;

const CLASSES: [u8; 256] = classes();

#[expect(clippy::indexing_slicing, reason = "a byte is always less than 256")]
const fn classes() -> [u8; 256] {
    let mut table = [SEPARATOR; 256];
    let mut byte = 0_usize;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            128.. => HIGH,
            _ => SEPARATOR,
        };
        byte += 1;
    }
    table
}

#[expect(clippy::indexing_slicing, reason = "a byte is always less than 256")]
fn class(byte: u8) -> u8 {
    CLASSES[usize::from(byte)]
}

pub(crate) fn is_digit(byte: Option<&u8>) -> bool {
    byte.is_some_and(u8::is_ascii_digit)
}

/// The character that begins at an offset.
pub(crate) fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

/// The character that ends before an offset.
pub(crate) fn char_before(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}

/// Where the next word begins at or after an offset; the end of the text where there is none.
pub(crate) fn word_start(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        match class(byte) {
            SEPARATOR => at += 1,
            HIGH => match char_at(text, at) {
                Some(high) if high.is_alphanumeric() => return at,
                high => at += high.map_or(1, char::len_utf8),
            },
            _ => return at,
        }
    }
    bytes.len()
}

/// Where the word that stands at an offset ends: the offset itself where none does.
pub(crate) fn word_end(text: &str, from: usize) -> usize {
    hashed_word_end(text, from).0
}

/// Where the word ends, the hash of its lower case, and whether digits are in it.
pub(crate) fn hashed_word_end(text: &str, from: usize) -> (usize, u64, bool) {
    let bytes = text.as_bytes();
    let (mut at, mut hash, mut has_digit) = (from, HASH_START, false);
    while let Some(&byte) = bytes.get(at) {
        match class(byte) {
            SEPARATOR => break,
            HIGH => match char_at(text, at) {
                Some(high) if high.is_alphanumeric() => {
                    hash = high.to_lowercase().fold(hash, fold_char);
                    at += high.len_utf8();
                }
                _ => break,
            },
            kind => {
                has_digit |= kind == DIGIT;
                // The bit that tells capitals from small letters is set in every digit.
                hash = fold(hash, byte | 0x20);
                at += 1;
            }
        }
    }
    (at, mixed(hash), has_digit)
}

/// The hash of a word that is in lower case already.
pub(crate) fn lower_word_hash(word: &str) -> u64 {
    mixed(word.chars().fold(HASH_START, fold_char))
}

/// A word in lower case, letter by letter: as it is hashed, without a rule for the end of words.
pub(crate) fn lower_word(word: &str) -> String {
    word.chars().flat_map(char::to_lowercase).collect()
}

const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

fn fold(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

fn fold_char(hash: u64, character: char) -> u64 {
    let mut buffer = [0; 4];
    character.encode_utf8(&mut buffer).bytes().fold(hash, fold)
}

/// Spreads the bits of a number over all 64; no two numbers give the same.
pub(crate) fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// The words of a text with their places.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = word_start(text, at);
        at = word_end(text, start);
        (start < at).then_some(start..at)
    })
}

/// Whether what stands between two words lets them be words of one phrase.
pub(crate) fn is_gap(between: &str) -> bool {
    let parts =
        |byte: u8| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']' | b'(' | b')' | b'<' | b'>' | b';' | b'|');
    between.len() <= GAP_BYTES_MAX && !between.is_empty() && !between.bytes().any(parts)
}
