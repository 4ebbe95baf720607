use serde::{Deserialize, Serialize};

use super::Point;
use crate::ids::InterceptorName;

/// A message was refused. It says who and why, and never what: there is no field that could carry the message.
///
/// Surfaces as itself through everything that runs a task: a resumed run, a task that another one has started, a door.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{} refused this {phase}: {reason}", .interceptor.as_ref().map_or("the engine", InterceptorName::as_str))]
pub struct MessageDenied {
    /// Where: `input` or `output`, or another point that a run cannot go past.
    pub phase: Point,
    /// Who; `None` where the engine could not have it judged.
    pub interceptor: Option<InterceptorName>,
    /// Why, redacted, one line. A piece of the refused message in it, of eight bytes or more, is taken out.
    pub reason: String,
}

impl MessageDenied {
    /// The stable code of this error at every door.
    pub const CODE: &str = "ERR_MESSAGE_DENIED";
}
