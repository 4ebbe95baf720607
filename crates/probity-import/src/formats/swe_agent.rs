use serde_json::Value;

use crate::draft::{Draft, Message, Piece, Role};
use crate::error::ImportError;
use crate::json::{as_text, take, text};
use crate::messages::{Side, read as read_messages};

/// Reads a trajectory. `history` is what the model was sent in the end; where there is none, the steps are.
pub(super) fn read(value: Value, place: String) -> Result<Vec<Draft>, ImportError> {
    let Value::Object(mut object) = value else {
        return Err(ImportError::at(place, "expected a trajectory"));
    };
    let history = take(&mut object, "history").or_else(|| take(&mut object, "messages"));
    let steps = take(&mut object, "trajectory");
    let mut draft = Draft { place: place.clone(), ..Draft::default() };
    match (history, steps) {
        (Some(history @ Value::Array(_)), steps) => {
            let pointer = format!("{place}/history");
            let said = read_messages(&history, Side::Input);
            let said = said.ok_or_else(|| ImportError::at(pointer, "expected a list of messages"))?;
            said.messages.into_iter().for_each(|message| draft.said(with_action(message)));
            // The steps say the same in other words, and some more: states, times, what was cut from the history.
            draft.keep("/trajectory", steps.unwrap_or_default());
        }
        (_, Some(Value::Array(steps))) => {
            draft.notices.push("there is no history; the steps are taken for it".to_owned());
            for (index, step) in steps.into_iter().enumerate() {
                read_step(&step, index, &mut draft);
            }
        }
        _ => return Err(ImportError::at(place, "expected a history or a trajectory")),
    }
    let names = ["environment", "instance_id"];
    draft.title = names.iter().find_map(|name| object.get(*name)).map(as_text).unwrap_or_default();
    let configured = object.get("replay_config").cloned().map(crate::json::unpacked);
    let model = configured.as_ref().and_then(|config| config.pointer("/agent/model/name")?.as_str());
    draft.model = model.map(str::to_owned);
    for (name, value) in object {
        draft.keep(format!("/{name}"), value);
    }
    Ok(vec![draft])
}

/// Of models without tool calls, the action stands beside the words. It is a call for all that.
fn with_action(mut message: Message) -> Message {
    if message.role != Role::Assistant || message.has_calls() {
        return message;
    }
    if let Some(at) = message.foreign.iter().position(|(name, _)| name == "/action") {
        let (_, action) = message.foreign.swap_remove(at);
        message.pieces.push(shell(&as_text(&action)));
    }
    message
}

fn read_step(step: &Value, index: usize, draft: &mut Draft) {
    let mut reply = Message::new(Role::Assistant);
    if let Some(words) = text(step, &["response", "thought"]) {
        reply.pieces.push(Piece::Text(words.to_owned()));
    }
    let action = text(step, &["action"]);
    reply.pieces.extend(action.map(shell));
    reply.foreign.push(("/step".to_owned(), index.into()));
    draft.reply(reply);
    if let Some(observation) = step.get("observation") {
        draft.message(Message::result(None, action.map(|_| "shell".to_owned()), as_text(observation)));
    }
}

fn shell(action: &str) -> Piece {
    let arguments = serde_json::json!({ "command": action }).to_string();
    Piece::Call { id: String::new(), name: "shell".to_owned(), arguments }
}
