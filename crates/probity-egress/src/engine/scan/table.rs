use std::sync::OnceLock;

use super::super::drawn::is_rare_pair;
use super::super::{document, encoded_link, password_hash};
use super::{Asked, WIDE_BLANK, hint};
use crate::known::KnownForms;
use crate::vocabulary::{Anchor, anchors};

/// What a byte may be the beginning, the middle or the end of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Nothing,
    /// `=` and `:`.
    Operator,
    Quote,
    /// `>`: it may end a tag.
    Greater,
    /// `-`: it may be the last dash before a flag's name.
    Dash,
    /// `$`: it may begin a password's hash.
    Dollar,
    /// Beside a letter or digit it belongs to a run: a value that looks drawn has one.
    Digit,
    /// `%`, `&`, `\` and `[`: they begin what is encoded, and a marker.
    Escape,
    /// It begins something invisible, perhaps.
    Hidden,
    /// `/`, `~`: they begin a location. For the tier for a person only.
    Slash,
    /// `w`: it begins `www.`, perhaps. For the tier for a person only.
    Web,
}

/// A pair of an anchor's bytes.
#[derive(Debug)]
pub(super) struct Lead {
    pub(super) anchor: Anchor,
    /// Where in the anchor the pair stands; it may begin with the last byte.
    offset: usize,
    /// The bytes from one before the pair to one behind it, as far as they are the anchor's.
    around: u32,
    mask: u32,
}

impl Lead {
    fn new(anchor: Anchor, offset: usize) -> Self {
        let (mut around, mut mask) = ([0; 4], [0; 4]);
        for (at, (around, mask)) in (offset..).zip(around.iter_mut().zip(&mut mask)) {
            if let Some(byte) = at.checked_sub(1).and_then(|at| anchor.literal.as_bytes().get(at)) {
                (*around, *mask) = (*byte, u8::MAX);
            }
        }
        Self { anchor, offset, around: u32::from_le_bytes(around), mask: u32::from_le_bytes(mask) }
    }

    /// Where the anchor begins whose pair stands at `at`, if it is there. `around` are the bytes from one before the pair
    /// to one behind it.
    pub(super) fn start(&self, bytes: &[u8], at: usize, around: u32) -> Option<usize> {
        if around & self.mask != self.around {
            return None;
        }
        let start = at.checked_sub(self.offset)?;
        bytes.get(start..)?.starts_with(self.anchor.literal.as_bytes()).then_some(start)
    }
}

/// The pairs of interest: of the vocabulary and of what is registered.
#[derive(Debug)]
pub(in super::super) struct Triggers<'a> {
    table: &'static Table,
    known: Option<&'a KnownForms>,
    pairs: &'a Pairs,
}

impl<'a> Triggers<'a> {
    pub(in super::super) fn of(known: &'a KnownForms, locations: bool) -> Self {
        static CREDENTIALS: OnceLock<Table> = OnceLock::new();
        static LOCATIONS: OnceLock<Table> = OnceLock::new();
        let table = if locations {
            LOCATIONS.get_or_init(|| Table::new(true))
        } else {
            CREDENTIALS.get_or_init(|| Table::new(false))
        };
        let known = Some(known).filter(|known| known.is_any());
        let merged = known.map(|known| {
            known.merged(locations, || {
                let mut merged = table.pairs.clone();
                known.leading_pairs().for_each(|pair| add(&mut merged, pair, OF_KNOWN));
                merged
            })
        });
        Self { table, known, pairs: merged.unwrap_or(&table.pairs) }
    }

