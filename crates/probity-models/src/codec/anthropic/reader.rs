//! Replies of Anthropic Messages: events that build blocks, or one body with its blocks.

use std::collections::BTreeMap;

use probity_contract::{ModelError, ModelEvent, ModelReply, Stop};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::usage::Counts;
use crate::codec::text_at;
use crate::failure::{malformed, reported, truncated};
use crate::parts::{DraftKind, Ending, Parts, finished};

/// The reader of one reply.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    codec: String,
    parts: Parts,
    /// Blocks under way, by their index.
    open: BTreeMap<u64, OpenBlock>,
    usage: Counts,
    ending: Ending,
    has_begun: bool,
    is_over: bool,
}

/// A block that has begun and not ended.
#[derive(Debug, Clone)]
struct OpenBlock {
    part: usize,
    /// The input as the block's start states it, which counts only if no piece of input follows.
    stated: Option<String>,
    /// Argument text of a provider's own tool; such a call is not ours to run and its block goes back as it came.
    hosted_input: String,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    #[serde(default)]
    delta: Value,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Option<Vec<&'a RawValue>>,
}

/// The members of a block that must be read from its text: arguments are kept exactly as they were sent.
#[derive(Deserialize)]
struct Input<'a> {
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

impl Reader {
    pub(crate) fn new(codec: String) -> Self {
        Self {
            codec,
            parts: Parts::default(),
            open: BTreeMap::new(),
            usage: Counts::default(),
            ending: Ending::default(),
            has_begun: false,
            is_over: false,
        }
    }

