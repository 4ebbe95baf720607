//! The sources, read once.

use std::ops::Range;

use super::CopySource;
use crate::atoms::{
    CalendarDate, ClockTime, Decimal, Decoded, Form, TokenKind, Tokens, hashed_word_end, mixed, word_end,
    words,
};

/// The most bytes of sources that are read; what is beyond is left out, and [`CopyIndex::left_out_bytes`] says so.
pub const INDEX_BYTES_MAX: usize = 1 << 30;

/// Where every word and value of a list of sources stands.
///
/// Built in time that grows with the bytes of the sources (and the logarithm, for sorting).
#[derive(Debug)]
pub struct CopyIndex<'t, K> {
    pub(super) sources: Vec<Read<'t, K>>,
    /// Sorted by key, then by place.
    entries: Vec<Entry>,
    left_out_bytes: usize,
}

#[derive(Debug)]
pub(super) struct Read<'t, K> {
    pub(super) key: K,
    pub(super) decoded: Decoded<'t>,
    /// Where its text begins when all sources are thought of as one text.
    pub(super) base: usize,
    /// Counted up to the end of this source.
    pub(super) places: Places,
}

/// How many places of each kind there are, for the level of chance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) words: u32,
    pub(super) numbers: u32,
    pub(super) dates: u32,
    pub(super) times: u32,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) key: u64,
    /// In all sources as one text.
    pub(super) start: u32,
    pub(super) length: u32,
}

impl<'t, K> CopyIndex<'t, K> {
    /// Reads the sources, which are given oldest first.
    pub fn new(sources: impl IntoIterator<Item = CopySource<'t, K>>) -> Self {
        let mut index = Self { sources: Vec::new(), entries: Vec::new(), left_out_bytes: 0 };
        let mut base = 0;
        let mut places = Places::default();
        for source in sources {
            if base + source.text.len() > INDEX_BYTES_MAX {
                index.left_out_bytes += source.text.len();
                continue;
            }
            let decoded = Decoded::of(source.text, Form::of(source.text));
            read(&decoded.text, base, &mut index.entries, &mut places);
            let length = decoded.text.len();
            index.sources.push(Read { key: source.key, decoded, base, places });
            base += length;
        }
        index.entries = sorted(&index.entries);
        index
    }

    /// Bytes of sources that were not read because there are too many.
    #[must_use]
    pub fn left_out_bytes(&self) -> usize {
        self.left_out_bytes
    }

    /// The entries of a key in the first sources of the list, by place.
    pub(super) fn entries(&self, key: u64, sources: usize) -> &[Entry] {
        let end = self.sources.get(sources).map_or(usize::MAX, |source| source.base);
        let start = self.entries.partition_point(|entry| entry.key < key);
        let rest = self.entries.get(start..).unwrap_or_default();
        let count = rest.partition_point(|entry| entry.key == key && (entry.start as usize) < end);
        rest.get(..count).unwrap_or_default()
    }

    /// The source that holds a place, with its position in the list.
    pub(super) fn source_at(&self, start: usize) -> Option<(usize, &Read<'t, K>)> {
        let position = self.sources.partition_point(|source| source.base <= start).checked_sub(1)?;
        Some((position, self.sources.get(position)?))
    }
}

/// A source and the place of an entry in its decoded text.
pub(super) fn place_in<K>(source: &Read<'_, K>, entry: Entry) -> Range<usize> {
    let start = entry.start as usize - source.base;
    start..start + entry.length as usize
}

