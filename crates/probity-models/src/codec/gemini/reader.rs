//! Replies of Gemini: pieces of a response, or one response, which is read as the only piece.

use probity_contract::{ModelError, ModelEvent, ModelReply, Stop, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::SIGNATURE;
use crate::codec::{count_at, text_at};
use crate::failure::{malformed, reported, truncated};
use crate::parts::{DraftKind, Ending, Parts, finished};

/// The reader of one reply.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    codec: String,
    parts: Parts,
    ending: Ending,
    has_begun: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Piece<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(default)]
    prompt_feedback: Value,
    #[serde(default)]
    usage_metadata: Value,
    #[serde(default)]
    model_version: Value,
    #[serde(default)]
    response_id: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(default)]
    finish_reason: Value,
    #[serde(default)]
    index: Value,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<Vec<&'a RawValue>>,
}

/// The member of a part that must be read from its text: arguments are kept exactly as they were sent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallPart<'a> {
    #[serde(borrow)]
    function_call: Option<FunctionCall<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FunctionCall<'a> {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    name: Value,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    partial_args: Option<Value>,
    will_continue: Option<bool>,
}

impl Reader {
    pub(crate) fn new(codec: String) -> Self {
        Self { codec, parts: Parts::default(), ending: Ending::default(), has_begun: false }
    }

    pub(crate) fn event(&mut self, data: &str, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let piece: Piece<'_> =
            serde_json::from_str(data).map_err(|error| malformed(format!("a piece: {error}")))?;
        self.piece(piece, events)
    }

    pub(crate) fn document(&mut self, text: &str) -> Result<(), ModelError> {
        let piece: Piece<'_> =
            serde_json::from_str(text).map_err(|error| malformed(format!("the body: {error}")))?;
        if piece.candidates.is_none() && piece.prompt_feedback.is_null() && piece.error.is_null() {
            return Err(malformed("the body has no `candidates`"));
        }
        self.piece(piece, &mut Vec::new())
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    pub(crate) fn reply(&self) -> Result<ModelReply, ModelError> {
        if self.ending.stop.is_none() {
            return Err(truncated("the stream ended before a reason for its end"));
        }
        finished(&self.parts, &self.codec, &self.ending)
    }

    fn piece(&mut self, piece: Piece<'_>, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        self.has_begun = true;
        if !piece.error.is_null() {
            return Err(reported(&piece.error));
        }
        if let Some(model) = piece.model_version.as_str() {
            self.ending.model = Some(model.to_owned());
        }
        if let Some(id) = piece.response_id.as_str() {
            self.ending.response_id = Some(id.to_owned());
        }
        if piece.usage_metadata.is_object() {
            self.ending.usage = usage_of(&piece.usage_metadata);
        }
        if text_at(&piece.prompt_feedback, "blockReason").is_some() {
            self.ending.stop = Some(Stop::Refused);
        }
        for candidate in piece.candidates.into_iter().flatten() {
            if candidate.index.as_u64().unwrap_or(0) == 0 {
                self.candidate(candidate, events)?;
            }
        }
        Ok(())
    }

    fn candidate(
        &mut self,
        candidate: Candidate<'_>,
        events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        for raw in candidate.content.and_then(|content| content.parts).into_iter().flatten() {
            self.part(raw, events)?;
        }
        if let Some(reason) = candidate.finish_reason.as_str().filter(|reason| !reason.is_empty()) {
            self.ending.stop = Some(stop_of(reason));
        }
        Ok(())
    }

    fn part(&mut self, raw: &RawValue, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let wrong = |error: serde_json::Error| malformed(format!("a part: {error}"));
        let part: Value = serde_json::from_str(raw.get()).map_err(wrong)?;
        let call: CallPart<'_> = serde_json::from_str(raw.get()).map_err(wrong)?;
        if let Some(call) = call.function_call {
            let at = self.call(call, events)?;
            self.sign(at, &part);
            return Ok(());
        }
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            let is_thought = part.get("thought").and_then(Value::as_bool).unwrap_or(false);
            let kind = if is_thought { DraftKind::Reasoning } else { DraftKind::Text };
            self.text(kind, text, &part, events);
            return Ok(());
        }
        let at = self.parts.open(DraftKind::Opaque, events);
        if let Some(draft) = self.parts.get_mut(at) {
            draft.native = Some(part);
        }
        Ok(())
    }

    /// Text continues the last part of its kind unless that is signed: a signature belongs to exactly its part.
    fn text(&mut self, kind: DraftKind, text: &str, part: &Value, events: &mut Vec<ModelEvent>) {
        let has_signature = part.get(SIGNATURE).is_some();
        if text.is_empty() && !has_signature {
            return;
        }
        let last = self.parts.iter().enumerate().last();
        let at = match last.filter(|(_, draft)| draft.kind == kind && draft.native.is_none()) {
            Some((at, _)) => at,
            None => self.parts.open(kind, events),
        };
        self.parts.grow(at, text, events);
        self.sign(at, part);
    }

    /// Calls come whole. A call whose arguments are spread over paths comes only to those who ask for it, which we do
    /// not; it is refused, not guessed at. Arguments that are left out are the empty object by the rules of the format
    /// (an empty `Struct` in the JSON form of Protocol Buffers).
    fn call(&mut self, call: FunctionCall<'_>, events: &mut Vec<ModelEvent>) -> Result<usize, ModelError> {
        if call.partial_args.is_some() || call.will_continue == Some(true) {
            return Err(malformed("a call comes in pieces, which was not asked for"));
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let at = self.parts.open(DraftKind::Call { id: text(&call.id), name: text(&call.name) }, events);
        self.parts.grow(at, call.args.map_or("{}", RawValue::get), events);
        Ok(at)
    }

    fn sign(&mut self, at: usize, part: &Value) {
        if let (Some(draft), Some(signature)) = (self.parts.get_mut(at), part.get(SIGNATURE)) {
            draft.native = Some(json!({ SIGNATURE: signature }));
        }
    }
}

fn stop_of(reason: &str) -> Stop {
    match reason {
        "STOP" => Stop::EndTurn,
        "MAX_TOKENS" => Stop::MaxTokens,
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
        | "IMAGE_SAFETY" | "MODEL_ARMOR" => Stop::Refused,
        other => Stop::Other(other.to_owned()),
    }
}

/// Thinking is counted beside the answer, and what tools of the provider's read beside the prompt.
fn usage_of(usage: &Value) -> Usage {
    let count = |pointer| count_at(usage, pointer);
    let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
    };
    let reasoning = count("/thoughtsTokenCount");
    Usage {
        input: sum(count("/promptTokenCount"), count("/toolUsePromptTokenCount")),
        output: sum(count("/candidatesTokenCount"), reasoning),
        cached_input: count("/cachedContentTokenCount"),
        cache_write: None,
        reasoning,
    }
}
