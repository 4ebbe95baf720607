//! What an answer says, read a second time by the shortest code that can: whole values, no state between bytes.
//!
//! It shares nothing with the crate, so that an error would have to be made twice.

#![expect(clippy::wildcard_enum_match_arm, reason = "values of foreign types")]

use std::collections::BTreeMap;

use serde_json::Value;

use crate::corpus::Kind;

/// What is compared.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
    pub(crate) stop: String,
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) cached: Option<u64>,
    pub(crate) reasoning: Option<u64>,
}

/// A call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// The arguments, or their text where they are no JSON.
    pub(crate) value: Value,
    /// The arguments letter by letter, where the format sends them as text.
    pub(crate) text: Option<String>,
}

impl Call {
    pub(crate) fn of_text(name: impl Into<String>, text: &str) -> Self {
        Self { name: name.into(), value: value(text), text: Some(text.to_owned()) }
    }

    fn of_value(name: &str, value: Value) -> Self {
        Self { name: name.to_owned(), value, text: None }
    }
}

/// Whether an answer says that it is none: an error in a body or a stream, or a response that is not ready yet.
pub(crate) fn is_no_answer(body: &[u8]) -> bool {
    let (_, documents) = documents(body);
    documents.iter().any(|document| document.get("error").is_some_and(|error| !error.is_null()))
        || documents.last().is_some_and(|document| document["status"] == "queued")
}

/// Whether it is a stream, and its events or its one body. What is no JSON is left out.
fn documents(body: &[u8]) -> (bool, Vec<Value>) {
    let text = std::str::from_utf8(body).unwrap();
    if text.trim_start().starts_with('{') {
        return (false, vec![serde_json::from_str(text).unwrap()]);
    }
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    (true, data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect())
}

/// Reads a body or a stream.
pub(crate) fn read(kind: Kind, body: &[u8]) -> Said {
    let (is_stream, documents) = documents(body);
    let mut said = match (kind, is_stream) {
        (Kind::Chat, _) => chat(&documents),
        (Kind::Responses, false) => response(&documents[0]),
        (Kind::Responses, true) => response_events(&documents),
        (Kind::Anthropic, false) => message(&documents[0]),
        (Kind::Anthropic, true) => message_events(&documents),
        (Kind::Gemini, _) => gemini(&documents),
        (Kind::Other(what), _) => panic!("{what}"),
    };
    if said.stop == "end" && !said.calls.is_empty() {
        said.stop = "tools".to_owned();
    }
    said
}

fn chat(chunks: &[Value]) -> Said {
    let mut said = Said::default();
    let mut calls: Vec<(Value, String, String)> = Vec::new();
    for chunk in chunks {
        let choice = &chunk["choices"][0];
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        match &delta["content"] {
            Value::Array(blocks) => blocks.iter().for_each(|block| said.text += string(&block["text"])),
            content => said.text += string(content),
        }
        said.text += string(&delta["refusal"]);
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let key = if call["index"].is_null() { call["id"].clone() } else { call["index"].clone() };
            let known = calls.iter_mut().find(|(known, ..)| *known == key);
            let (name, arguments) =
                (string(&call["function"]["name"]), string(&call["function"]["arguments"]));
            match known {
                Some((_, known, text)) => {
                    *known += name;
                    *text += arguments;
                }
                None => calls.push((key, name.to_owned(), arguments.to_owned())),
            }
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            said.stop = match reason {
                "stop" => "end",
                "tool_calls" => "tools",
                "length" => "limit",
                "content_filter" => "refused",
                other => other,
            }
            .to_owned();
        }
        let usage = &chunk["usage"];
        if usage.is_object() {
            said.input = usage["prompt_tokens"].as_u64();
            said.cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64();
            said.reasoning = usage["completion_tokens_details"]["reasoning_tokens"].as_u64();
            // What was written is what the total has beyond what was read.
            let total = usage["total_tokens"].as_u64();
            said.output = total.zip(said.input).map(|(total, read)| total - read);
            if said.output.is_none_or(|output| output < usage["completion_tokens"].as_u64().unwrap_or(0)) {
                said.output = usage["completion_tokens"].as_u64();
            }
        }
    }
    said.calls = calls.into_iter().map(|(_, name, text)| Call::of_text(name, &text)).collect();
    said
}

fn response(response: &Value) -> Said {
    let mut said = Said::default();
    let mut is_refused = false;
    for item in response["output"].as_array().unwrap() {
        match string(&item["type"]) {
            "message" => {
                for block in item["content"].as_array().unwrap() {
                    said.text += string(&block["text"]);
                    said.text += string(&block["refusal"]);
                    is_refused |= block["type"] == "refusal";
                }
            }
            "function_call" => {
                said.calls.push(Call::of_text(string(&item["name"]), string(&item["arguments"])));
            }
            _ => {}
        }
    }
    response_end(response, is_refused, &mut said);
    said
}

/// From the pieces alone, not from the output of the last event.
fn response_events(events: &[Value]) -> Said {
    let mut said = Said::default();
    let mut calls: BTreeMap<u64, (String, String)> = BTreeMap::new();
    for event in events {
        let index = event["output_index"].as_u64().unwrap_or(0);
        match string(&event["type"]) {
            "response.output_text.delta" => said.text += string(&event["delta"]),
            "response.output_item.added" if event["item"]["type"] == "function_call" => {
                calls.insert(index, (string(&event["item"]["name"]).to_owned(), String::new()));
            }
            "response.function_call_arguments.delta" => {
                calls.get_mut(&index).unwrap().1 += string(&event["delta"])
            }
            // Some send a call's arguments only when it is closed.
            "response.output_item.done" if event["item"]["type"] == "function_call" => {
                if let Some((_, text)) = calls.get_mut(&index).filter(|(_, text)| text.is_empty()) {
                    *text += string(&event["item"]["arguments"]);
                }
            }
            "response.completed" | "response.incomplete" => {
                response_end(&event["response"], false, &mut said)
            }
            _ => {}
        }
    }
    said.calls = calls.into_values().map(|(name, text)| Call::of_text(name, &text)).collect();
    said
}

