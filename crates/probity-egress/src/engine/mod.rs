mod cursor;
mod swallow;
mod token;

use std::mem;

pub(crate) use cursor::{Cursor, Starved, is_zero_width};
use swallow::Swallow;

use crate::report::{Confidence, Finding, Report, Source};

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
    locations: bool,
    pending: String,
    retry_bytes: usize,
    left: Left,
    swallow: Option<Swallow>,
    written: usize,
}

/// What stands to the left of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// The start of the text, a marker, or something invisible: a token may begin here whatever precedes.
    Open,
    /// A visible character.
    Char(char),
}

impl Left {
    /// Whether a word can begin here.
    fn is_boundary(self) -> bool {
        match self {
            Self::Open => true,
            Self::Char(c) => !(c.is_alphanumeric() || c == '_'),
        }
    }
}

/// A candidate that was found: what to keep in front of it, what to remove, and how the rest of it is recognised.
#[derive(Debug)]
struct Found {
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
        Self {
            locations,
            pending: String::new(),
            retry_bytes: 0,
            left: Left::Open,
            swallow: None,
            written: 0,
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

    fn run(&mut self, last: bool, out: &mut String, report: &mut Report) {
        let text = mem::take(&mut self.pending);
        let mut at = 0;
        while at < text.len() {
            match self.step(&text, at, last, out, report) {
                // A step that reads nothing would hang; no step does, and one byte is never a wrong answer here.
                Ok(read) => at += read,
                Err(Starved) => break,
            }
        }
        self.pending = text.get(at..).unwrap_or_default().to_owned();
        self.retry_bytes = self.pending.len() + self.pending.len() / 16 + 1;
    }

    /// One decision at `at`: how many bytes it settled.
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
            }
            report.grow_last(read);
            return Ok(read);
        }
        if let Some(len) = marker(&cursor)? {
            self.write(text, at, len, out);
            self.left = Left::Open;
            return Ok(len);
        }
        if let Some(found) = token::find(&cursor, self.left)? {
            let start = self.written;
            self.write(text, at, found.keep, out);
            let marker = format!("[REDACTED:{}]", found.kind);
            out.push_str(&marker);
            self.written += marker.len();
            report.add(Finding {
                kind: found.kind,
                source: found.source,
                confidence: found.confidence,
                span: start..self.written,
                len: found.cut,
            });
            self.left = Left::Open;
            self.swallow = found.then;
            return Ok(found.keep + found.cut);
        }
        let hidden = cursor.hidden()?;
        if hidden > 0 {
            self.write(text, at, hidden, out);
            self.left = Left::Open;
            return Ok(hidden);
        }
        let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { return Ok(1) };
        self.write(text, at, c.len_utf8(), out);
        self.left = Left::Char(c);
        Ok(c.len_utf8())
    }

    fn write(&mut self, text: &str, at: usize, len: usize, out: &mut String) {
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
