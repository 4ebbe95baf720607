//! How values that hold foreign words print: through the credential pass, so that a `{:?}` in somebody's log is no leak.
//!
//! `Debug` is the exit that nobody decides on: an assertion, a log field, a derive around it. The words themselves stay as they
//! are in the fields, for code that may see them.

use std::error::Error;
use std::fmt;

use probity_egress::{SamePrincipal, egress_error, egress_text, egress_value};
use serde::Serialize;

use crate::gate::{Asker, Denial};
use crate::item::{Content, NativePart, ProposedCall, ReplyPartKind};
use crate::model::{ModelError, ModelEvent, Stop};
use crate::policy::{PolicyError, Verdict};
use crate::ports::{Answer, JournalError};
use crate::record::Kept;
use crate::tool::{Holds, Operand, Target, ToolError, ToolOutput, Touches};

/// A text that prints passed, bare in `Display` and quoted in `Debug`.
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&egress_text::<SamePrincipal>(self.0), f)
    }
}

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&egress_text::<SamePrincipal>(self.0), f)
    }
}

/// A snapshot of the value under its type's name.
fn snapshot(f: &mut fmt::Formatter<'_>, name: &str, value: &impl Serialize) -> fmt::Result {
    write!(f, "{name}({})", egress_value::<SamePrincipal>(value).as_value())
}

macro_rules! debug_as_snapshot {
    ($($name:ident),+) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                snapshot(f, stringify!($name), self)
            }
        }
    )+};
}

debug_as_snapshot!(Content, NativePart, ProposedCall, ReplyPartKind, Kept, Verdict, Denial, Asker, Target);

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EndTurn => "EndTurn",
            Self::ToolCalls => "ToolCalls",
            Self::MaxTokens => "MaxTokens",
            Self::StopSequence => "StopSequence",
            Self::Refused => "Refused",
            Self::Paused => "Paused",
            Self::Other(reason) => return f.debug_tuple("Other").field(&Shown(reason)).finish(),
        })
    }
}

impl fmt::Debug for ToolOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, trusted, readers, vouched } = self;
        let mut shown = f.debug_struct("ToolOutput");
        shown.field("text", &Shown(text)).field("trusted", trusted).field("readers", readers);
        shown.field("vouched", &vouched.len()).finish()
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { class, message } = self;
        f.debug_struct("ToolError").field("class", class).field("message", &Shown(message)).finish()
    }
}

impl fmt::Debug for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { class, message, hint } = self;
        let hint = hint.as_deref().map(Shown);
        f.debug_struct("ModelError")
            .field("class", class)
            .field("message", &Shown(message))
            .field("hint", &hint)
            .finish()
    }
}

impl fmt::Debug for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        chain(f, "JournalError", self)
    }
}

impl fmt::Debug for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        chain(f, "PolicyError", self)
    }
}

fn chain(f: &mut fmt::Formatter<'_>, name: &str, error: &dyn Error) -> fmt::Result {
    f.debug_tuple(name).field(&egress_error::<SamePrincipal>(error)).finish()
}

impl fmt::Debug for ModelEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut part = |name: &str, part: &u32, words: &str| {
            f.debug_struct(name).field("part", part).field("words", &Shown(words)).finish()
        };
        match self {
            Self::Text { part: at, delta } => part("Text", at, delta),
            Self::Reasoning { part: at, delta } => part("Reasoning", at, delta),
            Self::CallStarted { part: at, name } => part("CallStarted", at, name),
            Self::CallArguments { part: at, delta } => part("CallArguments", at, delta),
            Self::Finished(reply) => f.debug_tuple("Finished").field(reply).finish(),
        }
    }
}

impl fmt::Debug for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { root, path, device: _, inode: _, bytes, holds } = self;
        let mut shown = f.debug_struct("Operand");
        shown
            .field("root", &Shown(root))
            .field("path", &Shown(path))
            .field("bytes", bytes)
            .field("holds", holds);
        shown.finish_non_exhaustive()
    }
}

impl fmt::Debug for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Content(digest) => write!(f, "Content({})", digest.short()),
            Self::ChangedAt(_) => f.write_str("ChangedAt(..)"),
        }
    }
}

impl fmt::Debug for Touches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Touches").field("targets", &self.targets).field("operands", &self.operands).finish()
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Approve { by, more } => {
                f.debug_struct("Approve").field("by", by).field("more", more).finish()
            }
            Self::Refuse { by, reason, for_good } => {
                let mut shown = f.debug_struct("Refuse");
                shown.field("by", by).field("reason", &Shown(reason)).field("for_good", for_good).finish()
            }
            Self::Edit { by, arguments } => {
                f.debug_struct("Edit").field("by", by).field("arguments", &Shown(arguments)).finish()
            }
            Self::Nobody => f.write_str("Nobody"),
            Self::Later => f.write_str("Later"),
        }
    }
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