fn response_end(response: &Value, is_refused: bool, said: &mut Said) {
    said.stop = match (string(&response["status"]), string(&response["incomplete_details"]["reason"])) {
        ("completed" | "complete", _) if is_refused => "refused",
        ("completed" | "complete", _) => "end",
        ("incomplete", "max_output_tokens") => "limit",
        ("incomplete", "content_filter") => "refused",
        (status, _) => status,
    }
    .to_owned();
    let usage = &response["usage"];
    said.input = usage["input_tokens"].as_u64();
    said.output = usage["output_tokens"].as_u64();
    said.cached = usage["input_tokens_details"]["cached_tokens"].as_u64();
    said.reasoning = usage["output_tokens_details"]["reasoning_tokens"].as_u64();
}

fn message(message: &Value) -> Said {
    let mut said = Said::default();
    for block in message["content"].as_array().unwrap() {
        match string(&block["type"]) {
            "text" => said.text += string(&block["text"]),
            "tool_use" => said.calls.push(Call::of_value(string(&block["name"]), block["input"].clone())),
            _ => {}
        }
    }
    message_end(&message["stop_reason"], &message["usage"], &message["usage"], &mut said);
    said
}

fn message_events(events: &[Value]) -> Said {
    // A message that starts again counts from there.
    let start = events.iter().rposition(|event| event["type"] == "message_start").unwrap();
    let first = &events[start]["message"];
    let mut said = message(first);
    let mut calls: BTreeMap<u64, (String, String, Value)> = BTreeMap::new();
    for event in &events[start..] {
        let index = event["index"].as_u64().unwrap_or(0);
        let (block, delta) = (&event["content_block"], &event["delta"]);
        match string(&event["type"]) {
            "content_block_start" if block["type"] == "tool_use" => {
                calls.insert(
                    index,
                    (string(&block["name"]).to_owned(), String::new(), block["input"].clone()),
                );
            }
            "content_block_start" if block["type"] == "text" => said.text += string(&block["text"]),
            "content_block_delta" if delta["type"] == "text_delta" => said.text += string(&delta["text"]),
            "content_block_delta" if delta["type"] == "input_json_delta" => {
                if let Some((_, text, _)) = calls.get_mut(&index) {
                    *text += string(&delta["partial_json"]);
                }
            }
            "message_delta" => {
                message_end(
                    &delta["stop_reason"],
                    &events[start]["message"]["usage"],
                    &event["usage"],
                    &mut said,
                );
            }
            _ => {}
        }
    }
    said.calls.extend(calls.into_values().map(|(name, text, stated)| match text.as_str() {
        "" => Call::of_value(&name, stated),
        text => Call::of_text(name, text),
    }));
    said
}

fn message_end(reason: &Value, first: &Value, last: &Value, said: &mut Said) {
    said.stop = match string(reason) {
        "end_turn" => "end",
        "tool_use" => "tools",
        "max_tokens" => "limit",
        "stop_sequence" => "sequence",
        "refusal" => "refused",
        "pause_turn" => "paused",
        other => other,
    }
    .to_owned();
    let count = |name: &str| {
        let last = last[name].as_u64().filter(|count| *count > 0);
        last.or_else(|| first[name].as_u64())
    };
    let cached = count("cache_read_input_tokens");
    said.cached = cached;
    said.input = count("input_tokens")
        .map(|fresh| fresh + cached.unwrap_or(0) + count("cache_creation_input_tokens").unwrap_or(0));
    said.output = count("output_tokens");
    said.reasoning = last["output_tokens_details"]["thinking_tokens"].as_u64();
}

fn gemini(pieces: &[Value]) -> Said {
    let mut said = Said::default();
    for piece in pieces {
        let candidate = &piece["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            if part["thought"] != true {
                said.text += string(&part["text"]);
            }
            if let Some(call) = part.get("functionCall") {
                let arguments =
                    call.get("args").cloned().unwrap_or_else(|| Value::Object(Default::default()));
                said.calls.push(Call::of_value(string(&call["name"]), arguments));
            }
        }
        if let Some(reason) = candidate["finishReason"].as_str() {
            said.stop = match reason {
                "STOP" => "end",
                "MAX_TOKENS" => "limit",
                "SAFETY" | "RECITATION" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "SPII" | "MODEL_ARMOR" => {
                    "refused"
                }
                other => other,
            }
            .to_owned();
        }
        if piece["promptFeedback"]["blockReason"].is_string() {
            said.stop = "refused".to_owned();
        }
        let usage = &piece["usageMetadata"];
        if usage.is_object() {
            let sum = |a: &str, b: &str| {
                let (a, b) = (usage[a].as_u64(), usage[b].as_u64());
                (a.is_some() || b.is_some()).then(|| a.unwrap_or(0) + b.unwrap_or(0))
            };
            said.input = sum("promptTokenCount", "toolUsePromptTokenCount");
            said.output = sum("candidatesTokenCount", "thoughtsTokenCount");
            said.cached = usage["cachedContentTokenCount"].as_u64();
            said.reasoning = usage["thoughtsTokenCount"].as_u64();
        }
    }
    said
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Arguments as a value, or their text where they are no JSON.
pub(crate) fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}
