use std::collections::HashSet;
use std::sync::Arc;

use probity_contract::{
    CallId, Emission, Ending, Entry, Fact, ForeignTo, ItemId, Kept, ModelErrorClass, NativePart, Part,
    PartId, ReplyPart, ReplyPartKind, RunId, Spending, ToolErrorClass, ToolOutcomeKind, Usage,
};
use serde::Serialize;
use serde_json::Value;

use crate::draft::Piece;
use crate::limits::NOTICES_MAX;

/// The lines of a record as they are written: texts once, entries counted, time that never goes back.
pub(super) struct Lines {
    lines: Vec<Emission>,
    parts: HashSet<PartId>,
    seq: u64,
    at_ms: u64,
    started_at_unix_ms: u64,
    notices: Vec<String>,
    notices_over: usize,
}

/// What a writer leaves.
pub(crate) struct Written {
    pub(crate) lines: Vec<Emission>,
    pub(crate) notices: Vec<String>,
    pub(crate) notices_over: usize,
    pub(crate) ending: Option<Ending>,
    pub(crate) spent: Spending,
    /// Runs that were started here, and by which call.
    pub(crate) placed: Vec<(RunId, CallId)>,
}

impl Lines {
    pub(super) fn new(started_at_unix_ms: u64) -> Self {
        Self {
            lines: Vec::new(),
            parts: HashSet::new(),
            seq: 0,
            at_ms: 0,
            started_at_unix_ms,
            notices: Vec::new(),
            notices_over: 0,
        }
    }

    /// Moves the clock, which a fact without a time of its own is written by.
    pub(super) fn advance(&mut self, at_unix_ms: Option<u64>) {
        if let Some(at) = at_unix_ms {
            self.at_ms = self.at_ms.max(at.saturating_sub(self.started_at_unix_ms));
        }
    }

    pub(super) fn fact(&mut self, at_unix_ms: Option<u64>, fact: Fact) {
        self.advance(at_unix_ms);
        self.lines.push(Emission::Entry(Entry { seq: self.seq, at_ms: self.at_ms, fact }));
        self.seq += 1;
    }

    pub(super) fn part(&mut self, text: &str) -> PartId {
        let id = PartId::of(text);
        if self.parts.insert(id) {
            self.lines.push(Emission::Part(Part { id, kept: Kept::Full(Arc::from(text)) }));
        }
        id
    }

    pub(super) fn json(&mut self, value: &impl Serialize) -> PartId {
        // Values made of texts and JSON have a JSON form.
        self.part(&serde_json::to_string(value).unwrap_or_default())
    }

    pub(super) fn foreign(&mut self, about: ForeignTo, at: String, value: &Value) {
        let json = self.json(value);
        self.fact(None, Fact::Foreign { about, at, json });
    }

    pub(super) fn note(&mut self, notice: String) {
        if self.notices.len() < NOTICES_MAX {
            self.notices.push(notice);
        } else {
            self.notices_over += 1;
        }
    }

    pub(super) fn finish(
        mut self,
        last_reply: Option<(ItemId, bool)>,
        failed: Option<String>,
        usage: Usage,
        guessed: u32,
    ) -> Written {
        let ending = match (failed, last_reply) {
            (Some(error), _) => {
                Some((Ending::ModelFailed { class: ModelErrorClass::ServerError, error }, None))
            }
            (None, Some((item, false))) => Some((Ending::Answered, Some(item))),
            (None, _) => None,
        };
        if guessed > 0 {
            self.note(format!(
                "of {guessed} replies the trace does not tell what their model saw; what stood before each is taken for it"
            ));
        }
        if let Some((ending, answer)) = &ending {
            let fact = Fact::Ended { ending: ending.clone(), answer: *answer, usage, cost_usd: None };
            self.fact(None, fact);
        } else {
            self.note("the trace does not tell how the run ended".to_owned());
        }
        Written {
            lines: self.lines,
            notices: self.notices,
            notices_over: self.notices_over,
            ending: ending.map(|(ending, _)| ending),
            spent: Spending::default(),
            placed: Vec::new(),
        }
    }
}

pub(super) fn finished(call: CallId, output: PartId, bytes: usize, is_error: bool, ran_ms: u64) -> Fact {
    let outcome =
        if is_error { ToolOutcomeKind::Failed(ToolErrorClass::Failed) } else { ToolOutcomeKind::Succeeded };
    Fact::ToolFinished {
        call,
        outcome,
        output,
        output_bytes: bytes as u64,
        ran_ms,
        readers: probity_contract::Readers::Everyone,
        vouched: Vec::new(),
    }
}

pub(super) fn reply_part(piece: &Piece) -> ReplyPart {
    match piece {
        Piece::Text(text) => ReplyPart::text(text.as_str()),
        Piece::Reasoning(text) => ReplyPart { kind: ReplyPartKind::Reasoning(text.clone()), native: None },
        Piece::Call { id, name, arguments } => {
            ReplyPart::call(id.as_str(), name.as_str(), arguments.as_str())
        }
        Piece::Other(value) => ReplyPart {
            kind: ReplyPartKind::Opaque,
            native: Some(NativePart { codec: "imported".to_owned(), value: value.clone() }),
        },
    }
}