    /// For each pair of bytes what it is of, 0 for those that are of no interest.
    pub(super) fn pairs(&self) -> &'a Pairs {
        self.pairs
    }

    pub(super) fn act(&self, byte: u8) -> Act {
        self.table.act_of(byte)
    }

    /// The anchors that have this pair in them, or end with its first byte and the one before, if there are any.
    #[inline]
    pub(super) fn leads(&self, before: u8, pair: [u8; 2]) -> Option<[&'static [Lead]; 2]> {
        let table = self.table;
        let inside = table.lists.get(index(pair)).copied().unwrap_or_default();
        let ends = table.ends.get(index([before, pair[0]])).copied().unwrap_or_default();
        let list = |at: u16| table.leads.0.get(usize::from(at)).map_or(&[][..], Vec::as_slice);
        (inside | ends != 0).then(|| [list(inside), list(ends)])
    }

    /// The anchors that something invisible between the two bytes may tear.
    pub(super) fn tears(&self, pair: [u8; 2]) -> impl Iterator<Item = &'static Tear> {
        let table = self.table;
        let from = table.torn.get(index(pair)).map_or(0, |from| usize::from(*from));
        let tears = from.checked_sub(1).and_then(|from| table.tears.get(from..)).unwrap_or_default();
        tears.iter().take_while(move |tear| tear.pair == pair)
    }

    pub(super) fn has_locations(&self) -> bool {
        self.table.locations
    }

    /// The registered secrets, if there are any.
    pub(super) fn known(&self) -> Option<&'a KnownForms> {
        self.known
    }
}

/// Where the fixed text of an anchor may be torn: between the bytes of the pair.
#[derive(Debug)]
pub(super) struct Tear {
    pair: [u8; 2],
    /// The text from the second byte on.
    pub(super) rest: &'static str,
    /// Who is to be asked before it.
    pub(super) asked: Asked,
}

/// What each pair of bytes is of, and where to look further.
///
/// A text is looked at in pairs that do not overlap, so what is to be recognised must be so by a pair at an even offset of
/// its and by one at an odd offset.
#[derive(Debug)]
struct Table {
    pairs: Box<Pairs>,
    acts: Box<[Act; 256]>,
    /// For each pair its place in `leads`; the first list is empty.
    lists: Vec<u16>,
    /// The same for each pair that an anchor ends with.
    ends: Vec<u16>,
    leads: Leads,
    /// All pairs of all anchors with what follows each, in order.
    tears: Vec<Tear>,
    /// For each pair the first of its tears, counted from one; 0 for those that have none.
    torn: Vec<u16>,
    locations: bool,
}

const PAIRS: usize = 1 << 16;
/// What each pair of bytes is of, the first byte in the lower half.
pub(crate) type Pairs = [u8; PAIRS];
/// A byte of it does something.
const OF_ACT: u8 = 1;
/// An anchor may have it, or end with its first byte.
pub(super) const OF_ANCHOR: u8 = 1 << 1;
/// It is of interest for its digits alone.
pub(super) const OF_RUN: u8 = 1 << 2;
/// A registered secret may begin with it, or at the byte before.
pub(super) const OF_KNOWN: u8 = 1 << 3;
/// Letters of one case that words have not side by side.
pub(super) const OF_LETTERS: u8 = 1 << 4;
pub(super) const QUOTES: [u8; 3] = *b"\"'`";

fn index(pair: [u8; 2]) -> usize {
    usize::from(u16::from_le_bytes(pair))
}

fn add(pairs: &mut Pairs, pair: [u8; 2], of: u8) {
    if let Some(all) = pairs.get_mut(index(pair)) {
        *all |= of;
    }
}

