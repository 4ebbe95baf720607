use serde_json::{Map, Value};

use crate::draft::{Draft, Kept, Message, Role};
use crate::error::ImportError;
use crate::json::{as_text, take};

/// Speakers that are programs, not models.
const TERMINALS: &[&str] =
    &["computer_terminal", "computerterminal", "terminal", "executor", "code_executor"];

/// Reads a log of several agents. Every agent's turn is a reply that saw the whole log before it: who was shown what is not
/// told. The turns of the person and of the terminal came in. The instructions of the agents are kept, but stand in no
/// window, since each holds for one agent only.
pub(super) fn read(value: Value, place: String) -> Result<Vec<Draft>, ImportError> {
    let Value::Object(mut object) = value else { return Err(ImportError::at(place, "expected a log")) };
    let Some(Value::Array(history)) = take(&mut object, "history") else {
        return Err(ImportError::at(format!("{place}/history"), "expected a list of turns"));
    };
    let question = object.get("question").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut draft = Draft { place: place.clone(), title: question.clone(), ..Draft::default() };
    draft
        .notices
        .push("which agent was shown what is not told; each is taken to have seen the whole log".to_owned());
    // Where the log does not begin with the person's own words, the question stands before it.
    let begins = history.first().and_then(|turn| turn.get("role")).and_then(Value::as_str);
    if !question.is_empty() && !begins.is_some_and(|role| matches!(role, "human" | "system")) {
        draft.message(Message::text(Role::User, question));
    }
    for (index, turn) in history.into_iter().enumerate() {
        let Value::Object(turn) = turn else {
            return Err(ImportError::at(format!("{place}/history/{index}"), "expected a turn"));
        };
        draft.said(message(turn, index));
    }
    for (name, value) in object {
        draft.keep(format!("/{name}"), value);
    }
    Ok(vec![draft])
}

fn message(mut turn: Map<String, Value>, index: usize) -> Message {
    let role = take(&mut turn, "role").map(|role| as_text(&role)).unwrap_or_default();
    let name = take(&mut turn, "name").map(|name| as_text(&name));
    let words = take(&mut turn, "content").map(|content| as_text(&content)).unwrap_or_default();
    // `Orchestrator (-> WebSurfer)` is the orchestrator; in group chats the role says nothing and the name does.
    let speaker = name.clone().unwrap_or_else(|| role.split(" (").next().unwrap_or_default().to_owned());
    let plain = speaker.to_ascii_lowercase();
    let is_person = name.is_none() && matches!(role.as_str(), "human" | "user");
    let kind = if is_person {
        Role::User
    } else if TERMINALS.contains(&plain.as_str()) {
        Role::Tool
    } else if name.is_none() && role == "system" {
        Role::System
    } else {
        Role::Assistant
    };
    let mut message = Message::text(kind, words);
    message.name = (!is_person && !speaker.is_empty()).then_some(speaker);
    let rest = turn.into_iter().filter(|(_, value)| !value.is_null());
    message.foreign = rest.map(|(name, value)| (format!("/{name}"), value)).collect::<Vec<Kept>>();
    if !role.is_empty() && message.name.as_deref() != Some(role.as_str()) {
        message.foreign.push(("/role".to_owned(), role.into()));
    }
    // Annotations count turns.
    message.foreign.push(("/step".to_owned(), index.into()));
    message
}
