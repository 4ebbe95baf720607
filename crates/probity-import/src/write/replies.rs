use probity_contract::{
    Body, CallId, Fact, ForeignTo, ItemId, Label, ModelCallId, Origin, PartId, Stop, Usage,
};
use serde_json::Value;

use super::{Writer, lines};
use crate::draft::{Message, Piece, ToolStep};

/// What is known of a reply beside its words.
pub(super) struct Replied {
    pub(super) call: ModelCallId,
    pub(super) stop: Option<Stop>,
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
    pub(super) response_id: Option<String>,
}

impl Replied {
    pub(super) fn of(call: ModelCallId) -> Self {
        Self { call, stop: None, usage: Usage::default(), model: None, response_id: None }
    }
}

impl Writer {
    /// Adds a reply, and the calls that it proposes.
    pub(super) fn reply(&mut self, message: &Message, replied: Replied, at: Option<u64>) -> ItemId {
        let item = self.next_item(message);
        let at = at.or(message.at_unix_ms);
        let parts = message.pieces.iter().map(lines::reply_part);
        let parts: Vec<PartId> = parts.map(|part| self.lines.json(&part)).collect();
        let label = self.window_labels.last().cloned().unwrap_or_else(Label::system);
        let call = replied.call;
        self.lines.advance(at);
        self.added(item, Origin::Model(call), label, Body::Reply { parts }, message);
        let has_calls = message.has_calls();
        let stop = replied.stop.unwrap_or(if has_calls { Stop::ToolCalls } else { Stop::EndTurn });
        let (usage, model, response_id) = (replied.usage, replied.model, replied.response_id);
        self.lines.fact(at, Fact::ModelReplied { call, item, stop, usage, model, response_id });
        for piece in &message.pieces {
            if let Piece::Call { id, name, arguments } = piece {
                let proposed = self.calls.propose(id, name);
                let arguments = self.lines.part(arguments);
                let (provider_id, tool) = (id.clone(), name.clone());
                let fact = Fact::CallProposed { call: proposed, by: call, provider_id, tool, arguments };
                self.lines.fact(at, fact);
            }
        }
        self.last_reply = Some((item, has_calls));
        item
    }

    pub(super) fn add_result(&mut self, message: &Message) -> ItemId {
        let item = self.next_item(message);
        let words = message.words();
        let text = self.lines.part(&words);
        let found = self.calls.answer(message.call_id.as_deref(), message.name.as_deref());
        let call = found.call;
        self.children_of(call, &[message.call_id.as_deref().unwrap_or_default()]);
        if found.is_first {
            let at = message.at_unix_ms;
            self.lines.fact(at, lines::finished(call, text, words.len(), message.is_error, 0));
        }
        let provider_id = message.call_id.clone().unwrap_or(found.provider_id);
        let tool = message.name.clone().filter(|name| !name.is_empty()).unwrap_or(found.tool);
        let is_error = message.is_error;
        let body = Body::ToolResult { call, provider_id, tool, text, is_error };
        self.added(item, Origin::Tool(call), Label::untrusted(), body, message);
        if found.is_orphan {
            self.lines.note(format!("{item} is a result of a call that the trace does not tell of"));
        }
        self.last_reply = None;
        item
    }

    /// Writes that the runs which a call has started have ended.
    fn children_of(&mut self, call: CallId, keys: &[&str]) {
        for key in keys {
            for child in self.children.remove(*key).unwrap_or_default() {
                self.placed.push((child.run.clone(), call));
                let (run, ending, spent) = (child.run, child.ending, child.spent);
                let label = Label::untrusted();
                self.lines.fact(None, Fact::ChildEnded { call, run, ending, label, spent });
            }
        }
    }

    pub(super) fn tool(&mut self, step: ToolStep) {
        let found = self.calls.ran(step.call_id.as_deref(), &step.name);
        let call = found.call;
        self.children_of(call, &[&step.id, step.call_id.as_deref().unwrap_or_default()]);
        if found.is_orphan {
            self.lines.note(format!("{call} ran, and the trace does not tell who proposed it"));
        }
        if let Some(result) = &step.result {
            let ran_ms = step
                .ended_at_unix_ms
                .zip(step.at_unix_ms)
                .map_or(0, |(end, start)| end.saturating_sub(start));
            let output = self.lines.part(result);
            let ended = step.ended_at_unix_ms;
            self.lines.fact(ended, lines::finished(call, output, result.len(), step.is_error, ran_ms));
            // Whoever does not say what its next call saw saw this.
            let mut message = Message::result(step.call_id.clone(), Some(step.name.clone()), result.as_str());
            message.is_error = step.is_error;
            message.call_id = message.call_id.or(Some(found.provider_id)).filter(|id| !id.is_empty());
            let item = self.add_result(&message);
            self.so_far.push(item);
        }
        let about = ForeignTo::Call(call);
        if found.is_orphan
            && let Some(arguments) = &step.arguments
        {
            self.lines.foreign(about, "/arguments".to_owned(), &Value::from(arguments.as_str()));
        }
        self.keep(about, step.foreign);
        if !step.id.is_empty() {
            self.lines.foreign(about, "/id".to_owned(), &Value::from(step.id));
        }
    }
}
