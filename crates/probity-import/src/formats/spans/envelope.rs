use std::collections::HashMap;

use serde_json::{Map, Value};

use super::attributes::{Attributes, plain};
use crate::draft::{Kept, Role};
use crate::error::ImportError;
use crate::json::{as_text, first, take, unix_ms, unpacked};
use crate::messages::{Said, Side, read as read_messages};

/// A span of any tracer.
pub(super) struct Span {
    pub(super) id: String,
    pub(super) trace: String,
    pub(super) parent: String,
    pub(super) name: String,
    pub(super) start: Option<u64>,
    pub(super) end: Option<u64>,
    pub(super) attributes: Attributes,
    pub(super) events: Vec<Event>,
    pub(super) error: Option<String>,
    pub(super) place: String,
    pub(super) rest: Vec<Kept>,
}

/// An event of a span, or a log record that names one.
pub(super) struct Event {
    pub(super) name: String,
    members: Map<String, Value>,
}

/// A log record with the span that it names.
type Log = (String, Event);

/// Takes spans out of whatever they are wrapped in.
pub(super) fn unwrap(
    value: Value,
    place: &str,
    spans: &mut Vec<Span>,
    logs: &mut Vec<Log>,
    foreign: &mut Vec<Kept>,
) -> Result<(), ImportError> {
    match value {
        Value::Array(list) => list
            .into_iter()
            .enumerate()
            .try_for_each(|(index, value)| unwrap(value, &format!("{place}/{index}"), spans, logs, foreign)),
        Value::Object(mut object) => {
            let mut is_envelope = false;
            for name in [
                "resourceSpans",
                "resource_spans",
                "scopeSpans",
                "scope_spans",
                "instrumentationLibrarySpans",
                "spans",
            ] {
                if let Some(inner @ Value::Array(_)) = object.remove(name) {
                    is_envelope = true;
                    unwrap(inner, &format!("{place}/{name}"), spans, logs, foreign)?;
                }
            }
            for name in ["resourceLogs", "scopeLogs", "logRecords"] {
                if let Some(Value::Array(inner)) = object.remove(name) {
                    is_envelope = true;
                    for value in inner {
                        log(value, logs, 0);
                    }
                }
            }
            if is_envelope {
                let rest = object.into_iter().filter(|(_, value)| !value.is_null());
                foreign.extend(rest.map(|(name, value)| (format!("{place}/{name}"), value)));
                return Ok(());
            }
            spans.push(span(object, place)?);
            Ok(())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            Err(ImportError::at(place, "expected a span"))
        }
    }
}

fn log(value: Value, logs: &mut Vec<Log>, depth: usize) {
    let Value::Object(mut object) = value else { return };
    for name in ["scopeLogs", "logRecords"] {
        if let Some(Value::Array(inner)) = object.remove(name)
            && depth < 3
        {
            inner.into_iter().for_each(|value| log(value, logs, depth + 1));
        }
    }
    let Some(id) = object.get("spanId").and_then(Value::as_str).map(str::to_owned) else { return };
    let mut members = members(object.remove("attributes"));
    let name = take(&mut object, "eventName").or_else(|| members.remove("event.name"));
    if let Some(Value::Object(body)) = object.remove("body").map(plain) {
        members.extend(body);
    }
    if let Some(name) = name {
        logs.push((id, Event { name: as_text(&name), members }));
    }
}

pub(super) fn attach(spans: &mut [Span], logs: Vec<Log>) {
    if logs.is_empty() {
        return;
    }
    let places: HashMap<String, usize> =
        spans.iter().enumerate().map(|(index, span)| (span.id.clone(), index)).collect();
    for (id, event) in logs {
        if let Some(span) = places.get(&id).and_then(|index| spans.get_mut(*index)) {
            span.events.push(event);
        }
    }
}

