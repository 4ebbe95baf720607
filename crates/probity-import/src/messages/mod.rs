//! Messages in whatever shape a framework writes them.
//!
//! Formats of traces differ in their envelopes; what they carry in them are the shapes of a dozen providers and
//! libraries, and any envelope may carry any of them. So the shapes are read here once, told apart by their members.

mod calls;
mod containers;
mod pieces;
mod roles;

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::draft::{Message, Piece, Role};
use crate::json::{as_text, nested, take, text, unpacked};

pub(crate) use calls::{call_of, definition_of};
pub(crate) use roles::role_of;

/// Whether messages went to a model or came from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Input,
    Output,
}

/// The messages of a value, and the definitions of tools that stood among them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    pub(crate) messages: Vec<Message>,
    pub(crate) tools: Vec<Value>,
}

/// Reads the messages of a value; `None` where it is of no known shape.
pub(crate) fn read(value: &Value, side: Side) -> Option<Said> {
    let mut reader = Reader::new(side);
    reader.container(value)?;
    Some(reader.said)
}

/// Reads one message, which may come out as several: results of tools are messages of their own.
pub(crate) fn read_one(value: &Value) -> Option<Vec<Message>> {
    let mut reader = Reader::new(Side::Input);
    reader.message(value)?;
    Some(reader.said.messages)
}

/// The reply among the messages of an output: its assistant messages as one. What else there was comes beside it.
pub(crate) fn reply_of(said: Said) -> (Option<Message>, Vec<Message>) {
    let mut reply: Option<Message> = None;
    let mut others = Vec::new();
    for message in said.messages {
        match (&mut reply, message.role) {
            (None, Role::Assistant) => reply = Some(message),
            (Some(reply), Role::Assistant) if others.is_empty() => {
                reply.pieces.extend(message.pieces);
                reply.foreign.extend(message.foreign);
            }
            (_, Role::Assistant | Role::System | Role::User | Role::Tool) => others.push(message),
        }
    }
    (reply, others)
}

/// Envelopes within each other; no framework comes near.
const ENVELOPES_MAX: usize = 16;

struct Reader {
    said: Said,
    /// Tools that have been called: some write the tool's name in place of a role.
    names: HashSet<String>,
    side: Side,
    /// How many envelopes deep the reading is. Texts within texts can hold more of them than the parser lets through.
    depth: usize,
}

impl Reader {
    fn new(side: Side) -> Self {
        Self { said: Said::default(), names: HashSet::new(), side, depth: 0 }
    }

