use serde_json::{Map, Value};

use super::{Reader, result_text};
use crate::draft::{Message, Piece, Role};
use crate::json::{as_text, first, text};

const IDS: &[&str] = &["id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id"];
const NAMES: &[&str] = &["name", "toolName", "tool_name", "function_name", "tool.name"];
const ARGUMENTS: &[&str] = &["arguments", "args", "input", "parameters", "tool.args", "kwargs", "tool_input"];

/// A call in whatever shape.
pub(crate) fn call_of(value: &Value) -> Option<Piece> {
    let outer = value.get("tool_call").unwrap_or(value);
    let inner = match outer.get("function").or_else(|| outer.get("custom")) {
        Some(inner @ Value::Object(_)) => inner,
        _ => outer,
    };
    let name = match outer.get("function") {
        Some(Value::String(name)) => Some(name.as_str()),
        _ => text(inner, NAMES),
    };
    let name = name?.to_owned();
    let id = text(outer, IDS).or_else(|| text(inner, IDS)).unwrap_or_default().to_owned();
    let arguments = first(inner, ARGUMENTS).map_or_else(|| "{}".to_owned(), as_text);
    Some(Piece::Call { id, name, arguments })
}

/// Name and parameters of a tool, where a value is the definition of one.
pub(crate) fn definition_of(value: &Value) -> Option<(&str, &Value)> {
    let inner = match value.get("function") {
        Some(inner @ Value::Object(_)) => inner,
        _ => value,
    };
    let name = text(inner, &["name"])?;
    let schema = ["parameters", "input_schema", "inputSchema", "parametersJsonSchema"];
    first(inner, &schema).filter(|schema| schema.is_object()).map(|schema| (name, schema))
}

impl Reader {
    /// Takes the calls of a message out of its members.
    pub(super) fn calls(&self, message: &mut Message, object: &mut Map<String, Value>) {
        let mut listed: Vec<Value> = Vec::new();
        for name in ["tool_calls", "toolCalls"] {
            if let Some(Value::Array(calls)) = object.get(name) {
                listed.clone_from(calls);
            }
            object.remove(name);
            if !listed.is_empty() {
                break;
            }
        }
        if let Some(Value::Object(more)) = object.get_mut("additional_kwargs") {
            if let Some(Value::Array(calls)) = more.remove("tool_calls")
                && listed.is_empty()
            {
                listed = calls;
            }
            if let Some(call @ Value::Object(_)) = more.remove("function_call")
                && listed.is_empty()
            {
                listed.push(call);
            }
        }
        if let Some(call @ Value::Object(_)) = object.get("function_call")
            && listed.is_empty()
        {
            listed.push(call.clone());
            object.remove("function_call");
        }
        // A call that stands in the content as well, as some write it, is the same call.
        let has_calls = message.has_calls();
        for value in listed {
            match call_of(&value) {
                Some(call) if !has_calls => message.pieces.push(call),
                Some(_) => {}
                None => message.pieces.push(Piece::Other(value)),
            }
        }
    }

    /// An entry of a list that is no message with a role: a call, a result or a thought of a responses API, or a call
    /// as the Vercel SDK writes it.
    pub(super) fn item(&mut self, object: &Map<String, Value>) -> Option<()> {
        let value = Value::Object(object.clone());
        let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
        let has_role = object.contains_key("role");
        match kind {
            _ if has_role => None,
            "function_call" | "custom_tool_call" | "tool-call" | "tool_call" | "tool_use"
            | "local_shell_call" | "mcp_call" => {
                let call = call_of(&value).or_else(|| nameless_call(&value, kind))?;
                self.piece(call);
                // A server's own call brings its result with it.
                if let Some(output) = object.get("output").filter(|output| output.is_string()) {
                    let id = text(&value, IDS).map(str::to_owned);
                    self.push(Message::result(id, text(&value, NAMES).map(str::to_owned), as_text(output)));
                }
                Some(())
            }
            "function_call_output"
            | "custom_tool_call_output"
            | "local_shell_call_output"
            | "tool-result"
            | "tool_result"
            | "tool_call_response" => {
                self.push(result_of(&value));
                Some(())
            }
            "reasoning" => {
                let summary = ["summary", "content", "text"].iter().find_map(|name| {
                    let told = result_text(object.get(*name)?);
                    (!told.is_empty() && told != "[]").then_some(told)
                });
                self.piece(Piece::Reasoning(summary.unwrap_or_default()));
                Some(())
            }
            "" if object.contains_key("toolCallId") || object.contains_key("tool.name") => {
                if let Some(result) = ["result", "output"].iter().find_map(|name| object.get(*name)) {
                    let id = text(&value, IDS).map(str::to_owned);
                    self.push(Message::result(
                        id,
                        text(&value, NAMES).map(str::to_owned),
                        result_text(result),
                    ));
                } else {
                    self.piece(call_of(&value)?);
                }
                Some(())
            }
            // What a provider ran itself: a search, a generated image.
            _ if kind.ends_with("_call") && object.contains_key("id") => {
                self.piece(Piece::Other(value));
                Some(())
            }
            _ => None,
        }
    }

    /// Adds a piece to the reply that is being read, or begins one.
    pub(super) fn piece(&mut self, piece: Piece) {
        if let Piece::Call { name, .. } = &piece {
            self.names.insert(name.clone());
        }
        match self.said.messages.last_mut() {
            Some(message) if message.role == Role::Assistant => message.pieces.push(piece),
            _ => {
                let mut message = Message::new(Role::Assistant);
                message.pieces.push(piece);
                self.push(message);
            }
        }
    }
}

/// A result in whatever shape.
pub(super) fn result_of(value: &Value) -> Message {
    let inner = first(value, &["functionResponse", "function_response", "toolResult"]).unwrap_or(value);
    let body = first(inner, &["output", "response", "result", "content"]).unwrap_or(&Value::Null);
    let body = match body.get("value") {
        // The Vercel SDK says of a result what kind of value it is.
        Some(told) if body.get("type").is_some() => told,
        _ => body,
    };
    let id = text(inner, IDS).or_else(|| text(value, IDS)).map(str::to_owned);
    let mut message = Message::result(id, text(inner, NAMES).map(str::to_owned), result_text(body));
    let is_true = |name: &str| inner.get(name).and_then(Value::as_bool) == Some(true);
    message.is_error = is_true("is_error")
        || is_true("isError")
        || inner.get("status").and_then(Value::as_str) == Some("error");
    message
}

/// A call of a built-in tool, which has an action in place of a name.
fn nameless_call(value: &Value, kind: &str) -> Option<Piece> {
    let action = first(value, &["action", "input"])?;
    let id = text(value, &["call_id", "id"]).unwrap_or_default().to_owned();
    let name = kind.strip_suffix("_call").unwrap_or(kind).to_owned();
    Some(Piece::Call { id, name, arguments: as_text(action) })
}
