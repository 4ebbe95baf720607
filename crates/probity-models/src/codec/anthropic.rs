//! Anthropic Messages.

mod reader;
mod usage;

use probity_contract::{ModelParams, ModelRequest, ToolChoice, ToolSpec};
use serde_json::{Map, Value, json};

pub(crate) use reader::Reader;

use crate::codec::{Target, arguments_object};
use crate::limits::OUTPUT_TOKENS_DEFAULT;
use crate::window::{Conversation, PastPart, PastResult, Turn};

/// The request's body.
pub(crate) fn encode(target: &Target<'_>, conversation: &Conversation, request: &ModelRequest) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), Value::from(target.model));
    // The one provider that demands a limit.
    let limit = request.params.output_tokens_max.unwrap_or(OUTPUT_TOKENS_DEFAULT);
    body.insert("max_tokens".to_owned(), Value::from(limit));
    if let Some(system) = &conversation.system {
        body.insert("system".to_owned(), Value::from(system.as_str()));
    }
    body.insert("messages".to_owned(), Value::Array(messages(conversation)));
    body.insert("stream".to_owned(), Value::Bool(true));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        body.insert("tool_choice".to_owned(), tool_choice(&request.tool_choice));
    }
    params(&request.params, &mut body);
    Value::Object(body)
}

/// This API takes no seed.
fn params(params: &ModelParams, body: &mut Map<String, Value>) {
    if let Some(temperature) = params.temperature {
        body.insert("temperature".to_owned(), Value::from(temperature));
    }
    if let Some(top_p) = params.top_p {
        body.insert("top_p".to_owned(), Value::from(top_p));
    }
    let mut output = Map::new();
    if let Some(effort) = &params.reasoning_effort {
        output.insert("effort".to_owned(), Value::from(effort.as_str()));
    }
    if let Some(schema) = &params.output_schema {
        output.insert("format".to_owned(), json!({ "type": "json_schema", "schema": schema }));
    }
    if !output.is_empty() {
        body.insert("output_config".to_owned(), Value::Object(output));
    }
}

fn tool(spec: &ToolSpec) -> Value {
    json!({ "name": spec.name.as_str(), "description": spec.description, "input_schema": spec.input_schema })
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({ "type": "auto" }),
        ToolChoice::None => json!({ "type": "none" }),
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::Named(name) => json!({ "type": "tool", "name": name.as_str() }),
    }
}

/// Results stand at the head of the person's next message: the API demands them right after the calls.
fn messages(conversation: &Conversation) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut user: Vec<Value> = Vec::new();
    for turn in &conversation.turns {
        match turn {
            Turn::User(texts) => {
                user.extend(texts.iter().map(|text| json!({ "type": "text", "text": text })))
            }
            Turn::Assistant { parts, results } => {
                let content: Vec<Value> = parts.iter().filter_map(past).collect();
                if !content.is_empty() {
                    flush(&mut messages, &mut user);
                    messages.push(json!({ "role": "assistant", "content": content }));
                }
                user.extend(results.iter().map(result));
            }
        }
    }
    flush(&mut messages, &mut user);
    messages
}

fn flush(messages: &mut Vec<Value>, user: &mut Vec<Value>) {
    if !user.is_empty() {
        messages.push(json!({ "role": "user", "content": std::mem::take(user) }));
    }
}

fn past(part: &PastPart) -> Option<Value> {
    match part {
        PastPart::Text { text, .. } if text.trim().is_empty() => None,
        PastPart::Text { text, .. } => Some(json!({ "type": "text", "text": text })),
        PastPart::Call { id, name, arguments, .. } => Some(
            json!({ "type": "tool_use", "id": id.text, "name": name, "input": arguments_object(arguments) }),
        ),
        // Reasoning counts only with the signature that its native form holds.
        PastPart::Reasoning { native, .. } => native.clone(),
        PastPart::Opaque { native } => Some(native.clone()),
    }
}

fn result(result: &PastResult) -> Value {
    json!({ "type": "tool_result", "tool_use_id": result.id.text, "content": result.text, "is_error": result.is_error })
}
