//! Parts of a reply while they grow, and the rule that no half call leaves here.

use probity_contract::{
    ModelError, ModelEvent, ModelReply, NativePart, ProposedCall, ReplyPart, ReplyPartKind, Stop, Usage,
};
use serde_json::Value;

use crate::failure::truncated;

/// The parts of one reply in the order in which they were opened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts {
    list: Vec<Draft>,
}

/// One part under way.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) kind: DraftKind,
    /// Text, reasoning or argument text, as sent so far.
    pub(crate) text: String,
    /// The provider's own form, where it must be sent back.
    pub(crate) native: Option<Value>,
    /// Whether the provider itself says that the part is not whole.
    pub(crate) is_incomplete: bool,
}

/// What a part under way is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DraftKind {
    Text,
    Reasoning,
    Call { id: String, name: String },
    Opaque,
}

impl Parts {
    /// Opens a part and returns its position.
    pub(crate) fn open(&mut self, kind: DraftKind, events: &mut Vec<ModelEvent>) -> usize {
        let at = self.list.len();
        if let DraftKind::Call { name, .. } = &kind {
            events.push(ModelEvent::CallStarted { part: position(at), name: name.clone() });
        }
        self.list.push(Draft { kind, text: String::new(), native: None, is_incomplete: false });
        at
    }

    /// Adds to a part. A position that was never opened is ignored: the codecs check theirs.
    pub(crate) fn grow(&mut self, at: usize, delta: &str, events: &mut Vec<ModelEvent>) {
        let Some(draft) = self.list.get_mut(at).filter(|_| !delta.is_empty()) else { return };
        draft.text.push_str(delta);
        let (part, delta) = (position(at), delta.to_owned());
        events.push(match draft.kind {
            DraftKind::Text => ModelEvent::Text { part, delta },
            DraftKind::Reasoning => ModelEvent::Reasoning { part, delta },
            DraftKind::Call { .. } => ModelEvent::CallArguments { part, delta },
            DraftKind::Opaque => return,
        });
    }

    /// Adds to the last part if it is of this kind, and to a new one otherwise.
    pub(crate) fn continue_with(&mut self, kind: DraftKind, delta: &str, events: &mut Vec<ModelEvent>) {
        if delta.is_empty() {
            return;
        }
        let at = match self.list.last() {
            Some(last) if last.kind == kind => self.list.len() - 1,
            _ => self.open(kind, events),
        };
        self.grow(at, delta, events);
    }

    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut Draft> {
        self.list.get_mut(at)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Draft> {
        self.list.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn has_call(&self) -> bool {
        self.list.iter().any(|draft| matches!(draft.kind, DraftKind::Call { .. }))
    }
}

/// What ends a reply beside its parts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ending {
    pub(crate) stop: Option<Stop>,
    pub(crate) usage: Usage,
    pub(crate) model: Option<String>,
    pub(crate) response_id: Option<String>,
}

/// The finished reply.
///
/// A reply that was cut off by a limit or a filter may end in half a call, and half a call may happen to be valid JSON
/// (`{"path":"/a"}` of `{"path":"/a"}{…`, or a number whose digits are missing before a brace that a lenient server
/// added). Providers close such a part as if it were whole, so nothing on the wire tells the two apart. Therefore: when
/// the stop is not a clean one and the last part is a call whose text reads as JSON, the whole reply is an error. A last
/// call whose text does not read as JSON is passed on as it is; the engine refuses it and the model reads why.
pub(crate) fn finished(parts: &Parts, codec: &str, ending: &Ending) -> Result<ModelReply, ModelError> {
    let stop = ending.stop.clone().ok_or_else(|| truncated("no reason for the end was given"))?;
    let stop = if stop == Stop::EndTurn && parts.has_call() { Stop::ToolCalls } else { stop };
    if let Some((name, why)) = suspicious_call(parts, &stop) {
        let what = format!("{why} while a call of `{name}` was written, and what is there reads as complete");
        return Err(truncated(&what)
            .with_hint("nothing of the reply was executed; allow more output tokens, or ask for less"));
    }
    Ok(ModelReply {
        parts: parts.list.iter().map(|draft| part_of(draft, codec)).collect(),
        stop,
        usage: ending.usage,
        model: ending.model.clone(),
        response_id: ending.response_id.clone(),
    })
}

/// The first call that may be half and does not look it, and why it may be.
fn suspicious_call<'a>(parts: &'a Parts, stop: &Stop) -> Option<(&'a str, String)> {
    let last = parts.list.len().checked_sub(1)?;
    parts.list.iter().enumerate().find_map(|(at, draft)| {
        let DraftKind::Call { name, .. } = &draft.kind else { return None };
        let why = match cut_off_by(stop).filter(|_| at == last) {
            Some(why) => why,
            None if draft.is_incomplete => "the reply ended".to_owned(),
            None => return None,
        };
        let reads_as_whole = serde_json::from_str::<serde::de::IgnoredAny>(&draft.text).is_ok();
        reads_as_whole.then_some((name.as_str(), why))
    })
}

/// Why the last part may be a half, or `None` where the model ended by itself.
fn cut_off_by(stop: &Stop) -> Option<String> {
    match stop {
        Stop::EndTurn | Stop::ToolCalls | Stop::StopSequence | Stop::Paused => None,
        Stop::MaxTokens => Some("the output limit was reached".to_owned()),
        Stop::Refused => Some("the provider stopped the reply".to_owned()),
        Stop::Other(word) => Some(format!("the provider ended the reply with `{word}`")),
    }
}

fn part_of(draft: &Draft, codec: &str) -> ReplyPart {
    let kind = match &draft.kind {
        DraftKind::Text => ReplyPartKind::Text(draft.text.clone()),
        DraftKind::Reasoning => ReplyPartKind::Reasoning(draft.text.clone()),
        DraftKind::Call { id, name } => ReplyPartKind::Call(ProposedCall {
            provider_id: id.clone(),
            name: name.clone(),
            arguments: draft.text.clone(),
        }),
        DraftKind::Opaque => ReplyPartKind::Opaque,
    };
    let native = draft.native.clone().map(|value| NativePart { codec: codec.to_owned(), value });
    ReplyPart { kind, native }
}

fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "parts_tests.rs"]
mod tests;
