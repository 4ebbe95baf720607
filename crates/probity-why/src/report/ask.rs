//! What is asked about, found in the record.

use std::ops::Range;

use probity_contract::{CallId, Fact, ItemId};
use probity_trace::{Fidelity, Graph, NodeId, Noted, Record, RecordedText, RunAt};

use super::{AskedPart, pointer};

/// What shall be explained, of the first run of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Asking {
    /// The answer; where there is none, the last reply that says something.
    #[default]
    Answer,
    /// A piece of the answer, or of the last reply that says it.
    Text(String),
    /// The arguments of a call.
    Call(CallId),
    /// A value of the answer, which is JSON.
    Pointer(String),
    /// A value of the arguments of a call.
    CallPointer(CallId, String),
}

/// Why nothing can be said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The graph is of no record.
    #[error("explain the run: its record is empty")]
    Empty,
    /// The run has not come to an answer.
    #[error("explain the answer: the run has none, and no reply says anything")]
    NoAnswer,
    /// No reply says it.
    #[error("find the text in what the model said: no reply holds it")]
    NotSaid,
    /// The record does not tell of the call.
    #[error("find the call `{0}`: the run has none of this name")]
    NoCall(CallId),
    /// There is no such value.
    #[error("find the value that the pointer names: the text is no JSON, or has no such value")]
    NoValue,
}

impl AskError {
    /// The next step to take.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Empty | Self::NoAnswer => {
                "ask about a call, with --call, or about words of a reply, with --text"
            }
            Self::NotSaid => "copy the words as the model wrote them; `probity runs show` shows them",
            Self::NoCall(_) => "`probity runs show` names the calls: c1, c2 …",
            Self::NoValue => {
                "a pointer begins with / and names members and positions: /total, /lines/0/price"
            }
        }
    }
}

/// What is asked about, as the record has it.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) asked: AskedPart,
    pub(super) node: NodeId,
    pub(super) text: RecordedText,
    pub(super) span: Range<usize>,
    /// Whether the text is JSON, whose strings are values.
    pub(super) is_json: bool,
    /// The reply that it is, or that proposed it: no source of itself.
    pub(super) itself: Option<ItemId>,
}

pub(super) fn target(graph: &Graph<'_>, asking: &Asking) -> Result<Target, AskError> {
    let record = graph.record(RunAt::FIRST).filter(|record| !record.lines().is_empty());
    let record = record.ok_or(AskError::Empty)?;
    match asking {
        Asking::Answer => answer(graph, record).or_else(|_| last_reply(graph, record)),
        Asking::Text(words) => text(graph, record, words),
        Asking::Call(id) => call(graph, record, *id),
        Asking::Pointer(pointer) => {
            value(answer(graph, record).or_else(|_| last_reply(graph, record))?, pointer)
        }
        Asking::CallPointer(id, pointer) => value(call(graph, record, *id)?, pointer),
    }
}

fn answer(graph: &Graph<'_>, record: &Record) -> Result<Target, AskError> {
    let node = graph.answer(RunAt::FIRST).ok_or(AskError::NoAnswer)?;
    let (_, item) = graph.item_of(node).ok_or(AskError::NoAnswer)?;
    let text = record.answer_text(item).ok_or(AskError::NoAnswer)?;
    Ok(reply(AskedPart::Answer(item), node, item, text))
}

/// Where a run has no answer, or its record does not tell which reply it is: the last one that says something.
fn last_reply(graph: &Graph<'_>, record: &Record) -> Result<Target, AskError> {
    let items: Vec<ItemId> = record.items().map(|item| item.item).collect();
    let said = items.into_iter().rev().find_map(|item| {
        let text = record.answer_text(item).filter(|text| !text.text.trim().is_empty())?;
        Some(reply(AskedPart::Reply(item), graph.item(RunAt::FIRST, item)?, item, text))
    });
    said.ok_or(AskError::NoAnswer)
}

fn reply(asked: AskedPart, node: NodeId, item: ItemId, text: RecordedText) -> Target {
    let span = 0..text.text.len();
    let is_json = text.text.trim_start().starts_with(['{', '[']);
    Target { asked, node, text, span, is_json, itself: Some(item) }
}

fn text(graph: &Graph<'_>, record: &Record, words: &str) -> Result<Target, AskError> {
    let words = Some(words.trim()).filter(|words| !words.is_empty()).ok_or(AskError::NotSaid)?;
    let within = |mut target: Target| {
        let start = target.text.text.find(words)?;
        target.span = start..start + words.len();
        Some(target)
    };
    if let Some(found) = answer(graph, record).ok().and_then(within) {
        return Ok(found);
    }
    let items: Vec<ItemId> = record.items().map(|item| item.item).collect();
    let said = items.into_iter().rev().find_map(|item| {
        let text = record.answer_text(item).filter(|text| text.text.contains(words))?;
        within(reply(AskedPart::Reply(item), graph.item(RunAt::FIRST, item)?, item, text))
    });
    said.ok_or(AskError::NotSaid)
}

fn call(graph: &Graph<'_>, record: &Record, id: CallId) -> Result<Target, AskError> {
    let run = RunAt::FIRST;
    let node = graph.frozen(run, id).or_else(|| graph.proposal(run, id)).ok_or(AskError::NoCall(id))?;
    let (_, line) = graph.place(node).ok_or(AskError::NoCall(id))?;
    let arguments = match &line.fact {
        Noted::Known(Fact::CallFrozen { arguments, .. } | Fact::CallProposed { arguments, .. }) => *arguments,
        Noted::Known(_) | Noted::Opaque { .. } => return Err(AskError::NoCall(id)),
    };
    let text = record.part_text(arguments);
    let itself = record.call(id).and_then(|story| {
        let by = story.proposed?.by;
        record.facts().find_map(|(_, fact)| {
            let Fact::ModelReplied { call, item, .. } = fact else { return None };
            (*call == by).then_some(*item)
        })
    });
    let span = 0..text.text.len();
    Ok(Target { asked: AskedPart::Call(id), node, text, span, is_json: true, itself })
}

fn value(mut target: Target, pointer: &str) -> Result<Target, AskError> {
    if target.text.fidelity > Fidelity::Redacted {
        return Err(AskError::NoValue);
    }
    target.span = pointer::locate(&target.text.text, pointer).ok_or(AskError::NoValue)?;
    target.is_json = true;
    Ok(target)
}
