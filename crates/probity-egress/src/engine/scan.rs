use std::sync::OnceLock;

use super::cursor::is_zero_width;
use super::{document, encoded_link};
use crate::known::KnownForms;
use crate::vocabulary::{Anchor, anchors};

/// How many bytes beyond a position must have arrived before it is known whether anything may begin there.
///
/// Anchors stand at most [`BEFORE_BYTES_MAX`] behind the beginning of their token, and something invisible makes
/// [`HIDDEN_REACH_BYTES`] before it worth asking.
pub(super) const AHEAD_BYTES: usize = 96;
const BEFORE_BYTES_MAX: usize = 80;
const HIDDEN_REACH_BYTES: usize = 40;
/// How many bytes before the first position are looked at for what marks a later one.
const BEFORE_BLOCK_BYTES: usize = 64;
/// How far the end of a flag's name may be.
const FLAG_NAME_BYTES_MAX: usize = 48;
/// A token without any fixed text is at least so long.
const TOKEN_BYTES_MIN: usize = 24;
const BLANKS_MAX: usize = 12;
/// A run of letters and digits shorter than this is no secret by its look alone.
const RUN_BYTES_MIN: usize = 8;

/// Which positions of a block are worth asking the detectors about.
///
/// The detectors are exact and slow; this is fast and only has to be generous. What it needs of the text are pairs of
/// bytes: a table of all 65,536 says for each whether anything of interest may have it, and nearly all text has none. The
/// alternatives that lost: a vector search for many literals, which stops at 64 of them and slows down with common words;
/// and a compiled automaton of all kinds, which costs more to build than most passes take.
///
/// That nothing is overlooked is not argued but tested: the engine that asks everywhere gives the same text.
#[derive(Debug, Default)]
pub(super) struct Marks {
    from: usize,
    bits: Vec<u64>,
    /// For each position, who is to be asked.
    asked: Vec<Asked>,
}

/// The detectors that are to be asked about a position.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked(u8);

impl Asked {
    /// Everybody, as far as the position itself can tell: shapes whose fixed text stands further on are not asked.
    pub(super) const ALL: Self = Self(0b1_1111);
    /// Key blocks, password hashes and tokens.
    pub(super) const TOKENS: Self = Self(1);
    /// Names, and other structures that begin with an operator.
    pub(super) const NAMES: Self = Self(1 << 1);
    /// What is encoded, and values by the words before them.
    pub(super) const VALUES: Self = Self(1 << 2);
    pub(super) const LOCATIONS: Self = Self(1 << 3);
    pub(super) const KNOWN: Self = Self(1 << 4);
    /// Tokens whose fixed text stands further on.
    pub(super) const ANCHORED: Self = Self(1 << 5);

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn has(self, one: Self) -> bool {
        self.0 & one.0 != 0
    }
}

impl Marks {
    /// Marks `from..to` of `text`, which has arrived at least to [`AHEAD_BYTES`] beyond `to`, or ends.
    pub(super) fn scan(&mut self, text: &str, from: usize, to: usize, triggers: &Triggers<'_>) {
        self.from = from;
        self.bits.clear();
        self.bits.resize((to - from).div_ceil(64), 0);
        self.asked.clear();
        self.asked.resize(to - from, Asked::default());
        let bytes = text.as_bytes();
        let start = from.saturating_sub(BEFORE_BLOCK_BYTES);
        let end = bytes.len().min(to + AHEAD_BYTES);
        let mut run = Run::default();
        let window = bytes.get(start..end).unwrap_or_default();
        let pairs = triggers.pairs();
        let set =
            |pair: u16| pairs.get(usize::from(pair >> 6)).copied().unwrap_or_default() >> (pair & 63) & 1;
        let mut prev = window.first().copied().unwrap_or_default();
        let mut at = start;
        // Eight pairs at a time: nearly all text has nothing in any of them.
        let (eights, rest) = window.get(1..).unwrap_or_default().as_chunks::<8>();
        for eight in eights {
            let mut any = 0;
            let mut last = prev;
            for byte in eight {
                any |= set(u16::from_be_bytes([last, *byte]));
                last = *byte;
            }
            if any != 0 {
                for byte in eight {
                    let pair = u16::from_be_bytes([prev, *byte]);
                    if set(pair) != 0 {
                        self.hit(text, at, pair, triggers, &mut run);
                    }
                    prev = *byte;
                    at += 1;
                }
            } else {
                prev = last;
                at += 8;
            }
        }
        for byte in rest.iter().chain(&[0]) {
            let pair = u16::from_be_bytes([prev, *byte]);
            if set(pair) != 0 {
                self.hit(text, at, pair, triggers, &mut run);
            }
            prev = *byte;
            at += 1;
        }
    }

