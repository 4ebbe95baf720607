//! An answer that is being made: rows are added as long as there is room, and what does not fit is said.

use std::fmt;

use probity_egress::{Egress, SamePrincipal};
use serde::Serialize;
use serde_json::{Map, Value};

use super::name::Id;
use super::texts::told;

/// Bytes of one answer.
pub const TRACE_ANSWER_BYTES_MAX: usize = 16 * 1024;

/// Rows of one answer.
pub const TRACE_ROWS_MAX: usize = 100;

/// Rows of one answer where nobody has said how many.
const ROWS_USUAL: u32 = 20;

/// Bytes of what stands before the rows.
const HEAD_BYTES_MAX: usize = 8 * 1024;

/// Bytes that the figures behind the rows take at most.
const FOOT_BYTES_MAX: usize = 512;

/// Characters of a name.
pub(super) const NAME_CHARS_MAX: usize = 80;

/// An answer: one JSON object, as `Display` writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceAnswer {
    // INVARIANT: at most `TRACE_ANSWER_BYTES_MAX` bytes, made of `Row`s.
    json: Value,
}

/// What is passed over, and how much is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page {
    offset: usize,
    limit: usize,
}

/// An object of an answer. Texts of a record come in through their pass only.
#[derive(Debug, Clone, Default)]
pub(super) struct Row(Map<String, Value>);

impl Page {
    pub(super) fn of(offset: Option<u32>, limit: Option<u32>) -> Self {
        let limit = limit.unwrap_or(ROWS_USUAL).max(1) as usize;
        Self { offset: offset.unwrap_or(0) as usize, limit: limit.min(TRACE_ROWS_MAX) }
    }
}

impl Row {
    pub(super) fn new() -> Self {
        Self::default()
    }

    fn with(mut self, name: &'static str, value: Value) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    pub(super) fn fixed(self, name: &'static str, words: &'static str) -> Self {
        self.with(name, words.into())
    }

    pub(super) fn number(self, name: &'static str, number: u64) -> Self {
        self.with(name, number.into())
    }

    pub(super) fn count(self, name: &'static str, count: usize) -> Self {
        self.with(name, count.into())
    }

    pub(super) fn share(self, name: &'static str, share: f64) -> Self {
        self.with(name, ((share * 1e6).round() / 1e6).into())
    }

    pub(super) fn flag(self, name: &'static str, flag: bool) -> Self {
        self.with(name, flag.into())
    }

    pub(super) fn id(self, name: &'static str, id: &Id) -> Self {
        self.with(name, id.as_str().into())
    }

    pub(super) fn passed(self, name: &'static str, text: &Egress<SamePrincipal>) -> Self {
        self.with(name, text.as_str().into())
    }

    /// A name or a short line of the record.
    pub(super) fn named(self, name: &'static str, words: &str) -> Self {
        self.passed(name, &told(words, NAME_CHARS_MAX))
    }

    /// A value that is a word in the record: its own, or that under its tag.
    pub(super) fn word(self, name: &'static str, value: &impl Serialize) -> Self {
        let json = serde_json::to_value(value).unwrap_or_default();
        let word = if let Some(members) = json.as_object() {
            let tagged = ["outcome", "ending", "role"].iter().find_map(|tag| members.get(*tag));
            tagged.and_then(Value::as_str).or_else(|| members.keys().next().map(String::as_str))
        } else {
            json.as_str()
        };
        self.named(name, word.unwrap_or("other"))
    }

    pub(super) fn range(self, range: &std::ops::Range<usize>) -> Self {
        self.with("bytes", vec![range.start, range.end].into())
    }

    /// The first few of a list; how many more there are stands beside it.
    pub(super) fn list<T>(
        self,
        names: (&'static str, &'static str),
        max: usize,
        all: impl IntoIterator<Item = T>,
        row: impl Fn(T) -> Value,
    ) -> Self {
        let mut all = all.into_iter();
        let told: Vec<Value> = all.by_ref().take(max).map(row).collect();
        let more = all.count();
        let with = if told.is_empty() { self } else { self.with(names.0, told.into()) };
        if more > 0 { with.count(names.1, more) } else { with }
    }

    pub(super) fn value(self) -> Value {
        Value::Object(self.0)
    }

    fn bytes(&self) -> usize {
        serde_json::to_string(&self.0).map_or(usize::MAX, |text| text.len())
    }
}

impl TraceAnswer {
    /// Rows of a list, as many as there is room for.
    pub(super) fn rows<T>(head: Row, all: &[T], page: Page, row: impl Fn(&T) -> Row) -> Self {
        let head = if head.bytes() > HEAD_BYTES_MAX {
            Row::new().fixed("head", "left out: it is too large")
        } else {
            head
        };
        let mut left = TRACE_ANSWER_BYTES_MAX.saturating_sub(head.bytes() + FOOT_BYTES_MAX);
        let mut rows: Vec<Value> = Vec::new();
        for thing in all.iter().skip(page.offset).take(page.limit) {
            let mut told = row(thing);
            if told.bytes() > TRACE_ANSWER_BYTES_MAX - HEAD_BYTES_MAX - 2 * FOOT_BYTES_MAX {
                let id = told.0.remove("id").filter(|id| id.to_string().len() < NAME_CHARS_MAX);
                told = Row::new().fixed("left_out", "this row is too large");
                if let Some(id) = id {
                    told = told.with("id", id);
                }
            }
            let Some(rest) = left.checked_sub(told.bytes() + 1) else { break };
            left = rest;
            rows.push(told.value());
        }
        let end = page.offset.saturating_add(rows.len()).min(all.len());
        let (shown, behind) = (rows.len(), all.len().saturating_sub(end));
        let mut whole = head
            .with("rows", rows.into())
            .count("total", all.len())
            .count("shown", shown)
            .count("left_out_before", page.offset.min(all.len()))
            .count("left_out_after", behind);
        if behind > 0 {
            whole = whole.with("more", Value::Object(Row::new().count("offset", end).0));
        }
        Self::whole(whole)
    }

    /// One object without rows.
    pub(super) fn whole(row: Row) -> Self {
        if row.bytes() <= TRACE_ANSWER_BYTES_MAX {
            return Self { json: row.value() };
        }
        Self { json: Row::new().fixed("left_out", "all of it: the answer is too large").value() }
    }

    /// The answer as a value.
    #[must_use]
    pub const fn json(&self) -> &Value {
        &self.json
    }
}

impl fmt::Display for TraceAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.json.fmt(f)
    }
}
