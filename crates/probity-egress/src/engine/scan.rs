mod hint;
mod table;

use super::class::{BARE, NAME, RUN, is};
use super::cursor::{control_sequence, zero_width_len};
use super::drawn::LETTERS_MIN;
use crate::vocabulary::{Anchor, Glue};
use hint::Walked;
pub(crate) use table::Pairs;
pub(super) use table::Triggers;
use table::{Act, Lead};

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
const BLANKS_MAX: usize = 12;
/// A blank that breaks no line.
const WIDE_BLANK: [u8; 2] = [0xc2, 0xa0];
/// How many backslashes may stand before a quote, or an encoded character.
const ESCAPES_MAX: usize = 16;
/// How long an encoded character may be, without the sign it begins with.
const ESCAPE_BYTES_MAX: usize = 32;
/// A run of letters and digits shorter than this is no secret by its look alone.
const RUN_BYTES_MIN: usize = 8;

/// Which positions of a block are worth asking the detectors about.
///
/// The detectors are exact and slow; this is fast and only has to be generous. What it needs of the text are pairs of
/// bytes that do not overlap: a table of all 65,536 says for each what it may be of, and nearly all text has none. The
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
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Asked(u8);

impl Asked {
    /// Everybody, as far as the position itself can tell: shapes whose fixed text stands further on are not asked.
    pub(super) const ALL: Self = Self(0b101_1111);
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
    /// What was removed before under a name.
    pub(super) const LEARNED: Self = Self(1 << 6);

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
        let window = bytes.get(start..end).unwrap_or_default();
        let table = triggers.pairs();
        let of = |[first, second]: [u8; 2]| {
            table.get(usize::from(u16::from_le_bytes([first, second]))).copied().unwrap_or_default()
        };
        let mut scan = Scan { marks: self, bytes, triggers, run: Run::default() };
        if start > 0 {
            scan.run.walked.control(start);
        }
        let mut at = start;
        // Eight bytes at a time: nearly all text has nothing in any of their pairs.
        let (eights, rest) = window.as_chunks::<8>();
        for eight in eights {
            let (pairs, _) = eight.as_chunks::<2>();
            if pairs.iter().fold(0, |any, pair| any | of(*pair)) != 0 {
                for (offset, pair) in pairs.iter().enumerate() {
                    let of = of(*pair);
                    if of != 0 {
                        scan.hit(at + 2 * offset, *pair, of);
                    }
                }
            }
            at += 8;
        }
        for pair in rest.chunks(2) {
            let pair = [pair.first(), pair.get(1)].map(|byte| byte.copied().unwrap_or_default());
            let of = of(pair);
            if of != 0 {
                scan.hit(at, pair, of);
            }
            at += 2;
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
}

/// One scan over a block.
#[derive(Debug)]
struct Scan<'a> {
    marks: &'a mut Marks,
    bytes: &'a [u8],
    triggers: &'a Triggers<'a>,
    run: Run,
}

