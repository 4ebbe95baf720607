//! Whether a part of a run came out as it did: asked of every fork in the same way.

use std::fmt;
use std::sync::Arc;

use probity_contract::{Content, Item, ProposedCall, ReplyPart, ReplyPartKind};
use probity_trace::{Atom, atoms_of_text};
use regex::Regex;
use serde_json::Value;

use super::changes::words_of;
use super::recorded::{CallKey, Recorded};

/// Which part of a run is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// What the model said in this call to it, counted from 0.
    Reply(usize),
    /// Something that it proposed in this call to it.
    Proposal(usize),
}

impl Asked {
    /// The call to the model that it is about.
    #[must_use]
    pub const fn place(&self) -> usize {
        match self {
            Self::Reply(place) | Self::Proposal(place) => *place,
        }
    }
}

/// A program of the deployment that says whether a reply's text is as it was; an error where it cannot tell.
pub type Judge = Arc<dyn Fn(&str) -> Result<bool, Unjudged> + Send + Sync>;

/// A judge could not tell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("ask whether a reply is as it was: {0}")]
pub struct Unjudged(pub String);

/// When the part asked about counts as the same.
#[derive(Clone)]
#[non_exhaustive]
pub enum Kept {
    /// The same words; runs of white space count as one.
    Words(String),
    /// Each of these values stands in it, however it is written.
    Atoms(Vec<Atom>),
    /// The same words and the same calls in the same order: a whole reply.
    Reply {
        /// Its words.
        words: String,
        /// Its calls.
        calls: Vec<CallKey>,
    },
    /// A call of the same tool with the same canonical arguments.
    Call(CallKey),
    /// The same value at a JSON pointer: of the text as JSON, or of the arguments of a call of the tool.
    Pointer {
        /// Of this tool's arguments; `None` for the text.
        tool: Option<String>,
        /// Where.
        pointer: String,
        /// What stands there.
        value: Value,
    },
    /// The pattern matches the text.
    Matches(Regex),
    /// The judge says so. Nobody knows how exact it is, so what hangs on it is marked as fuzzy.
    Judged(Judge),
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why nothing can be asked of a part in this way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeptError {
    /// The record itself does not come out so: no fork could be compared with it.
    #[error("compare forks by {0}: the recorded part itself is not so")]
    NotSo(&'static str),
    /// There is no such part.
    #[error("compare forks: the record does not hold the reply that was asked about")]
    NoReply,
    /// There is no such call.
    #[error("compare forks: the record does not hold the call that was asked about")]
    NoCall,
    /// The judge could not tell.
    #[error(transparent)]
    Unjudged(#[from] Unjudged),
}

impl Kept {
    /// A call of the record.
    ///
    /// # Errors
    /// When it is not there.
    pub fn call(recorded: &Recorded<'_>, call: probity_contract::CallId) -> Result<Self, KeptError> {
        let known = recorded.tool_calls.iter().find(|known| known.call == call);
        known.map(|known| Self::Call(known.key.clone())).ok_or(KeptError::NoCall)
    }

    /// A whole reply of the record.
    ///
    /// # Errors
    /// When it is not there.
    pub fn reply(recorded: &Recorded<'_>, place: usize) -> Result<Self, KeptError> {
        match recorded.reply(place).map(|item| &item.content) {
            Some(Content::Reply(parts)) => {
                Ok(Self::Reply { words: words_of(parts), calls: calls_of(parts).map(key_of).collect() })
            }
            _ => Err(KeptError::NoReply),
        }
    }

    /// The word for it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Words(_) => "words",
            Self::Atoms(_) => "values",
            Self::Reply { .. } => "reply",
            Self::Call(_) => "call",
            Self::Pointer { .. } => "pointer",
            Self::Matches(_) => "pattern",
            Self::Judged(_) => "judge",
        }
    }

    /// Whether two answers that mean the same always compare alike. Where not, verdicts are marked.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        !matches!(self, Self::Judged(_) | Self::Words(_) | Self::Reply { .. })
    }

    /// Whether the recorded part itself is so; without that nothing can be compared.
    ///
    /// # Errors
    /// When it is not, or is not there.
    pub fn check(&self, recorded: &Recorded<'_>, asked: &Asked) -> Result<(), KeptError> {
        let reply = recorded.reply(asked.place()).ok_or(KeptError::NoReply)?;
        if self.holds_of(reply)? { Ok(()) } else { Err(KeptError::NotSo(self.name())) }
    }

    /// Whether a reply of the record is so.
    fn holds_of(&self, reply: &Item) -> Result<bool, Unjudged> {
        let Content::Reply(parts) = &reply.content else { return Ok(false) };
        self.holds(parts)
    }

    /// Whether it holds of a reply.
    ///
    /// # Errors
    /// When a judge is asked and cannot tell.
    pub fn holds(&self, parts: &[ReplyPart]) -> Result<bool, Unjudged> {
        Ok(match self {
            Self::Words(words) => are_same_words(words, &words_of(parts)),
            Self::Reply { words, calls } => {
                are_same_words(words, &words_of(parts))
                    && calls_of(parts).map(key_of).eq(calls.iter().cloned())
            }
            Self::Atoms(asked) => {
                let text = words_of(parts);
                let there = atoms_of_text(&text);
                asked.iter().all(|atom| stands_in(atom, &there, &text))
            }
            Self::Call(key) => calls_of(parts).any(|call| key_of(call) == *key),
            Self::Pointer { tool: None, pointer, value } => {
                let text = serde_json::from_str::<Value>(words_of(parts).trim());
                text.is_ok_and(|text| text.pointer(pointer) == Some(value))
            }
            Self::Pointer { tool: Some(tool), pointer, value } => calls_of(parts).any(|call| {
                let arguments = serde_json::from_str::<Value>(&call.arguments);
                call.name == *tool && arguments.is_ok_and(|it| it.pointer(pointer) == Some(value))
            }),
            Self::Matches(pattern) => pattern.is_match(&words_of(parts)),
            Self::Judged(judge) => return judge(&words_of(parts)),
        })
    }
}

fn are_same_words(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

fn calls_of(parts: &[ReplyPart]) -> impl Iterator<Item = &ProposedCall> {
    parts.iter().filter_map(|part| match &part.kind {
        ReplyPartKind::Call(call) => Some(call),
        ReplyPartKind::Text(_) | ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => None,
    })
}

fn key_of(call: &ProposedCall) -> CallKey {
    CallKey::of(&call.name, &call.arguments)
}

/// The same value, or where values are texts, the text itself: another sentence may begin with it.
fn stands_in(atom: &Atom, there: &[Atom], text: &str) -> bool {
    there.iter().any(|other| other.value == atom.value && other.unit == atom.unit)
        || (there.iter().all(|other| other.value != atom.value) && is_word_of(text, &atom.text))
}

/// Whether a text stands in another one with nothing of a word around it.
fn is_word_of(text: &str, word: &str) -> bool {
    let is_free = |character: Option<char>| !character.is_some_and(char::is_alphanumeric);
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let after = text.get(at.saturating_add(word.len())..).and_then(|after| after.chars().next());
            is_free(before) && is_free(after)
        })
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