    /// The first marked position at or after `at`.
    pub(super) fn next(&self, at: usize) -> Option<usize> {
        let offset = at.saturating_sub(self.from);
        let mut word = offset / 64;
        let mut bits = self.bits.get(word)? & (u64::MAX << (offset % 64));
        while bits == 0 {
            word += 1;
            bits = *self.bits.get(word)?;
        }
        Some(self.from + word * 64 + usize::try_from(bits.trailing_zeros()).unwrap_or_default())
    }

    /// Who is to be asked about `at`.
    pub(super) fn asked(&self, at: usize) -> Asked {
        self.asked.get(at.wrapping_sub(self.from)).copied().unwrap_or_default()
    }

    fn set(&mut self, at: usize, asked: Asked) {
        let offset = at.wrapping_sub(self.from);
        if let Some(all) = self.asked.get_mut(offset)
            && let Some(word) = self.bits.get_mut(offset / 64)
        {
            *all = all.and(asked);
            *word |= 1 << (offset % 64);
        }
    }

    fn hit(&mut self, text: &str, at: usize, pair: u16, triggers: &Triggers<'_>, run: &mut Run) {
        let bytes = text.as_bytes();
        for action in triggers.actions(pair) {
            match action {
                Action::Here(asked) => self.set(at, *asked),
                Action::Next => self.set(at + 1, Asked::NAMES),
                Action::Quote => {
                    // After a colon the colon itself is asked.
                    let sign = at.checked_sub(1).and_then(|at| bytes.get(at));
                    if !sign.is_some_and(|b| matches!(b, b':')) || bytes.get(at) == Some(&b'(') {
                        self.set(at, Asked::NAMES);
                    }
                }
                Action::Comma => {
                    let rest = bytes.get(at + 2..).unwrap_or_default();
                    let next = rest.iter().take(BLANKS_MAX + 8).find(|b| !matches!(b, b' ' | b'\t' | b'\\'));
                    if next.is_none_or(|b| {
                        QUOTES.contains(b) || !b.is_ascii() || matches!(b, 0x1b | b'%' | b'&')
                    }) {
                        self.set(at + 1, Asked::NAMES);
                    }
                }
                Action::Hidden => {
                    if is_hidden(text, at) {
                        for earlier in at.saturating_sub(HIDDEN_REACH_BYTES)..=at {
                            self.set(earlier, Asked::ALL);
                        }
                    }
                }
                Action::Flag => {
                    let name = bytes.iter().skip(at + 1).take(FLAG_NAME_BYTES_MAX);
                    let len = name.take_while(|b| is_name(**b)).count();
                    self.set(at + 1 + len, Asked::NAMES);
                }
                Action::Run => {
                    self.run(bytes, at, run);
                }
                Action::Anchor { anchor, offset } => {
                    if let Some(start) = at.checked_sub(*offset)
                        && bytes.get(start..).is_some_and(|rest| rest.starts_with(anchor.literal.as_bytes()))
                    {
                        self.anchor(bytes, start, anchor);
                    }
                }
                Action::Location => self.location(bytes, at),
            }
        }
        if triggers.known.has_pair(pair) {
            self.set(at, Asked::KNOWN);
        }
    }

    /// A token may begin anywhere as far before its anchor as its shape allows.
    fn anchor(&mut self, bytes: &[u8], start: usize, anchor: &Anchor) {
        let allowed = |b: &u8| b.is_ascii() && anchor.before_class >> b & 1 != 0;
        let before = bytes.get(..start).unwrap_or_default();
        let reach =
            before.iter().rev().take(anchor.before_max.min(BEFORE_BYTES_MAX)).take_while(|b| allowed(b));
        let reach = reach.count();
        for back in anchor.before_min..=reach {
            self.set(start - back, Asked::TOKENS.and(Asked::ANCHORED));
        }
    }

    /// Marks where a value may begin that has the digit at `at`: at every word of its run from [`BEFORE_BYTES_MAX`] before
    /// to [`BEFORE_BLOCK_BYTES`] behind a digit, whichever digit of the run is seen first.
    fn run(&mut self, bytes: &[u8], at: usize, run: &mut Run) {
        let before = bytes.get(..at).unwrap_or_default();
        let is_same = at < run.end;
        if !is_same {
            let rest = bytes.get(at..).unwrap_or_default();
            let len = rest.iter().take(AHEAD_BYTES).take_while(|b| is_run(**b)).count();
            let back = before.iter().rev().take(BEFORE_BYTES_MAX).take_while(|b| is_run(**b)).count();
            // Something invisible or encoded may stand inside.
            let goes_on = rest.get(len).is_some_and(|b| !b.is_ascii() || *b == 0x1b || *b == b'%');
            *run = Run { end: at + len, marked: at - back, is_value: back + len >= RUN_BYTES_MIN || goes_on };
            if back < BEFORE_BYTES_MAX && (back + len >= TOKEN_BYTES_MIN || goes_on) {
                self.set(at - back, Asked::TOKENS.and(Asked::ANCHORED));
            }
            if run.is_value {
                self.blank_before(bytes, at);
            }
        }
        if run.is_value {
            let to = run.end.min(at + BEFORE_BLOCK_BYTES);
            for start in run.marked.max(at.saturating_sub(BEFORE_BYTES_MAX))..to {
                let inside = start.checked_sub(1).and_then(|at| bytes.get(at));
                if !inside.is_some_and(u8::is_ascii_alphanumeric) {
                    self.set(start, Asked::VALUES);
                }
            }
            run.marked = run.marked.max(to);
        }
    }