impl Scan<'_> {
    /// A pair of interest at `at`, and what it is of.
    #[inline]
    fn hit(&mut self, at: usize, pair: [u8; 2], of: u8) {
        if of & table::OF_RUN != 0 && of & table::OF_KNOWN == 0 && at + 1 < self.run.settled {
            return;
        }
        for (at, byte) in [(at, pair[0]), (at + 1, pair[1])] {
            let act = self.triggers.act(byte);
            let is_settled = act == Act::Digit && at < self.run.settled;
            if act != Act::Nothing && !is_settled {
                self.act(at, act);
            }
        }
        if of & table::OF_LETTERS != 0 {
            self.letters(at);
        }
        if of & table::OF_ANCHOR != 0 {
            let before = at.checked_sub(1).and_then(|at| self.bytes.get(at)).copied().unwrap_or_default();
            if let Some(leads) = self.triggers.leads(before, pair) {
                self.leads(at, before, pair, leads);
            }
        }
        if of & table::OF_KNOWN != 0
            && let Some(known) = self.triggers.known()
        {
            for start in at.saturating_sub(1)..=at {
                if let Some([first, second]) = self.bytes.get(start..).and_then(|rest| rest.first_chunk())
                    && known.has_pair([*first, *second])
                {
                    self.marks.set(start, Asked::KNOWN);
                }
            }
        }
    }

    fn leads(&mut self, at: usize, before: u8, pair: [u8; 2], leads: [&'static [Lead]; 2]) {
        let behind = self.bytes.get(at + 2).copied().unwrap_or_default();
        let around = u32::from_le_bytes([before, pair[0], pair[1], behind]);
        for lead in leads.into_iter().flatten() {
            if let Some(start) = lead.start(self.bytes, at, around) {
                self.anchor(start, &lead.anchor);
            }
        }
    }

    fn act(&mut self, at: usize, act: Act) {
        let Self { bytes, .. } = *self;
        let locations = self.triggers.has_locations();
        let next = bytes.get(at + 1).copied().unwrap_or_default();
        let before = || at.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or_default();
        match act {
            Act::Nothing => {}
            Act::Digit => {
                self.digit(at);
            }
            Act::Operator => {
                if hint::may_assign(bytes, at, &mut self.run.walked) {
                    self.marks.set(at, Asked::NAMES);
                }
                if locations && bytes.get(at) == Some(&b':') {
                    self.location(at);
                }
            }
            Act::Quote => {
                self.quote(at);
            }
            Act::Greater => {
                let tag = hint::may_end_attribute(bytes, at)
                    || hint::may_end_tag(bytes, at) && hint::may_be_named(bytes, at, &mut self.run.walked);
                if tag {
                    self.marks.set(at, Asked::NAMES);
                }
            }
            Act::Dash => {
                // A number's dash is of a word.
                let is_number = || next.is_ascii_digit() && (is(before(), NAME) || before() == b'/');
                if hint::may_begin_flag(next) && !is_number() {
                    self.flag(at + 1);
                }
            }
            Act::Dollar => {
                if hint::may_be_hash(bytes, at) {
                    self.marks.set(at, Asked::TOKENS);
                }
            }
            Act::Escape => {
                self.escape(at);
                if locations && bytes.get(at) == Some(&b'\\') {
                    self.marks.set(at, Asked::LOCATIONS);
                }
            }
            Act::Hidden => {
                if bytes.get(at) == Some(&0x1b) {
                    self.run.walked.control(at);
                }
                if next == WIDE_BLANK[1] && bytes.get(at) == Some(&WIDE_BLANK[0]) {
                    self.marks.set(at, Asked::NAMES);
                    self.marks.set(at - blanks_before(bytes, at), Asked::NAMES);
                }
                if let Some(len) = hidden(bytes, at) {
                    // A control sequence may have a registered secret in it; what takes no room is only copied.
                    let is_control = bytes.get(at) == Some(&0x1b);
                    let to = if is_control { at + 1 } else { at };
                    for earlier in at.saturating_sub(HIDDEN_REACH_BYTES).max(self.run.hidden_to)..to {
                        self.marks.set(earlier, Asked::ALL);
                    }
                    self.run.hidden_to = if is_control { at } else { at + len };
                    // Its last letter stands for nothing.
                    self.marks.set(at + len, Asked::ALL);
                    if at >= self.run.hidden_end {
                        let mut end = at + len;
                        while end < at + AHEAD_BYTES
                            && let Some(more) = hidden(bytes, end)
                        {
                            end += more;
                        }
                        self.run.hidden_end = end;
                        let after = bytes.get(end).copied().unwrap_or_default();
                        for tear in self.triggers.tears([before(), after]) {
                            if self.run.torn_to(tear.asked) < at && goes_on(bytes, end, tear.rest) {
                                self.torn(at, tear.asked);
                            }
                        }
                    }
                }
            }
            Act::Slash => self.marks.set(at, Asked::LOCATIONS),
            Act::Web => {
                if next.eq_ignore_ascii_case(&b'w') {
                    self.marks.set(at, Asked::LOCATIONS);
                }
                if before().eq_ignore_ascii_case(&b'w') {
                    self.marks.set(at - 1, Asked::LOCATIONS);
                }
            }
        }
    }

    /// The quote at `at` may open a value or close a name.
    fn quote(&mut self, at: usize) {
        let Self { bytes, .. } = *self;
        let before = bytes.get(..at).unwrap_or_default();
        let escapes = before.iter().rev().take(ESCAPES_MAX).take_while(|b| **b == b'\\').count();
        let end = at - escapes;
        if let Some(opener) = end.checked_sub(1)
            && matches!(bytes.get(opener), Some(b'(' | b' ' | b'\t'))
        {
            if hint::may_be_argument(bytes, opener, &mut self.run.walked) {
                self.marks.set(opener, Asked::NAMES);
            }
            // Words are asked about at the first blank behind them.
            let blanks = blanks_before(bytes, end);
            if blanks > 1 && hint::may_be_said(bytes, end - blanks, &mut self.run.walked) {
                self.marks.set(end - blanks, Asked::NAMES);
            }
        } else if before_prefix(bytes, end) < end {
            let blanks = blanks_before(bytes, end - 1);
            if blanks > 0 && hint::may_be_said(bytes, end - 1 - blanks, &mut self.run.walked) {
                self.marks.set(end - 1 - blanks, Asked::NAMES);
            }
        }
        match bytes.get(at + 1) {
            Some(b',') => {
                if hint::may_be_in_list(bytes, at + 1, &mut self.run.walked) {
                    self.marks.set(at + 1, Asked::NAMES);
                }
            }
            Some(b' ' | b'\t' | 0x1b | 0x80..) => {
                self.comma(at + 1);
                if hint::is_user_flag(bytes, end) {
                    self.marks.set(at + 1, Asked::NAMES);
                }
            }
            Some(b'>') => self.marks.set(at + 1, Asked::NAMES),
            Some(_) | None => {}
        }
    }

    /// A comma behind the quote that ends before `at` may stand between a name and its value.
    fn comma(&mut self, at: usize) {
        let Self { bytes, .. } = *self;
        let mut end = at;
        while end < at + BLANKS_MAX * WIDE_BLANK.len()
            && let Some(byte) = bytes.get(end)
        {
            end += match byte {
                b' ' | b'\t' => 1,
                0x1b | 0x80.. => hidden(bytes, end).unwrap_or(1),
                _ => break,
            };
        }
        if bytes.get(end) == Some(&b',') && hint::may_be_in_list(bytes, end, &mut self.run.walked) {
            self.marks.set(end, Asked::NAMES);
        }
    }

    /// The name of a flag may begin at `at`: its value follows behind a blank.
    fn flag(&mut self, at: usize) {
        let Self { bytes, .. } = *self;
        let first = self.run.name_end(bytes, at);
        let mut end = first;
        // What is not ASCII may be of the name or follow it, and what is invisible may stand in it.
        while end < at + FLAG_NAME_BYTES_MAX
            && let Some(byte) = bytes.get(end).filter(|b| !b.is_ascii() || **b == 0x1b)
        {
            self.marks.set(end, Asked::NAMES);
            end += if *byte == 0x1b { hidden(bytes, end).unwrap_or_default().max(1) } else { 1 };
            let more = bytes.get(end..).unwrap_or_default().iter().take(FLAG_NAME_BYTES_MAX);
            end += more.take_while(|b| is(**b, NAME)).count();
        }
        // Further on, a block that begins between would not have seen the dash.
        let near = end - at < BEFORE_BLOCK_BYTES;
        if near && (end > first || hint::may_follow_flag(bytes, end, &mut self.run.walked)) {
            self.marks.set(end, Asked::NAMES);
        }
    }

    /// A marker may begin at `at`, or an operator or a quote that is encoded.
    fn escape(&mut self, at: usize) {
        const OPERATORS: [&[u8]; 6] = [b"#", b"a", b"gt;", b"equals;", b"colon;", b"nbsp;"];
        let Self { bytes, .. } = *self;
        let Some((byte, rest)) = bytes.get(at..).and_then(<[u8]>::split_first) else { return };
        let mut begin = at;
        match (byte, rest.first()) {
            (b'[', Some(b'R')) => return self.marks.set(at, Asked::NAMES),
            (b'%', Some(b'0' | b'2' | b'3')) => {
                if hint::may_be_operator(rest) {
                    self.marks.set(at, Asked::NAMES);
                }
            }
            (b'&', Some(_)) => {
                if OPERATORS.iter().any(|operator| rest.starts_with(operator)) {
                    self.marks.set(at, Asked::NAMES);
                }
            }
            (b'\\', Some(b'u')) => {
                // It begins with the first of its backslashes.
                let before = bytes.get(..at).unwrap_or_default();
                let more = before.iter().rev().take(ESCAPES_MAX).take_while(|b| **b == b'\\').count();
                begin = at - more;
                self.marks.set(at, Asked::NAMES);
                self.marks.set(begin, Asked::NAMES);
            }
            _ => return,
        }
        // Of blanks before an encoded quote, the first one is asked.
        let begin = before_prefix(bytes, begin);
        let blanks = blanks_before(bytes, begin);
        if blanks > 0 && hint::may_be_named(bytes, begin - blanks, &mut self.run.walked) {
            self.marks.set(begin - blanks, Asked::NAMES);
        }
        let of_escape = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'#' | b';');
        let len = rest.iter().take(ESCAPE_BYTES_MAX).take_while(|b| of_escape(b)).count();
        self.comma(at + 1 + len);
    }

    /// A token may begin anywhere as far before its anchor as its shape allows.
    fn anchor(&mut self, start: usize, anchor: &Anchor) {
        let Self { bytes, .. } = *self;
        if anchor.glue == Glue::Refused && anchor.before_max == 0 && self.is_inside_word(start)
            || anchor.after > 0 && !hint::may_go_on(bytes, start + anchor.literal.len(), anchor.after.into())
        {
            return;
        }
        let allowed = |b: &u8| b.is_ascii() && anchor.before_class >> b & 1 != 0;
        let before = bytes.get(..start).unwrap_or_default();
        let reach =
            before.iter().rev().take(anchor.before_max.min(BEFORE_BYTES_MAX)).take_while(|b| allowed(b));
        let reach = reach.count();
        let stop = before.len().checked_sub(reach + 1).and_then(|at| before.get(at));
        if anchor.before_max > 0
            && (!self.run.walked.is_behind_controls(start) || stop.is_some_and(|b| !b.is_ascii()))
        {
            self.torn(start, Asked::TOKENS.and(Asked::ANCHORED));
        }
        let asked = if anchor.is_of_shape && anchor.before_max > 0 {
            Asked::TOKENS.and(Asked::ANCHORED)
        } else {
            Asked::TOKENS
        };
        for back in anchor.before_min..=reach {
            self.marks.set(start - back, asked);
        }
    }

    /// Something invisible at `at` may tear a token that begins before.
    fn torn(&mut self, at: usize, asked: Asked) {
        let reach = BEFORE_BYTES_MAX.min(at.saturating_sub(self.run.torn_to(asked)));
        let before = self.bytes.get(..at).unwrap_or_default().iter().rev().take(reach);
        let reach = before.take_while(|b| hint::may_be_of_token(**b)).count();
        for start in at - reach..at {
            self.marks.set(start, asked);
        }
        // Nothing begins inside of what takes no room.
        let to = at.max(self.run.hidden_to);
        self.run.begun_to = to;
        if asked != Asked::TOKENS {
            self.run.torn_to = to;
        }
    }

    /// Whether a letter or digit surely stands before: of no escape, and of nothing invisible.
    fn is_inside_word(&self, at: usize) -> bool {
        let before = self.bytes.get(at.saturating_sub(ESCAPE_BYTES_MAX)..at).unwrap_or_default();
        before.last().is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
            && !before.iter().any(|b| matches!(b, b'\\' | b'%' | b'&'))
            && self.run.walked.is_behind_controls(at)
    }

    /// Marks where a value may begin that has the digit at `at`: at every word of its run from [`BEFORE_BYTES_MAX`] before
    /// to [`BEFORE_BLOCK_BYTES`] behind a digit, whichever digit of the run is seen first.
    fn digit(&mut self, at: usize) {
        let Self { bytes, .. } = *self;
        let mut run = &mut self.run;
        let before = bytes.get(..at).unwrap_or_default();
        let is_same = at < run.end;
        if !is_same {
            let rest = bytes.get(at..).unwrap_or_default();
            let len = rest.iter().take(AHEAD_BYTES).take_while(|b| is(**b, RUN)).count();
            let back = before.iter().rev().take(BEFORE_BYTES_MAX).take_while(|b| is(**b, RUN)).count();
            // Something invisible may stand inside.
            let goes_on = rest.get(len).is_some_and(|b| !b.is_ascii() || *b == 0x1b);
            let is_value = back + len >= RUN_BYTES_MIN || goes_on;
            (run.end, run.marked, run.settled) = (at + len, at - back, at);
            (run.is_value, run.goes_on) = (is_value, goes_on);
            if back < BEFORE_BYTES_MAX && goes_on {
                self.marks.set(at - back, Asked::TOKENS.and(Asked::ANCHORED));
            }
            // A list of bytes may follow a blank, `KEY {0x35, …`.
            let opened = (at - back).checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b'{');
            let is_bare = || hint::may_be_bare(bytes, at - back, at + len);
            if opened || at >= run.bare_to && (is_value || is_bare()) {
                self.blank_before(at);
                run = &mut self.run;
            }
        }
        if run.is_value {
            let to = run.end.min(at + BEFORE_BLOCK_BYTES);
            let from = run.marked.max(at.saturating_sub(BEFORE_BYTES_MAX));
            let mut inside =
                from.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
            for (start, byte) in (from..).zip(bytes.get(from..to).unwrap_or_default()) {
                if !inside && (run.goes_on || hint::may_be_value(bytes, start)) {
                    self.marks.set(start, Asked::VALUES.and(Asked::LEARNED));
                } else if !inside && hint::may_be_learned(bytes, start) {
                    self.marks.set(start, Asked::LEARNED);
                }
                inside = byte.is_ascii_alphanumeric();
            }
            run.marked = run.marked.max(to);
        }
        run.settled = if run.is_value && run.marked < run.end { at } else { run.end };
    }

    /// Marks where the letters of one case begin that are at `at`, if they are as many as a value has.
    fn letters(&mut self, at: usize) {
        let Self { bytes, .. } = *self;
        let rest = bytes.get(at..).unwrap_or_default();
        if at < self.run.letters_to {
            return;
        }
        let capitals = rest.first().is_some_and(u8::is_ascii_uppercase);
        let is_same = |b: &&u8| if capitals { b.is_ascii_uppercase() } else { b.is_ascii_lowercase() };
        let len = rest.iter().take(AHEAD_BYTES).take_while(is_same).count();
        self.run.letters_to = at + len;
        let back =
            bytes.get(..at).unwrap_or_default().iter().rev().take(LETTERS_MIN).take_while(is_same).count();
        // Further on, the first letters have no such pair.
        if back < LETTERS_MIN && back + len >= LETTERS_MIN {
            self.marks.set(at - back, Asked::VALUES.and(Asked::LEARNED));
        }
    }

    /// A blank can be an operator: the first one after the word before. The value behind it ends where a value without
    /// quotes does, and has no other operator in it.
    fn blank_before(&mut self, at: usize) {
        let before = self.bytes.get(..at).unwrap_or_default();
        let word = before.iter().rev().take(BEFORE_BYTES_MAX).take_while(|b| is(**b, BARE)).count();
        let start = at - word;
        // Whatever digit of the value is seen, the blank is the same.
        let more = self.bytes.get(at..).unwrap_or_default().iter().take(BEFORE_BYTES_MAX);
        self.run.bare_to = at + more.take_while(|b| b.is_ascii() && is(**b, BARE)).count();
        let blanks = blanks_before(self.bytes, start);
        if blanks > 0 && hint::may_be_named(self.bytes, start - blanks, &mut self.run.walked) {
            self.marks.set(start - blanks, Asked::NAMES);
        }
    }

    /// Marks where a URL, or a path, may begin around the colon at `at`.
    fn location(&mut self, at: usize) {
        let Self { bytes, .. } = *self;
        self.marks.set(at, Asked::LOCATIONS);
        let before = bytes.get(..at).unwrap_or_default();
        let scheme = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
        let back = before.iter().rev().take(BEFORE_BYTES_MAX).take_while(|b| scheme(b)).count();
        for start in at - back..at {
            self.marks.set(start, Asked::LOCATIONS);
        }
    }
}