impl Table {
    fn new(locations: bool) -> Self {
        let mut table = Self {
            pairs: Box::new([0; PAIRS]),
            acts: Box::new([Act::Nothing; 256]),
            lists: vec![0; PAIRS],
            ends: vec![0; PAIRS],
            leads: Leads(vec![Vec::new()]),
            tears: Vec::new(),
            torn: vec![0; PAIRS],
            locations,
        };
        for anchor in anchors().chain(document::anchors()).chain(encoded_link::anchors()) {
            table.anchor(anchor);
        }
        table.tears.sort_by(|a, b| (a.pair, a.rest, a.asked).cmp(&(b.pair, b.rest, b.asked)));
        table.tears.dedup_by(|a, b| (a.pair, a.rest, a.asked) == (b.pair, b.rest, b.asked));
        for (from, tear) in (1..).zip(&table.tears) {
            if let Some(first) = table.torn.get_mut(index(tear.pair)).filter(|first| **first == 0) {
                *first = from;
            }
        }
        for byte in *b"=:" {
            table.alone(byte, Act::Operator);
        }
        for byte in QUOTES {
            table.alone(byte, Act::Quote);
        }
        table.alone(b'>', Act::Greater);
        for next in (0..=255_u8).filter(|b| hint::may_begin_flag(*b)) {
            table.begins(b'-', &[next], Act::Dash);
        }
        for next in (0..128_u8).filter(|b| password_hash::is_id(char::from(*b))) {
            table.begins(b'$', &[next], Act::Dollar);
        }
        for digit in b'0'..=b'9' {
            table.alone(digit, Act::Digit);
        }
        for (first, seconds) in [(b'[', &b"R"[..]), (b'%', b"023"), (b'&', b"#acegnq"), (b'\\', b"u")] {
            table.begins(first, seconds, Act::Escape);
        }
        for [first, second] in HIDDEN_LEADS {
            table.begins(*first, &[*second], Act::Hidden);
        }
        table.begins(WIDE_BLANK[0], &[WIDE_BLANK[1]], Act::Hidden);
        table.alone(0x1b, Act::Hidden);
        if locations {
            for byte in *b"/~" {
                table.alone(byte, Act::Slash);
            }
            table.alone(b'\\', Act::Escape);
            for byte in *b"wW" {
                table.begins(byte, b"wW", Act::Web);
            }
        }
        for (first, second) in
            (b'a'..=b'z').flat_map(|first| (b'a'..=b'z').map(move |second| (first, second)))
        {
            if is_rare_pair(first, second) {
                add(&mut table.pairs, [first, second], OF_LETTERS);
                let capitals = [first, second].map(|letter| letter.to_ascii_uppercase());
                add(&mut table.pairs, capitals, OF_LETTERS);
            }
        }
        // Last, when it is known what else a byte may be.
        let is_of_run = |byte: u8| {
            byte.is_ascii_alphanumeric()
                && matches!(table.acts.get(usize::from(byte)), Some(Act::Nothing | Act::Digit))
        };
        for (pair, of) in (0..=u16::MAX).zip(table.pairs.iter_mut()) {
            if *of == OF_ACT && pair.to_le_bytes().into_iter().all(is_of_run) {
                *of |= OF_RUN;
            }
        }
        table
    }

    fn act_of(&self, byte: u8) -> Act {
        self.acts.get(usize::from(byte)).copied().unwrap_or(Act::Nothing)
    }

    fn act(&mut self, byte: u8, act: Act) {
        if let Some(slot) = self.acts.get_mut(usize::from(byte)) {
            *slot = act;
        }
    }

    fn pair(&mut self, pair: [u8; 2]) {
        add(&mut self.pairs, pair, OF_ACT);
    }

    /// A byte that is of interest whatever stands beside it.
    fn alone(&mut self, byte: u8, act: Act) {
        self.act(byte, act);
        for other in 0..=255 {
            self.pair([byte, other]);
            self.pair([other, byte]);
        }
    }

    /// A byte that is of interest before one of `seconds`.
    fn begins(&mut self, byte: u8, seconds: &[u8], act: Act) {
        self.act(byte, act);
        for second in seconds {
            self.pair([byte, *second]);
        }
        for other in 0..=255 {
            self.pair([other, byte]);
        }
    }

