//! OpenAI Chat Completions, as OpenAI and all that call themselves compatible serve it.

mod reader;
mod reasoning;
mod usage;

use probity_contract::{ModelParams, ModelRequest, ToolChoice, ToolSpec};
use serde_json::{Map, Value, json};

pub(crate) use reader::Reader;

use crate::codec::{Target, arguments_text, is_strict};
use crate::window::{Conversation, PastPart, PastResult, Turn};

/// The request's body.
pub(crate) fn encode(target: &Target<'_>, conversation: &Conversation, request: &ModelRequest) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), Value::from(target.model));
    body.insert("messages".to_owned(), Value::Array(messages(conversation)));
    body.insert("stream".to_owned(), Value::Bool(true));
    if host_takes_extras(target.host) {
        body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    }
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        body.insert("tool_choice".to_owned(), tool_choice(&request.tool_choice));
    }
    params(target, &request.params, &mut body);
    Value::Object(body)
}

fn params(target: &Target<'_>, params: &ModelParams, body: &mut Map<String, Value>) {
    let limit = if is_openai(target.host) { "max_completion_tokens" } else { "max_tokens" };
    let seed = if host_takes_extras(target.host) { "seed" } else { "random_seed" };
    let members = [
        ("temperature", params.temperature.map(Value::from)),
        ("top_p", params.top_p.map(Value::from)),
        (limit, params.output_tokens_max.map(Value::from)),
        (seed, params.seed.map(Value::from)),
        ("reasoning_effort", params.reasoning_effort.clone().map(Value::from)),
        ("response_format", params.output_schema.as_ref().map(response_format)),
    ];
    body.extend(members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
}

fn response_format(schema: &Value) -> Value {
    json!({ "type": "json_schema",
        "json_schema": { "name": "answer", "strict": is_strict(schema), "schema": schema } })
}

fn tool(spec: &ToolSpec) -> Value {
    json!({ "type": "function", "function": {
        "name": spec.name.as_str(), "description": spec.description, "parameters": spec.input_schema } })
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(name) => json!({ "type": "function", "function": { "name": name.as_str() } }),
    }
}

fn messages(conversation: &Conversation) -> Vec<Value> {
    let system = conversation.system.iter().map(|text| json!({ "role": "system", "content": text }));
    let mut messages: Vec<Value> = system.collect();
    for turn in &conversation.turns {
        match turn {
            Turn::User(texts) => messages.push(json!({ "role": "user", "content": texts.join("\n\n") })),
            Turn::Assistant { parts, results } => {
                messages.extend(assistant(parts));
                messages.extend(results.iter().map(tool_result));
            }
        }
    }
    messages
}

fn assistant(parts: &[PastPart]) -> Option<Value> {
    let mut message =
        Map::from_iter([("role".to_owned(), json!("assistant")), ("content".to_owned(), Value::Null)]);
    let (mut text, mut calls) = (String::new(), Vec::new());
    for part in parts {
        match part {
            PastPart::Text { text: words, .. } => text.push_str(words),
            PastPart::Reasoning { native: Some(Value::Object(members)), .. } => {
                add_reasoning(&mut message, members)
            }
            // Without the member's name of the host that wrote it there is nowhere to put reasoning.
            PastPart::Reasoning { .. } | PastPart::Opaque { .. } => {}
            PastPart::Call { id, name, arguments, native } => {
                calls.push(call(&id.text, name, arguments, native.as_ref()))
            }
        }
    }
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    if !text.is_empty() {
        message.insert("content".to_owned(), Value::from(text));
    }
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    Some(Value::Object(message))
}

/// A message has one member for all its reasoning: texts and details of several parts are joined.
fn add_reasoning(message: &mut Map<String, Value>, members: &Map<String, Value>) {
    for (name, value) in members {
        match (message.get_mut(name), value) {
            (Some(Value::String(text)), Value::String(more)) => text.push_str(more),
            (Some(Value::Array(list)), Value::Array(more)) => list.extend(more.iter().cloned()),
            _ => {
                message.insert(name.clone(), value.clone());
            }
        }
    }
}

fn call(id: &str, name: &str, arguments: &str, native: Option<&Value>) -> Value {
    let mut call = json!({ "id": id, "type": "function",
        "function": { "name": name, "arguments": arguments_text(arguments) } });
    if let (Value::Object(call), Some(Value::Object(extra))) = (&mut call, native) {
        call.extend(extra.clone());
    }
    call
}

fn tool_result(result: &PastResult) -> Value {
    json!({ "role": "tool", "tool_call_id": result.id.text, "content": result.text })
}

fn is_openai(host: &str) -> bool {
    host == "api.openai.com"
}

/// Mistral's API refuses members it does not know, names the seed differently and sends usage unasked.
fn host_takes_extras(host: &str) -> bool {
    host != "mistral.ai" && !host.ends_with(".mistral.ai")
}
