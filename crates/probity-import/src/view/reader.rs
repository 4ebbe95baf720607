use std::collections::HashMap;

use probity_contract::{
    Body, CallId, Emission, Fact, ForeignTo, ItemId, Kept, ModelCallId, PartId, ReplyPart, ReplyPartKind,
};
use serde_json::Value;

use super::{ChatCall, ChatMessage, ChatRole, Exchange};
use crate::draft::{Message, Piece, Role};
use crate::json::text;
use crate::messages::{Side, definition_of, read as read_messages, result_text};

/// Reads the lines of a record.
pub(super) struct Reader<'a> {
    parts: HashMap<PartId, &'a str>,
    facts: Vec<&'a Fact>,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "most facts say nothing of messages")]
impl<'a> Reader<'a> {
    pub(super) fn of(lines: &'a [Emission]) -> Self {
        let mut reader = Self { parts: HashMap::new(), facts: Vec::new() };
        for line in lines {
            match line {
                Emission::Part(part) => {
                    if let Kept::Full(text) | Kept::Redacted(text) = &part.kept {
                        reader.parts.insert(part.id, text.as_ref());
                    }
                }
                Emission::Entry(entry) => reader.facts.push(&entry.fact),
            }
        }
        reader
    }

    pub(super) fn messages(&self) -> Vec<ChatMessage> {
        let names = self.names();
        let items = self.items();
        items.into_iter().map(|(item, body)| self.message(item, body, &names)).collect()
    }

    pub(super) fn exchanges(&self) -> Vec<Exchange> {
        let names = self.names();
        let items: HashMap<ItemId, &Body> = self.items().into_iter().collect();
        let said = |item: &ItemId| items.get(item).map(|body| self.message(*item, body, &names));
        let mut window: Vec<ItemId> = Vec::new();
        let mut exchanges: Vec<Exchange> = Vec::new();
        let mut places: HashMap<ModelCallId, usize> = HashMap::new();
        for fact in &self.facts {
            match fact {
                Fact::ModelCalled { call, window: delta, .. } => {
                    window.truncate(usize::try_from(delta.keep).unwrap_or(usize::MAX));
                    window.extend_from_slice(&delta.added);
                    places.insert(*call, exchanges.len());
                    let input = window.iter().filter_map(said).collect();
                    exchanges.push(Exchange { call: Some(*call), input, ..nothing() });
                }
                Fact::ModelReplied { call, item, .. } => {
                    if let Some(exchange) = places.get(call).and_then(|place| exchanges.get_mut(*place)) {
                        exchange.output.extend(said(item));
                    }
                }
                Fact::Foreign { about: ForeignTo::ModelCall(call), at, json } => {
                    let Some(exchange) = places.get(call).and_then(|place| exchanges.get_mut(*place)) else {
                        continue;
                    };
                    match (at.as_str(), self.value(*json)) {
                        ("/id", Value::String(id)) => exchange.source = id,
                        ("/tools", Value::Array(tools)) => {
                            let named = tools.iter().filter_map(|tool| {
                                definition_of(tool).map(|(name, _)| name).or_else(|| text(tool, &["name"]))
                            });
                            exchange.tools = named.map(str::to_owned).collect();
                        }
                        _ => {}
                    }
                }
                Fact::Foreign { about: ForeignTo::Run, at, json } => {
                    if let Some(id) = at.strip_prefix("/spans/") {
                        exchanges.extend(step(id, &self.value(*json), Role::Assistant));
                    }
                }
                _ => {}
            }
        }
        exchanges.extend(self.executions());
        exchanges
    }

    /// What went into tools and came out of them, where spans tell it.
    fn executions(&self) -> Vec<Exchange> {
        let mut told: HashMap<CallId, Value> = HashMap::new();
        let mut steps = Vec::new();
        let mut tell = |call: CallId, name: &str, value: Value, is_raw: bool| {
            let known = told.entry(call).or_insert_with(|| Value::Object(serde_json::Map::new()));
            if let Value::Object(known) = known
                && (is_raw || !known.contains_key(name))
            {
                known.insert(name.to_owned(), value);
            }
        };
        for fact in &self.facts {
            match fact {
                Fact::CallProposed { call, arguments, .. } => {
                    tell(*call, "input", self.text(*arguments).into(), false);
                }
                Fact::ToolFinished { call, output, .. } => {
                    tell(*call, "output", self.text(*output).into(), false)
                }
                Fact::Foreign { about: ForeignTo::Call(call), at, json } => match at.as_str() {
                    "/input" | "/output" => tell(*call, at.trim_start_matches('/'), self.value(*json), true),
                    "/id" => steps.push((*call, self.value(*json))),
                    _ => {}
                },
                _ => {}
            }
        }
        let step_of = |(call, id): (CallId, Value)| {
            step(id.as_str().unwrap_or_default(), told.get(&call).unwrap_or(&Value::Null), Role::Tool)
        };
        steps.into_iter().filter_map(step_of).collect()
    }

    fn items(&self) -> Vec<(ItemId, &'a Body)> {
        let items = self.facts.iter().filter_map(|fact| match fact {
            Fact::ItemAdded { item, body, .. } => Some((*item, body)),
            _ => None,
        });
        items.collect()
    }

