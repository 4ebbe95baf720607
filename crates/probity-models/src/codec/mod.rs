//! The four wire formats. Each has a writer for requests and a reader for replies, both without I/O.
//!
//! Why these are ours and not a library's stands in `docs/design/models.md`.

pub(crate) mod anthropic;
pub(crate) mod chat;
pub(crate) mod gemini;
pub(crate) mod responses;

use probity_contract::{ModelError, ModelEvent, ModelReply, ModelRequest};
use serde_json::{Map, Value};

use crate::window::Conversation;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

impl Dialect {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chat => "openai-chat",
            Self::Responses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// The request's body.
    pub(crate) fn encode(self, target: &Target<'_>, request: &ModelRequest) -> Result<Value, ModelError> {
        let conversation = Conversation::of(&request.items, target.codec)?;
        Ok(match self {
            Self::Chat => chat::encode(target, &conversation, request),
            Self::Responses => responses::encode(target, &conversation, request),
            Self::Anthropic => anthropic::encode(target, &conversation, request),
            Self::Gemini => gemini::encode(&conversation, request),
        })
    }
}

/// For whom a request is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    /// The model's name at the provider.
    pub(crate) model: &'a str,
    /// The host of the endpoint, in lower case.
    pub(crate) host: &'a str,
    /// The native forms that may be sent back there.
    pub(crate) codec: &'a str,
}

/// The reader of one reply.
#[derive(Debug, Clone)]
pub(crate) enum Decoder {
    Chat(chat::Reader),
    Responses(responses::Reader),
    Anthropic(anthropic::Reader),
    Gemini(gemini::Reader),
}

impl Decoder {
    pub(crate) fn new(dialect: Dialect, codec: &str) -> Self {
        let codec = codec.to_owned();
        match dialect {
            Dialect::Chat => Self::Chat(chat::Reader::new(codec)),
            Dialect::Responses => Self::Responses(responses::Reader::new(codec)),
            Dialect::Anthropic => Self::Anthropic(anthropic::Reader::new(codec)),
            Dialect::Gemini => Self::Gemini(gemini::Reader::new(codec)),
        }
    }

    /// Takes one event of a streamed reply.
    pub(crate) fn event(&mut self, data: &str, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        match self {
            Self::Chat(reader) => reader.event(data, events),
            Self::Responses(reader) => reader.event(data, events),
            Self::Anthropic(reader) => reader.event(data, events),
            Self::Gemini(reader) => reader.event(data, events),
        }
    }

    /// Takes a whole reply that was not streamed.
    pub(crate) fn document(&mut self, text: &str) -> Result<(), ModelError> {
        match self {
            Self::Chat(reader) => reader.document(text),
            Self::Responses(reader) => reader.document(text),
            Self::Anthropic(reader) => reader.document(text),
            Self::Gemini(reader) => reader.document(text),
        }
    }

    /// Whether anything of the provider's format has come.
    pub(crate) fn has_begun(&self) -> bool {
        match self {
            Self::Chat(reader) => reader.has_begun(),
            Self::Responses(reader) => reader.has_begun(),
            Self::Anthropic(reader) => reader.has_begun(),
            Self::Gemini(reader) => reader.has_begun(),
        }
    }

    /// Whether the provider's end marker has come.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::Chat(reader) => reader.is_over(),
            Self::Responses(reader) => reader.is_over(),
            Self::Anthropic(reader) => reader.is_over(),
            // This format has no marker: the last part that names a reason may be followed by others.
            Self::Gemini(_) => false,
        }
    }

    /// The reply, if nothing more comes.
    pub(crate) fn reply(&self) -> Result<ModelReply, ModelError> {
        match self {
            Self::Chat(reader) => reader.reply(),
            Self::Responses(reader) => reader.reply(),
            Self::Anthropic(reader) => reader.reply(),
            Self::Gemini(reader) => reader.reply(),
        }
    }
}

/// A past call's arguments as an object, for formats that take nothing else.
///
/// What is no object is wrapped with its text, so that the model reads what it wrote; it never becomes `{}`.
pub(crate) fn arguments_object(text: &str) -> Map<String, Value> {
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => members,
        _ => Map::from_iter([("malformed_arguments".to_owned(), Value::from(text))]),
    }
}

/// A past call's arguments as text: unchanged where they are an object, wrapped like [`arguments_object`] otherwise,
/// since many servers parse the text of past calls and fail on anything else.
pub(crate) fn arguments_text(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_)) => text.to_owned(),
        _ => Value::Object(arguments_object(text)).to_string(),
    }
}

/// Whether a schema keeps the rules of OpenAI's strict mode: every object closed and every property required.
///
/// Only then strictness is asked for; the provider refuses a request for it otherwise.
pub(crate) fn is_strict(schema: &Value) -> bool {
    if let Some(items) = schema.as_array() {
        return items.iter().all(is_strict);
    }
    let Some(members) = schema.as_object() else { return true };
    let is_closed = match members.get("properties").and_then(Value::as_object) {
        Some(properties) => {
            let required = members.get("required").and_then(Value::as_array);
            let is_required =
                |name: &String| required.is_some_and(|list| list.iter().any(|item| item == name));
            members.get("additionalProperties") == Some(&Value::Bool(false))
                && properties.keys().all(is_required)
        }
        None => members.get("type").and_then(Value::as_str) != Some("object"),
    };
    is_closed && members.values().all(is_strict)
}

/// A string member, where there is one and it is not empty.
pub(crate) fn text_at<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// A count member.
pub(crate) fn count_at(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer)?.as_u64()
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
