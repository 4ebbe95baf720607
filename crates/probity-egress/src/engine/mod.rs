mod authority;
mod behind;
mod beside;
mod byte_list;
#[cfg(test)]
mod checks;
mod class;
mod context;
mod cursor;
mod document;
mod drawn;
mod encoded_link;
mod header;
mod key_block;
mod known;
mod learned;
mod line_prefix;
mod location;
mod name;
mod note;
mod operator;
mod password_file;
mod password_hash;
mod placeholder;
mod plausible;
mod scan;
mod secret_map;
mod seen;
mod shape;
mod structure;
mod swallow;
mod terraform;
mod token;
mod undo;
mod user_flag;
mod value;
mod visible;
mod wrap;
mod wrapped;

use std::mem;
use std::sync::Arc;

use crate::known::KnownForms;
use crate::limits::KNOWN_SECRET_BYTES_MIN;
use crate::report::{Confidence, Finding, Report, Source};
use behind::{BEHIND_BYTES_MAX, Behind};
pub(crate) use cursor::is_zero_width;
use cursor::{Cursor, Starved};
use learned::Learned;
pub(crate) use plausible::looks_drawn;
pub(crate) use scan::Pairs;
use scan::{AHEAD_BYTES, Asked, Marks, Triggers};
use seen::Seen;
use swallow::Swallow;
pub(crate) use user_flag::is_user_pair;

/// Returns what a detector answers unless it found nothing. What is nearly always nothing is not moved.
macro_rules! unless_found {
    ($answer:expr) => {
        match $answer {
            Ok(None) => {}
            found => return found,
        }
    };
}

/// How much is scanned at once.
const BLOCK_BYTES: usize = 32 * 1024;

/// How many findings may stand one within what the other keeps.
const KEPT_MAX: usize = 4;

/// The pass: a machine that is fed text and gives text.
///
/// There is one machine. A pass over a whole text is this machine fed once, so the promise that chunking does not matter
/// is not a second implementation to keep equal, but a property of [`Cursor`] and [`Behind`]. The alternative that lost
/// was a matcher over whole texts with a line or byte window around it for streams: every such window found in the field
/// leaked at its seams.
///
/// [`Marks`] say where a detector may find something; all other text is copied in one piece. At a marked position the
/// detectors are asked from the most to the least certain, and what they find is replaced. What is carried from one
/// position to the next is the open [`Swallow`], the floor below which nothing is read again, and nothing else.
#[derive(Debug)]
pub(crate) struct Engine {
    looks_for: LooksFor,
    known: Arc<KnownForms>,
    /// What is not settled, behind as much of what is as [`Behind`] may read.
    pending: String,
    /// Where in `pending` the unsettled begins.
    at: usize,
    /// Where in `pending` the last removal or marker ends.
    floor: usize,
    retry_bytes: usize,
    swallow: Option<Swallow>,
    learned: Learned,
    /// Bytes of input before `pending`.
    read: usize,
    written: usize,
    marks: Marks,
    /// How many encodings surround the text.
    depth: usize,
    /// In front of how many findings, one within what the other keeps, the text stands.
    kept: usize,
    /// Asks at every position, marked or not.
    #[cfg(test)]
    exhaustive: bool,
}

/// Which detectors take part.
#[derive(Debug, Clone, Copy)]
struct LooksFor {
    locations: bool,
    /// Credentials inside base64 and hexadecimal.
    encodings: bool,
}

/// What stands to the left of a position: the last two visible characters, as far as they matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Left {
    last: Option<char>,
    before: Option<char>,
}

impl Left {
    /// The start of the text, a marker, or something invisible: a token may begin here whatever precedes.
    const OPEN: Self = Self { last: None, before: None };

    /// Whether a word can begin here.
    fn is_boundary(self) -> bool {
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !(word(self.last) || self.last == Some('-') && word(self.before))
    }
}

/// A candidate that was found: what to keep in front of it, what to remove, and how the rest of it is recognised.
#[derive(Debug)]
struct Found {
    rule: &'static str,
    kind: &'static str,
    source: Source,
    confidence: Confidence,
    /// Bytes from the position to the secret, kept (a name, an operator, a user name).
    keep: usize,
    /// Bytes of the secret that were read.
    cut: usize,
    /// What else belongs to it.
    then: Option<Swallow>,
}

impl Engine {
    pub(crate) fn new(locations: bool) -> Self {
        Self::with(LooksFor { locations, encodings: true }, crate::known::current(), 0, 0)
    }

