//! An imported run as chat messages, from its record alone.

mod reader;

use probity_contract::{ItemId, ModelCallId};
use serde::Serialize;

use self::reader::Reader;
use crate::run::ImportedRun;

/// A message in the form that most programs know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatMessage {
    /// Who says it.
    pub role: ChatRole,
    /// Who of several speaks; of a result, which tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The text; several pieces on lines of their own.
    pub content: String,
    /// Thoughts, where the trace tells them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The calls that it proposes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ChatCall>,
    /// Of a result, the id that the provider gave the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Of a result, whether it is an error.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The item of the record; `None` where no item was made of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
}

/// The roles of chat messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatRole {
    /// How the model shall behave.
    System,
    /// What was asked.
    User,
    /// What a model answered.
    Assistant,
    /// What a call brought back.
    Tool,
}

/// A call in a chat message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatCall {
    /// The provider's id; may be empty.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as they were sent.
    pub arguments: String,
}

/// What went into and came out of one step of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exchange {
    /// The id that the step has in the trace; empty where it has none.
    pub source: String,
    /// The model call; `None` where the step is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<ModelCallId>,
    /// What it saw.
    pub input: Vec<ChatMessage>,
    /// What it said.
    pub output: Vec<ChatMessage>,
    /// The names of the tools that were offered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

/// The messages of a run, each once, in the order in which they came up.
#[must_use]
pub fn messages(run: &ImportedRun) -> Vec<ChatMessage> {
    Reader::of(&run.lines).messages()
}

/// The steps of a run: its model calls with their windows, and the other steps that hold messages, in the order of the
/// record. Windows are written out, so together they can be as long as the square of the record.
#[must_use]
pub fn exchanges(run: &ImportedRun) -> Vec<Exchange> {
    Reader::of(&run.lines).exchanges()
}
