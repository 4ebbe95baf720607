use probity_contract::{Body, Fact, ItemId, Kept, Label, Origin, PartId, ReplyPart, ReplyPartKind};

use crate::facts::parts_of_body;
use crate::frame::FRAME_BYTES_MAX;
use crate::line::{Line, Noted};
use crate::record::Record;

/// A text as the record still has it. It has passed no exit: what shows it must check it first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedText {
    /// What is there of it; empty where nothing is.
    pub text: String,
    /// How that differs from the text of the run.
    pub fidelity: Fidelity,
}

/// How much of a text stands in the record, best first. Of a text in several parts, that of the worst part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fidelity {
    /// All of it, as it was.
    Full,
    /// All of it, after the credential pass.
    Redacted,
    /// Not kept, by the content setting of the run.
    Withheld,
    /// The record refers to it and does not hold it, or does not hold what it should.
    Unknown,
}

/// One item as the record has it.
#[derive(Debug, Clone, Copy)]
pub struct RecordedItem<'a> {
    /// Its id.
    pub item: ItemId,
    /// The entry that added it.
    pub seq: u64,
    /// Who brought it.
    pub origin: Origin,
    /// Trust and readers.
    pub label: &'a Label,
    /// What it says, by reference.
    pub body: &'a Body,
}

impl RecordedText {
    const NOTHING: Self = Self { text: String::new(), fidelity: Fidelity::Full };

    fn worsen(&mut self, fidelity: Fidelity) {
        self.fidelity = self.fidelity.max(fidelity);
    }
}

impl Record {
    /// One item; `None` where the record does not add it.
    #[must_use]
    pub fn item(&self, item: ItemId) -> Option<RecordedItem<'_>> {
        as_item(self.item_line(item)?)
    }

    /// The items in the order of their arrival.
    pub fn items(&self) -> impl Iterator<Item = RecordedItem<'_>> {
        self.lines().iter().filter_map(as_item)
    }

    /// One text of the record.
    #[must_use]
    pub fn part_text(&self, part: PartId) -> RecordedText {
        let (text, fidelity) = self.stored(part);
        RecordedText { text: text.to_owned(), fidelity }
    }

    fn stored(&self, part: PartId) -> (&str, Fidelity) {
        match self.part(part) {
            Some(Kept::Full(text)) => (text, Fidelity::Full),
            Some(Kept::Redacted(text)) => (text, Fidelity::Redacted),
            Some(Kept::Length(_)) => ("", Fidelity::Withheld),
            None => ("", Fidelity::Unknown),
        }
    }

    /// What an item says, as one string: of a reply, the text and each call as name and arguments, on lines of their
    /// own. `None` where the record does not add the item.
    #[must_use]
    pub fn item_text(&self, item: ItemId) -> Option<RecordedText> {
        let body = self.item(item)?.body;
        Some(if matches!(body, Body::Reply { .. }) {
            self.reply_text(body, "\n", |kind| match kind {
                ReplyPartKind::Text(text) => Some(text),
                ReplyPartKind::Call(call) => Some(format!("{}({})", call.name, call.arguments)),
                ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => None,
            })
        } else {
            parts_of_body(body).first().map_or(RecordedText::NOTHING, |part| self.part_text(*part))
        })
    }

    /// The answer text of a reply, joined as it was streamed. `None` where the item is no reply of the record.
    #[must_use]
    pub fn answer_text(&self, item: ItemId) -> Option<RecordedText> {
        let body = self.item(item)?.body;
        matches!(body, Body::Reply { .. }).then(|| {
            self.reply_text(body, "", |kind| match kind {
                ReplyPartKind::Text(text) => Some(text),
                ReplyPartKind::Call(_) | ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => None,
            })
        })
    }

    fn reply_text(
        &self,
        body: &Body,
        between: &str,
        say: impl Fn(ReplyPartKind) -> Option<String>,
    ) -> RecordedText {
        let mut whole = RecordedText::NOTHING;
        let mut is_first = true;
        let mut bytes_left = FRAME_BYTES_MAX;
        for part in parts_of_body(body) {
            let (stored, fidelity) = self.stored(*part);
            whole.worsen(fidelity);
            if fidelity > Fidelity::Redacted {
                continue;
            }
            // No reply is as long as this; a record that names one long text a million times is not worked through.
            let Some(left) = bytes_left.checked_sub(stored.len()) else {
                whole.worsen(Fidelity::Unknown);
                break;
            };
            bytes_left = left;
            // A redaction that swallowed a quotation mark leaves text that is no part any more.
            let Ok(ReplyPart { kind, .. }) = serde_json::from_str(stored) else {
                whole.worsen(Fidelity::Unknown);
                continue;
            };
            if let Some(words) = say(kind) {
                if !is_first {
                    whole.text.push_str(between);
                }
                is_first = false;
                whole.text.push_str(&words);
            }
        }
        whole
    }
}

fn as_item(line: &Line) -> Option<RecordedItem<'_>> {
    match &line.fact {
        Noted::Known(Fact::ItemAdded { item, origin, label, body }) => {
            Some(RecordedItem { item: *item, seq: line.seq, origin: *origin, label, body })
        }
        Noted::Known(_) | Noted::Opaque { .. } => None,
    }
}