    fn with(looks_for: LooksFor, known: Arc<KnownForms>, read: usize, written: usize) -> Self {
        Self {
            looks_for,
            known,
            pending: String::new(),
            at: 0,
            floor: 0,
            retry_bytes: 0,
            swallow: None,
            learned: Learned::default(),
            read,
            written,
            marks: Marks::default(),
            depth: 0,
            kept: 0,
            #[cfg(test)]
            exhaustive: false,
        }
    }

    /// Feeds a chunk; what is decided is appended to `out`.
    pub(crate) fn push(&mut self, chunk: &str, out: &mut String, report: &mut Report) {
        self.pending.push_str(chunk);
        if self.held_back_bytes() >= self.retry_bytes {
            self.run(false, out, report);
        }
    }

    /// Ends the input: every open question is answered, open candidates with a marker.
    pub(crate) fn finish(&mut self, out: &mut String, report: &mut Report) {
        self.run(true, out, report);
        report.close_last();
    }

    pub(crate) fn held_back_bytes(&self) -> usize {
        self.pending.len() - self.at
    }

    /// A pass over a text that has arrived whole, without a copy of it.
    pub(crate) fn pass(&mut self, text: &str, out: &mut String, report: &mut Report) {
        self.settle(text, text.len(), true, out, report);
        report.close_last();
    }

    fn run(&mut self, last: bool, out: &mut String, report: &mut Report) {
        let text = mem::take(&mut self.pending);
        self.settle(&text, text.len(), last, out, report);
        let mut keep = self.at.saturating_sub(BEHIND_BYTES_MAX);
        while !text.is_char_boundary(keep) {
            keep -= 1;
        }
        self.pending = text;
        self.pending.drain(..keep);
        self.at -= keep;
        self.floor = self.floor.saturating_sub(keep);
        self.read += keep;
        let held = self.held_back_bytes();
        self.retry_bytes = held + held / 16 + 1;
    }

    /// Settles as much of `text` up to `end` as can be.
    fn settle(&mut self, text: &str, end: usize, last: bool, out: &mut String, report: &mut Report) {
        let known = Arc::clone(&self.known);
        let triggers = Triggers::of(&known, self.looks_for.locations);
        let mut marks = mem::take(&mut self.marks);
        let seen = Seen::default();
        while self.at < end {
            if self.swallow.is_some() {
                if self.swallow_some(text, last, report).is_err() {
                    break;
                }
                continue;
            }
            let horizon = if last { end } else { boundary(text, end.saturating_sub(AHEAD_BYTES)) };
            if self.at >= horizon {
                break;
            }
            let to = boundary(text, horizon.min(self.at + BLOCK_BYTES));
            marks.scan(text, self.at, to, &triggers);
            if self.block(text, to, last, (&marks, &seen), out, report).is_err() {
                break;
            }
        }
        self.marks = marks;
    }

    /// Settles a scanned block, or up to where something is swallowed.
    fn block(
        &mut self,
        text: &str,
        to: usize,
        last: bool,
        (marks, seen): (&Marks, &Seen),
        out: &mut String,
        report: &mut Report,
    ) -> Result<(), Starved> {
        while self.at < to {
            let next = self.next_candidate(text, marks).min(to);
            self.copy(text, next, out);
            if next == to {
                break;
            }
            let asked = self.asked(marks);
            self.candidate(text, last, (asked, seen), out, report)?;
            while self.swallow.is_some() && self.at < text.len() {
                self.swallow_some(text, last, report)?;
            }
        }
        Ok(())
    }

    fn asked(&self, marks: &Marks) -> Asked {
        #[cfg(test)]
        if self.exhaustive {
            return Asked::ALL.and(Asked::ANCHORED);
        }
        if self.is_behind_removal() { Asked::ALL.and(Asked::ANCHORED) } else { marks.asked(self.at) }
    }

    /// Whether the position stands directly behind a removal or a marker. There everybody is asked: what the marks say of
    /// it depends on what was removed, and a second pass sees the marker in its place.
    fn is_behind_removal(&self) -> bool {
        self.at > 0 && self.at == self.floor
    }

    fn next_candidate(&self, text: &str, marks: &Marks) -> usize {
        #[cfg(test)]
        if self.exhaustive {
            return self.at;
        }
        if self.is_behind_removal() {
            return self.at;
        }
        let mut at = self.at;
        loop {
            match marks.next(at) {
                Some(next) if text.is_char_boundary(next) && self.is_worth_asking(text, next, marks) => {
                    return next;
                }
                Some(next) => at = next + 1,
                None => return usize::MAX,
            }
        }
    }