#[expect(clippy::cast_possible_truncation, reason = "`INDEX_BYTES_MAX` fits")]
fn read(text: &str, base: usize, entries: &mut Vec<Entry>, places: &mut Places) {
    let entry = |key: u64, range: Range<usize>| Entry {
        key,
        start: (base + range.start) as u32,
        length: range.len() as u32,
    };
    for token in Tokens::new(text) {
        let range = token.start..token.end;
        match token.kind {
            TokenKind::Word { hash } => {
                places.words += 1;
                entries.push(entry(word_key(hash), range));
                continue;
            }
            TokenKind::Number { value, other } => {
                places.numbers += 1;
                entries.push(entry(number_key(value), range.clone()));
                entries.extend(other.map(|other| entry(number_key(other), range.clone())));
            }
            TokenKind::Date { value, other } => {
                places.dates += 1;
                entries.extend(date_keys(value).map(|key| entry(key, range.clone())));
                let other = other.into_iter().flat_map(date_keys);
                entries.extend(other.map(|key| entry(key, range.clone())));
            }
            TokenKind::Time(time) => {
                places.times += 1;
                entries.push(entry(time_key(time), range.clone()));
            }
        }
        // The words of `May 20`, `5k` and `20T15` are still words of phrases.
        let end = word_end(text, token.end);
        let part = text.get(token.start..end).unwrap_or_default();
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        for word in words(part) {
            if part.get(word.clone()).is_some_and(|word| !word.bytes().all(|byte| byte.is_ascii_digit())) {
                let (_, hash, _) = hashed_word_end(part, word.start);
                entries.push(entry(word_key(hash), token.start + word.start..token.start + word.end));
            }
        }
    }
}

/// Entries by key, then by place. They come by place, so that a stable sort by key is enough; and the keys are spread
/// evenly, so that one pass into buckets leaves little to sort.
fn sorted(entries: &[Entry]) -> Vec<Entry> {
    let bits = (entries.len() / BUCKET_ENTRIES).checked_ilog2().unwrap_or(0);
    let bucket = |entry: &Entry| entry.key.checked_shr(u64::BITS - bits).unwrap_or(0) as usize;
    let mut ends = vec![0_usize; (1 << bits) + 1];
    for entry in entries {
        if let Some(count) = ends.get_mut(bucket(entry) + 1) {
            *count += 1;
        }
    }
    let mut total = 0;
    for end in &mut ends {
        total += *end;
        *end = total;
    }
    let mut sorted = vec![Entry { key: 0, start: 0, length: 0 }; entries.len()];
    for entry in entries {
        if let Some(next) = ends.get_mut(bucket(entry)) {
            if let Some(place) = sorted.get_mut(*next) {
                *place = *entry;
            }
            *next += 1;
        }
    }
    // By now each end is the end of its bucket.
    let mut start = 0;
    for end in ends {
        if let Some(bucket) = sorted.get_mut(start..end) {
            bucket.sort_by_key(|entry| entry.key);
        }
        start = end;
    }
    sorted
}

/// How many entries a bucket has on average.
const BUCKET_ENTRIES: usize = 16;

const WORDS: u64 = 1;
const NUMBERS: u64 = 2;
const DATES: u64 = 3;
const TIMES: u64 = 4;

fn tagged(tag: u64, content: u64) -> u64 {
    mixed(content ^ tag.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

pub(super) fn word_key(hash: u64) -> u64 {
    tagged(WORDS, hash)
}

/// Two numbers that share a key are told apart where they stand.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a hash")]
pub(super) fn number_key(number: Decimal) -> u64 {
    let (mantissa, places) = number.parts();
    let (low, high) = (mantissa as u64, (mantissa >> 64) as u64);
    tagged(NUMBERS, low ^ mixed(high) ^ mixed(u64::from(places) << 32))
}

/// By day and month, or by month and year where no day is said; a full date has both.
pub(super) fn date_keys(date: CalendarDate) -> impl Iterator<Item = u64> {
    let month = u64::from(date.month);
    let by_day = date.day.map(|day| tagged(DATES, month << 8 | u64::from(day)));
    let by_year = date.year.map(|year| tagged(DATES, 1 << 40 | u64::from(year) << 16 | month));
    by_day.into_iter().chain(by_year)
}

/// By hour and minute.
pub(super) fn time_key(time: ClockTime) -> u64 {
    tagged(TIMES, u64::from(time.hour) << 8 | u64::from(time.minute))
}
