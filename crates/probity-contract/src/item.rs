//! What stands in a model's window: labelled items, each from one origin.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{CallId, ItemId, ModelCallId};
use crate::label::Label;

/// One piece of context. Immutable once added; the window of a model call is an ordered list of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Its number in the run.
    pub id: ItemId,
    /// Who brought it.
    pub origin: Origin,
    /// Trust and readers.
    pub label: Label,
    /// What it says.
    pub content: Content,
}

/// Who brought an item into the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The task file or the embedding program: instructions and context.
    Task,
    /// The person or program that asked.
    Principal,
    /// A model's reply.
    Model(ModelCallId),
    /// A tool's result, or the engine's word why a call did not run.
    Tool(CallId),
    /// The engine's own words.
    Engine,
}

/// The content of an item, by the role it plays in a conversation.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// How the model shall behave.
    Instructions(Arc<str>),
    /// What was asked.
    Person(Arc<str>),
    /// Material under a name, from the task.
    Context {
        /// The name under which the task gave it.
        name: String,
        /// The material.
        text: Arc<str>,
    },
    /// What a model answered, part by part.
    Reply(Arc<[ReplyPart]>),
    /// What a call brought back; exactly one for every proposed call.
    ToolResult {
        /// The call it answers.
        call: CallId,
        /// The id that the provider gave the call.
        provider_id: String,
        /// The tool's name as proposed.
        tool: String,
        /// The result or the reason why there is none.
        text: Arc<str>,
        /// Whether the call failed, was denied or did not run.
        is_error: bool,
    },
    /// A sentence of the engine to the model (turns are over, the answer misses the schema).
    Notice(Arc<str>),
}

/// One part of a model's reply, in the order in which the provider sent the parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplyPart {
    /// What the part is.
    pub kind: ReplyPartKind,
    /// The provider's own form of the part where it must be sent back unchanged (signatures, encrypted reasoning).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<NativePart>,
}

/// The kinds of reply parts.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyPartKind {
    /// Answer text.
    Text(String),
    /// Reasoning as the provider shows it; may be empty where it is encrypted.
    Reasoning(String),
    /// A proposed tool call.
    Call(ProposedCall),
    /// Something of the provider's with no meaning here; only its native form is kept.
    Opaque,
}

/// A tool call as a model worded it: text, nothing of it checked.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedCall {
    /// The provider's id; may be empty or repeated.
    pub provider_id: String,
    /// The name; may be no tool's.
    pub name: String,
    /// The arguments exactly as they were sent; may be no JSON.
    pub arguments: String,
}

/// A provider's own form of a part.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct NativePart {
    /// Which codec wrote it and alone may read it.
    pub codec: String,
    /// The form.
    pub value: Value,
}

impl ReplyPart {
    /// A text part without a native form.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { kind: ReplyPartKind::Text(text.into()), native: None }
    }

    /// A call part without a native form.
    #[must_use]
    pub fn call(
        provider_id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        let call =
            ProposedCall { provider_id: provider_id.into(), name: name.into(), arguments: arguments.into() };
        Self { kind: ReplyPartKind::Call(call), native: None }
    }
}

impl Item {
    /// The item's text as one string: a reply's text parts joined, a call as its name and arguments.
    ///
    /// For search and display; a provider's wire form is made from the parts.
    #[must_use]
    pub fn flat_text(&self) -> String {
        match &self.content {
            Content::Instructions(text)
            | Content::Person(text)
            | Content::Context { text, .. }
            | Content::ToolResult { text, .. }
            | Content::Notice(text) => text.as_ref().to_owned(),
            Content::Reply(parts) => {
                let words = parts.iter().filter_map(|part| match &part.kind {
                    ReplyPartKind::Text(text) => Some(text.clone()),
                    ReplyPartKind::Call(call) => Some(format!("{}({})", call.name, call.arguments)),
                    ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => None,
                });
                words.collect::<Vec<_>>().join("\n")
            }
        }
    }
}
