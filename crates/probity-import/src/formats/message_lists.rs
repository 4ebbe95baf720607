//! Messages of chat and responses APIs: a list, a request, a response, both of an exchange, or one of these a line.

use serde_json::{Map, Value};

use super::{Located, response_of};
use crate::draft::{Draft, Message, ModelStep, Step};
use crate::error::ImportError;
use crate::json::{first, take, text, unix_ms, unpacked};
use crate::messages::{Side, read as read_messages, reply_of};

/// The members of an object that holds messages.
const LISTS: &[&str] = &["messages", "contents", "input", "conversations", "conversation", "prompt"];

pub(super) fn read(values: Vec<Located>) -> Result<Vec<Draft>, ImportError> {
    // Lines that are messages themselves are one conversation.
    let is_message =
        |value: &Value| value.get("role").is_some() || value.get("type").is_some_and(Value::is_string);
    if values.len() > 1 && values.iter().all(|located| is_message(&located.value)) {
        let list = values.into_iter().map(|located| located.value).collect();
        return Ok(vec![conversation(&Value::Array(list), String::new())?]);
    }
    let mut drafts = Vec::new();
    for located in values {
        match &located.value {
            Value::Array(list) if list.iter().any(holds_messages) => {
                for (index, value) in list.iter().enumerate() {
                    drafts.push(one(value, located.within(&format!("/{index}")))?);
                }
            }
            value @ (Value::Array(_)
            | Value::Object(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)) => {
                drafts.push(one(value, located.within(""))?);
            }
        }
    }
    Ok(drafts)
}

fn holds_messages(value: &Value) -> bool {
    value.get("role").is_none() && LISTS.iter().any(|name| value.get(*name).is_some_and(Value::is_array))
}

fn one(value: &Value, place: String) -> Result<Draft, ImportError> {
    let exchange = first(value, &["request"]).zip(first(value, &["response"]));
    if let Some((request, response)) = exchange {
        let mut draft = Draft { place, ..Draft::default() };
        let (step, others) = exchanged(request, response);
        draft.steps.push(Step::Model(Box::new(step)));
        others.into_iter().for_each(|message| draft.said(message));
        keep(&mut draft, value, &["request", "response"]);
        return Ok(draft);
    }
    conversation(value, place)
}

/// One exchange with a model: the request says the window, the response the reply, and what came after it within the same
/// response.
pub(super) fn exchanged(request: &Value, response: &Value) -> (ModelStep, Vec<Message>) {
    let told = response_of(response);
    let input = read_messages(request, Side::Input);
    let output = read_messages(response, Side::Output);
    let mut step = ModelStep {
        model: text(request, &["model"]).map(str::to_owned).or_else(|| told.model.clone()),
        response_id: told.id,
        usage: told.usage,
        stop: told.stop,
        at_unix_ms: first(response, &["created", "created_at"]).and_then(unix_ms),
        ..ModelStep::default()
    };
    if let Some(said) = input {
        step.tools = said.tools;
        step.input = Some(said.messages);
    }
    let mut others = Vec::new();
    match output {
        Some(said) => (step.output, others) = reply_of(said),
        None => {
            let error = first(response, &["error"]);
            step.error =
                error.map(|error| text(error, &["message"]).map_or_else(|| error.to_string(), str::to_owned));
        }
    }
    let parameters =
        without(request, &["messages", "contents", "input", "tools", "system", "instructions", "model"]);
    if !parameters.is_empty() {
        step.foreign.push(("/request".to_owned(), Value::Object(parameters)));
    }
    (step, others)
}

/// A conversation: every reply saw what stands before it.
fn conversation(value: &Value, place: String) -> Result<Draft, ImportError> {
    let value = &unpacked(value.clone());
    let nothing = || ImportError::at(place.clone(), "expected messages");
    let mut draft = Draft { place: place.clone(), ..Draft::default() };
    let list = match value.get("conversations").or_else(|| value.get("conversation")) {
        Some(list) => renamed(list),
        None => value.clone(),
    };
    let side =
        if first(value, &["choices", "candidates", "output"]).is_some() { Side::Output } else { Side::Input };
    let said = read_messages(&list, side).ok_or_else(nothing)?;
    draft.tools = said.tools;
    said.messages.into_iter().for_each(|message| draft.said(message));
    if let Some(request) = value.as_object() {
        let told = response_of(value);
        draft.model = told.model;
        draft.title = text(value, &["title", "name"]).unwrap_or_default().to_owned();
        draft.started_at_unix_ms = first(value, &["created", "created_at", "timestamp"]).and_then(unix_ms);
        // A request that was kept together with what came back.
        if LISTS.iter().any(|name| request.contains_key(*name))
            && let Some(output) = first(value, &["output", "response", "choices", "completion"])
            && let Some(said) = read_messages(output, Side::Output)
        {
            said.messages.into_iter().for_each(|message| draft.said(message));
        }
        let read = [
            "choices",
            "candidates",
            "output",
            "response",
            "completion",
            "tools",
            "system",
            "instructions",
            "model",
        ];
        keep(&mut draft, value, &[LISTS, &read].concat());
    }
    Ok(draft)
}

/// Lists for training write `from` and `value`.
fn renamed(list: &Value) -> Value {
    let Value::Array(list) = list else { return list.clone() };
    let members = list.iter().map(|value| {
        let Value::Object(mut object) = value.clone() else { return value.clone() };
        for (from, to) in [("from", "role"), ("value", "content")] {
            if let Some(value) = take(&mut object, from) {
                object.insert(to.to_owned(), value);
            }
        }
        Value::Object(object)
    });
    members.collect()
}

fn keep(draft: &mut Draft, value: &Value, read: &[&str]) {
    for (name, value) in without(value, read) {
        draft.keep(format!("/{name}"), value);
    }
}

fn without(value: &Value, names: &[&str]) -> Map<String, Value> {
    let members = value.as_object().into_iter().flatten();
    let rest = members.filter(|(name, value)| !names.contains(&name.as_str()) && !value.is_null());
    rest.map(|(name, value)| (name.clone(), value.clone())).collect()
}
