use serde_json::{Map, Value};

use super::{Reader, Side, is_worth_keeping};
use crate::draft::{Message, Piece, Role};
use crate::json::unpacked;

impl Reader {
    /// A value that holds messages: a request, a response, a list, a text.
    pub(super) fn container(&mut self, value: &Value) -> Option<()> {
        self.deeper(|reader| reader.container_of(value))
    }

    fn container_of(&mut self, value: &Value) -> Option<()> {
        match value {
            Value::String(words) => match unpacked(value.clone()) {
                Value::String(_) => {
                    self.push(Message::text(self.default_role(), words.as_str()));
                    Some(())
                }
                inner @ (Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Array(_)
                | Value::Object(_)) => self.container(&inner).or_else(|| {
                    self.push(Message::text(self.default_role(), words.as_str()));
                    Some(())
                }),
            },
            Value::Array(list) => self.list(list),
            Value::Object(object) => self.object(object),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    /// A list of messages, of lists of them, or of the parts of one.
    fn list(&mut self, list: &[Value]) -> Option<()> {
        if list.iter().all(Value::is_string) {
            let role = self.default_role();
            list.iter().filter_map(Value::as_str).for_each(|words| self.push(Message::text(role, words)));
            return Some(());
        }
        if list.iter().all(Value::is_array) {
            return list
                .iter()
                .filter_map(Value::as_array)
                .try_for_each(|inner| self.deeper(|reader| reader.list(inner)));
        }
        let mark = self.said.messages.len();
        let mut loose = None;
        let is_read = list.iter().all(|value| {
            let read = self.message(value).or_else(|| self.loose(value, mark, &mut loose));
            read.is_some()
        });
        // Things of no known kind are kept with messages, but make none.
        let says_something = |message: &Message| {
            message.role == Role::Tool || message.pieces.iter().any(|piece| !matches!(piece, Piece::Other(_)))
        };
        let messages = self.said.messages.get(mark..).unwrap_or_default();
        if is_read && (loose.is_none() || messages.iter().any(says_something)) {
            return Some(());
        }
        self.said.messages.truncate(mark);
        None
    }

    /// An entry of a list that is no message: a part of one, or something of a provider's. `open` is the message that such
    /// parts have begun.
    fn loose(&mut self, value: &Value, mark: usize, open: &mut Option<usize>) -> Option<()> {
        if !is_part(value) {
            return None;
        }
        let last = self.said.messages.len().checked_sub(1).filter(|last| *last >= mark);
        let is_reply = last
            .and_then(|last| self.said.messages.get(last))
            .is_some_and(|last| last.role == Role::Assistant);
        if last.is_some() && *open != last && !is_content(value) && !is_reply {
            self.piece(Piece::Other(value.clone()));
            return Some(());
        }
        let goes_on = last.is_some() && (*open == last || is_reply);
        let going_on = if goes_on { self.said.messages.pop() } else { None };
        let mut message = going_on.unwrap_or_else(|| Message::new(self.default_role()));
        let mut results = Vec::new();
        self.body(&mut message, Value::Array(vec![value.clone()]), &mut results);
        if !message.is_blank() {
            self.push(message);
            *open = self.said.messages.len().checked_sub(1);
        }
        results.into_iter().for_each(|result| self.push(result));
        Some(())
    }

    fn object(&mut self, object: &Map<String, Value>) -> Option<()> {
        let mark = self.said.messages.len();
        let tools = self.said.tools.len();
        let found = self.request(object).or_else(|| self.response(object)).or_else(|| self.called(object));
        let found = found.or_else(|| self.message(&Value::Object(object.clone())));
        if found.is_none() {
            self.said.messages.truncate(mark);
            self.said.tools.truncate(tools);
        }
        found
    }

    /// What is sent to a model.
    fn request(&mut self, object: &Map<String, Value>) -> Option<()> {
        let names = ["messages", "contents", "input", "prompt", "items"];
        let body = names.iter().find_map(|name| object.get(*name).filter(|body| is_worth_keeping(body)))?;
        if object.contains_key("role") {
            return None;
        }
        if let Some(Value::Array(tools)) = object.get("tools") {
            self.tools(tools);
        }
        let config = object.get("config").and_then(Value::as_object);
        let names = ["system", "instructions", "systemInstruction", "system_instruction", "systemPrompt"];
        let told = names.iter().find_map(|name| object.get(*name).or_else(|| config?.get(*name)));
        if let Some(told) = told.filter(|told| !told.is_null()) {
            let mut message = Message::new(Role::System);
            let told = told.get("parts").unwrap_or(told).clone();
            self.body(&mut message, told, &mut Vec::new());
            if !message.is_blank() {
                self.push(message);
            }
        }
        // What is in a request came in, except for a list of messages that says otherwise.
        self.container(body)
    }

    /// The arguments of a function of Python that was traced.
    fn called(&mut self, object: &Map<String, Value>) -> Option<()> {
        let (args, kwargs) = (object.get("args")?.as_array()?, object.get("kwargs"));
        let named = kwargs.filter(|kwargs| kwargs.is_object()).and_then(|kwargs| self.container(kwargs));
        named.or_else(|| if args.is_empty() { None } else { self.list(args) })
    }

    /// What a model has answered.
    fn response(&mut self, object: &Map<String, Value>) -> Option<()> {
        let list = |name: &str| object.get(name).and_then(Value::as_array).filter(|list| !list.is_empty());
        if let Some(choices) = list("choices") {
            return choices.iter().take(1).try_for_each(|choice| {
                self.message(choice).or_else(|| self.text_of(choice, Role::Assistant))
            });
        }
        if let Some(candidates) = list("candidates") {
            return candidates.iter().take(1).try_for_each(|candidate| {
                let mut content = candidate.get("content")?.as_object()?.clone();
                content.entry("role".to_owned()).or_insert_with(|| "model".into());
                self.with_role(content, Role::Assistant)
            });
        }
        if let Some(generations) = list("generations") {
            let inner = generations.first()?;
            let one = inner.get(0).unwrap_or(inner);
            return self.message(one).or_else(|| self.text_of(one, Role::Assistant));
        }
        if let Some(outputs) = list("outputs") {
            return outputs.iter().try_for_each(|output| self.message(output));
        }
        if object.contains_key("role") || object.contains_key("lc") {
            return None;
        }
        if let Some(output) = object.get("output")
            && (output.is_array() || output.get("message").is_some())
        {
            return self.container(output);
        }
        if self.side == Side::Output {
            let words = ["output_text", "completion", "response", "answer", "text"];
            let told = words.iter().find_map(|name| object.get(*name)?.as_str());
            if let Some(words) = told.filter(|_| !object.contains_key("type")) {
                self.push(Message::text(Role::Assistant, words));
                return Some(());
            }
        }
        None
    }

    fn text_of(&mut self, value: &Value, role: Role) -> Option<()> {
        let words = value.get("text")?.as_str()?;
        self.push(Message::text(role, words));
        Some(())
    }

    fn tools(&mut self, tools: &[Value]) {
        for tool in tools {
            match ["functionDeclarations", "function_declarations"].iter().find_map(|name| tool.get(*name)) {
                Some(Value::Array(declared)) => self.said.tools.extend(declared.iter().cloned()),
                _ => self.said.tools.push(tool.clone()),
            }
        }
    }
}

/// Whether a part is one of a message's content, which belongs to whoever speaks.
fn is_content(value: &Value) -> bool {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or("text");
    ["text", "image", "audio", "file", "video", "document", "refusal", "media"]
        .iter()
        .any(|word| kind.contains(word))
}

fn is_part(value: &Value) -> bool {
    let is_typed = value.get("type").and_then(Value::as_str).is_some_and(|kind| kind != "message");
    value.is_string() || is_typed || value.get("text").is_some() || value.get("functionCall").is_some()
}