    /// The names of speakers, which have no place in a body.
    fn names(&self) -> HashMap<ItemId, String> {
        let names = self.facts.iter().filter_map(|fact| match fact {
            Fact::Foreign { about: ForeignTo::Item(item), at, json } if at.is_empty() => {
                Some((*item, self.value(*json).get("name")?.as_str()?.to_owned()))
            }
            _ => None,
        });
        names.collect()
    }

    fn text(&self, part: PartId) -> &'a str {
        self.parts.get(&part).copied().unwrap_or_default()
    }

    fn value(&self, part: PartId) -> Value {
        serde_json::from_str(self.text(part)).unwrap_or_default()
    }

    fn message(&self, item: ItemId, body: &Body, names: &HashMap<ItemId, String>) -> ChatMessage {
        let name = names.get(&item).cloned();
        let plain = |role, text: &PartId| ChatMessage {
            name: name.clone(),
            content: self.text(*text).to_owned(),
            item: Some(item),
            ..blank(role)
        };
        match body {
            Body::Instructions { text } => plain(ChatRole::System, text),
            Body::Person { text } | Body::Context { text, .. } | Body::Notice { text } => {
                plain(ChatRole::User, text)
            }
            Body::ToolResult { provider_id, tool, text, is_error, .. } => ChatMessage {
                name: Some(tool.clone()).filter(|tool| !tool.is_empty()),
                tool_call_id: Some(provider_id.clone()).filter(|id| !id.is_empty()),
                is_error: *is_error,
                ..plain(ChatRole::Tool, text)
            },
            Body::Reply { parts } => {
                let kinds =
                    parts.iter().filter_map(|part| serde_json::from_str::<ReplyPart>(self.text(*part)).ok());
                let pieces: Vec<Piece> = kinds.map(|part| piece(part.kind)).collect();
                ChatMessage { name, item: Some(item), ..of_pieces(ChatRole::Assistant, pieces) }
            }
        }
    }
}

const fn nothing() -> Exchange {
    Exchange { source: String::new(), call: None, input: Vec::new(), output: Vec::new(), tools: Vec::new() }
}

const fn blank(role: ChatRole) -> ChatMessage {
    ChatMessage {
        role,
        name: None,
        content: String::new(),
        reasoning: None,
        tool_calls: Vec::new(),
        tool_call_id: None,
        is_error: false,
        item: None,
    }
}

fn piece(kind: ReplyPartKind) -> Piece {
    match kind {
        ReplyPartKind::Text(text) => Piece::Text(text),
        ReplyPartKind::Reasoning(text) => Piece::Reasoning(text),
        ReplyPartKind::Call(call) => {
            Piece::Call { id: call.provider_id, name: call.name, arguments: call.arguments }
        }
        ReplyPartKind::Opaque => Piece::Other(Value::Null),
    }
}

fn of_pieces(role: ChatRole, pieces: Vec<Piece>) -> ChatMessage {
    let mut message = blank(role);
    let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
    for piece in pieces {
        match piece {
            Piece::Text(text) => texts.push(text),
            Piece::Reasoning(text) => thoughts.push(text),
            Piece::Call { id, name, arguments } => message.tool_calls.push(ChatCall { id, name, arguments }),
            Piece::Other(_) => {}
        }
    }
    message.content = texts.join("\n");
    message.reasoning = Some(thoughts.join("\n")).filter(|thoughts| !thoughts.is_empty());
    message
}

/// A step that is no model call. What is no message is one, as the text or the JSON that it is; of a list, each value.
fn step(id: &str, value: &Value, speaker: Role) -> Option<Exchange> {
    let side = |name: &str, side: Side, role: Role| {
        let Some(value) = value.get(name).filter(|value| !value.is_null()) else { return Vec::new() };
        let is_words = value.is_string() && role == Role::Tool;
        let said = read_messages(value, side).filter(|said| !said.messages.is_empty() && !is_words);
        let messages = said.map_or_else(|| unread(value, role), |said| said.messages);
        messages.into_iter().map(as_chat).collect()
    };
    let exchange = Exchange {
        source: id.to_owned(),
        input: side("input", Side::Input, Role::User),
        output: side("output", Side::Output, speaker),
        ..nothing()
    };
    (!exchange.input.is_empty() || !exchange.output.is_empty()).then_some(exchange)
}

fn unread(value: &Value, role: Role) -> Vec<Message> {
    let one = |value: &Value| {
        let content =
            value.as_object().filter(|object| object.len() == 1).and_then(|object| object.get("content"));
        Message::text(role, content.map_or_else(|| crate::json::as_text(value), result_text))
    };
    match value {
        Value::Array(list) if list.iter().all(Value::is_object) => list.iter().map(one).collect(),
        value @ (Value::Array(_)
        | Value::Object(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)) => vec![one(value)],
    }
}

fn as_chat(message: Message) -> ChatMessage {
    let role = match message.role {
        Role::System => ChatRole::System,
        Role::User => ChatRole::User,
        Role::Assistant => ChatRole::Assistant,
        Role::Tool => ChatRole::Tool,
    };
    ChatMessage {
        name: message.name,
        tool_call_id: message.call_id,
        is_error: message.is_error,
        ..of_pieces(role, message.pieces)
    }
}
