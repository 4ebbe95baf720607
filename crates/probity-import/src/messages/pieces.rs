use serde_json::Value;

use super::calls::result_of;
use super::{Reader, call_of, result_text};
use crate::draft::{Message, Piece, Role};
use crate::json::{first, text};

impl Reader {
    /// Reads the body of a message into its pieces. Results within it become messages of their own.
    pub(super) fn body(&mut self, message: &mut Message, body: Value, results: &mut Vec<Message>) {
        match body {
            Value::Null => {}
            Value::String(words) if words.is_empty() => {}
            Value::String(words) => message.pieces.push(Piece::Text(words)),
            Value::Array(parts) if message.role == Role::Tool && !parts.iter().any(is_result) => {
                self.tool_body(message, &Value::Array(parts));
            }
            Value::Array(parts) => parts.into_iter().for_each(|part| self.part(message, part, results)),
            Value::Object(ref object) if object.get("parts").is_some_and(Value::is_array) => {
                let parts = object.get("parts").cloned().unwrap_or_default();
                self.deeper(|reader| {
                    reader.body(message, parts, results);
                    Some(())
                });
            }
            Value::Object(_) if message.role == Role::Tool => self.tool_body(message, &body),
            Value::Object(ref object) if object.contains_key("type") || object.contains_key("text") => {
                self.part(message, body, results);
            }
            Value::Object(_) | Value::Bool(_) | Value::Number(_) => {
                message.pieces.push(Piece::Text(body.to_string()));
            }
        }
    }

    /// What a tool brought back is one text, whatever it is made of.
    fn tool_body(&self, message: &mut Message, body: &Value) {
        message.pieces.push(Piece::Text(result_text(body)));
    }

    fn part(&mut self, message: &mut Message, part: Value, results: &mut Vec<Message>) {
        let unwrapped = ["message_content", "message.content"].iter().find_map(|name| part.get(*name));
        if let Some(inner) = unwrapped.cloned() {
            self.deeper(|reader| {
                reader.part(message, inner, results);
                Some(())
            });
            return;
        }
        if let Value::String(words) = part {
            return message.pieces.push(Piece::Text(words));
        }
        if is_result(&part) {
            let mut result = result_of(&part);
            result.at_unix_ms = message.at_unix_ms;
            return results.push(result);
        }
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        let piece = match kind {
            "text" | "input_text" | "output_text" | "summary_text" => {
                text(&part, &["text", "content"]).map(|words| Piece::Text(words.to_owned()))
            }
            "refusal" => text(&part, &["refusal"]).map(|words| Piece::Text(words.to_owned())),
            "thinking" | "reasoning" | "reasoning_text" => {
                let thought = first(&part, &["thinking", "text", "content", "reasoning", "summary"]);
                Some(Piece::Reasoning(thought.map(result_text).unwrap_or_default()))
            }
            "tool_use" | "server_tool_use" | "tool_call" | "tool-call" | "function_call" | "mcp_tool_use"
            | "function" => call_of(&part),
            "" => untyped(&part),
            _ => None,
        };
        // An empty text says nothing; anything else that is not known is kept as it is.
        match piece {
            Some(piece) => message.pieces.push(piece),
            None if matches!(kind, "text" | "input_text" | "output_text") => {}
            None => message.pieces.push(Piece::Other(part)),
        }
    }
}

/// A part of Gemini or Bedrock, whose kind is the name of its one member.
fn untyped(part: &Value) -> Option<Piece> {
    if let Some(call) = first(part, &["functionCall", "function_call", "toolUse"]) {
        return call_of(call);
    }
    if let Some(thought) = part.pointer("/reasoningContent/reasoningText/text").and_then(Value::as_str) {
        return Some(Piece::Reasoning(thought.to_owned()));
    }
    let words = text(part, &["text"])?.to_owned();
    let is_thought = part.get("thought").and_then(Value::as_bool) == Some(true);
    Some(if is_thought { Piece::Reasoning(words) } else { Piece::Text(words) })
}

fn is_result(part: &Value) -> bool {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    matches!(kind, "tool_result" | "tool-result" | "tool_call_response" | "function_call_output")
        || kind.ends_with("_tool_result")
        || first(part, &["functionResponse", "function_response", "toolResult"]).is_some()
}
