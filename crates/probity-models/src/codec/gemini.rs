//! Gemini `generateContent`.

mod reader;

use probity_contract::{ModelParams, ModelRequest, ToolChoice, ToolSpec};
use serde_json::{Map, Value, json};

pub(crate) use reader::Reader;

use crate::codec::arguments_object;
use crate::window::{Conversation, PastId, PastPart, PastResult, Turn};

/// The request's body. The model stands in the address.
pub(crate) fn encode(conversation: &Conversation, request: &ModelRequest) -> Value {
    let mut body = Map::new();
    if let Some(system) = &conversation.system {
        body.insert("systemInstruction".to_owned(), json!({ "parts": [{ "text": system }] }));
    }
    body.insert("contents".to_owned(), Value::Array(contents(conversation)));
    if !request.tools.is_empty() {
        let declarations: Vec<Value> = request.tools.iter().map(tool).collect();
        body.insert("tools".to_owned(), json!([{ "functionDeclarations": declarations }]));
        body.insert(
            "toolConfig".to_owned(),
            json!({ "functionCallingConfig": tool_choice(&request.tool_choice) }),
        );
    }
    let config = config(&request.params, request.tools.is_empty());
    if !config.is_empty() {
        body.insert("generationConfig".to_owned(), Value::Object(config));
    }
    Value::Object(body)
}

fn config(params: &ModelParams, is_without_tools: bool) -> Map<String, Value> {
    // Older models take a schema and tools only one at a time; the engine checks the answer in any case.
    let schema = params.output_schema.as_ref().filter(|_| is_without_tools);
    let members = [
        ("temperature", params.temperature.map(Value::from)),
        ("topP", params.top_p.map(Value::from)),
        ("maxOutputTokens", params.output_tokens_max.map(Value::from)),
        ("seed", params.seed.map(Value::from)),
        ("thinkingConfig", params.reasoning_effort.as_deref().map(thinking)),
        ("responseMimeType", schema.map(|_| json!("application/json"))),
        ("responseJsonSchema", schema.cloned()),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// A level where the effort is a word, a budget where it is a number: newer models take one, older ones the other.
fn thinking(effort: &str) -> Value {
    match effort.parse::<i64>() {
        Ok(tokens) => json!({ "thinkingBudget": tokens }),
        Err(_) => json!({ "thinkingLevel": effort }),
    }
}

fn tool(spec: &ToolSpec) -> Value {
    json!({ "name": spec.name.as_str(), "description": spec.description, "parametersJsonSchema": spec.input_schema })
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({ "mode": "AUTO" }),
        ToolChoice::None => json!({ "mode": "NONE" }),
        ToolChoice::Required => json!({ "mode": "ANY" }),
        ToolChoice::Named(name) => json!({ "mode": "ANY", "allowedFunctionNames": [name.as_str()] }),
    }
}

fn contents(conversation: &Conversation) -> Vec<Value> {
    let mut contents = Vec::new();
    for turn in &conversation.turns {
        match turn {
            Turn::User(texts) => {
                let parts: Vec<Value> = texts.iter().map(|text| json!({ "text": text })).collect();
                contents.push(json!({ "role": "user", "parts": parts }));
            }
            Turn::Assistant { parts, results } => {
                let parts: Vec<Value> = parts.iter().filter_map(past).collect();
                if !parts.is_empty() {
                    contents.push(json!({ "role": "model", "parts": parts }));
                }
                if !results.is_empty() {
                    let parts: Vec<Value> = results.iter().map(result).collect();
                    contents.push(json!({ "role": "user", "parts": parts }));
                }
            }
        }
    }
    contents
}

/// A part with the signature that its native form holds.
fn past(part: &PastPart) -> Option<Value> {
    let (mut value, native) = match part {
        PastPart::Text { text, native } => (json!({ "text": text }), native.as_ref()),
        PastPart::Reasoning { text, native: Some(native) } => {
            (json!({ "text": text, "thought": true }), Some(native))
        }
        PastPart::Reasoning { native: None, .. } => return None,
        PastPart::Call { id, name, arguments, native } => {
            let call = json!({ "name": name, "args": arguments_object(arguments) });
            (json!({ "functionCall": with_id(call, id) }), native.as_ref())
        }
        PastPart::Opaque { native } => return Some(native.clone()),
    };
    if let (Value::Object(value), Some(signature)) =
        (&mut value, native.and_then(|native| native.get(SIGNATURE)))
    {
        value.insert(SIGNATURE.to_owned(), signature.clone());
    }
    Some(value)
}

fn result(result: &PastResult) -> Value {
    let member = if result.is_error { "error" } else { "output" };
    let response = json!({ "name": result.name, "response": { member: result.text } });
    json!({ "functionResponse": with_id(response, &result.id) })
}

/// Not every model and host of this format knows ids, so they get none that they did not give: order tells the calls
/// apart as well.
fn with_id(mut value: Value, id: &PastId) -> Value {
    if let (Value::Object(members), true) = (&mut value, id.is_given) {
        members.insert("id".to_owned(), Value::from(id.text.as_str()));
    }
    value
}

/// The member that holds a part's signature.
const SIGNATURE: &str = "thoughtSignature";