    /// The rarest pair of the fixed text at an even offset and at an odd one. The last byte and any behind it is one, too:
    /// texts of three small letters and a sign are many, and their letters common.
    fn anchor(&mut self, anchor: Anchor) {
        let literal = anchor.literal.as_bytes();
        // Where the fixed text begins a token, those are not asked whose fixed text stands further on.
        let asked = if anchor.before_max > 0 { Asked::TOKENS.and(Asked::ANCHORED) } else { Asked::TOKENS };
        for (nth, pair) in literal.array_windows::<2>().enumerate() {
            let rest = anchor.literal.get(nth + 1..).unwrap_or_default();
            self.tears.push(Tear { pair: *pair, rest, asked });
        }
        let weight = |at: usize| {
            let first = literal.get(at).map_or(0, |byte| commonness(*byte));
            first * literal.get(at + 1).map_or(ANY_COMMONNESS, |byte| commonness(*byte))
        };
        for parity in [0, 1] {
            let Some(offset) = (parity..literal.len()).step_by(2).min_by_key(|at| weight(*at)) else {
                continue;
            };
            match literal.get(offset..) {
                Some([first, second, ..]) => {
                    add(&mut self.pairs, [*first, *second], OF_ANCHOR);
                    if let Some(list) = self.lists.get_mut(index([*first, *second])) {
                        self.leads.lead(list, anchor, offset);
                    }
                }
                Some([last]) => {
                    let before = offset.checked_sub(1).and_then(|at| literal.get(at)).copied();
                    let Some(before) = before else { continue };
                    // No token has a blank in it; the end of a line may be.
                    for next in (0..=u8::MAX).filter(|b| !matches!(b, b' ' | b'\t')) {
                        add(&mut self.pairs, [*last, next], OF_ANCHOR);
                    }
                    if let Some(list) = self.ends.get_mut(index([before, *last])) {
                        self.leads.lead(list, anchor, offset);
                    }
                }
                Some([]) | None => {}
            }
        }
    }
}

/// Lists of leads; the first is empty.
#[derive(Debug)]
struct Leads(Vec<Vec<Lead>>);

impl Leads {
    /// Adds to the list whose place is in `list`, a new one where that is the first.
    fn lead(&mut self, list: &mut u16, anchor: Anchor, offset: usize) {
        if *list == 0 {
            *list = u16::try_from(self.0.len()).unwrap_or_default();
            self.0.push(Vec::new());
        }
        if let Some(leads) = self.0.get_mut(usize::from(*list)) {
            leads.push(Lead::new(anchor, offset));
        }
    }
}

/// The first two bytes of every invisible character.
const HIDDEN_LEADS: &[[u8; 2]] = &[
    [0xc2, 0xad],
    [0xcd, 0x8f],
    [0xd8, 0x9c],
    [0xe1, 0x85],
    [0xe1, 0x9e],
    [0xe1, 0xa0],
    [0xe2, 0x80],
    [0xe2, 0x81],
    [0xe3, 0x85],
    [0xef, 0xb8],
    [0xef, 0xbb],
    [0xef, 0xbe],
    [0xef, 0xbf],
    [0xf0, 0x9b],
    [0xf0, 0x9d],
    [0xf3, 0xa0],
];

/// What any byte counts for among [`commonness`].
const ANY_COMMONNESS: u32 = 60;

/// How often a byte occurs in text and code, roughly, in parts of a thousand. Letters as in English prose.
fn commonness(byte: u8) -> u32 {
    const LETTERS: [u32; 26] =
        [65, 12, 25, 35, 100, 18, 16, 45, 58, 2, 7, 33, 20, 57, 62, 17, 1, 52, 56, 75, 24, 9, 17, 2, 15, 1];
    match byte {
        b'a'..=b'z' => LETTERS.get(usize::from(byte - b'a')).copied().unwrap_or(1),
        b'A'..=b'Z' => LETTERS.get(usize::from(byte - b'A')).map_or(1, |share| 1 + share / 12),
        b'0'..=b'9' => 25,
        b' ' => 150,
        b'.' | b',' | b':' | b'"' | b'=' => 11,
        b'-' | b'/' | b'_' => 6,
        _ => 3,
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
