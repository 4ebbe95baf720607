use serde_json::{Map, Value};

use super::Located;
use crate::draft::{Draft, Message, Piece, Role};
use crate::error::ImportError;
use crate::json::{as_text, first, take, text, unix_ms};
use crate::messages::read_one;

/// Reads events: a list, one a line, or a list within the record of a task.
pub(super) fn read(values: Vec<Located>) -> Result<Vec<Draft>, ImportError> {
    let is_event = |value: &Value| {
        value.get("action").is_some() || value.get("observation").is_some() || value.get("kind").is_some()
    };
    let holds = |value: &Value| {
        ["history", "events", "trajectory"].iter().any(|name| value.get(*name).is_some_and(Value::is_array))
    };
    if values.iter().all(|located| is_event(&located.value) && !holds(&located.value)) {
        let mut draft = Draft::default();
        for located in values {
            event(located.value, &mut draft);
        }
        return Ok(vec![draft]);
    }
    let mut drafts = Vec::new();
    for located in values {
        let place = located.within("");
        match located.value {
            Value::Array(events) => {
                let mut draft = Draft { place, ..Draft::default() };
                events.into_iter().for_each(|value| each(value, &mut draft));
                drafts.push(draft);
            }
            Value::Object(object) => drafts.push(task(object, place)?),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                return Err(ImportError::at(place, "expected events"));
            }
        }
    }
    Ok(drafts)
}

fn task(mut object: Map<String, Value>, place: String) -> Result<Draft, ImportError> {
    let names = ["history", "events", "trajectory"];
    let Some(Value::Array(events)) = names.iter().find_map(|name| take(&mut object, name)) else {
        return Err(ImportError::at(format!("{place}/history"), "expected a list of events"));
    };
    let title = object.get("issue").and_then(|issue| text(issue, &["title"])).map(str::to_owned);
    let title = title.or_else(|| object.get("instance_id").map(as_text)).unwrap_or_default();
    let mut draft = Draft { place, title, ..Draft::default() };
    let model = object.get("metadata").and_then(|metadata| metadata.pointer("/llm_config/model"));
    draft.model = model.and_then(Value::as_str).map(str::to_owned);
    events.into_iter().for_each(|value| each(value, &mut draft));
    for (name, value) in object {
        draft.keep(format!("/{name}"), value);
    }
    Ok(draft)
}

/// Early logs hold pairs of an action and what came of it.
fn each(value: Value, draft: &mut Draft) {
    match value {
        Value::Array(pair) => pair.into_iter().for_each(|value| event(value, draft)),
        value @ (Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            event(value, draft)
        }
    }
}

fn event(value: Value, draft: &mut Draft) {
    let Value::Object(object) = value else { return };
    let value = Value::Object(object.clone());
    let at = first(&value, &["timestamp"]).and_then(unix_ms);
    if draft.started_at_unix_ms.is_none() {
        draft.started_at_unix_ms = at;
    }
    // Later versions write the message as the model is sent it.
    if let Some(said) = object.get("llm_message").and_then(read_one) {
        for mut message in said {
            message.at_unix_ms = at;
            draft.said(message);
        }
        return;
    }
    if let Some(action) = text(&value, &["action"]) {
        acted(action, object.clone(), at, draft);
    } else if object.contains_key("observation") {
        observed(object, at, draft);
    }
}

fn acted(action: &str, mut object: Map<String, Value>, at: Option<u64>, draft: &mut Draft) {
    let source = take(&mut object, "source").map(|source| as_text(&source));
    let arguments = match take(&mut object, "args") {
        Some(Value::Object(arguments)) => arguments,
        _ => own_arguments(&mut object),
    };
    let own = |name: &str| arguments.get(name).and_then(Value::as_str).filter(|words| !words.is_empty());
    let is_person = match source.as_deref() {
        Some("user") => true,
        Some(_) => false,
        // Without a source, what comes first is the person's.
        None => action == "message" && draft.steps.is_empty(),
    };
    match action {
        "system" => {
            let words = own("content").unwrap_or_default();
            draft.tools = arguments.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
            draft.message(Message { at_unix_ms: at, ..Message::text(Role::System, words) });
        }
        "message" | "recall" | "change_agent_state" | "null" if is_person || action != "message" => {
            if action == "message" {
                let words = own("content").unwrap_or_default();
                draft.message(Message { at_unix_ms: at, ..Message::text(Role::User, words) });
            } else {
                draft.keep(format!("/events/{}", draft.steps.len()), Value::Object(arguments));
            }
        }
        _ => {
            let mut reply = Message::new(Role::Assistant);
            reply.at_unix_ms = at;
            let told = object.get("tool_call_metadata").cloned();
            let words = own("thought").or_else(|| own("content")).or_else(|| own("final_thought"));
            reply.pieces.extend(words.map(|words| Piece::Text(words.to_owned())));
            if action != "message" {
                let id = told.as_ref().and_then(|told| text(told, &["tool_call_id"])).unwrap_or_default();
                let name = told.as_ref().and_then(|told| text(told, &["function_name"])).unwrap_or(action);
                let mut given = arguments;
                given.remove("thought");
                given.retain(|_, value| !value.is_null());
                let arguments = Value::Object(given).to_string();
                reply.pieces.push(Piece::Call { id: id.to_owned(), name: name.to_owned(), arguments });
            }
            object.remove("action");
            object.remove("tool_call_metadata");
            object.remove("timestamp");
            reply.foreign = object.into_iter().map(|(name, value)| (format!("/{name}"), value)).collect();
            draft.reply(reply);
        }
    }
}

/// Events that do not put their arguments apart have them among their own members.
fn own_arguments(object: &mut Map<String, Value>) -> Map<String, Value> {
    let kept = [
        "action",
        "tool_call_metadata",
        "timestamp",
        "id",
        "message",
        "cause",
        "is_confirmed",
        "action_risk",
        "security_risk",
        "llm_metrics",
    ];
    let names: Vec<String> = object.keys().filter(|name| !kept.contains(&name.as_str())).cloned().collect();
    names.into_iter().filter_map(|name| object.remove(&name).map(|value| (name, value))).collect()
}

fn observed(mut object: Map<String, Value>, at: Option<u64>, draft: &mut Draft) {
    let kind = take(&mut object, "observation").map(|kind| as_text(&kind)).unwrap_or_default();
    let words = take(&mut object, "content").map(|content| as_text(&content)).unwrap_or_default();
    let silent = matches!(kind.as_str(), "agent_state_changed" | "null" | "recall" | "");
    if silent && words.is_empty() {
        draft.keep(format!("/events/{}", draft.steps.len()), Value::Object(object));
        return;
    }
    let told = object.remove("tool_call_metadata").unwrap_or_default();
    let id = text(&told, &["tool_call_id"]).map(str::to_owned);
    let name = text(&told, &["function_name"]).map(str::to_owned).or(Some(kind.clone()));
    // An error is one of the last call, under a name that no call has.
    let is_error = kind == "error" || object.get("success").and_then(Value::as_bool) == Some(false);
    let name = if kind == "error" { None } else { name };
    let mut message = Message::result(id, name, words);
    message.is_error = is_error;
    message.at_unix_ms = at;
    object.remove("timestamp");
    let rest = object.into_iter().filter(|(_, value)| !value.is_null());
    message.foreign = rest.map(|(name, value)| (format!("/{name}"), value)).collect();
    draft.message(message);
}
