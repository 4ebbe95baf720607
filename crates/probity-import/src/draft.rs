//! A run of another framework before it is a record: what every importer brings it down to.

use serde_json::Value;

use probity_contract::{Stop, Usage};

/// One conversation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    /// The id that it has in its trace, to tell parents by.
    pub(crate) key: String,
    /// Where it stands in the file.
    pub(crate) place: String,
    pub(crate) title: String,
    pub(crate) model: Option<String>,
    pub(crate) started_at_unix_ms: Option<u64>,
    /// The key of the run whose call has started this one, and the key of that call.
    pub(crate) parent: Option<(String, String)>,
    pub(crate) tools: Vec<Value>,
    pub(crate) steps: Vec<Step>,
    /// What has no place, by name.
    pub(crate) foreign: Vec<Kept>,
    pub(crate) notices: Vec<String>,
}

/// A name and what stood there.
pub(crate) type Kept = (String, Value);

#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// A message came in; every later call sees it, unless it says itself what it saw.
    Message(Message),
    /// What stood in the window until now stands there no more.
    Cleared,
    Model(Box<ModelStep>),
    Tool(Box<ToolStep>),
}

/// One call to a model.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelStep {
    /// The id in the trace.
    pub(crate) id: String,
    pub(crate) at_unix_ms: Option<u64>,
    pub(crate) ended_at_unix_ms: Option<u64>,
    /// The window; `None` where the trace does not say it.
    pub(crate) input: Option<Vec<Message>>,
    /// Whether `input` comes after all that was there before: the provider keeps the conversation.
    pub(crate) continues: bool,
    /// The reply; `None` where the trace does not say it.
    pub(crate) output: Option<Message>,
    pub(crate) error: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) response_id: Option<String>,
    pub(crate) usage: Usage,
    pub(crate) stop: Option<Stop>,
    pub(crate) tools: Vec<Value>,
    pub(crate) foreign: Vec<Kept>,
}

/// One execution of a tool, told apart from the message that brought its result.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolStep {
    /// The id in the trace.
    pub(crate) id: String,
    pub(crate) at_unix_ms: Option<u64>,
    pub(crate) ended_at_unix_ms: Option<u64>,
    pub(crate) call_id: Option<String>,
    pub(crate) name: String,
    pub(crate) arguments: Option<String>,
    pub(crate) result: Option<String>,
    pub(crate) is_error: bool,
    pub(crate) foreign: Vec<Kept>,
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    System,
    User,
    Assistant,
    Tool,
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    pub(crate) role: Role,
    /// Who of several speaks, or which tool.
    pub(crate) name: Option<String>,
    pub(crate) pieces: Vec<Piece>,
    /// Of a result: the call that it answers.
    pub(crate) call_id: Option<String>,
    pub(crate) is_error: bool,
    pub(crate) at_unix_ms: Option<u64>,
    pub(crate) foreign: Vec<Kept>,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    Reasoning(String),
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    /// Of a kind that has no text: an image, a file, something of a provider's.
    Other(Value),
}

impl Message {
    pub(crate) const fn new(role: Role) -> Self {
        Self {
            role,
            name: None,
            pieces: Vec::new(),
            call_id: None,
            is_error: false,
            at_unix_ms: None,
            foreign: Vec::new(),
        }
    }

    pub(crate) fn text(role: Role, text: impl Into<String>) -> Self {
        let mut message = Self::new(role);
        message.pieces.push(Piece::Text(text.into()));
        message
    }

    pub(crate) fn result(call_id: Option<String>, name: Option<String>, text: impl Into<String>) -> Self {
        Self { call_id, name, ..Self::text(Role::Tool, text) }
    }

    /// The text pieces, each on lines of its own.
    pub(crate) fn words(&self) -> String {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Reasoning(_) | Piece::Call { .. } | Piece::Other(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn has_calls(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Call { .. }))
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.pieces.is_empty() && self.foreign.is_empty()
    }
}

impl Draft {
    pub(crate) fn message(&mut self, message: Message) {
        self.steps.push(Step::Message(message));
    }

    /// A reply whose window is all that came before it.
    pub(crate) fn reply(&mut self, output: Message) {
        let at = output.at_unix_ms;
        let step = ModelStep { at_unix_ms: at, output: Some(output), ..ModelStep::default() };
        self.steps.push(Step::Model(Box::new(step)));
    }

    /// The message as what it is: a reply, or something that came in.
    pub(crate) fn said(&mut self, message: Message) {
        match message.role {
            Role::Assistant => self.reply(message),
            Role::System | Role::User | Role::Tool => self.message(message),
        }
    }

    pub(crate) fn keep(&mut self, at: impl Into<String>, value: Value) {
        if !value.is_null() {
            self.foreign.push((at.into(), value));
        }
    }
}
