use serde_json::{Map, Value};

use super::{response_of, usage_of};
use crate::detect::malformed;
use crate::draft::{Draft, Message, ModelStep, Step, ToolStep};
use crate::error::{ImportError, Place};
use crate::json::{as_text, first, take, text, unix_ms};
use crate::limits::FILE_BYTES_MAX;
use crate::messages::{Said, Side, read as read_messages, reply_of, result_text};
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
    let mut apart = Apart::of(&mut object, &place);
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
        Some(Value::Array(events)) => events_of(events, &mut apart, &mut draft)?,
        _ => 0,
    };
    let said = read_messages(&apart.whole(messages)?, Side::Input);
    let said =
        said.ok_or_else(|| ImportError::at(format!("{place}/messages"), "expected a list of messages"))?;
    if calls == 0 {
        // Old logs tell of no calls; the messages in the end are what there is.
        draft.tools = said.tools;
        said.messages.into_iter().for_each(|message| draft.said(message));
    } else {
        // Results after the last call.
        let after =
            said.messages.iter().rev().take_while(|message| message.role == crate::draft::Role::Tool).count();
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

/// Takes the model calls out of the events, with their windows as they were, and what tools did. Other events are kept.
fn events_of(events: Vec<Value>, apart: &mut Apart, draft: &mut Draft) -> Result<usize, ImportError> {
    let mut calls = 0;
    for (index, event) in events.into_iter().enumerate() {
        let kind = text(&event, &["event"]).unwrap_or_default().to_owned();
        match (kind.as_str(), event) {
            ("model", Value::Object(event)) => {
                let (step, others) = model_event(event, apart)?;
                draft.steps.push(Step::Model(Box::new(step)));
                others.into_iter().for_each(|message| draft.said(message));
                calls += 1;
            }
            ("tool", Value::Object(event)) => {
                let step = tool_event(event, apart)?;
                draft.steps.push(Step::Tool(Box::new(step)));
            }
            // Changes of state repeat what the messages say.
            ("state" | "store", _) => {}
            (_, event) => draft.keep(format!("/events/{index}"), event),
        }
    }
    Ok(calls)
}

fn model_event(
    mut event: Map<String, Value>,
    apart: &mut Apart,
) -> Result<(ModelStep, Vec<Message>), ImportError> {
    let mut whole = |name: &str| apart.whole(take(&mut event, name).unwrap_or_default());
    let (input, output, tools) = (whole("input")?, whole("output")?, whole("tools")?);
    let input = match take(&mut event, "input_refs") {
        Some(ranges) => apart.pooled(input, &ranges)?,
        None => input,
    };
    // The raw request and response say the same once more.
    event.remove("call");
    let told = response_of(&output);
    let (reply, others) = read_messages(&output, Side::Output).map(reply_of).unwrap_or_default();
    let input: Option<Said> = read_messages(&input, Side::Input);
    let error = take(&mut event, "error").map(|error| as_text(&error));
    let mut step = ModelStep {
        id: take(&mut event, "uuid").map(|id| as_text(&id)).unwrap_or_default(),
        at_unix_ms: event.get("timestamp").and_then(unix_ms),
        ended_at_unix_ms: event.get("completed").and_then(unix_ms),
        input: input.map(|said| said.messages),
        continues: false,
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
    Ok((step, others))
}

fn tool_event(mut event: Map<String, Value>, apart: &mut Apart) -> Result<ToolStep, ImportError> {
    let result = apart.whole(take(&mut event, "result").unwrap_or_default())?;
    let error = event.get("error").and_then(|error| text(error, &["message"])).map(str::to_owned);
    let mut step = ToolStep {
        id: take(&mut event, "uuid").map(|id| as_text(&id)).unwrap_or_default(),
        at_unix_ms: event.get("timestamp").and_then(unix_ms),
        ended_at_unix_ms: event.get("completed").and_then(unix_ms),
        call_id: take(&mut event, "id").map(|id| as_text(&id)),
        name: take(&mut event, "function").map(|name| as_text(&name)).unwrap_or_default(),
        arguments: take(&mut event, "arguments").map(|arguments| as_text(&arguments)),
        is_error: error.is_some(),
        result: Some(error.unwrap_or_else(|| result_text(&result))),
        foreign: Vec::new(),
    };
    event.retain(|_, value| !value.is_null());
    step.foreign.push(("/event".to_owned(), Value::Object(event)));
    Ok(step)
}

/// What stands apart in a sample: long texts, once, named by their digest; and messages that windows name by their places.
struct Apart {
    attachments: Map<String, Value>,
    pool: Vec<(Value, usize)>,
    /// What putting it back may still add. A small file could name one large text a million times.
    bytes_left: usize,
    place: String,
}

impl Apart {
    fn of(sample: &mut Map<String, Value>, place: &str) -> Self {
        let attachments = match take(sample, "attachments") {
            Some(Value::Object(attachments)) => attachments,
            _ => Map::new(),
        };
        let pool = match take(sample, "message_pool") {
            Some(Value::Array(pool)) => pool
                .into_iter()
                .map(|message| {
                    let bytes = message.to_string().len();
                    (message, bytes)
                })
                .collect(),
            _ => Vec::new(),
        };
        Self { attachments, pool, bytes_left: FILE_BYTES_MAX, place: place.to_owned() }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), ImportError> {
        let left = self.bytes_left.checked_sub(bytes);
        let place = Place::Pointer(self.place.clone());
        let max = FILE_BYTES_MAX as u64;
        self.bytes_left =
            left.ok_or(ImportError::TooMuch { place, what: "bytes once its texts are put back", max })?;
        Ok(())
    }

    /// A value with its texts put back.
    fn whole(&mut self, value: Value) -> Result<Value, ImportError> {
        if self.attachments.is_empty() {
            return Ok(value);
        }
        match value {
            Value::String(text) => {
                let name = text.strip_prefix("attachment://");
                match name.and_then(|name| self.attachments.get(name)).and_then(Value::as_str) {
                    Some(found) => {
                        let found = found.to_owned();
                        self.spend(found.len())?;
                        Ok(found.into())
                    }
                    None => Ok(text.into()),
                }
            }
            Value::Array(list) => list.into_iter().map(|value| self.whole(value)).collect(),
            Value::Object(object) => {
                let members = object.into_iter().map(|(name, value)| Ok((name, self.whole(value)?)));
                members.collect::<Result<_, _>>().map(Value::Object)
            }
            value @ (Value::Null | Value::Bool(_) | Value::Number(_)) => Ok(value),
        }
    }

    /// A window that names messages of the pool by ranges of their places, after those that it has itself.
    fn pooled(&mut self, input: Value, ranges: &Value) -> Result<Value, ImportError> {
        let mut list = match input {
            Value::Array(list) => list,
            Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Vec::new()
            }
        };
        for range in ranges.as_array().into_iter().flatten() {
            let place = |index: usize| {
                range.get(index).and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok())
            };
            let named = place(0).zip(place(1)).and_then(|(from, to)| self.pool.get(from..to));
            let named = named.ok_or_else(|| {
                ImportError::at(self.place.as_str(), "a window names messages that are not there")
            })?;
            let range = 0..named.len();
            let from = place(0).unwrap_or_default();
            for offset in range {
                let Some((message, bytes)) = self.pool.get(from + offset) else { break };
                let (message, bytes) = (message.clone(), *bytes);
                self.spend(bytes)?;
                list.push(self.whole(message)?);
            }
        }
        Ok(Value::Array(list))
    }
}
