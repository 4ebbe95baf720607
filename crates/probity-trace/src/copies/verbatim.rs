//! Long passages that stand in a source word for word.
//!
//! Every twelfth byte of the sources begins a window of twelve bytes that is remembered; a passage of at least 23 bytes holds one
//! of them wherever it begins. A suffix automaton lost: it needs forty times the memory of the text.

use std::ops::Range;

use super::CopySource;
use super::index::INDEX_BYTES_MAX;
use crate::atoms::{Decoded, mixed};

/// The shortest passage that can be asked for, in bytes.
pub const VERBATIM_BYTES_MIN: usize = 2 * WINDOW_BYTES - 1;

const WINDOW_BYTES: usize = 12;

/// The most places of one window that are compared; the oldest ones are.
const CANDIDATES_MAX: usize = 8;

/// The longest `bytes_min` that is heeded, so that a search stays linear.
const BYTES_MIN_MAX: usize = 256;

/// The passages of a list of sources.
#[derive(Debug)]
pub struct VerbatimIndex<'t, K> {
    sources: Vec<(K, Decoded<'t>)>,
    /// Hash of a window, number of its source, its offset there; sorted.
    windows: Vec<(u64, u32, u32)>,
}

/// A passage of the text asked about that stands in a source word for word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerbatimSpan<K> {
    /// In the text asked about, in bytes.
    pub range: Range<usize>,
    /// The source; of several with the passage, the oldest.
    pub source: K,
    /// In the text of the source, in bytes.
    pub source_range: Range<usize>,
}

impl<'t, K: Clone> VerbatimIndex<'t, K> {
    /// Reads the sources, which are given oldest first. What is beyond [`INDEX_BYTES_MAX`] is left out.
    #[expect(clippy::cast_possible_truncation, reason = "`INDEX_BYTES_MAX` fits")]
    pub fn new(sources: impl IntoIterator<Item = CopySource<'t, K>>) -> Self {
        let mut index = Self { sources: Vec::new(), windows: Vec::new() };
        let mut total = 0;
        for source in sources {
            total += source.text.len();
            if total > INDEX_BYTES_MAX {
                break;
            }
            let number = index.sources.len() as u32;
            let decoded = Decoded::unescaped(source.text);
            let windows = decoded.text.as_bytes().chunks_exact(WINDOW_BYTES).enumerate();
            index
                .windows
                .extend(windows.map(|(at, window)| (hash(window), number, (at * WINDOW_BYTES) as u32)));
            index.sources.push((source.key, decoded));
        }
        index.windows.sort_unstable();
        index
    }

    /// The longest passages of a text that stand in the sources, first to last; no two overlap.
    ///
    /// Passages shorter than `bytes_min` are left out; it is heeded from [`VERBATIM_BYTES_MIN`] to 256. Of a passage that
    /// stands in many places the eight oldest are compared, so that a longer one in a later place may be missed.
    #[must_use]
    pub fn spans(&self, text: &str, bytes_min: usize) -> Vec<VerbatimSpan<K>> {
        let bytes_min = bytes_min.clamp(VERBATIM_BYTES_MIN, BYTES_MIN_MAX);
        let bytes = text.as_bytes();
        let mut spans = Vec::new();
        let (mut at, mut from) = (0, 0);
        while let Some(window) = bytes.get(at..at + WINDOW_BYTES) {
            let Some(first) =
                self.longest(text, from, at, window).filter(|found| found.range.len() >= bytes_min)
            else {
                at += 1;
                continue;
            };
            let Passage { range, source, source_start } = self.widest(text, from, at, first);
            (at, from) = (range.end, range.end);
            if let Some((key, decoded)) = self.sources.get(source) {
                let source_range = decoded.original(source_start..source_start + range.len());
                spans.push(VerbatimSpan { range, source: key.clone(), source_range });
            }
        }
        spans
    }

    /// The first passage, or one that holds all of it and more. Where a text repeats itself (`----`) a window stands in the
    /// sources sooner than the one that lies as the whole passage does; that one comes within the length of a window.
    fn widest(&self, text: &str, from: usize, at: usize, first: Passage) -> Passage {
        let mut widest = first;
        for ahead in at + 1..at + WINDOW_BYTES {
            let window = text.as_bytes().get(ahead..ahead + WINDOW_BYTES);
            if let Some(found) = window.and_then(|window| self.longest(text, from, ahead, window))
                && found.range.start <= widest.range.start
                && found.range.end > widest.range.end
            {
                widest = found;
            }
        }
        widest
    }

    /// The longest passage around a window that does not begin before `from`.
    fn longest(&self, text: &str, from: usize, at: usize, window: &[u8]) -> Option<Passage> {
        let wanted = hash(window);
        let first = self.windows.partition_point(|(hash, ..)| *hash < wanted);
        let candidates =
            self.windows.get(first..)?.iter().take_while(|(hash, ..)| *hash == wanted).take(CANDIDATES_MAX);
        let mut best: Option<Passage> = None;
        for (_, number, offset) in candidates {
            let (number, offset) = (*number as usize, *offset as usize);
            let Some((_, source)) = self.sources.get(number) else { continue };
            let right = common_prefix(text.as_bytes().get(at..)?, source.text.as_bytes().get(offset..)?);
            if right < WINDOW_BYTES {
                continue;
            }
            let left = common_suffix(text.as_bytes().get(from..at)?, source.text.as_bytes().get(..offset)?);
            let (start, end) = (text.ceil_char_boundary(at - left), text.floor_char_boundary(at + right));
            if best.as_ref().is_none_or(|best| best.range.len() < end.saturating_sub(start)) {
                best = Some(Passage { range: start..end, source: number, source_start: offset + start - at });
            }
        }
        best
    }
}

/// A place of the text, the number of the source it stands in, and where it begins there.
struct Passage {
    range: Range<usize>,
    source: usize,
    source_start: usize,
}

fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(one, other)| one == other).count()
}

fn common_suffix(left: &[u8], right: &[u8]) -> usize {
    left.iter().rev().zip(right.iter().rev()).take_while(|(one, other)| one == other).count()
}

fn hash(window: &[u8]) -> u64 {
    let number = |part: Option<&[u8]>| {
        part.unwrap_or_default().iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    mixed(number(window.get(..8)) ^ mixed(number(window.get(8..)).wrapping_add(0x9e37_79b9)))
}
