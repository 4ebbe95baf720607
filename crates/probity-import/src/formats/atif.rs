use serde_json::{Map, Value};

use super::usage_of;
use crate::draft::{Draft, Message, ModelStep, Piece, Role, Step};
use crate::error::ImportError;
use crate::json::{as_text, first, take, text, unix_ms};
use crate::messages::{call_of, read_one, result_text};

/// Trajectories within each other.
const NESTED_MAX: usize = 16;

/// Reads a trajectory, and those of the agents that it has started, where they stand within it.
pub(super) fn read(value: Value, place: String) -> Result<Vec<Draft>, ImportError> {
    let mut drafts = Vec::new();
    trajectory(value, place, None, 0, &mut drafts)?;
    Ok(drafts)
}

fn trajectory(
    value: Value,
    place: String,
    parent: Option<(String, String)>,
    depth: usize,
    drafts: &mut Vec<Draft>,
) -> Result<(), ImportError> {
    let Value::Object(mut object) = value else {
        return Err(ImportError::at(place, "expected a trajectory"));
    };
    if depth > NESTED_MAX {
        return Err(ImportError::at(place, "the trajectories stand too deep within each other"));
    }
    let Some(Value::Array(steps)) = take(&mut object, "steps") else {
        return Err(ImportError::at(format!("{place}/steps"), "expected a list of steps"));
    };
    let agent = object.get("agent").cloned().unwrap_or_default();
    let key = ["trajectory_id", "session_id"].iter().find_map(|name| object.get(*name)).map(as_text);
    let mut draft = Draft {
        key: key.unwrap_or_else(|| place.clone()),
        place: place.clone(),
        model: text(&agent, &["model_name"]).map(str::to_owned),
        tools: agent.get("tool_definitions").and_then(Value::as_array).cloned().unwrap_or_default(),
        parent,
        ..Draft::default()
    };
    // Which call started which trajectory, as the results of these calls say.
    let mut started: Vec<(String, String)> = Vec::new();
    for (index, step) in steps.into_iter().enumerate() {
        let Value::Object(step) = step else {
            return Err(ImportError::at(format!("{place}/steps/{index}"), "expected a step"));
        };
        read_step(step, &mut draft, &mut started);
    }
    let below = match take(&mut object, "subagent_trajectories") {
        Some(Value::Array(below)) => below,
        _ => Vec::new(),
    };
    let key = draft.key.clone();
    for (name, value) in object {
        draft.keep(format!("/{name}"), value);
    }
    drafts.push(draft);
    let started: std::collections::HashMap<String, String> = started.into_iter().collect();
    for (index, value) in below.into_iter().enumerate() {
        let names = ["trajectory_id", "session_id"];
        let call = names.iter().find_map(|name| started.get(value.get(*name)?.as_str()?));
        let parent = call.map(|call| (key.clone(), call.clone()));
        trajectory(value, format!("{place}/subagent_trajectories/{index}"), parent, depth + 1, drafts)?;
    }
    Ok(())
}

fn read_step(mut step: Map<String, Value>, draft: &mut Draft, started: &mut Vec<(String, String)>) {
    let source = take(&mut step, "source").map(|source| as_text(&source)).unwrap_or_default();
    let at = take(&mut step, "timestamp").as_ref().and_then(unix_ms);
    if draft.started_at_unix_ms.is_none() {
        draft.started_at_unix_ms = at;
    }
    let role = match source.as_str() {
        "user" => Role::User,
        "system" => Role::System,
        _ => Role::Assistant,
    };
    let mut body = Map::new();
    body.insert(
        "role".to_owned(),
        if role == Role::Assistant { "assistant" } else { source.as_str() }.into(),
    );
    body.insert("content".to_owned(), take(&mut step, "message").unwrap_or_default());
    let read = read_one(&Value::Object(body)).and_then(|messages| messages.into_iter().next());
    let mut message = read.unwrap_or_else(|| Message::new(role));
    message.at_unix_ms = at;
    if let Some(thought) = take(&mut step, "reasoning_content") {
        message.pieces.insert(0, Piece::Reasoning(as_text(&thought)));
    }
    if let Some(Value::Array(calls)) = take(&mut step, "tool_calls") {
        message.pieces.extend(calls.into_iter().map(|call| call_of(&call).unwrap_or(Piece::Other(call))));
    }
    let observation = take(&mut step, "observation").unwrap_or_default();
    let metrics = take(&mut step, "metrics").unwrap_or_default();
    let model = take(&mut step, "model_name").map(|model| as_text(&model));
    let rest = step.into_iter().filter(|(_, value)| !value.is_null());
    message.foreign.extend(rest.map(|(name, value)| (format!("/{name}"), value)));
    if role == Role::Assistant {
        let foreign =
            if metrics.is_null() { Vec::new() } else { vec![("/metrics".to_owned(), metrics.clone())] };
        let usage = usage_of(&metrics);
        let reply = ModelStep {
            at_unix_ms: at,
            output: Some(message),
            model,
            usage,
            foreign,
            ..ModelStep::default()
        };
        draft.steps.push(Step::Model(Box::new(reply)));
    } else {
        draft.message(message);
    }
    for result in observation.get("results").and_then(Value::as_array).into_iter().flatten() {
        let call = text(result, &["source_call_id"]).map(str::to_owned);
        let references = result.get("subagent_trajectory_ref").and_then(Value::as_array);
        for reference in references.into_iter().flatten() {
            for name in ["trajectory_id", "session_id"] {
                if let (Some(id), Some(call)) = (text(reference, &[name]), &call) {
                    started.push((id.to_owned(), call.clone()));
                }
            }
        }
        let words = first(result, &["content"]).map(result_text).unwrap_or_default();
        let mut message = Message::result(call, None, words);
        message.at_unix_ms = at;
        if let Some(references) = references {
            message.foreign.push(("/subagent_trajectory_ref".to_owned(), references.clone().into()));
        }
        draft.message(message);
    }
}