    /// Where only what was removed before is looked for, whether any of it may begin there.
    fn is_worth_asking(&self, text: &str, at: usize, marks: &Marks) -> bool {
        marks.asked(at) != Asked::LEARNED
            || self.learned.may_begin(text.as_bytes().get(at..).unwrap_or_default())
    }

    /// One decision at the position: what begins here is replaced, or a character is copied.
    fn candidate(
        &mut self,
        text: &str,
        last: bool,
        (asked, seen): (Asked, &Seen),
        out: &mut String,
        report: &mut Report,
    ) -> Result<(), Starved> {
        let at = self.at;
        let cursor = Cursor::open(text, at, last);
        // What is invisible goes through on its own; detectors start at what is visible, and look through the rest.
        let hidden = cursor.hidden()?;
        if hidden > 0 {
            // What looks like part of a control sequence may begin a registered secret. What stands before it in the
            // sequence goes with it: without its end it would be visible text, and judged by a second pass.
            if text.as_bytes().get(at) == Some(&0x1b) && self.known.is_any() {
                for inside in 1..hidden {
                    let raw = cursor.after(inside);
                    if let Some(first) = raw.peek()?
                        && let Some(found) = known::find(&self.known, first, &raw)?
                    {
                        let found = Found { cut: inside + found.cut, ..found };
                        self.replace(text, found, out, report);
                        return Ok(());
                    }
                }
            }
            self.copy(text, at + hidden, out);
            return Ok(());
        }
        if text.as_bytes().get(at) == Some(&b'[')
            && let Some(len) = cursor.marker()?
        {
            if self.known.is_within(text.get(at..at + len).unwrap_or_default()) {
                // Whatever is before it has taken it for a marker, and must find one again.
                self.replace(text, known::found(len), out, report);
            } else {
                self.copy(text, at + len, out);
                self.floor = self.at;
            }
            return Ok(());
        }
        let c = text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or_default();
        if begins_anything(c) || asked.has(Asked::KNOWN) && self.known.is_any() {
            let found = match self.find_again(text, &cursor, asked)? {
                Some(found) => Some(found),
                None => self.find(&cursor, &Behind::open(text, at, self.floor), asked, seen)?,
            };
            if let Some(found) = found {
                self.replace(text, found, out, report);
                return Ok(());
            }
        }
        self.copy(text, at + c.len_utf8(), out);
        Ok(())
    }

    /// Swallows what has arrived of a secret whose marker is out.
    fn swallow_some(&mut self, text: &str, last: bool, report: &mut Report) -> Result<(), Starved> {
        let Some(swallow) = self.swallow.as_mut() else { return Ok(()) };
        let read = swallow.step(&Cursor::open(text, self.at, last))?;
        report.grow_last(text.get(self.at..self.at + read).unwrap_or_default());
        self.at += read;
        self.floor = self.at;
        if read == 0 {
            self.swallow = None;
            report.close_last();
        }
        Ok(())
    }

    /// What was removed before under a name, and begins here again as a word of its own.
    fn find_again(&self, text: &str, cursor: &Cursor<'_>, asked: Asked) -> Result<Option<Found>, Starved> {
        if self.learned.is_empty() || !asked.has(Asked::LEARNED) || self.is_behind_removal() {
            return Ok(None);
        }
        let before = self.at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
        if before.is_some_and(u8::is_ascii_alphanumeric) { Ok(None) } else { self.learned.find(cursor) }
    }

    /// What begins at the cursor, asked from the most to the least certain.
    fn find(
        &self,
        cursor: &Cursor<'_>,
        behind: &Behind<'_>,
        asked: Asked,
        seen: &Seen,
    ) -> Result<Option<Found>, Starved> {
        let Some(first) = cursor.peek()? else { return Ok(None) };
        if asked.has(Asked::KNOWN) {
            unless_found!(known::find(&self.known, first, cursor));
        }
        if !begins_anything(first) {
            return Ok(None);
        }
        if asked.has(Asked::TOKENS) && !first.is_whitespace() {
            unless_found!(shaped(first, cursor, behind, asked, seen));
        }
        if asked.has(Asked::TOKENS) && behind.is_at_beginning() {
            unless_found!(document::find_begun(cursor));
        }
        if self.looks_for.locations && asked.has(Asked::LOCATIONS) && !first.is_whitespace() {
            unless_found!(location::find(first, cursor, behind));
        }
        if asked.has(Asked::NAMES) {
            unless_found!(authority::find(first, cursor, behind, seen));
            unless_found!(name::find(first, cursor, behind, seen));
            unless_found!(structure::find(first, cursor, behind));
        }
        if !asked.has(Asked::VALUES) {
            return Ok(None);
        }
        if self.looks_for.encodings {
            unless_found!(wrapped::find(first, cursor, behind, self));
        }
        unless_found!(context::find(first, cursor, behind, seen));
        note::find(first, cursor, behind)
    }

