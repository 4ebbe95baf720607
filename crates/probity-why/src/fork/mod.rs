//! Runs the rest of a run again with something changed, and lets nothing act.
//!
//! A fork begins at one model call of a record: the window of that call, with the changes of an [`Arm`](crate::Arm) in it, is what
//! the model is asked. [`Fork`] is a machine without I/O: it hands out requests and takes replies. Calls that the model then
//! proposes are served from the record, and a fork holds no tool with which it could do anything else.

mod changes;
mod kept;
mod machine;
mod recorded;
mod stand_in;

use probity_contract::ItemId;
use probity_trace::WindowError;

pub use changes::{Change as ForkChange, Target, text_of, words_of};
pub use kept::{Asked, Judge, Kept, KeptError, Unjudged};
pub use machine::{Fork, ForkEnd, ForkStep, LIVE_READS_MAX, LiveRead, TURNS_BEYOND_MAX};
pub use recorded::{CallKey, Recorded};
pub use stand_in::stand_in;

/// Why a run cannot be forked there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// The first entry is not understood.
    #[error("fork the run: its record does not say what it was given")]
    NoStart,
    /// Nothing was asked of a model.
    #[error("fork the run: it made no call to a model")]
    NoModelCall,
    /// There is no such call.
    #[error("fork the run: it has no model call number {}", .0.saturating_add(1))]
    NoSuchCall(usize),
    /// What was sent is not known.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// A text that was sent is not in the record.
    #[error("fork the run: the record does not hold the text of item {}; it keeps texts with `content = \"full\"`", .0.0)]
    TextNotKept(ItemId),
    /// Something to be changed is not there.
    #[error("fork the run: {0} is not in its record")]
    NoSuchTarget(String),
}
