//! Streams of events as the responses that they amount to.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::json::{as_text, text};

/// The response that a recorded stream amounts to; `None` where it is no stream of events.
pub(super) fn whole(words: &str) -> Option<Value> {
    let events: Vec<Value> = words
        .lines()
        .filter_map(|line| line.strip_prefix("data:").unwrap_or(line).trim().strip_prefix('{').map(|_| line))
        .filter_map(|line| serde_json::from_str(line.strip_prefix("data:").unwrap_or(line).trim()).ok())
        .collect();
    (!events.is_empty()).then(|| of_events(&events))
}

/// The same of chunks that stand in a list.
pub(super) fn of_chunks(chunks: Vec<Value>) -> Value {
    let events: Vec<Value> =
        chunks.into_iter().map(|chunk| chunk.get("chunk").cloned().unwrap_or(chunk)).collect();
    of_events(&events)
}

fn of_events(events: &[Value]) -> Value {
    // A responses API ends with the response as a whole.
    let finished = events.iter().rev().find_map(|event| {
        let kind = text(event, &["type"]).unwrap_or_default();
        let is_end = matches!(kind, "response.completed" | "response.incomplete" | "response.failed");
        event.get("response").filter(|_| is_end)
    });
    if let Some(response) = finished {
        return response.clone();
    }
    let mut reply = Reply::default();
    events.iter().for_each(|event| reply.take(event));
    reply.finish()
}

/// A reply that comes in pieces.
#[derive(Default)]
struct Reply {
    text: String,
    reasoning: String,
    calls: BTreeMap<u64, Call>,
    about: Map<String, Value>,
    stop: Option<Value>,
}

#[derive(Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Reply {
    fn take(&mut self, event: &Value) {
        for name in ["model", "id", "modelVersion", "usage", "usageMetadata"] {
            if let Some(value) = event.get(name).filter(|value| !value.is_null()) {
                self.about.insert(name.to_owned(), value.clone());
            }
        }
        match text(event, &["type"]).unwrap_or_default() {
            "message_start" => {
                if let Some(message) = event.get("message") {
                    self.take_about(message);
                }
            }
            "content_block_start" => self.block(event),
            "content_block_delta" => self.block_delta(event),
            "message_delta" => self.stop = event.pointer("/delta/stop_reason").cloned(),
            "response.output_text.delta" => self.text.push_str(text(event, &["delta"]).unwrap_or_default()),
            _ => {}
        }
        for output in ["choices", "outputs"].iter().filter_map(|name| event.get(*name)?.as_array()).flatten()
        {
            // What a tool of the provider said in between is not the reply.
            if output.pointer("/delta/role").and_then(Value::as_str) != Some("ROLE_TOOL") {
                self.delta(output.get("delta").unwrap_or(output));
            }
            if let Some(stop) = output.get("finish_reason").filter(|stop| !stop.is_null()) {
                self.stop = Some(stop.clone());
            }
        }
        let parts = event.pointer("/candidates/0/content/parts").and_then(Value::as_array);
        parts.into_iter().flatten().for_each(|part| self.part(part));
        if let Some(stop) = event.pointer("/candidates/0/finishReason") {
            self.stop = Some(stop.clone());
        }
    }

    fn take_about(&mut self, message: &Value) {
        for name in ["model", "id", "usage"] {
            if let Some(value) = message.get(name) {
                self.about.insert(name.to_owned(), value.clone());
            }
        }
    }

    fn block(&mut self, event: &Value) {
        let Some(block) = event.get("content_block") else { return };
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        self.text.push_str(text(block, &["text"]).unwrap_or_default());
        if let Some(name) = text(block, &["name"]) {
            let id = text(block, &["id"]).unwrap_or_default().to_owned();
            self.calls.insert(index, Call { id, name: name.to_owned(), arguments: String::new() });
        }
    }

    fn block_delta(&mut self, event: &Value) {
        let Some(delta) = event.get("delta") else { return };
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        self.text.push_str(text(delta, &["text"]).unwrap_or_default());
        self.reasoning.push_str(text(delta, &["thinking"]).unwrap_or_default());
        if let (Some(json), Some(call)) = (text(delta, &["partial_json"]), self.calls.get_mut(&index)) {
            call.arguments.push_str(json);
        }
    }

    fn delta(&mut self, delta: &Value) {
        match delta.get("content") {
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.part(part)),
            Some(Value::String(words)) => self.text.push_str(words),
            _ => {}
        }
        self.reasoning.push_str(text(delta, &["reasoning_content", "reasoning"]).unwrap_or_default());
        for (position, told) in
            delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten().enumerate()
        {
            let index = told.get("index").and_then(Value::as_u64).unwrap_or(position as u64);
            let call = self.calls.entry(index).or_default();
            let function = told.get("function").unwrap_or(told);
            if let Some(id) = text(told, &["id"]) {
                id.clone_into(&mut call.id);
            }
            if let Some(name) = text(function, &["name"]) {
                name.clone_into(&mut call.name);
            }
            call.arguments.push_str(&function.get("arguments").map(as_text).unwrap_or_default());
        }
    }

    fn part(&mut self, part: &Value) {
        let is_thought = part.get("thought").and_then(Value::as_bool) == Some(true);
        let words = text(part, &["text"]).unwrap_or_default();
        if is_thought { &mut self.reasoning } else { &mut self.text }.push_str(words);
        if let Some(call) = part.get("functionCall") {
            let name = text(call, &["name"]).unwrap_or_default().to_owned();
            let id = text(call, &["id"]).unwrap_or_default().to_owned();
            let arguments = call.get("args").map(as_text).unwrap_or_default();
            self.calls.insert(self.calls.len() as u64, Call { id, name, arguments });
        }
    }

    fn finish(self) -> Value {
        let calls: Vec<Value> = self
            .calls
            .into_values()
            .map(|call| {
                let arguments = if call.arguments.is_empty() { "{}".to_owned() } else { call.arguments };
                json!({ "id": call.id, "function": { "name": call.name, "arguments": arguments } })
            })
            .collect();
        let mut response = self.about;
        if self.text.is_empty() && self.reasoning.is_empty() && calls.is_empty() {
            return Value::Object(response);
        }
        let message = json!({
            "role": "assistant",
            "content": self.text,
            "reasoning_content": self.reasoning,
            "tool_calls": calls,
        });
        let choice = json!({ "message": message, "finish_reason": self.stop.map(|stop| as_text(&stop)) });
        response.insert("choices".to_owned(), json!([choice]));
        Value::Object(response)
    }
}
