use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::limits::KNOWN_SECRET_BYTES_MIN;
use crate::pass::egress_text;
use crate::tier::SamePrincipal;

/// How deep an object or an array may lie in another; what `serde_json` reads.
pub(crate) const JSON_DEPTH_MAX: usize = 127;

/// A value of a JSON text and where it stands.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub(crate) start: usize,
    /// As it was written, without space around.
    pub(crate) raw: &'a str,
    pub(crate) kind: Kind<'a>,
}

#[derive(Debug)]
pub(crate) enum Kind<'a> {
    /// `null` or a truth value.
    Word,
    Number,
    /// With its escapes undone.
    Text(String),
    Array(Vec<Node<'a>>),
    /// Names are texts.
    Object(Vec<(Node<'a>, Node<'a>)>),
}

impl<'a> Node<'a> {
    /// Reads one JSON text, `None` where it is none, or lies deeper than is followed.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let mut parser = Parser { text, at: 0 };
        let node = parser.value(JSON_DEPTH_MAX)?;
        parser.space();
        (parser.at == text.len()).then_some(node)
    }

    pub(crate) fn end(&self) -> usize {
        self.start + self.raw.len()
    }

    /// The text that it says: of a text without quotes and escapes.
    pub(crate) fn text(&self) -> &str {
        if let Kind::Text(text) = &self.kind { text } else { self.raw }
    }

    /// For places in the [text](Self::text), in ascending order, the places in the JSON text.
    pub(crate) fn places(&self) -> Places<'a> {
        let quote = usize::from(matches!(self.kind, Kind::Text(_)));
        Places { raw: self.raw, start: self.start, raw_at: quote, text_at: 0 }
    }
}

/// As the value it is. A number that no type holds to its last digit is the text of its digits, which the pass reads
/// as it reads a number.
impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.kind {
            Kind::Word => match self.raw {
                "true" => serializer.serialize_bool(true),
                "false" => serializer.serialize_bool(false),
                _ => serializer.serialize_unit(),
            },
            Kind::Number => number(self.raw, serializer),
            Kind::Text(text) => serializer.serialize_str(text),
            Kind::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Kind::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

fn number<S: Serializer>(raw: &str, serializer: S) -> Result<S::Ok, S::Error> {
    if let Ok(whole) = raw.parse::<u64>() {
        return serializer.serialize_u64(whole);
    }
    // `-0` is none.
    if let Ok(whole @ ..=-1) = raw.parse::<i64>() {
        return serializer.serialize_i64(whole);
    }
    // A fraction under a name is judged as the number it is, whatever digits are lost; where it is a secret by its
    // digits, they are judged.
    let by_digits = raw.len() >= KNOWN_SECRET_BYTES_MIN && egress_text::<SamePrincipal>(raw).as_str() != raw;
    match raw.parse::<f64>().ok().filter(|float| float.is_finite() && !by_digits) {
        Some(float) => serializer.serialize_f64(float),
        None => serializer.serialize_str(raw),
    }
}

#[derive(Debug)]
pub(crate) struct Places<'a> {
    raw: &'a str,
    start: usize,
    raw_at: usize,
    text_at: usize,
}

impl Places<'_> {
    pub(crate) fn of(&mut self, text: usize) -> usize {
        while self.text_at < text && self.raw_at < self.raw.len() {
            let (raw, text) = self.step();
            self.raw_at += raw;
            self.text_at += text;
        }
        self.start + self.raw_at
    }

    /// How long the next byte or escape is as it was written, and as text.
    fn step(&self) -> (usize, usize) {
        let rest = self.raw.as_bytes().get(self.raw_at..).unwrap_or_default();
        match rest {
            [b'\\', b'u', digits @ ..] => {
                let digits = digits.get(..4).and_then(|digits| str::from_utf8(digits).ok());
                let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                // Half of a pair is no character; its other half follows.
                unit.and_then(char::from_u32).map_or((12, 4), |c| (6, c.len_utf8()))
            }
            [b'\\', ..] => (2, 1),
            _ => (1, 1),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn value(&mut self, depth: usize) -> Option<Node<'a>> {
        self.space();
        let start = self.at;
        let kind = match self.peek()? {
            b'{' => self.object(depth.checked_sub(1)?)?,
            b'[' => self.array(depth.checked_sub(1)?)?,
            b'"' => Kind::Text(self.string()?),
            b't' => self.word("true")?,
            b'f' => self.word("false")?,
            b'n' => self.word("null")?,
            _ => self.number()?,
        };
        Some(Node { start, raw: self.text.get(start..self.at)?, kind })
    }

    fn object(&mut self, depth: usize) -> Option<Kind<'a>> {
        self.at += 1;
        let mut members = Vec::new();
        if self.closes(b'}') {
            return Some(Kind::Object(members));
        }
        loop {
            self.space();
            let start = self.at;
            let text = self.string()?;
            let name = Node { start, raw: self.text.get(start..self.at)?, kind: Kind::Text(text) };
            self.space();
            self.take(b':')?;
            members.push((name, self.value(depth)?));
            if self.closes(b'}') {
                return Some(Kind::Object(members));
            }
            self.take(b',')?;
        }
    }

    fn array(&mut self, depth: usize) -> Option<Kind<'a>> {
        self.at += 1;
        let mut items = Vec::new();
        if self.closes(b']') {
            return Some(Kind::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            if self.closes(b']') {
                return Some(Kind::Array(items));
            }
            self.take(b',')?;
        }
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.take(b'"')?;
        let mut escaped = false;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    self.at += 2;
                }
                0..=0x1f => return None,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        let raw = self.text.get(start..self.at)?;
        if escaped {
            return serde_json::from_str(raw).ok();
        }
        raw.get(1..raw.len() - 1).map(str::to_owned)
    }

    fn word(&mut self, word: &str) -> Option<Kind<'a>> {
        let there = self.text.get(self.at..)?.starts_with(word);
        self.at += word.len();
        there.then_some(Kind::Word)
    }

    fn number(&mut self) -> Option<Kind<'a>> {
        let _negative = self.take(b'-');
        if self.take(b'0').is_none() {
            self.digits()?;
        }
        if self.take(b'.').is_some() {
            self.digits()?;
        }
        if self.take(b'e').or_else(|| self.take(b'E')).is_some() {
            let _sign = self.take(b'+').or_else(|| self.take(b'-'));
            self.digits()?;
        }
        Some(Kind::Number)
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn closes(&mut self, bracket: u8) -> bool {
        self.space();
        self.take(bracket).is_some()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

#[cfg(test)]
#[path = "json_node_tests.rs"]
mod tests;