    /// A blank can be an operator: the first one after the word before.
    fn blank_before(&mut self, bytes: &[u8], at: usize) {
        let before = bytes.get(..at).unwrap_or_default();
        let word =
            before.iter().rev().take(BEFORE_BYTES_MAX).take_while(|b| !b.is_ascii_whitespace()).count();
        let blanks = bytes.get(..at - word).unwrap_or_default().iter().rev().take(BLANKS_MAX);
        let blanks = blanks.take_while(|b| matches!(b, b' ' | b'\t')).count();
        if blanks > 0 {
            self.set(at - word - blanks, Asked::NAMES);
        }
    }

    /// Marks where a URL, or a path, may begin around `at`.
    fn location(&mut self, bytes: &[u8], at: usize) {
        self.set(at, Asked::LOCATIONS);
        let before = bytes.get(..at).unwrap_or_default();
        let scheme = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
        let back = before.iter().rev().take(BEFORE_BYTES_MAX).take_while(|b| scheme(b)).count();
        for start in at - back..at {
            self.set(start, Asked::LOCATIONS);
        }
    }
}

/// The run of letters, digits and signs that is being marked.
#[derive(Debug, Default)]
struct Run {
    end: usize,
    /// Up to where its words are marked.
    marked: usize,
    /// Whether it is long enough to be a value.
    is_value: bool,
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn is_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'~')
}

fn is_hidden(text: &str, at: usize) -> bool {
    text.as_bytes().get(at) == Some(&0x1b)
        || text.get(at..).and_then(|rest| rest.chars().next()).is_some_and(is_zero_width)
}

/// Why a pair of bytes is of interest.
#[derive(Debug, Clone)]
enum Action {
    /// The position itself is worth asking about.
    Here(Asked),
    /// The position after it is, for names.
    Next,
    /// A bracket or blank before a quote.
    Quote,
    /// A quote before a comma: it may separate a name from its value.
    Comma,
    /// It may begin something invisible.
    Hidden,
    /// It may be the last dash before a flag's name; the value follows the name.
    Flag,
    /// A digit beside a letter or digit: a value that looks drawn has one.
    Run,
    /// It may belong to the fixed text of a token, `offset` bytes from its beginning.
    Anchor { anchor: Anchor, offset: usize },
    /// It may belong to a location.
    Location,
}

/// The pairs of interest: of the vocabulary and of what is registered.
#[derive(Debug)]
pub(super) struct Triggers<'a> {
    table: &'static Table,
    known: &'a KnownForms,
    merged: Option<Box<PairSet>>,
}

impl<'a> Triggers<'a> {
    pub(super) fn of(known: &'a KnownForms, locations: bool) -> Self {
        static CREDENTIALS: OnceLock<Table> = OnceLock::new();
        static LOCATIONS: OnceLock<Table> = OnceLock::new();
        let table = if locations {
            LOCATIONS.get_or_init(|| Table::new(true))
        } else {
            CREDENTIALS.get_or_init(|| Table::new(false))
        };
        let merged = (!known.pairs().is_empty()).then(|| {
            let mut merged = table.pairs.clone();
            for (word, more) in merged.iter_mut().zip(known.pairs()) {
                *word |= more;
            }
            merged
        });
        Self { table, known, merged }
    }

    fn pairs(&self) -> &PairSet {
        self.merged.as_deref().unwrap_or(&self.table.pairs)
    }

    fn actions(&self, pair: u16) -> &'static [Action] {
        let list = self.table.lists.get(usize::from(pair)).copied().unwrap_or_default();
        self.table.actions.get(usize::from(list)).map_or(&[], Vec::as_slice)
    }
}

/// One bit for each pair of bytes, and behind each set bit what to do.
#[derive(Debug)]
struct Table {
    pairs: Box<PairSet>,
    /// For each pair its place in `actions`; the first list is empty.
    lists: Vec<u16>,
    actions: Vec<Vec<Action>>,
}

const PAIRS: usize = 1 << 16;
/// A bit for each pair of bytes.
type PairSet = [u64; PAIRS / 64];
const QUOTES: [u8; 3] = *b"\"'`";