    /// The pass over what was encoded in a text: credentials only, and no third encoding.
    fn within(&self) -> Self {
        let looks_for = LooksFor { locations: false, encodings: self.depth == 0 };
        Self { depth: self.depth + 1, ..Self::with(looks_for, Arc::clone(&self.known), 0, 0) }
    }

    /// Writes what stands before the secret and its marker; the rest of the secret is swallowed by later steps.
    fn replace(&mut self, text: &str, found: Found, out: &mut String, report: &mut Report) {
        let from = self.at + found.keep;
        let kept = text.get(self.at..from).unwrap_or_default();
        let says_nothing = kept.len() < KNOWN_SECRET_BYTES_MIN && !kept.contains(char::is_alphanumeric);
        if says_nothing || self.kept >= KEPT_MAX {
            self.copy(text, from, out);
        } else {
            self.pass_kept(text, from, found.kind, out, report);
        }
        let start = self.written;
        for piece in ["[REDACTED:", found.kind, "]"] {
            out.push_str(piece);
            self.written += piece.len();
        }
        let to = from + found.cut;
        self.learned.learn(&found, text.get(from..to).unwrap_or_default());
        let Found { rule, kind, source, confidence, .. } = found;
        let finding = Finding {
            rule,
            kind,
            source,
            confidence,
            input: self.read + from..self.read + to,
            output: start..self.written,
            fingerprint: None,
        };
        report.add(finding, text.get(from..to).unwrap_or_default());
        self.at = to;
        self.floor = to;
        self.swallow = found.then;
        if self.swallow.is_none() {
            report.close_last();
        }
    }

    /// Passes what stands between the position and a secret, `from` of which is its own second pass: the secret is a marker.
    fn pass_kept(&mut self, text: &str, from: usize, kind: &str, out: &mut String, report: &mut Report) {
        let base = boundary(text, self.at.saturating_sub(BEHIND_BYTES_MAX));
        let kept = [text.get(base..from).unwrap_or_default(), "[REDACTED:", kind, "]"].concat();
        let mut inner = Self {
            at: self.at - base,
            floor: self.floor.saturating_sub(base),
            depth: self.depth,
            kept: self.kept + 1,
            #[cfg(test)]
            exhaustive: self.exhaustive,
            ..Self::with(self.looks_for, Arc::clone(&self.known), self.read + base, self.written)
        };
        inner.settle(&kept, from - base, true, out, report);
        self.written = inner.written;
    }

    /// Copies the text up to `to`.
    fn copy(&mut self, text: &str, to: usize, out: &mut String) {
        let piece = text.get(self.at..to).unwrap_or_default();
        out.push_str(piece);
        self.written += piece.len();
        self.at = to;
    }
}

/// Whether a detector finds anything that begins so: what is plainly between words and values begins nothing.
fn begins_anything(first: char) -> bool {
    !matches!(first, '\0'..='\u{8}' | '\n'..='\u{1f}' | ')' | '[' | ']' | '}' | ';' | '?' | '!' | '^')
}

/// What its own shape gives away.
fn shaped(
    first: char,
    cursor: &Cursor<'_>,
    behind: &Behind<'_>,
    asked: Asked,
    seen: &Seen,
) -> Result<Option<Found>, Starved> {
    unless_found!(key_block::find(first, cursor));
    unless_found!(password_hash::find(first, cursor));
    match token::find(first, cursor, behind, asked.has(Asked::ANCHORED), Some(seen)) {
        Ok(None) => {}
        Ok(Some(found)) => return wrap::read_token_on(found, cursor).map(Some),
        Err(starved) => return Err(starved),
    }
    unless_found!(document::find(first, cursor));
    unless_found!(encoded_link::find(first, cursor, behind));
    wrap::token_over_lines(first, cursor, behind, seen)
}

/// The character boundary at or before `at`.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
