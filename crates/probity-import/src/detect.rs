//! Which format a file has, by its content: names of files say little about traces.

use serde_json::Value;

use crate::error::{ImportError, Place};
use crate::format::Format;
use crate::json::text;
use crate::yaml;

/// A file as far as it can be read without knowing its format.
pub(crate) enum Source {
    /// One JSON value.
    Json(Value),
    /// JSON values with the lines that they begin in.
    Lines(Vec<(usize, Value)>),
    /// An archive; its bytes.
    Zip(Vec<u8>),
    /// YAML, as JSON.
    Yaml(Value),
}

/// Reads the outer form of a file.
pub(crate) fn open(bytes: &[u8], format: Option<Format>) -> Result<Source, ImportError> {
    if bytes.starts_with(b"PK\x03\x04") {
        return Ok(Source::Zip(bytes.to_vec()));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| ImportError::Malformed {
        place: Place::Byte(error.valid_up_to() as u64),
        why: "it is not UTF-8".to_owned(),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with(['{', '[']) {
        return json(text);
    }
    let is_yaml = |line: &str| line.starts_with("interactions:");
    if format == Some(Format::Vcr) || text.lines().any(is_yaml) {
        return yaml::read(text).map(Source::Yaml);
    }
    let saw =
        if text.trim().is_empty() { "it is empty" } else { "neither JSON nor a cassette nor an archive" };
    Err(ImportError::Unknown { saw: saw.to_owned() })
}

/// One value, or one a line. A first line that is a whole value with more after it makes it lines.
fn json(text: &str) -> Result<Source, ImportError> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let is_lines = lines.next().is_some_and(|(_, line)| serde_json::from_str::<Value>(line).is_ok())
        && lines.next().is_some();
    if !is_lines {
        return serde_json::from_str(text).map(Source::Json).map_err(|error| malformed(&error, 0));
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let values = lines.map(|(index, line)| {
        let value = serde_json::from_str(line).map_err(|error| malformed(&error, index))?;
        Ok((index + 1, value))
    });
    values.collect::<Result<_, _>>().map(Source::Lines)
}

pub(crate) fn malformed(error: &serde_json::Error, lines_before: usize) -> ImportError {
    let place = Place::Line { line: error.line().max(1) + lines_before, column: error.column() };
    let why = error.to_string();
    // The place stands in front already.
    let why = why.rsplit_once(" at line ").map_or(why.as_str(), |(why, _)| why).to_owned();
    ImportError::Malformed { place, why }
}

/// The format of a file whose outer form is known.
pub(crate) fn format_of(source: &Source) -> Result<Format, ImportError> {
    match source {
        Source::Zip(_) => Ok(Format::Inspect),
        Source::Yaml(_) => Ok(Format::Vcr),
        Source::Json(value) => of_value(value).ok_or_else(|| unknown(value)),
        Source::Lines(lines) => {
            // The first lines of a session may be of a kind that says nothing.
            let known = lines.iter().take(50).find_map(|(_, value)| of_line(value));
            known.ok_or_else(|| {
                lines.first().map_or_else(|| unknown(&Value::Null), |(_, value)| unknown(value))
            })
        }
    }
}

fn of_value(value: &Value) -> Option<Format> {
    let has = |name: &str| value.get(name).is_some();
    let is_list = |name: &str| value.get(name).is_some_and(Value::is_array);
    if let Value::Array(list) = value {
        return of_list(list);
    }
    if text(value, &["schema_version"]).is_some_and(|version| version.starts_with("ATIF")) {
        return Some(Format::Atif);
    }
    if is_list("resourceSpans") || is_list("resource_spans") || is_list("scopeSpans") || is_list("spans") {
        return Some(Format::Spans);
    }
    if is_list("observations") && (has("trace") || has("id"))
        || value.pointer("/trace/observations").is_some()
    {
        return Some(Format::Langfuse);
    }
    if has("eval") && (has("samples") || has("plan") || has("results")) {
        return Some(Format::Inspect);
    }
    if is_list("trajectory") && (is_list("history") || has("info") || has("environment")) {
        return Some(Format::SweAgent);
    }
    if has("mistake_agent") || has("mistake_step") {
        return Some(Format::WhoAndWhen);
    }
    if is_list("interactions") {
        return Some(Format::Vcr);
    }
    if is_list("traj") {
        return Some(Format::TauBench);
    }
    let inner = ["history", "events", "trajectory"].iter().find_map(|name| value.get(*name)?.as_array());
    if inner.is_some_and(|list| list.iter().take(5).any(is_openhands)) {
        return Some(Format::OpenHands);
    }
    if is_openhands(value) {
        return Some(Format::OpenHands);
    }
    of_line(value)
}

fn of_list(list: &[Value]) -> Option<Format> {
    let first = list.iter().find(|value| value.is_object())?;
    if is_span(first) {
        return Some(Format::Spans);
    }
    if list.iter().take(5).any(is_openhands) {
        return Some(Format::OpenHands);
    }
    if first.get("traceId").is_some() && (first.get("type").is_some() || first.get("startTime").is_some()) {
        return Some(Format::Langfuse);
    }
    of_value(first).filter(|format| *format != Format::Messages).or_else(|| {
        let said = crate::messages::read(
            &Value::Array(list.iter().take(50).cloned().collect()),
            crate::messages::Side::Input,
        );
        let nested = first.get("messages").is_some();
        (nested || said.is_some_and(|said| !said.messages.is_empty())).then_some(Format::Messages)
    })
}

/// The format of a line that is one of many, or of an object that stands alone.
fn of_line(value: &Value) -> Option<Format> {
    let has = |name: &str| value.get(name).is_some();
    let kind = text(value, &["type"]).unwrap_or_default();
    if has("sessionId") && (has("parentUuid") || has("uuid") || kind == "summary")
        || kind == "summary" && has("leafUuid")
    {
        return Some(Format::ClaudeCode);
    }
    let is_codex =
        matches!(kind, "session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted");
    if is_codex && has("payload") {
        return Some(Format::Codex);
    }
    if is_span(value) || value.get("resourceSpans").is_some() {
        return Some(Format::Spans);
    }
    if is_openhands(value) {
        return Some(Format::OpenHands);
    }
    let in_lines = ["history", "events", "trajectory"].iter().find_map(|name| value.get(*name)?.as_array());
    if in_lines.is_some_and(|list| list.iter().take(5).any(is_openhands)) {
        return Some(Format::OpenHands);
    }
    if has("traj") {
        return Some(Format::TauBench);
    }
    if has("mistake_agent") {
        return Some(Format::WhoAndWhen);
    }
    let is_chat =
        ["messages", "choices", "contents", "candidates", "conversations"].iter().any(|name| has(name))
            || has("role") && (has("content") || has("parts") || has("tool_calls"))
            || has("input") && (has("model") || has("output"))
            || value.get("object").and_then(Value::as_str) == Some("response")
            || has("request") && has("response");
    // A session of Codex from before its lines had envelopes.
    if has("timestamp") && has("id") && has("instructions") && !is_chat {
        return Some(Format::Codex);
    }
    is_chat.then_some(Format::Messages)
}

fn is_span(value: &Value) -> bool {
    let has = |name: &str| value.get(name).is_some();
    let has_id = ["spanId", "span_id", "context", "spanContext"].iter().any(|name| has(name));
    has_id
        && has("name")
        && ["attributes", "startTimeUnixNano", "start_time", "startTime", "span_kind"]
            .iter()
            .any(|name| has(name))
}

fn is_openhands(value: &Value) -> bool {
    let is_word = |name: &str| value.get(name).is_some_and(Value::is_string);
    let has = |name: &str| value.get(name).is_some();
    (is_word("action")
        && ["args", "thought", "source", "action_risk", "content"].iter().any(|name| has(name)))
        || (is_word("observation") && has("content"))
        || has("llm_message") && has("source")
}

fn unknown(value: &Value) -> ImportError {
    let saw = match value {
        Value::Object(object) => {
            let names: Vec<_> =
                object.keys().take(8).map(|name| name.chars().take(40).collect::<String>()).collect();
            format!("an object with the members `{}`", names.join("`, `"))
        }
        Value::Array(list) if list.is_empty() => "an empty list".to_owned(),
        Value::Array(list) => format!("a list of {} values that are no messages", list.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => "a single value".to_owned(),
    };
    ImportError::Unknown { saw }
}
