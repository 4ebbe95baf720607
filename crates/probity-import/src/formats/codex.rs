use serde_json::{Map, Value};

use super::{Located, usage_of};
use crate::draft::{Draft, Message, ModelStep, Role, Step};
use crate::error::ImportError;
use crate::json::{as_text, take, text, unix_ms};
use crate::messages::{Side, read as read_messages};

/// Reads a rollout. What the model saw and said stands in `response_item` lines; `event_msg` lines say the same for the
/// screen, and are read for token counts only.
pub(super) fn read(values: Vec<Located>) -> Result<Vec<Draft>, ImportError> {
    let mut draft = Draft::default();
    let mut reply: Option<Box<ModelStep>> = None;
    let mut model = None;
    for located in values {
        let place = located.place;
        let Value::Object(mut line) = located.value else {
            return Err(ImportError::at(place, "expected an object on each line"));
        };
        let at = line.get("timestamp").and_then(unix_ms);
        if draft.started_at_unix_ms.is_none() {
            draft.started_at_unix_ms = at;
        }
        let kind = line.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let payload = match take(&mut line, "payload") {
            Some(Value::Object(payload)) => payload,
            // Before lines had envelopes, items stood in them as they are, after one that says what session it is.
            _ if line.contains_key("instructions") && !line.contains_key("role") => {
                header(line, &mut draft);
                continue;
            }
            _ => {
                item(line, at, &mut reply, &mut draft, model.as_ref());
                continue;
            }
        };
        match kind.as_str() {
            "session_meta" => header(payload, &mut draft),
            "turn_context" => {
                model = payload.get("model").map(as_text).or(model);
                draft.keep("/turn_context", Value::Object(payload));
            }
            "response_item" => item(payload, at, &mut reply, &mut draft, model.as_ref()),
            "event_msg" => event(payload, &mut reply, &mut draft),
            "compacted" => {
                finish(&mut reply, &mut draft);
                compacted(payload, at, &mut draft);
            }
            _ => draft.keep(format!("/lines/{}", draft.steps.len()), Value::Object(payload)),
        }
    }
    finish(&mut reply, &mut draft);
    Ok(vec![draft])
}

fn header(mut payload: Map<String, Value>, draft: &mut Draft) {
    draft.key = payload.get("id").map(as_text).unwrap_or_default();
    draft.started_at_unix_ms = payload.get("timestamp").and_then(unix_ms).or(draft.started_at_unix_ms);
    let told = take(&mut payload, "base_instructions").or_else(|| take(&mut payload, "instructions"));
    let told = told.map(|told| text(&told, &["text"]).map_or_else(|| as_text(&told), str::to_owned));
    if let Some(words) = told.filter(|words| !words.is_empty()) {
        draft.message(Message::text(Role::System, words));
    }
    draft.keep("/session_meta", Value::Object(payload));
}

/// An item of the conversation. Thoughts, words and calls that follow each other are one reply.
fn item(
    item: Map<String, Value>,
    at: Option<u64>,
    reply: &mut Option<Box<ModelStep>>,
    draft: &mut Draft,
    model: Option<&String>,
) {
    let item = Value::Object(item);
    let Some(said) = read_messages(&Value::Array(vec![item.clone()]), Side::Output) else {
        draft.keep(format!("/lines/{}", draft.steps.len()), item);
        return;
    };
    for mut message in said.messages {
        message.at_unix_ms = at;
        if message.role != Role::Assistant {
            finish(reply, draft);
            draft.message(message);
            continue;
        }
        match reply.as_mut().and_then(|step| step.output.as_mut()) {
            Some(output) => {
                output.pieces.extend(message.pieces);
                output.foreign.extend(message.foreign);
            }
            None => {
                let step = ModelStep {
                    at_unix_ms: at,
                    output: Some(message),
                    model: model.cloned(),
                    ..ModelStep::default()
                };
                *reply = Some(Box::new(step));
            }
        }
    }
}

/// A count of tokens is the end of a reply.
fn event(payload: Map<String, Value>, reply: &mut Option<Box<ModelStep>>, draft: &mut Draft) {
    let payload = Value::Object(payload);
    let last = payload.pointer("/info/last_token_usage").filter(|usage| usage.is_object());
    match (last, reply.as_mut()) {
        (Some(usage), Some(step)) => {
            step.usage = usage_of(usage);
            finish(reply, draft);
        }
        // The last thing that happened is the reply; what came between is not searched through.
        (Some(usage), None) => {
            if let Some(Step::Model(step)) = draft.steps.last_mut() {
                step.usage = usage_of(usage);
            }
        }
        (None, _) => {}
    }
}

/// The conversation was summed up: its window is what is told in its place.
fn compacted(payload: Map<String, Value>, at: Option<u64>, draft: &mut Draft) {
    let payload = Value::Object(payload);
    draft.steps.push(Step::Cleared);
    let told = payload.get("replacement_history").filter(|history| history.is_array());
    let said = told.and_then(|history| read_messages(history, Side::Input));
    match (said, text(&payload, &["message"])) {
        (Some(said), _) => {
            for mut message in said.messages {
                message.at_unix_ms = at;
                draft.message(message);
            }
        }
        (None, Some(words)) => draft.message(Message::text(Role::User, words)),
        (None, None) => {}
    }
}

fn finish(reply: &mut Option<Box<ModelStep>>, draft: &mut Draft) {
    if let Some(step) = reply.take() {
        draft.steps.push(Step::Model(step));
    }
}