    pub(crate) fn event(&mut self, data: &str, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if self.is_over || data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let event: Event<'_> =
            serde_json::from_str(data).map_err(|error| malformed(format!("an event: {error}")))?;
        self.has_begun = true;
        match event.kind.as_str() {
            "message_start" => {
                let message = event.message.ok_or_else(|| malformed("a message starts without a message"))?;
                self.started(message.get(), events)?;
            }
            "content_block_start" => {
                let block = event.content_block.ok_or_else(|| malformed("a block starts without a block"))?;
                self.block_started(event.index, block, events)?;
            }
            "content_block_delta" => self.block_grew(event.index, &event.delta, events)?,
            "content_block_stop" => self.block_ended(event.index, events),
            "message_delta" => {
                self.usage.update(&event.usage);
                if let Some(reason) = text_at(&event.delta, "stop_reason") {
                    self.ending.stop = Some(stop_of(reason));
                }
            }
            "message_stop" => self.is_over = true,
            "error" => return Err(reported(&event.error)),
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn document(&mut self, text: &str) -> Result<(), ModelError> {
        let body: Value =
            serde_json::from_str(text).map_err(|error| malformed(format!("the body: {error}")))?;
        if let Some(error) = body.get("error").filter(|error| !error.is_null()) {
            return Err(reported(error));
        }
        if !body.get("content").is_some_and(Value::is_array) {
            return Err(malformed("the body has no `content`"));
        }
        self.started(text, &mut Vec::new())?;
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
        if !self.is_over {
            return Err(truncated("the stream ended before the message did"));
        }
        if !self.open.is_empty() {
            return Err(truncated("the message ended before one of its blocks did"));
        }
        let ending = Ending { usage: self.usage.total(), ..self.ending.clone() };
        finished(&self.parts, &self.codec, &ending)
    }

    /// Takes a message as it stands: the whole of a body, or the start of a stream, which may already hold blocks.
    ///
    /// A second start begins the message anew: a gateway that switches models in the middle splices two streams.
    fn started(&mut self, text: &str, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let wrong = |error: serde_json::Error| malformed(format!("a message: {error}"));
        let message: Value = serde_json::from_str(text).map_err(wrong)?;
        let blocks: Message<'_> = serde_json::from_str(text).map_err(wrong)?;
        if !self.parts.is_empty() {
            *self = Self { has_begun: true, ..Self::new(std::mem::take(&mut self.codec)) };
        }
        self.usage.update(message.get("usage").unwrap_or(&Value::Null));
        self.ending.model = text_at(&message, "model").map(str::to_owned);
        self.ending.response_id = text_at(&message, "id").map(str::to_owned);
        self.ending.stop = text_at(&message, "stop_reason").map(stop_of);
        for (index, block) in (0_u64..).zip(blocks.content.into_iter().flatten()) {
            self.block_started(index, block, events)?;
            self.block_ended(index, events);
        }
        Ok(())
    }

    fn block_started(
        &mut self,
        index: u64,
        raw: &RawValue,
        events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let wrong = |error: serde_json::Error| malformed(format!("a block: {error}"));
        let block: Value = serde_json::from_str(raw.get()).map_err(wrong)?;
        let input: Input<'_> = serde_json::from_str(raw.get()).map_err(wrong)?;
        let kind = kind_of(&block);
        let first = match kind {
            DraftKind::Text => text_at(&block, "text"),
            DraftKind::Reasoning => text_at(&block, "thinking"),
            DraftKind::Call { .. } | DraftKind::Opaque => None,
        };
        let keeps_native = matches!(kind, DraftKind::Reasoning | DraftKind::Opaque);
        let part = self.parts.open(kind, events);
        self.parts.grow(part, first.unwrap_or_default(), events);
        if let Some(draft) = self.parts.get_mut(part) {
            draft.native = keeps_native.then_some(block);
        }
        let stated = input.input.map(|input| input.get().to_owned());
        if self.open.insert(index, OpenBlock { part, stated, hosted_input: String::new() }).is_some() {
            return Err(malformed("a block starts that has not ended"));
        }
        Ok(())
    }

    fn block_grew(
        &mut self,
        index: u64,
        delta: &Value,
        events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let block = self.open.get_mut(&index).ok_or_else(|| malformed("a block grows that has not begun"))?;
        let Some(draft) = self.parts.get_mut(block.part) else { return Ok(()) };
        match (text_at(delta, "type").unwrap_or_default(), &draft.kind) {
            ("text_delta", DraftKind::Text) => self.parts.grow(block.part, piece(delta, "text"), events),
            ("thinking_delta", DraftKind::Reasoning) => {
                append(draft.native.as_mut(), "thinking", piece(delta, "thinking"));
                self.parts.grow(block.part, piece(delta, "thinking"), events);
            }
            ("signature_delta", _) => append(draft.native.as_mut(), "signature", piece(delta, "signature")),
            ("input_json_delta", DraftKind::Call { .. }) => {
                self.parts.grow(block.part, piece(delta, "partial_json"), events);
            }
            ("input_json_delta", _) => block.hosted_input.push_str(piece(delta, "partial_json")),
            ("compaction_delta", DraftKind::Opaque) => {
                append(draft.native.as_mut(), "content", piece(delta, "content"))
            }
            _ => {}
        }
        Ok(())
    }

    fn block_ended(&mut self, index: u64, events: &mut Vec<ModelEvent>) {
        let Some(block) = self.open.remove(&index) else { return };
        let Some(draft) = self.parts.get_mut(block.part) else { return };
        match &draft.kind {
            DraftKind::Call { .. } if draft.text.is_empty() => {
                self.parts.grow(block.part, &block.stated.unwrap_or_default(), events);
            }
            DraftKind::Opaque if !block.hosted_input.is_empty() => {
                if let (Some(Value::Object(native)), Ok(input)) =
                    (&mut draft.native, serde_json::from_str::<Value>(&block.hosted_input))
                {
                    native.insert("input".to_owned(), input);
                }
            }
            DraftKind::Reasoning if !is_signed(draft.native.as_ref()) => draft.native = None,
            DraftKind::Text | DraftKind::Reasoning | DraftKind::Call { .. } | DraftKind::Opaque => {}
        }
    }
}

fn kind_of(block: &Value) -> DraftKind {
    match text_at(block, "type").unwrap_or_default() {
        "text" => DraftKind::Text,
        "thinking" | "redacted_thinking" => DraftKind::Reasoning,
        "tool_use" => DraftKind::Call {
            id: text_at(block, "id").unwrap_or_default().to_owned(),
            name: text_at(block, "name").unwrap_or_default().to_owned(),
        },
        _ => DraftKind::Opaque,
    }
}

/// Thinking without a signature is refused when it is sent back.
fn is_signed(native: Option<&Value>) -> bool {
    native.is_some_and(|block| text_at(block, "signature").is_some() || text_at(block, "data").is_some())
}

fn piece<'a>(delta: &'a Value, key: &str) -> &'a str {
    text_at(delta, key).unwrap_or_default()
}

fn append(native: Option<&mut Value>, key: &str, text: &str) {
    let Some(Value::Object(members)) = native else { return };
    match members.get_mut(key) {
        Some(Value::String(sofar)) => sofar.push_str(text),
        _ => drop(members.insert(key.to_owned(), json!(text))),
    }
}

fn stop_of(reason: &str) -> Stop {
    match reason {
        "end_turn" => Stop::EndTurn,
        "tool_use" => Stop::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => Stop::MaxTokens,
        "stop_sequence" => Stop::StopSequence,
        "refusal" => Stop::Refused,
        "pause_turn" => Stop::Paused,
        other => Stop::Other(other.to_owned()),
    }
}