    /// Goes one envelope deeper, if that is not too deep.
    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        if self.depth >= ENVELOPES_MAX {
            return None;
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    fn default_role(&self) -> Role {
        match self.side {
            Side::Input => Role::User,
            Side::Output => Role::Assistant,
        }
    }

    fn push(&mut self, message: Message) {
        for piece in &message.pieces {
            if let Piece::Call { name, .. } = piece {
                self.names.insert(name.clone());
            }
        }
        self.said.messages.push(message);
    }

    /// One message object. `None`, and nothing read, where it is none.
    fn message(&mut self, value: &Value) -> Option<()> {
        let object = value.as_object()?;
        if let Some(inner) = constructed(object) {
            return self.deeper(|reader| reader.message(&inner));
        }
        if object.keys().any(|name| name.starts_with("message.")) {
            let members = object.iter().map(|(name, value)| (name.as_str(), value));
            let inner = nested(members);
            return self.deeper(|reader| reader.message(inner.get("message")?));
        }
        if let Some(inner) = object.get("message").filter(|inner| inner.is_object()) {
            return self.wrapped(object, inner, "message");
        }
        if let Some(inner) =
            object.get("delta").filter(|inner| inner.is_object() && !object.contains_key("role"))
        {
            return self.wrapped(object, inner, "delta");
        }
        // Gemini's replies stand in their content, without the list of candidates around it where a framework took one out.
        if let Some(inner) = object.get("content").filter(|inner| inner.get("parts").is_some())
            && !object.contains_key("role")
        {
            return self.wrapped(object, inner, "content");
        }
        if object.contains_key("event.name") || object.contains_key("event_name") {
            return self.event(object);
        }
        if self.item(object).is_some() {
            return Some(());
        }
        let role = self.role(object)?;
        self.with_role(object.clone(), role)
    }

    /// A message in an envelope, whose other members are kept with it.
    fn wrapped(&mut self, object: &Map<String, Value>, inner: &Value, name: &str) -> Option<()> {
        let mark = self.said.messages.len();
        let mut inner = unpacked(inner.clone());
        if let Value::Object(members) = &mut inner
            && !members.contains_key("role")
            && !members.contains_key("type")
            && members.keys().any(|name| matches!(name.as_str(), "content" | "tool_calls" | "parts"))
        {
            members.insert("role".to_owned(), "assistant".into());
        }
        self.deeper(|reader| reader.message(&inner))?;
        let rest = object.iter().filter(|(member, value)| member.as_str() != name && is_worth_keeping(value));
        if let Some(message) = self.said.messages.get_mut(mark) {
            message.foreign.extend(rest.map(|(name, value)| (format!("/{name}"), value.clone())));
        }
        Some(())
    }

    /// An event of a model span, or one of the same kind in a list: the role stands in its name.
    fn event(&mut self, object: &Map<String, Value>) -> Option<()> {
        let name = object.get("event.name").or_else(|| object.get("event_name"))?.as_str()?;
        let role = match name.strip_prefix("gen_ai.")? {
            "system.message" => Role::System,
            "user.message" => Role::User,
            "assistant.message" | "choice" => Role::Assistant,
            "tool.message" => Role::Tool,
            _ => return None,
        };
        let mut object = object.clone();
        object.remove("event.name");
        object.remove("event_name");
        for member in ["message", "gen_ai.event.content"] {
            if let Some(Value::Object(mut inner)) = object.remove(member).map(unpacked) {
                object.append(&mut inner);
            }
        }
        let told = object.get("role").and_then(Value::as_str).and_then(role_of);
        self.with_role(object, told.unwrap_or(role))
    }

    /// The role of a message object, from its `role`, its `type` or its `source`.
    fn role(&self, object: &Map<String, Value>) -> Option<Role> {
        let has_body =
            ["content", "parts", "tool_calls", "text"].iter().any(|name| object.contains_key(*name));
        if let Some(word) = object.get("role").and_then(Value::as_str) {
            if let Some(role) = role_of(word) {
                return Some(role);
            }
            return if self.names.contains(word) { Some(Role::Tool) } else { has_body.then_some(Role::User) };
        }
        let word = object.get("type").and_then(Value::as_str)?;
        let is_role = matches!(
            word,
            "human"
                | "ai"
                | "system"
                | "tool"
                | "function"
                | "user"
                | "assistant"
                | "developer"
                | "AIMessageChunk"
                | "HumanMessage"
                | "AIMessage"
                | "SystemMessage"
                | "ToolMessage"
                | "FunctionMessage"
        );
        // `{"type": "tool", "name": …}` with nothing said is a definition, not a message.
        if is_role && object.contains_key("content") { role_of(word) } else { None }
    }

    fn with_role(&mut self, mut object: Map<String, Value>, role: Role) -> Option<()> {
        let mut message = Message::new(role);
        let word = take(&mut object, "role").map(|word| as_text(&word));
        message.name = take(&mut object, "name").map(|name| as_text(&name));
        if let Some(word) = word {
            if role_of(&word).is_none() {
                message.name = message.name.or(Some(word));
            } else if !matches!(word.as_str(), "system" | "user" | "assistant" | "tool") {
                message.foreign.push(("/role".to_owned(), word.into()));
            }
        }
        let ids = ["tool_call_id", "toolCallId", "tool_use_id", "call_id"];
        message.call_id = ids.iter().find_map(|name| take(&mut object, name)).map(|id| as_text(&id));
        if message.call_id.is_none()
            && let Some(Value::Array(ids)) = object.get("tool_call_ids")
            && let [Value::String(id)] = ids.as_slice()
        {
            message.call_id = Some(id.clone());
            object.remove("tool_call_ids");
        }
        if role == Role::Tool && message.name.is_none() {
            message.name = ["function", "tool_name"].iter().find_map(|name| match object.get(*name) {
                Some(Value::String(tool)) => Some(tool.clone()),
                _ => None,
            });
        }
        message.is_error = error_in(&object);
        for name in ["reasoning_content", "reasoning", "thinking"] {
            if let Some(Value::String(thought)) = object.get(name)
                && !thought.is_empty()
            {
                message.pieces.push(Piece::Reasoning(thought.clone()));
                object.remove(name);
                break;
            }
        }
        let body = ["content", "contents", "parts", "text"].iter().find_map(|name| take(&mut object, name));
        let body = body.unwrap_or(Value::Null);
        if role == Role::Tool && definition_of(&body).is_some() {
            self.said.tools.push(body);
            return Some(());
        }
        let mut results = Vec::new();
        self.body(&mut message, body, &mut results);
        self.calls(&mut message, &mut object);
        object.retain(|_, value| is_worth_keeping(value));
        let rest = object.into_iter().map(|(name, value)| (format!("/{name}"), value));
        message.foreign.extend(rest);
        let is_only_results = !results.is_empty() && message.pieces.is_empty();
        for result in results {
            self.push(result);
        }
        if !is_only_results {
            self.push(message);
        }
        Some(())
    }
}

/// The message within a serialized constructor of LangChain, under the role that its class says.
fn constructed(object: &Map<String, Value>) -> Option<Value> {
    object.get("lc")?;
    let mut inner = object.get("kwargs")?.as_object()?.clone();
    let class = object.get("id")?.as_array()?.last()?.as_str()?;
    let role = role_of(class)?;
    let word = match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    inner.insert("role".to_owned(), word.into());
    Some(Value::Object(inner))
}

fn error_in(object: &Map<String, Value>) -> bool {
    let is_true = |name: &str| object.get(name).and_then(Value::as_bool) == Some(true);
    let status = object.get("status").and_then(Value::as_str);
    is_true("is_error")
        || is_true("isError")
        || status == Some("error")
        || object.get("error").is_some_and(Value::is_object)
}

fn is_worth_keeping(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// The text of a value that is a result: its text parts, or the value as JSON.
pub(crate) fn result_text(value: &Value) -> String {
    let Value::Array(parts) = value else {
        return text(value, &["text"])
            .filter(|_| value.get("type").is_some())
            .map_or_else(|| as_text(value), str::to_owned);
    };
    let texts: Option<Vec<_>> =
        parts.iter().map(|part| part.as_str().or_else(|| text(part, &["text"]))).collect();
    match texts {
        Some(texts) if !texts.is_empty() => texts.join("\n"),
        _ => as_text(value),
    }
}
