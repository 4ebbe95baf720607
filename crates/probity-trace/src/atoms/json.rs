//! JSON as a text to be read: escapes resolved, and every byte of it still to be found in the original.
//!
//! A parser lost: texts of tools are often cut or only nearly JSON, and the places are what is asked for.

use std::borrow::Cow;
use std::ops::Range;

/// How a text is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
}

impl Form {
    /// JSON where the text begins and ends as an object, an array or a string does.
    pub(crate) fn of(text: &str) -> Self {
        let bytes = text.trim_ascii().as_bytes();
        match (bytes.first(), bytes.last()) {
            (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')) => Self::Json,
            (Some(b'"'), Some(b'"')) if bytes.len() > 1 => Self::Json,
            _ => Self::Text,
        }
    }
}

/// A text with its escapes resolved.
#[derive(Debug)]
pub(crate) struct Decoded<'t> {
    pub(crate) text: Cow<'t, str>,
    /// From the first offset (in the decoded text) on, offsets are counted from the second (in the original).
    shifts: Vec<(usize, usize)>,
}

impl<'t> Decoded<'t> {
    pub(crate) fn plain(text: &'t str) -> Self {
        Self { text: Cow::Borrowed(text), shifts: Vec::new() }
    }

    /// The text of a JSON document: commas between values become line breaks, so that `[1,234]` are two numbers.
    pub(crate) fn json(text: &'t str) -> Self {
        Decoder::new(text, Commas::Broken).document()
    }

    /// The text of a JSON document or of anything else, with nothing changed but the escapes of a document.
    pub(crate) fn unescaped(text: &'t str) -> Self {
        match Form::of(text) {
            Form::Json if memchr::memchr(b'\\', text.as_bytes()).is_some() => {
                Decoder::new(text, Commas::Kept).document()
            }
            Form::Json | Form::Text => Self::plain(text),
        }
    }

    /// The content of a JSON string, without its quotes.
    pub(crate) fn string(content: &'t str) -> Self {
        if memchr::memchr(b'\\', content.as_bytes()).is_none() {
            return Self::plain(content);
        }
        let mut decoder = Decoder::new(content, Commas::Kept);
        decoder.string(0);
        decoder.finish()
    }

    pub(crate) fn of(text: &'t str, form: Form) -> Self {
        match form {
            Form::Text => Self::plain(text),
            Form::Json => Self::json(text),
        }
    }

    /// Where a range of the decoded text stands in the original.
    pub(crate) fn original(&self, range: Range<usize>) -> Range<usize> {
        self.original_offset(range.start)..self.original_offset(range.end)
    }

    fn original_offset(&self, offset: usize) -> usize {
        let after = self.shifts.partition_point(|(decoded, _)| *decoded <= offset);
        match after.checked_sub(1).and_then(|last| self.shifts.get(last)) {
            Some((decoded, original)) => original + (offset - decoded),
            None => offset,
        }
    }
}

struct Decoder<'t> {
    raw: &'t str,
    text: String,
    shifts: Vec<(usize, usize)>,
    copied: usize,
    commas: Commas,
}

/// What becomes of the commas between values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commas {
    Kept,
    Broken,
}

impl<'t> Decoder<'t> {
    fn new(raw: &'t str, commas: Commas) -> Self {
        Self { raw, text: String::with_capacity(raw.len()), shifts: Vec::new(), copied: 0, commas }
    }

    fn finish(mut self) -> Decoded<'t> {
        self.copy_to(self.raw.len());
        Decoded { text: Cow::Owned(self.text), shifts: self.shifts }
    }

    fn copy_to(&mut self, end: usize) {
        self.text.push_str(self.raw.get(self.copied..end).unwrap_or_default());
        self.copied = end;
    }

    fn document(mut self) -> Decoded<'t> {
        let bytes = self.raw.as_bytes();
        let mut at = 0;
        while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b',', rest)) {
            at += found;
            if bytes.get(at) == Some(&b'"') {
                at = self.string(at + 1);
                continue;
            }
            if self.commas == Commas::Broken {
                self.copy_to(at);
                self.text.push('\n');
                self.copied = at + 1;
            }
            at += 1;
        }
        self.finish()
    }

    /// Reads on to the end of the string that begins at an offset, and gives the offset behind its quote.
    fn string(&mut self, from: usize) -> usize {
        let bytes = self.raw.as_bytes();
        let mut at = from;
        while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
            at += found;
            if bytes.get(at) == Some(&b'"') {
                return at + 1;
            }
            at = self.escape(at);
        }
        bytes.len()
    }

    fn escape(&mut self, at: usize) -> usize {
        let (character, length) = match self.raw.as_bytes().get(at + 1) {
            Some(b'n' | b'r' | b'b' | b'f') => ('\n', 2),
            Some(b't') => ('\t', 2),
            Some(byte @ (b'"' | b'\\' | b'/')) => (char::from(*byte), 2),
            Some(b'u') => match self.unicode(at) {
                Some(read) => read,
                None => return at + 1,
            },
            // No escape of JSON: it stays as it is.
            _ => return at + 1,
        };
        self.copy_to(at);
        self.text.push(character);
        self.copied = at + length;
        self.shifts.push((self.text.len(), self.copied));
        self.copied
    }

    fn unicode(&self, at: usize) -> Option<(char, usize)> {
        let unit = |at: usize| {
            let digits = self.raw.get(at..at + 6)?.strip_prefix("\\u")?;
            digits
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit())
                .then(|| u16::from_str_radix(digits, 16).ok())?
        };
        let first = unit(at)?;
        let second = unit(at + 6).filter(|second| (0xdc00..0xe000).contains(second));
        if let (0xd800..0xdc00, Some(second)) = (first, second) {
            let pair = char::decode_utf16([first, second]).next()?.ok()?;
            return Some((pair, 12));
        }
        Some((char::from_u32(first.into()).unwrap_or(char::REPLACEMENT_CHARACTER), 6))
    }
}

/// A value of a JSON document that is neither an object nor an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// The content of a string that is no key, without its quotes.
    String(Range<usize>),
    /// Anything else: a number, or `true`.
    Bare(Range<usize>),
}

/// The leaves of a JSON document in their order, found without a stack: nesting costs nothing.
pub(crate) fn leaves(text: &str) -> Vec<Leaf> {
    let bytes = text.as_bytes();
    let mut leaves = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = string_end(bytes, at + 1);
                if !is_key(bytes, end + 1) {
                    leaves.push(Leaf::String(at + 1..end));
                }
                at = end + 1;
            }
            b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                let rest = bytes.get(at..).unwrap_or_default();
                let length = rest
                    .iter()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
                    .count();
                leaves.push(Leaf::Bare(at..at + length));
                at += length.max(1);
            }
            _ => at += 1,
        }
    }
    leaves
}

fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

fn is_key(bytes: &[u8], from: usize) -> bool {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}
