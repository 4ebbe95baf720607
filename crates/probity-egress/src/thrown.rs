use std::any::Any;
use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Write};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::egress::Egress;
use crate::limits::{ERROR_BYTES_MAX, ERROR_CHAIN_MAX};
use crate::pass::egress_text;
use crate::redactor::Redactor;
use crate::tier::Tier;

/// What stands for an error that says nothing.
const NO_WORDS: &str = "(an error without words)";
/// What stands for a panic whose payload is no text.
const NO_TEXT: &str = "panic with a non-text payload";
/// How many boxes around a payload are opened.
const PAYLOAD_BOXES_MAX: usize = 8;

/// An error's words on their way out: its text and its sources' texts, joined by `: `, passed.
///
/// A source whose text was said already is not said again. At most [`ERROR_CHAIN_MAX`] errors and [`ERROR_BYTES_MAX`] bytes
/// are read, so a chain or a text without end ends; a marker `[REDACTED:limit]` says so, and the cut leaves no part of a
/// credential. An error that fails while it says its words is quoted as far as it came. Its words
/// are its own code: a panic in there is not caught here, for the caller to tell an error from a panic.
pub fn egress_error<T: Tier>(error: &dyn Error) -> Egress<T> {
    let mut words = Words::default();
    let mut next = Some(error);
    for _ in 0..ERROR_CHAIN_MAX {
        let Some(error) = next else { break };
        words.add(error);
        next = error.source();
    }
    words.passed()
}

/// A panic's words on their way out, passed: the payload's text when it is one in any of the usual types, or an error's.
///
/// It does not panic, not even when the payload panics as it is read or dropped.
pub fn egress_panic<T: Tier>(payload: Box<dyn Any + Send>) -> Egress<T> {
    let said = said(payload.as_ref());
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // Dropping it would be the same again.
        let _leaked = ManuallyDrop::new(second);
    }
    said
}

fn said<T: Tier>(mut payload: &(dyn Any + Send)) -> Egress<T> {
    for _ in 0..PAYLOAD_BOXES_MAX {
        if let Some(inner) = payload.downcast_ref::<Box<dyn Any + Send>>() {
            payload = inner.as_ref();
        } else if let Some(inner) = payload.downcast_ref::<Box<dyn Any + Send + Sync>>() {
            payload = inner.as_ref();
        } else {
            break;
        }
    }
    if let Some(text) = text_of(payload) {
        return egress_text(text);
    }
    match error_of(payload) {
        Some(error) => {
            catch_unwind(AssertUnwindSafe(|| egress_error(error))).unwrap_or_else(|second| {
                // Dropping it may be the same again.
                let _leaked = ManuallyDrop::new(second);
                Egress::fixed(NO_WORDS)
            })
        }
        None => Egress::fixed(NO_TEXT),
    }
}

fn text_of(payload: &(dyn Any + Send)) -> Option<&str> {
    None.or_else(|| payload.downcast_ref::<&'static str>().copied())
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .or_else(|| payload.downcast_ref::<Cow<'static, str>>().map(AsRef::as_ref))
        .or_else(|| payload.downcast_ref::<Box<str>>().map(AsRef::as_ref))
        .or_else(|| payload.downcast_ref::<Arc<str>>().map(AsRef::as_ref))
}

fn error_of(payload: &(dyn Any + Send)) -> Option<&dyn Error> {
    fn as_error<E: Error>(error: &E) -> &dyn Error {
        error
    }
    let both = payload.downcast_ref::<Box<dyn Error + Send + Sync>>().map(|error| &**error as &dyn Error);
    both.or_else(|| payload.downcast_ref::<Box<dyn Error + Send>>().map(|error| &**error as &dyn Error))
        .or_else(|| payload.downcast_ref::<std::io::Error>().map(as_error))
        .or_else(|| payload.downcast_ref::<fmt::Error>().map(as_error))
        .or_else(|| payload.downcast_ref::<serde_json::Error>().map(as_error))
}

/// The words of a chain, up to a limit.
#[derive(Default)]
struct Words {
    text: String,
    full: bool,
}

impl Words {
    fn add(&mut self, error: &dyn Error) {
        if self.full {
            return;
        }
        let mut said = Words { text: String::new(), full: false };
        // A failure to write is the error's, or ours at the limit: what it had said before counts.
        let _outcome = write!(said, "{error}");
        if said.text.is_empty() || self.text.contains(&said.text) {
            return;
        }
        self.full = said.full;
        if !self.text.is_empty() {
            self.text.push_str(": ");
        }
        self.text.push_str(&said.text);
    }

    fn passed<T: Tier>(self) -> Egress<T> {
        if self.text.is_empty() {
            return Egress::fixed(NO_WORDS);
        }
        if !self.full {
            return egress_text(&self.text);
        }
        // What the pass holds back at the cut may be the beginning of something: it is not asked to finish.
        let mut redactor = Redactor::<T>::new();
        Egress::join([redactor.push(&self.text), Egress::fixed("[REDACTED:limit]")], " ")
    }
}

impl Write for Words {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = ERROR_BYTES_MAX.saturating_sub(self.text.len());
        if text.len() <= room {
            self.text.push_str(text);
            return Ok(());
        }
        self.full = true;
        self.text.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
        Err(fmt::Error)
    }
}
