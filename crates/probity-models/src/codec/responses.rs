//! OpenAI Responses. Nothing is stored at the provider: the window is sent whole with every call.

mod reader;

use probity_contract::{ModelParams, ModelRequest, ToolChoice, ToolSpec};
use serde_json::{Map, Value, json};

pub(crate) use reader::Reader;

use crate::codec::{Target, arguments_text, is_strict, text_at};
use crate::window::{Conversation, PastPart, PastResult, Turn};

/// The request's body.
pub(crate) fn encode(target: &Target<'_>, conversation: &Conversation, request: &ModelRequest) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), Value::from(target.model));
    if let Some(system) = &conversation.system {
        body.insert("instructions".to_owned(), Value::from(system.as_str()));
    }
    body.insert("input".to_owned(), Value::Array(input(conversation)));
    body.insert("stream".to_owned(), Value::Bool(true));
    body.insert("store".to_owned(), Value::Bool(false));
    if reasons(target.model) || request.params.reasoning_effort.is_some() {
        // Reasoning that is not stored must come back with the next call, and comes only when asked for.
        body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        body.insert("tool_choice".to_owned(), tool_choice(&request.tool_choice));
    }
    params(&request.params, &mut body);
    Value::Object(body)
}

/// This API takes no seed.
fn params(params: &ModelParams, body: &mut Map<String, Value>) {
    let members = [
        ("temperature", params.temperature.map(Value::from)),
        ("top_p", params.top_p.map(Value::from)),
        ("max_output_tokens", params.output_tokens_max.map(Value::from)),
        ("reasoning", params.reasoning_effort.as_ref().map(|effort| json!({ "effort": effort }))),
        ("text", params.output_schema.as_ref().map(text_format)),
    ];
    body.extend(members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
}

fn text_format(schema: &Value) -> Value {
    json!({ "format": { "type": "json_schema", "name": "answer", "strict": is_strict(schema), "schema": schema } })
}

fn tool(spec: &ToolSpec) -> Value {
    json!({ "type": "function", "name": spec.name.as_str(), "description": spec.description,
        "parameters": spec.input_schema, "strict": false })
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(name) => json!({ "type": "function", "name": name.as_str() }),
    }
}

fn input(conversation: &Conversation) -> Vec<Value> {
    let mut input = Vec::new();
    for turn in &conversation.turns {
        match turn {
            Turn::User(texts) => input.push(json!({ "role": "user", "content": texts.join("\n\n") })),
            Turn::Assistant { parts, results } => {
                input.extend(parts.iter().filter_map(past));
                input.extend(results.iter().map(result));
            }
        }
    }
    input
}

fn past(part: &PastPart) -> Option<Value> {
    match part {
        PastPart::Text { text, .. } => Some(
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] }),
        ),
        PastPart::Call { id, name, arguments, .. } => Some(
            json!({ "type": "function_call", "call_id": id.text, "name": name, "arguments": arguments_text(arguments) }),
        ),
        // What was not stored exists only in its encrypted form; without it the id would point to nothing.
        PastPart::Reasoning { native, .. } => {
            native.as_ref().filter(|item| text_at(item, "encrypted_content").is_some()).cloned()
        }
        PastPart::Opaque { native } => Some(native.clone()),
    }
}

fn result(result: &PastResult) -> Value {
    json!({ "type": "function_call_output", "call_id": result.id.text, "output": result.text })
}

/// Whether a model reasons, by its name. Others refuse the wish for encrypted reasoning.
fn reasons(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let mut letters = name.chars();
    let is_o_series = letters.next() == Some('o') && letters.next().is_some_and(|c| c.is_ascii_digit());
    let is_gpt_5 = name
        .strip_prefix("gpt-")
        .and_then(|rest| rest.chars().next())
        .is_some_and(|c| ('5'..='9').contains(&c));
    is_o_series || (is_gpt_5 && !name.contains("-chat")) || name.contains("codex")
}