fn span(mut object: Map<String, Value>, place: &str) -> Result<Span, ImportError> {
    let context =
        take(&mut object, "context").or_else(|| take(&mut object, "spanContext")).unwrap_or_default();
    let above =
        take(&mut object, "parent").or_else(|| take(&mut object, "parentSpanContext")).unwrap_or_default();
    let mut own = |names: &[&str], context: &Value| {
        let found = names.iter().find_map(|name| take(&mut object, name));
        found.or_else(|| first(context, names).cloned()).map(|value| as_text(&value)).unwrap_or_default()
    };
    let id = own(&["spanId", "span_id", "id"], &context);
    let trace = own(&["traceId", "trace_id"], &context);
    let parent = own(&["parentSpanId", "parent_span_id", "parentId", "parent_id"], &Value::Null);
    let parent = if parent.is_empty() {
        let told = above.as_str().map(str::to_owned);
        told.or_else(|| first(&above, &["spanId", "span_id"]).map(as_text)).unwrap_or_default()
    } else {
        parent
    };
    let name = own(&["name"], &Value::Null);
    if id.is_empty() {
        return Err(ImportError::at(place, "expected a span with an id"));
    }
    let mut time = |names: &[&str]| names.iter().find_map(|name| unix_ms(&take(&mut object, name)?));
    let start = time(&["startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime"]);
    let end = time(&["endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime"]);
    let mut attributes = Attributes::of(&object.remove("attributes").unwrap_or_default());
    if let Some(kind) = object.get("span_kind").and_then(Value::as_str) {
        attributes.set_kind(kind);
    }
    // Columns of a table whose names begin so are attributes too.
    let columns: Vec<String> =
        object.keys().filter(|name| name.starts_with("attributes.")).cloned().collect();
    for column in columns {
        if let (Some(value), Some(name)) = (object.remove(&column), column.strip_prefix("attributes.")) {
            attributes.insert(name, value);
        }
    }
    let events = match take(&mut object, "events").map(unpacked) {
        Some(Value::Array(events)) => events.into_iter().filter_map(event).collect(),
        _ => Vec::new(),
    };
    let error = error_of(&object, &events);
    object.retain(|_, value| !matches!(value, Value::Null) && !value.as_array().is_some_and(Vec::is_empty));
    let rest = object.into_iter().map(|(name, value)| (format!("/{name}"), value)).collect();
    Ok(Span { id, trace, parent, name, start, end, attributes, events, error, place: place.to_owned(), rest })
}

fn event(value: Value) -> Option<Event> {
    let Value::Object(mut object) = value else { return None };
    let mut members = members(object.remove("attributes"));
    let name = take(&mut object, "name").or_else(|| members.remove("event.name"))?;
    Some(Event { name: as_text(&name), members })
}

fn members(attributes: Option<Value>) -> Map<String, Value> {
    match Attributes::of(&attributes.unwrap_or_default()).rest() {
        Value::Object(members) => members,
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Map::new(),
    }
}

fn error_of(object: &Map<String, Value>, events: &[Event]) -> Option<String> {
    let status = object.get("status").or_else(|| object.get("status_code"))?;
    let code = first(status, &["code", "status_code"]).unwrap_or(status);
    let is_error = code.as_u64() == Some(2)
        || code
            .as_str()
            .is_some_and(|code| code.eq_ignore_ascii_case("error") || code == "STATUS_CODE_ERROR");
    if !is_error {
        return None;
    }
    let thrown = || {
        let event = events.iter().find(|event| event.name == "exception")?;
        event.members.get("exception.message").map(as_text)
    };
    let told = first(status, &["message", "description"]).map(as_text).filter(|words| !words.is_empty());
    Some(told.or_else(thrown).unwrap_or_else(|| "the span says that it failed".to_owned()))
}

/// What events say came in and went out, and the events that say something else.
pub(super) fn messages_of(events: Vec<Event>) -> ((Option<Said>, Option<Said>), Vec<Value>) {
    let (mut input, mut output): (Option<Said>, Option<Said>) = (None, None);
    let mut rest = Vec::new();
    for Event { name, members } in events {
        let whole = |member: &str, side| {
            let value = members.get(member)?;
            read_messages(&unpacked(value.clone()), side)
        };
        match name.as_str() {
            "gen_ai.content.prompt" => join(&mut input, whole("gen_ai.prompt", Side::Input)),
            "gen_ai.content.completion" => join(&mut output, whole("gen_ai.completion", Side::Output)),
            "gen_ai.client.inference.operation.details" => {
                join(&mut input, system_of(&members));
                join(&mut input, whole("gen_ai.input.messages", Side::Input));
                join(&mut output, whole("gen_ai.output.messages", Side::Output));
            }
            _ if name.starts_with("gen_ai.") => {
                let mut object: Map<String, Value> =
                    members.into_iter().map(|(name, value)| (name, unpacked(value))).collect();
                object.insert("event.name".to_owned(), name.as_str().into());
                let said = read_messages(&Value::Array(vec![Value::Object(object)]), Side::Input);
                let is_choice = name == "gen_ai.choice";
                let has_reply = said
                    .as_ref()
                    .is_some_and(|said| said.messages.iter().any(|message| message.role == Role::Assistant));
                join(if is_choice && has_reply { &mut output } else { &mut input }, said);
            }
            _ => rest.push(serde_json::json!({ "name": name, "attributes": members })),
        }
    }
    ((input, output), rest)
}

fn system_of(members: &Map<String, Value>) -> Option<Said> {
    let told = members.get("gen_ai.system_instructions").cloned().map(unpacked)?;
    super::content::system(&told)
}

fn join(into: &mut Option<Said>, more: Option<Said>) {
    let Some(more) = more else { return };
    match into {
        Some(said) => {
            said.messages.extend(more.messages);
            said.tools.extend(more.tools);
        }
        None => *into = Some(more),
    }
}
