//! Replies of the Responses API: events of a stream that end in the whole response, or that response alone.

use std::collections::BTreeMap;

use probity_contract::{ModelError, ModelEvent, ModelReply, Stop, Usage};
use serde_json::{Value, json};

use crate::codec::{count_at, text_at};
use crate::failure::{malformed, reported, truncated};
use crate::parts::{DraftKind, Ending, Parts, finished};

/// The reader of one reply.
///
/// The terminal event carries the whole response, and the reply is made from it with the code that also reads a body
/// that was not streamed; deltas are for display. Where a host leaves the output of the terminal event empty, the items
/// that were closed one by one take its place.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    codec: String,
    /// Positions of items among the parts shown so far, by their index in the output.
    shown: BTreeMap<u64, usize>,
    display: Parts,
    closed: BTreeMap<u64, Value>,
    response: Option<Value>,
    has_begun: bool,
}

impl Reader {
    pub(crate) fn new(codec: String) -> Self {
        Self {
            codec,
            shown: BTreeMap::new(),
            display: Parts::default(),
            closed: BTreeMap::new(),
            response: None,
            has_begun: false,
        }
    }

    pub(crate) fn event(&mut self, data: &str, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if self.is_over() || data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let event: Value =
            serde_json::from_str(data).map_err(|error| malformed(format!("an event: {error}")))?;
        self.has_begun = true;
        let index = event.get("output_index").and_then(Value::as_u64).unwrap_or(0);
        match text_at(&event, "type").unwrap_or_default() {
            "response.output_item.added" => {
                self.opened(index, event.get("item").unwrap_or(&Value::Null), events)
            }
            "response.output_text.delta"
            | "response.refusal.delta"
            | "response.reasoning_text.delta"
            | "response.reasoning_summary_text.delta"
            | "response.function_call_arguments.delta" => self.grew(index, &event, events),
            "response.output_item.done" => {
                self.closed.insert(index, event.get("item").cloned().unwrap_or_default());
            }
            "response.completed" | "response.incomplete" => {
                self.response = event.get("response").cloned();
            }
            "response.failed" => {
                let error = event.pointer("/response/error").filter(|error| !error.is_null());
                return Err(reported(error.unwrap_or(&json!("the response failed without a reason"))));
            }
            "error" => {
                return Err(reported(event.get("error").filter(|error| error.is_object()).unwrap_or(&event)));
            }
            _ => {
                // Gateways answer with an error object of their own that has no type.
                if let Some(error) = event.get("error").filter(|error| error.is_object()) {
                    return Err(reported(error));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn document(&mut self, text: &str) -> Result<(), ModelError> {
        let body: Value =
            serde_json::from_str(text).map_err(|error| malformed(format!("the body: {error}")))?;
        if let Some(error) = body.get("error").filter(|error| !error.is_null()) {
            return Err(reported(error));
        }
        if !body.get("output").is_some_and(Value::is_array) {
            return Err(malformed("the body has no `output`"));
        }
        self.response = Some(body);
        Ok(())
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    pub(crate) fn is_over(&self) -> bool {
        self.response.is_some()
    }

    pub(crate) fn reply(&self) -> Result<ModelReply, ModelError> {
        let Some(response) = &self.response else {
            return Err(truncated("the stream ended before the response was completed"));
        };
        let mut parts = Parts::default();
        let mut has_refusal = false;
        match response.get("output").and_then(Value::as_array).filter(|output| !output.is_empty()) {
            Some(output) => output.iter().for_each(|item| has_refusal |= add_item(&mut parts, item)),
            None => self.closed.values().for_each(|item| has_refusal |= add_item(&mut parts, item)),
        }
        let ending = Ending {
            stop: Some(stop_of(response, has_refusal)?),
            usage: usage_of(response.get("usage").unwrap_or(&Value::Null)),
            model: text_at(response, "model").map(str::to_owned),
            response_id: text_at(response, "id").map(str::to_owned),
        };
        finished(&parts, &self.codec, &ending)
    }

    fn opened(&mut self, index: u64, item: &Value, events: &mut Vec<ModelEvent>) {
        let at = self.display.open(kind_of(item), events);
        self.shown.insert(index, at);
    }

    fn grew(&mut self, index: u64, event: &Value, events: &mut Vec<ModelEvent>) {
        let Some(at) = self.shown.get(&index) else { return };
        self.display.grow(*at, text_at(event, "delta").unwrap_or_default(), events);
    }
}

/// Adds one item of the output as one part, and says whether it is a refusal.
fn add_item(parts: &mut Parts, item: &Value) -> bool {
    let mut quiet = Vec::new();
    let kind = kind_of(item);
    let (text, native) = match &kind {
        DraftKind::Text => (joined(item, "content", &["text", "refusal"], ""), None),
        DraftKind::Reasoning => (reasoning_text(item), Some(item.clone())),
        DraftKind::Call { .. } => (text_at(item, "arguments").unwrap_or_default().to_owned(), None),
        DraftKind::Opaque => (String::new(), Some(item.clone())),
    };
    let at = parts.open(kind, &mut quiet);
    parts.grow(at, &text, &mut quiet);
    if let Some(draft) = parts.get_mut(at) {
        draft.native = native;
        draft.is_incomplete = text_at(item, "status") == Some("incomplete");
    }
    let content = item.get("content").and_then(Value::as_array);
    content.into_iter().flatten().any(|block| text_at(block, "type") == Some("refusal"))
}

fn kind_of(item: &Value) -> DraftKind {
    match text_at(item, "type").unwrap_or_default() {
        "message" => DraftKind::Text,
        "reasoning" => DraftKind::Reasoning,
        "function_call" => DraftKind::Call {
            id: text_at(item, "call_id").unwrap_or_default().to_owned(),
            name: text_at(item, "name").unwrap_or_default().to_owned(),
        },
        _ => DraftKind::Opaque,
    }
}

/// A summary where there is one, the raw text otherwise.
fn reasoning_text(item: &Value) -> String {
    let summary = joined(item, "summary", &["text"], "\n\n");
    if summary.is_empty() { joined(item, "content", &["text"], "\n\n") } else { summary }
}

fn joined(item: &Value, list: &str, keys: &[&str], between: &str) -> String {
    let blocks = item.get(list).and_then(Value::as_array);
    let texts =
        blocks.into_iter().flatten().filter_map(|block| keys.iter().find_map(|key| text_at(block, key)));
    texts.collect::<Vec<_>>().join(between)
}

fn stop_of(response: &Value, has_refusal: bool) -> Result<Stop, ModelError> {
    match text_at(response, "status") {
        // Some hosts leave the last letter away.
        Some("completed" | "complete") if has_refusal => Ok(Stop::Refused),
        Some("completed" | "complete") => Ok(Stop::EndTurn),
        Some("incomplete") => {
            Ok(match response.pointer("/incomplete_details/reason").and_then(Value::as_str) {
                Some("max_output_tokens" | "max_tokens") => Stop::MaxTokens,
                Some("content_filter") => Stop::Refused,
                Some(other) => Stop::Other(other.to_owned()),
                None => Stop::Other("incomplete".to_owned()),
            })
        }
        Some("failed") => Err(reported(response.get("error").unwrap_or(&json!("the response failed")))),
        Some(other) => Err(truncated(&format!("the response has the status `{other}`"))),
        None => Err(truncated("the response has no status")),
    }
}

fn usage_of(usage: &Value) -> Usage {
    Usage {
        input: count_at(usage, "/input_tokens"),
        output: count_at(usage, "/output_tokens"),
        cached_input: count_at(usage, "/input_tokens_details/cached_tokens"),
        cache_write: count_at(usage, "/input_tokens_details/cache_write_tokens"),
        reasoning: count_at(usage, "/output_tokens_details/reasoning_tokens"),
    }
}