impl Table {
    fn new(locations: bool) -> Self {
        let mut table =
            Self { pairs: Box::new([0; PAIRS / 64]), lists: vec![0; PAIRS], actions: vec![Vec::new()] };
        for anchor in anchors().chain(document::anchors()).chain(encoded_link::anchors()) {
            let offset = rarest_pair(anchor.literal.as_bytes());
            let pair = anchor.literal.as_bytes().get(offset..offset + 2).unwrap_or_default();
            if let [first, second] = *pair {
                table.add(first, second, Action::Anchor { anchor, offset });
            }
        }
        for operator in *b"=:" {
            table.add_any(operator, Action::Here(Asked::NAMES));
        }
        for quote in QUOTES {
            for (first, second) in [(b'(', quote), (b' ', quote), (b'\t', quote)] {
                table.add(first, second, Action::Quote);
            }
            table.add(quote, b',', Action::Comma);
            table.add(quote, b'>', Action::Next);
        }
        for byte in (0..=127_u8).filter(u8::is_ascii_alphanumeric) {
            table.add(byte, b'>', Action::Next);
        }
        for letter in (0..=127_u8).filter(u8::is_ascii_alphabetic) {
            table.add(b'-', letter, Action::Flag);
            for digit in b'0'..=b'9' {
                table.add(letter, digit, Action::Run);
                table.add(digit, letter, Action::Run);
            }
        }
        for first in b'0'..=b'9' {
            for second in b'0'..=b'9' {
                table.add(first, second, Action::Run);
            }
        }
        for (first, second) in
            [(b'[', b'R'), (b'%', b'2'), (b'%', b'3'), (b'&', b'#'), (b'&', b'a'), (b'\\', b'u')]
        {
            table.add(first, second, Action::Here(Asked::NAMES));
        }
        table.add_any(0x1b, Action::Hidden);
        for lead in hidden_leads() {
            table.add(lead[0], lead[1], Action::Hidden);
        }
        if locations {
            for byte in *b"/\\~" {
                table.add_any(byte, Action::Here(Asked::LOCATIONS));
            }
            table.add(b'w', b'w', Action::Here(Asked::LOCATIONS));
            table.add(b'W', b'W', Action::Here(Asked::LOCATIONS));
            table.add_any(b':', Action::Location);
        }
        table
    }

    fn add(&mut self, first: u8, second: u8, action: Action) {
        let pair = usize::from(first) << 8 | usize::from(second);
        if let Some(word) = self.pairs.get_mut(pair >> 6) {
            *word |= 1 << (pair & 63);
        }
        let Some(list) = self.lists.get_mut(pair) else { return };
        if *list == 0 {
            *list = u16::try_from(self.actions.len()).unwrap_or_default();
            self.actions.push(Vec::new());
        }
        if let Some(actions) = self.actions.get_mut(usize::from(*list)) {
            actions.push(action);
        }
    }

    fn add_any(&mut self, first: u8, action: Action) {
        for second in 0..=u8::MAX {
            self.add(first, second, action.clone());
        }
    }
}

/// The first two bytes of every invisible character.
fn hidden_leads() -> Vec<[u8; 2]> {
    let mut leads: Vec<[u8; 2]> = ('\u{80}'..='\u{e0fff}')
        .filter(|c| is_zero_width(*c))
        .filter_map(|c| c.encode_utf8(&mut [0; 4]).as_bytes().first_chunk().copied())
        .collect();
    leads.sort_unstable();
    leads.dedup();
    leads
}

/// Where in `literal` its rarest pair of bytes begins.
fn rarest_pair(literal: &[u8]) -> usize {
    let weight = |pair: &[u8]| pair.iter().map(|b| commonness(*b)).product::<u32>();
    (0..literal.len().saturating_sub(1))
        .min_by_key(|at| literal.get(*at..at + 2).map(weight))
        .unwrap_or_default()
}

/// How often a byte occurs in text and code, roughly, in parts of a thousand. Letters as in English prose.
fn commonness(byte: u8) -> u32 {
    const LETTERS: [u32; 26] =
        [65, 12, 25, 35, 100, 18, 16, 45, 58, 2, 7, 33, 20, 57, 62, 17, 1, 52, 56, 75, 24, 9, 17, 2, 15, 1];
    match byte {
        b'a'..=b'z' => LETTERS.get(usize::from(byte - b'a')).copied().unwrap_or(1),
        b'A'..=b'Z' => LETTERS.get(usize::from(byte - b'A')).map_or(1, |share| 1 + share / 12),
        b'0'..=b'9' => 12,
        b' ' => 150,
        b'-' | b'/' | b'.' | b',' | b':' | b'"' => 6,
        b'_' => 3,
        _ => 3,
    }
}
