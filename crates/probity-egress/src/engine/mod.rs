mod authority;
mod cursor;
mod key_block;
mod known;
mod location;
mod name;
mod operator;
mod swallow;
mod token;
mod value;

use std::mem;
use std::sync::Arc;

use crate::known::KnownForms;
use crate::report::{Confidence, Finding, Report, Source};
pub(crate) use cursor::is_zero_width;
use cursor::{Cursor, Starved};
use swallow::Swallow;
pub(crate) use value::looks_drawn;

/// The pass: a machine that is fed text and gives text.
///
/// There is one machine. A pass over a whole text is this machine fed once, so the promise that chunking does not matter
/// is not a second implementation to keep equal, but a property of [`Cursor`]. The alternative that lost was a matcher
/// over whole texts with a line or byte window around it for streams: every such window found in the field leaked at its
/// seams.
///
/// At each position the machine either copies a character, or finds a candidate and replaces it; what it carries from
/// one position to the next is [`Left`], the open [`Swallow`], and nothing else.
#[derive(Debug)]
pub(crate) struct Engine {
    looks_for: LooksFor,
    known: Arc<KnownForms>,
    pending: String,
    retry_bytes: usize,
    left: Left,
    swallow: Option<Swallow>,
    /// Bytes of input that are settled, apart from `pending`.
    read: usize,
    written: usize,
}

/// Which detectors take part.
#[derive(Debug, Clone, Copy)]
struct LooksFor {
    locations: bool,
    /// False for the text in front of a secret that was found by its name: the name itself is not asked again.
    names: bool,
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

    fn then(self, c: char) -> Self {
        Self { last: Some(c), before: self.last }
    }

    /// Whether a word can begin here.
    fn is_boundary(self) -> bool {
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !(word(self.last) || self.last == Some('-') && word(self.before))
    }

    /// Whether a command-line flag begins here: one or two dashes stand before, and no word before them.
    fn is_flag(self) -> bool {
        self.last == Some('-') && !self.before.is_some_and(char::is_alphanumeric)
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
        Self::with(LooksFor { locations, names: true }, crate::known::current(), 0, 0)
    }

    fn with(looks_for: LooksFor, known: Arc<KnownForms>, read: usize, written: usize) -> Self {
        Self {
            looks_for,
            known,
            pending: String::new(),
            retry_bytes: 0,
            left: Left::OPEN,
            swallow: None,
            read,
            written,
        }
    }

    /// Feeds a chunk; what is decided is appended to `out`.
    pub(crate) fn push(&mut self, chunk: &str, out: &mut String, report: &mut Report) {
        self.pending.push_str(chunk);
        if self.pending.len() >= self.retry_bytes {
            self.run(false, out, report);
        }
    }

    /// Ends the input: every open question is answered, open candidates with a marker.
    pub(crate) fn finish(&mut self, out: &mut String, report: &mut Report) {
        self.run(true, out, report);
    }

    pub(crate) fn held_back_bytes(&self) -> usize {
        self.pending.len()
    }

    fn run(&mut self, last: bool, out: &mut String, report: &mut Report) {
        let text = mem::take(&mut self.pending);
        let mut at = 0;
        while at < text.len() {
            match self.step(&text, at, last, out, report) {
                Ok(read) => at += read,
                Err(Starved) => break,
            }
        }
        self.read += at;
        if last {
            report.close_last();
        }
        self.pending = text.get(at..).unwrap_or_default().to_owned();
        self.retry_bytes = self.pending.len() + self.pending.len() / 16 + 1;
    }

    /// One decision at `at`: how many bytes it settled. It settles none only when it ends a swallow.
    fn step(
        &mut self,
        text: &str,
        at: usize,
        last: bool,
        out: &mut String,
        report: &mut Report,
    ) -> Result<usize, Starved> {
        let cursor = Cursor::open(text, at, last);
        if let Some(swallow) = self.swallow.as_mut() {
            let read = swallow.step(&cursor)?;
            if read == 0 {
                self.swallow = None;
                report.close_last();
            }
            report.grow_last(text.get(at..at + read).unwrap_or_default());
            return Ok(read);
        }
        // What is invisible goes through on its own; detectors start at what is visible, and look through the rest.
        let hidden = cursor.hidden()?;
        if hidden > 0 {
            self.copy(text, at, hidden, out);
            self.left = Left::OPEN;
            return Ok(hidden);
        }
        if text.as_bytes().get(at) == Some(&b'[')
            && let Some(len) = marker(&cursor)?
        {
            self.copy(text, at, len, out);
            self.left = Left::OPEN;
            return Ok(len);
        }
        if let Some(found) = self.find(&cursor)? {
            return Ok(self.replace(text, at, found, out, report));
        }
        let c = text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or_default();
        self.copy(text, at, c.len_utf8(), out);
        self.left = self.left.then(c);
        Ok(c.len_utf8())
    }

    /// What begins at the cursor, asked from the most to the least certain.
    fn find(&self, cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
        let Some(first) = cursor.peek()? else { return Ok(None) };
        if let Some(found) = known::find(&self.known, first, cursor)? {
            return Ok(Some(found));
        }
        if first.is_whitespace() {
            return Ok(None);
        }
        if let Some(found) = key_block::find(first, cursor)? {
            return Ok(Some(found));
        }
        if let Some(found) = token::find(first, cursor, self.left)? {
            return Ok(Some(found));
        }
        if self.looks_for.locations
            && let Some(found) = location::find(first, cursor, self.left)?
        {
            return Ok(Some(found));
        }
        if let Some(found) = authority::find(first, cursor, self.left)? {
            return Ok(Some(found));
        }
        if self.looks_for.names { name::find(first, cursor, self.left) } else { Ok(None) }
    }

    /// Writes what stands before the secret and its marker; the rest of the secret is swallowed by later steps.
    fn replace(
        &mut self,
        text: &str,
        at: usize,
        found: Found,
        out: &mut String,
        report: &mut Report,
    ) -> usize {
        let kept = text.get(at..at + found.keep).unwrap_or_default();
        if !kept.is_empty() {
            let looks_for = LooksFor { names: false, ..self.looks_for };
            let mut inner = Self::with(looks_for, Arc::clone(&self.known), self.read + at, self.written);
            inner.left = self.left;
            inner.push(kept, out, report);
            inner.finish(out, report);
            self.written = inner.written;
        }
        let start = self.written;
        for piece in ["[REDACTED:", found.kind, "]"] {
            out.push_str(piece);
            self.written += piece.len();
        }
        let from = at + found.keep;
        let removed = text.get(from..from + found.cut).unwrap_or_default();
        let input = self.read + from..self.read + from + found.cut;
        let Found { rule, kind, source, confidence, .. } = found;
        let output = start..self.written;
        report.add(Finding { rule, kind, source, confidence, input, output, fingerprint: None }, removed);
        self.left = Left::OPEN;
        self.swallow = found.then;
        found.keep + found.cut
    }

    fn copy(&mut self, text: &str, at: usize, len: usize, out: &mut String) {
        let piece = text.get(at..at + len).unwrap_or_default();
        out.push_str(piece);
        self.written += piece.len();
    }
}

/// Length of the marker that starts here.
fn marker(cursor: &Cursor<'_>) -> Result<Option<usize>, Starved> {
    let mut ahead = cursor.clone();
    if !ahead.literal("[REDACTED:")? {
        return Ok(None);
    }
    let name = ahead.run(40, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')?;
    let closed = name > 0 && ahead.eat(']')?;
    Ok(closed.then(|| ahead.offset() - cursor.offset()))
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
