//! What a program wrote, within bounds: its beginning and its end.

use std::collections::VecDeque;

/// Keeps the first and the last bytes of a stream and counts the rest. Never holds more than its bound.
#[derive(Debug)]
pub(super) struct HeadTail {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_max: usize,
    tail_max: usize,
    len: u64,
}

impl HeadTail {
    pub(super) const fn new(bytes_max: usize) -> Self {
        let head_max = bytes_max / 2;
        Self { head: Vec::new(), tail: VecDeque::new(), head_max, tail_max: bytes_max - head_max, len: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        let room = (self.head_max - self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        let rest = rest.get(rest.len().saturating_sub(self.tail_max)..).unwrap_or_default();
        let surplus = (self.tail.len() + rest.len()).saturating_sub(self.tail_max);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(rest);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The kept bytes as text; what lies between them is said.
    pub(super) fn text(&self) -> String {
        let (a, b) = self.tail.as_slices();
        let tail = [a, b].concat();
        let cut = self.len.saturating_sub((self.head.len() + tail.len()) as u64);
        if cut == 0 {
            return String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        // The cut may have split a character on either side.
        let (head, tail) = (head.trim_end_matches('\u{fffd}'), tail.trim_start_matches('\u{fffd}'));
        format!("{head}\n[… {cut} bytes cut here …]\n{tail}")
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
