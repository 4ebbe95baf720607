//! A vector's model and tools.

use std::sync::{Arc, Mutex};

use probity_contract::{Effect, ReplyPart, Stop, ToolError, ToolErrorClass, ToolOutput};
use probity_testkit::{Acts, ScriptedModel, ScriptedTool, Turn};
use serde_json::{Value, json};

use super::vectors::Vector;

/// The tools that were started, in order: name and arguments.
pub(super) type Invocations = Arc<Mutex<Vec<Value>>>;

pub(super) fn model(vector: &Vector) -> ScriptedModel {
    let script = vector.scenario()["model_script"].as_array().cloned().unwrap_or_default();
    ScriptedModel::new(script.iter().enumerate().map(|(at, turn)| a_turn(vector, at, &turn["respond"])))
}

fn a_turn(vector: &Vector, at: usize, respond: &Value) -> Turn {
    let deltas: Vec<&str> =
        respond["stream"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if respond["stream_truncated"] == json!(true) {
        return Turn::breaks_off().after_deltas(&deltas);
    }
    let text = respond["content"].as_str().map(ReplyPart::text);
    let calls = respond["tool_calls"].as_array().cloned().unwrap_or_default();
    let calls = calls.iter().enumerate().map(|(call, proposed)| {
        let word = |name: &str| proposed[name].as_str().unwrap_or_default();
        ReplyPart::call(word("id"), word("name"), vector.arguments(at, call))
    });
    let stop = match respond["finish_reason"].as_str() {
        Some("stop") => Stop::EndTurn,
        Some("tool_calls") => Stop::ToolCalls,
        other => Stop::Other(other.unwrap_or_default().to_owned()),
    };
    Turn::parts(text.into_iter().chain(calls).collect(), stop).after_deltas(&deltas)
}

pub(super) fn tools(vector: &Vector, invocations: &Invocations) -> Vec<ScriptedTool> {
    let tools = vector.scenario()["tools"].as_array().cloned().unwrap_or_default();
    tools.into_iter().map(|tool| a_tool(tool, invocations)).collect()
}

fn a_tool(tool: Value, invocations: &Invocations) -> ScriptedTool {
    let (name, invocations) = (tool["name"].as_str().unwrap().to_owned(), Arc::clone(invocations));
    ScriptedTool::by(&name.clone(), Effect::Once, move |call| {
        let arguments = call.arguments().to_value();
        invocations.lock().unwrap().push(json!({ "name": name, "args": arguments }));
        let behaviors = tool["behavior"].as_array().cloned().unwrap_or_default();
        let fits = |behavior: &&Value| behavior.get("when_args").is_none_or(|when| *when == arguments);
        let behavior = behaviors.iter().find(fits).expect("the vector says what the tool does");
        let text = match &behavior["return"] {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        if behavior["is_error"] == json!(true) {
            Acts::Fails(ToolError::new(ToolErrorClass::Failed, text))
        } else {
            Acts::Returns(ToolOutput::text(text))
        }
    })
}
