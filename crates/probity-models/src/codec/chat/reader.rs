//! Replies of Chat Completions: chunks of a stream, or one body, which is read as a chunk that holds everything.

use probity_contract::{ModelError, ModelEvent, ModelReply, Stop};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::reasoning::keep_native;
use super::usage::usage_of;
use crate::codec::text_at;
use crate::failure::{malformed, reported, truncated};
use crate::parts::{DraftKind, Ending, Parts, finished};

/// The reader of one reply.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    codec: String,
    parts: Parts,
    calls: Vec<OpenCall>,
    ending: Ending,
    has_refusal: bool,
    has_begun: bool,
    is_over: bool,
}

/// A call under way: where it stands among the parts, and by what its further pieces are known.
#[derive(Debug, Clone)]
struct OpenCall {
    part: usize,
    index: Option<u64>,
    id: String,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    model: Value,
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: Value,
    /// A piece of a stream.
    delta: Option<Delta>,
    /// The whole of a body; its members are those of a piece.
    message: Option<Delta>,
    #[serde(default)]
    finish_reason: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    content: Value,
    #[serde(default)]
    reasoning_content: Value,
    #[serde(default)]
    reasoning: Value,
    #[serde(default)]
    reasoning_details: Value,
    #[serde(default)]
    refusal: Value,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    #[serde(default)]
    index: Value,
    #[serde(default)]
    id: Value,
    #[serde(default)]
    extra_content: Value,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    #[serde(default)]
    name: Value,
    arguments: Option<Box<RawValue>>,
}

impl Reader {
    pub(crate) fn new(codec: String) -> Self {
        Self {
            codec,
            parts: Parts::default(),
            calls: Vec::new(),
            ending: Ending::default(),
            has_refusal: false,
            has_begun: false,
            is_over: false,
        }
    }

