use serde_json::{Map, Value};

use super::{response_of, usage_of};
use crate::detect::malformed;
use crate::draft::{Draft, Message, ModelStep, Step};
use crate::error::ImportError;
use crate::json::{as_text, first, take, text, unix_ms};
use crate::limits::FILE_BYTES_MAX;
use crate::messages::{Said, Side, read as read_messages, reply_of};
use crate::zip;

/// Reads a packed log: every sample of it is a run.
pub(super) fn read_archive(bytes: &[u8]) -> Result<Vec<Draft>, ImportError> {
    let files = zip::files(bytes)?;
    let mut bytes_left = FILE_BYTES_MAX as u64;
    let mut open = |name: &dyn Fn(&str) -> bool| -> Result<Vec<(String, Value)>, ImportError> {
        let mut found = Vec::new();
        for file in files.iter().filter(|file| name(&file.name)) {
            let unpacked = file.unpack(&mut bytes_left)?;
            let value = serde_json::from_slice(&unpacked);
            let value = value.map_err(|error| malformed(&error, 0).within(&file.name))?;
            found.push((file.name.clone(), value));
        }
        Ok(found)
    };
    let mut header = open(&|name| name == "header.json" || name == "_journal/start.json")?;
    header.sort_by(|one, other| other.0.cmp(&one.0));
    let samples = open(&|name| name.starts_with("samples/") && name.ends_with(".json"))?;
    // A log that broke off has no header, only how it started.
    let header = header.into_iter().next().map(|(_, header)| header).unwrap_or_default();
    samples.into_iter().map(|(name, value)| sample(value, name, &header)).collect()
}

/// Reads a log that is one JSON value.
pub(super) fn read(value: Value, place: String) -> Result<Vec<Draft>, ImportError> {
    let Value::Object(mut object) = value else { return Err(ImportError::at(place, "expected a log")) };
    let samples = match take(&mut object, "samples") {
        Some(Value::Array(samples)) => samples,
        None if object.contains_key("messages") => {
            return Ok(vec![sample(Value::Object(object), place, &Value::Null)?]);
        }
        _ => return Err(ImportError::at(format!("{place}/samples"), "expected a list of samples")),
    };
    let header = Value::Object(object);
    let each = samples.into_iter().enumerate();
    each.map(|(index, value)| sample(value, format!("{place}/samples/{index}"), &header)).collect()
}

fn sample(value: Value, place: String, header: &Value) -> Result<Draft, ImportError> {
    let Value::Object(mut object) = value else { return Err(ImportError::at(place, "expected a sample")) };
    let mut draft = Draft { place: place.clone(), ..Draft::default() };
    let attachments = match take(&mut object, "attachments") {
        Some(Value::Object(attachments)) => attachments,
        _ => Map::new(),
    };
    let task = header.pointer("/eval/task").and_then(Value::as_str).unwrap_or_default();
    let id = object.get("id").map(as_text).unwrap_or_default();
    let epoch = object.get("epoch").map(as_text).unwrap_or_default();
    draft.title = format!("{task} {id}, epoch {epoch}");
    draft.model = header.pointer("/eval/model").and_then(Value::as_str).map(str::to_owned);
    let created = header.pointer("/eval/created").and_then(unix_ms);
    draft.started_at_unix_ms = object.get("started_at").and_then(unix_ms).or(created);
    let events = take(&mut object, "events").or_else(|| take(&mut object, "transcript"));
    let messages = take(&mut object, "messages").unwrap_or_default();
    let calls = match events {
        Some(Value::Array(events)) => model_events(events, &attachments, &mut draft),
        _ => 0,
    };
    let said = read_messages(&attached(messages, &attachments), Side::Input);
    let said = said.ok_or_else(|| ImportError::at(format!("{place}/messages"), "expected a list of messages"))?;
    if calls == 0 {
        // Old logs tell of no calls; the messages in the end are what there is.
        draft.tools = said.tools;
        said.messages.into_iter().for_each(|message| draft.said(message));
    } else {
        // Results after the last call.
        let after = said.messages.iter().rev().take_while(|message| message.role == crate::draft::Role::Tool).count();
        let skip = said.messages.len() - after;
        said.messages.into_iter().skip(skip).for_each(|message| draft.message(message));
    }
    for (name, value) in object {
        draft.keep(format!("/{name}"), value);
    }
    if let Some(eval) = header.get("eval") {
        draft.keep("/eval", eval.clone());
    }
    Ok(draft)
}

/// Takes the model calls out of the events, with their windows as they were. Other events are kept.
fn model_events(events: Vec<Value>, attachments: &Map<String, Value>, draft: &mut Draft) -> usize {
    let mut calls = 0;
    for (index, event) in events.into_iter().enumerate() {
        let kind = text(&event, &["event"]).unwrap_or_default().to_owned();
        match (kind.as_str(), event) {
            ("model", Value::Object(event)) => {
                let (step, others) = model_event(event, attachments);
                draft.steps.push(Step::Model(Box::new(step)));
                others.into_iter().for_each(|message| draft.said(message));
                calls += 1;
            }
            // Changes of state repeat what the messages say.
            ("state" | "store", _) => {}
            (_, event) => draft.keep(format!("/events/{index}"), event),
        }
    }
    calls
}

fn model_event(mut event: Map<String, Value>, attachments: &Map<String, Value>) -> (ModelStep, Vec<Message>) {
    let mut whole = |name: &str| attached(take(&mut event, name).unwrap_or_default(), attachments);
    let (input, output, tools) = (whole("input"), whole("output"), whole("tools"));
    // The raw request and response say the same once more.
    let _raw = whole("call");
    let told = response_of(&output);
    let (reply, others) = read_messages(&output, Side::Output).map(reply_of).unwrap_or_default();
    let input: Option<Said> = read_messages(&input, Side::Input);
    let error = take(&mut event, "error").map(|error| as_text(&error));
    let mut step = ModelStep {
        id: take(&mut event, "uuid").map(|id| as_text(&id)).unwrap_or_default(),
        at_unix_ms: event.get("timestamp").and_then(unix_ms),
        ended_at_unix_ms: event.get("completed").and_then(unix_ms),
        input: input.map(|said| said.messages),
        output: reply.filter(|reply: &Message| error.is_none() || !reply.is_blank()),
        error,
        model: take(&mut event, "model").map(|model| as_text(&model)),
        response_id: told.id,
        usage: first(&output, &["usage"]).map(usage_of).unwrap_or_default(),
        stop: told.stop,
        tools: tools.as_array().cloned().unwrap_or_default(),
        foreign: Vec::new(),
    };
    event.retain(|_, value| !value.is_null());
    step.foreign.push(("/event".to_owned(), Value::Object(event)));
    (step, others)
}

/// Long texts stand apart, once, and are named by their digest.
fn attached(value: Value, attachments: &Map<String, Value>) -> Value {
    if attachments.is_empty() {
        return value;
    }
    match value {
        Value::String(text) => match text.strip_prefix("attachment://").and_then(|name| attachments.get(name)) {
            Some(found) => found.clone(),
            None => text.into(),
        },
        Value::Array(list) => list.into_iter().map(|value| attached(value, attachments)).collect(),
        Value::Object(object) => {
            object.into_iter().map(|(name, value)| (name, attached(value, attachments))).collect()
        }
        value @ (Value::Null | Value::Bool(_) | Value::Number(_)) => value,
    }
}