/// The run of letters, digits and signs that is being marked.
#[derive(Debug, Default)]
struct Run {
    end: usize,
    /// Up to where its words are marked.
    marked: usize,
    /// Up to where a value goes whose blank before is marked, if it has one.
    bare_to: usize,
    /// Up to where its digits have nothing to add.
    settled: usize,
    /// Whether it is long enough to be a value.
    is_value: bool,
    /// Up to where letters of one case are known to go.
    letters_to: usize,
    /// Whether something invisible ends it.
    goes_on: bool,
    /// Up to where everybody is asked, since something invisible is near.
    hidden_to: usize,
    /// Where the last of what is invisible ends, with all that follows directly.
    hidden_end: usize,
    /// Up to where tokens that may be torn are asked about.
    torn_to: usize,
    /// The same for those that begin with their fixed text.
    begun_to: usize,
    /// Up to where the name behind a dash is known to go.
    name_end: usize,
    walked: Walked,
}

impl Run {
    /// Up to where these tokens are asked about since they may be torn. Who is asked about all is asked about those that
    /// begin with their fixed text.
    fn torn_to(&self, asked: Asked) -> usize {
        if asked == Asked::TOKENS { self.begun_to } else { self.torn_to }
    }

    /// Where the name ends that a flag has from `at` on, as far as it is looked at.
    fn name_end(&mut self, bytes: &[u8], at: usize) -> usize {
        let from = at.max(self.name_end);
        let more =
            bytes.get(from..at + FLAG_NAME_BYTES_MAX).or_else(|| bytes.get(from..)).unwrap_or_default();
        self.name_end = from + more.iter().take_while(|b| is(**b, NAME)).count();
        self.name_end
    }
}