    pub(crate) fn event(&mut self, data: &str, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if self.is_over || data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.is_over = true;
            return Ok(());
        }
        let chunk = serde_json::from_str(data).map_err(|error| malformed(format!("a chunk: {error}")))?;
        self.chunk(chunk, events)
    }

    pub(crate) fn document(&mut self, text: &str) -> Result<(), ModelError> {
        let chunk: Chunk =
            serde_json::from_str(text).map_err(|error| malformed(format!("the body: {error}")))?;
        if chunk.error.is_null() && chunk.choices.as_ref().is_none_or(Vec::is_empty) {
            return Err(malformed("the body has no `choices`"));
        }
        self.chunk(chunk, &mut Vec::new())?;
        self.is_over = true;
        Ok(())
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    pub(crate) fn reply(&self) -> Result<ModelReply, ModelError> {
        // The reason closes the answer; the marker and the counts that follow it close only the stream.
        if self.ending.stop.is_none() {
            return Err(truncated("the stream ended before a reason for its end"));
        }
        let mut ending = self.ending.clone();
        if self.has_refusal && ending.stop == Some(Stop::EndTurn) {
            ending.stop = Some(Stop::Refused);
        }
        finished(&self.parts, &self.codec, &ending)
    }

    fn chunk(&mut self, chunk: Chunk, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        self.has_begun = true;
        if !chunk.error.is_null() {
            return Err(reported(&chunk.error));
        }
        keep(&mut self.ending.response_id, &chunk.id);
        keep(&mut self.ending.model, &chunk.model);
        if chunk.usage.is_object() {
            self.ending.usage = usage_of(&chunk.usage);
        }
        for choice in chunk.choices.into_iter().flatten() {
            if choice.index.as_u64().unwrap_or(0) == 0 {
                self.choice(choice, events)?;
            }
        }
        Ok(())
    }

    fn choice(&mut self, choice: Choice, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if !choice.error.is_null() {
            return Err(reported(&choice.error));
        }
        if let Some(delta) = choice.delta.or(choice.message) {
            self.delta(delta, events);
        }
        match choice.finish_reason.as_str().filter(|reason| !reason.is_empty()) {
            Some("error") => Err(reported(&json!("the reply ended with the reason `error`"))),
            Some(reason) => {
                self.ending.stop = Some(stop_of(reason));
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn delta(&mut self, delta: Delta, events: &mut Vec<ModelEvent>) {
        self.reasoning(&delta, events);
        if let Some(text) = delta.content.as_str() {
            self.parts.continue_with(DraftKind::Text, text, events);
        }
        for block in delta.content.as_array().into_iter().flatten() {
            self.block(block, events);
        }
        if let Some(text) = delta.refusal.as_str().filter(|text| !text.is_empty()) {
            self.has_refusal = true;
            self.parts.continue_with(DraftKind::Text, text, events);
        }
        for call in delta.tool_calls.into_iter().flatten() {
            self.call(call, events);
        }
    }

    /// Mistral sends content as blocks where a model reasons.
    fn block(&mut self, block: &Value, events: &mut Vec<ModelEvent>) {
        match block.get("type").and_then(Value::as_str) {
            Some("thinking") => {
                let pieces = block.get("thinking").and_then(Value::as_array);
                for piece in pieces.into_iter().flatten() {
                    let text = text_at(piece, "text").unwrap_or_default();
                    self.parts.continue_with(DraftKind::Reasoning, text, events);
                }
            }
            _ => {
                let text = text_at(block, "text").unwrap_or_default();
                self.parts.continue_with(DraftKind::Text, text, events);
            }
        }
    }

    fn reasoning(&mut self, delta: &Delta, events: &mut Vec<ModelEvent>) {
        let named = [("reasoning_content", &delta.reasoning_content), ("reasoning", &delta.reasoning)];
        let named = named
            .into_iter()
            .find_map(|(name, value)| Some((name, value.as_str().filter(|text| !text.is_empty())?)));
        let details = delta.reasoning_details.as_array().filter(|list| !list.is_empty());
        let text = named.map_or("", |(_, text)| text);
        if text.is_empty() && details.is_none() {
            return;
        }
        let at = self.reasoning_part(events);
        self.parts.grow(at, text, events);
        if let Some(draft) = self.parts.get_mut(at) {
            let native = draft.native.get_or_insert_with(|| json!({}));
            keep_native(native, named, details.map_or(&[], Vec::as_slice));
        }
    }

    fn reasoning_part(&mut self, events: &mut Vec<ModelEvent>) -> usize {
        let last = self.parts.iter().enumerate().last();
        match last.filter(|(_, draft)| draft.kind == DraftKind::Reasoning) {
            Some((at, _)) => at,
            None => self.parts.open(DraftKind::Reasoning, events),
        }
    }

    fn call(&mut self, delta: CallDelta, events: &mut Vec<ModelEvent>) {
        let index = delta.index.as_u64();
        let id = delta.id.as_str().unwrap_or_default();
        let function = delta.function;
        let name = function.as_ref().and_then(|function| function.name.as_str()).unwrap_or_default();
        let at = match self.open_call(index, id) {
            Some(at) => at,
            None => {
                let kind = DraftKind::Call { id: id.to_owned(), name: name.to_owned() };
                let part = self.parts.open(kind, events);
                self.calls.push(OpenCall { part, index, id: id.to_owned() });
                part
            }
        };
        if let Some(draft) = self.parts.get_mut(at) {
            if let DraftKind::Call { id: known_id, name: known } = &mut draft.kind {
                // Some hosts name the call late, and some repeat the name with every piece.
                if known.is_empty() {
                    name.clone_into(known);
                }
                if known_id.is_empty() {
                    id.clone_into(known_id);
                }
            }
            if delta.extra_content.is_object() {
                draft.native = Some(json!({ "extra_content": delta.extra_content }));
            }
        }
        if let Some(arguments) = function.and_then(|function| function.arguments) {
            self.parts.grow(at, &argument_text(&arguments), events);
        }
    }

    /// The call that a piece belongs to. A new id at a known index is a new call: some hosts count every call as 0.
    fn open_call(&self, index: Option<u64>, id: &str) -> Option<usize> {
        let same_id = |call: &&OpenCall| id.is_empty() || call.id.is_empty() || call.id == id;
        let found = match index {
            Some(_) => self.calls.iter().rev().find(|call| call.index == index && same_id(call)),
            None if id.is_empty() => self.calls.last(),
            None => self.calls.iter().rev().find(|call| call.id == id),
        };
        found.map(|call| call.part)
    }
}

/// The text of arguments: the string's content, or the JSON as it stands where a host sends an object.
fn argument_text(raw: &RawValue) -> String {
    serde_json::from_str::<String>(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
}

fn keep(slot: &mut Option<String>, value: &Value) {
    if slot.is_none() {
        *slot = value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    }
}

fn stop_of(reason: &str) -> Stop {
    match reason {
        "stop" | "end_turn" | "eos" => Stop::EndTurn,
        "stop_sequence" => Stop::StopSequence,
        "tool_calls" | "function_call" | "tool_use" => Stop::ToolCalls,
        "length" | "max_tokens" | "model_length" => Stop::MaxTokens,
        "content_filter" | "safety" | "refusal" => Stop::Refused,
        other => Stop::Other(other.to_owned()),
    }
}
