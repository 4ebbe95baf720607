//! Bytes as text and back: what is not UTF-8 goes through the pass as private-use characters.
//!
//! A byte that is no part of UTF-8 becomes one character of U+F780 to U+F7FF, which the pass treats like any character
//! without a meaning. A genuine character of that range goes in as its three bytes, so the way back is unambiguous.
//! Replacing such bytes by U+FFFD would have changed files in which nothing is secret.

use std::collections::VecDeque;

/// The private-use character of byte 0.
const BASE: u32 = 0xf700;

/// Reads bytes as text, chunk by chunk, and knows where in the bytes a place in the text lies.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    // The beginning of a character whose end has not come.
    carry: Vec<u8>,
    text_len: usize,
    // INVARIANT: in order of both.
    marks: VecDeque<Mark>,
    /// Whether any byte went in as a stand-in.
    pub(super) has_stand_ins: bool,
}

/// From here on, `text - input` is the same up to the next mark.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    text: usize,
    input: usize,
}

impl Decoder {
    /// The text of the next bytes; the beginning of a character waits for its end.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        let mut joined = std::mem::take(&mut self.carry);
        joined.extend_from_slice(bytes);
        let mut text = String::with_capacity(joined.len());
        let mut rest = joined.as_slice();
        while !rest.is_empty() {
            match str::from_utf8(rest) {
                Ok(valid) => {
                    self.plain(valid, &mut text);
                    break;
                }
                Err(error) => {
                    let (valid, behind) = rest.split_at(error.valid_up_to());
                    self.plain(str::from_utf8(valid).unwrap_or_default(), &mut text);
                    let Some(len) = error.error_len() else {
                        self.carry = behind.to_vec();
                        break;
                    };
                    let (broken, behind) = behind.split_at(len);
                    self.stand_in(broken, &mut text);
                    rest = behind;
                }
            }
        }
        text
    }

    /// The text of what still waited when the bytes ended.
    pub(super) fn finish(&mut self) -> String {
        let mut text = String::new();
        let broken = std::mem::take(&mut self.carry);
        self.stand_in(&broken, &mut text);
        text
    }

    fn plain(&mut self, valid: &str, text: &mut String) {
        let mut rest = valid;
        while let Some(at) = rest.find(is_stand_in) {
            let (before, behind) = rest.split_at(at);
            let (genuine, behind) = behind.split_at(behind.chars().next().map_or(0, char::len_utf8));
            text.push_str(before);
            self.text_len += before.len();
            self.stand_in(genuine.as_bytes(), text);
            rest = behind;
        }
        text.push_str(rest);
        self.text_len += rest.len();
    }

    fn stand_in(&mut self, bytes: &[u8], text: &mut String) {
        for byte in bytes {
            let Some(c) = char::from_u32(BASE + u32::from(*byte)) else { continue };
            self.has_stand_ins = true;
            text.push(c);
            let input = self.input_of(self.text_len) + 1;
            self.text_len += c.len_utf8();
            self.marks.push_back(Mark { text: self.text_len, input });
        }
    }

    /// How much text there has been.
    pub(super) const fn text_len(&self) -> usize {
        self.text_len
    }

    /// Where in the input this place of the text lies; for places that were not forgotten.
    pub(super) fn input_of(&self, text: usize) -> usize {
        let behind = self.marks.partition_point(|mark| mark.text <= text);
        let mark = behind.checked_sub(1).and_then(|at| self.marks.get(at)).copied().unwrap_or_default();
        mark.input + text.saturating_sub(mark.text)
    }

    /// Forgets the marks between two places, which nobody will ask for.
    pub(super) fn forget(&mut self, from: usize, to: usize) {
        let last = self.marks.iter().rposition(|mark| mark.text <= to);
        let mut at = 0;
        self.marks.retain(|mark| {
            let keep = mark.text < from || Some(at) >= last;
            at += 1;
            keep
        });
    }
}

fn is_stand_in(c: char) -> bool {
    matches!(c, '\u{f780}'..='\u{f7ff}')
}

/// The bytes of passed text.
pub(super) fn restore(text: &str, out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = rest.find(is_stand_in) {
        let (before, behind) = rest.split_at(at);
        out.extend_from_slice(before.as_bytes());
        let mut chars = behind.chars();
        let byte = chars.next().and_then(|c| u8::try_from(u32::from(c) - BASE).ok());
        out.extend(byte);
        rest = chars.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
}

#[cfg(test)]
#[path = "bytes_tests.rs"]
mod tests;