/// Where a quote begins that stands at `at`, with the letter that marks a kind of string, `b"…"`.
fn before_prefix(bytes: &[u8], at: usize) -> usize {
    match bytes.get(..at) {
        Some([.., b' ' | b'\t' | 0x80.., letter]) if hint::is_prefix(*letter) => at - 1,
        Some(_) | None => at,
    }
}

/// How many blanks stand before `at`.
fn blanks_before(bytes: &[u8], at: usize) -> usize {
    let before = bytes.get(..at).unwrap_or_default().iter().rev().take(BLANKS_MAX);
    before.take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// Whether `rest` may stand at `at`, whatever is invisible in it. A no is certain.
fn goes_on(bytes: &[u8], mut at: usize, rest: &str) -> bool {
    for wanted in rest.bytes() {
        while let Some(len) = hidden(bytes, at) {
            at += len;
        }
        match bytes.get(at) {
            // What has not arrived, and what encodes one character.
            None | Some(b'%' | b'&' | b'\\') => return true,
            Some(byte) if byte.eq_ignore_ascii_case(&wanted) => at += 1,
            Some(_) => return false,
        }
    }
    true
}

/// The length of what is invisible and begins at `at`, where a character does; never 0. Of what may go on as one behind the end of what has arrived, that much.
fn hidden(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..).unwrap_or_default();
    let len = match rest.first()? {
        0x1b => control_sequence(rest).unwrap_or(rest.len()),
        _ => zero_width_len(rest),
    };
    (len > 0).then_some(len)
}
