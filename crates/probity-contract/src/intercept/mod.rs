//! Interceptors: code of the deployment that sees what passes at eight points of a run, and may change or stop it.
//!
//! The vocabulary is that of AGENT-HOOKS-0.1. A policy only judges tool calls; an interceptor may also put something else in
//! place, at six of the eight points. What it says comes back as a [`HookVerdict`] and is applied by the run machine, so an
//! interceptor has no hold on the run's own values.

mod closure;
mod composition;
mod consult;
mod denied;
mod host_error;
mod point;
mod reading;
mod row;
mod verdict;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cancel::Cancel;
use crate::future::BoxFuture;
use crate::ids::InterceptorName;
use crate::item::Item;
use crate::label::Label;
use crate::policy::PolicyError;

pub use closure::FnInterceptor;
pub use composition::{Composition, EmptyPoint, Enforcement, HookReasons, Knob, OnApproval, Profile};
pub use consult::{Consultant, Consultation, Resolution, Resolve};
pub use denied::MessageDenied;
pub use host_error::HostError;
pub use point::{Point, Points};
pub use row::{Intercepted, Resolved, VerdictRow};
pub use verdict::{HookDecision, HookVerdict, HookWarning, NotAVerdict};

/// Something that sees what passes at some points of a run, and may let it through, change it or stop it.
///
/// One that errors, panics, takes longer than its deadline or answers with what is no verdict has denied. It is told of the
/// task's cancellation by `cancel`, at every point and after a resume as well.
pub trait Interceptor: Send + Sync {
    /// The name under which its verdicts are recorded. Stable, and unique in one task.
    fn name(&self) -> &InterceptorName;

    /// At which points it is heard. Read once, when the task starts.
    fn points(&self) -> Points;

    /// What it can judge of an answer that is still being written. Without one, nothing of an answer that it must see is
    /// released before it has seen the whole.
    fn window(&self) -> Option<Window> {
        None
    }

    /// Looks at one occasion. The occasion is the interceptor's own: nothing that is done with it changes the run.
    ///
    /// # Errors
    /// When it cannot tell; what it was asked about is then stopped and the failure reported once.
    fn intercept<'a>(
        &'a self,
        occasion: Occasion,
        cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<HookVerdict, PolicyError>>;
}

/// How much of an answer must be there before an interceptor can judge the next piece of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Window {
    /// Whatever the model sends at once.
    Delta,
    /// Whole sentences: up to `.`, `!`, `?` or a line break behind which white space or more text stands.
    Sentence,
    /// At least so many bytes, cut at a character.
    Bytes(u32),
}

/// What passes at one point, as an interceptor sees it: the agent context of AGENT-HOOKS-0.1, and what the run has read.
///
/// Cheap to clone and impossible to change: two interceptors that see one occasion see the same value. The stored form has the
/// context alone.
#[derive(Clone, Serialize, Deserialize)]
pub struct Occasion {
    point: Point,
    context: Arc<Value>,
    #[serde(skip)]
    seen: Option<Seen>,
}

/// What had been read when something passed.
#[derive(Clone)]
struct Seen {
    window: Arc<Vec<Arc<Item>>>,
    label: Label,
}

impl Occasion {
    /// An occasion at this point with this agent context, a JSON object with a member `target`.
    #[must_use]
    pub const fn new(point: Point, context: Arc<Value>) -> Self {
        Self { point, context, seen: None }
    }

    /// The same, of a run that has read this window, the labels of which join to `label`.
    #[must_use]
    pub fn with_window(self, window: Arc<Vec<Arc<Item>>>, label: Label) -> Self {
        Self { seen: Some(Seen { window, label }), ..self }
    }

    /// Where it is.
    #[must_use]
    pub const fn point(&self) -> Point {
        self.point
    }

    /// The whole context: `spec`, `interception_point`, `timestamp`, `sequence`, `agent`, `session`, `target` and the members
    /// of the point.
    #[must_use]
    pub fn context(&self) -> &Value {
        &self.context
    }

    /// What a transform would change: the message, the arguments, the result.
    #[must_use]
    pub fn target(&self) -> &Value {
        self.context.get("target").unwrap_or(&Value::Null)
    }

    /// The items that the run has read so far, in order, with their labels: for an interceptor that asks where words come from.
    /// Empty where it is not known, as in another process.
    #[must_use]
    pub fn window(&self) -> &[Arc<Item>] {
        self.seen.as_ref().map_or(&[], |seen| &seen.window)
    }

    /// The join of their labels: what everything is worth that the model says now. The lowest there is where it is not known.
    #[must_use]
    pub fn label(&self) -> Label {
        self.seen.as_ref().map_or_else(Label::untrusted, |seen| seen.label.clone())
    }
}

impl PartialEq for Occasion {
    fn eq(&self, other: &Self) -> bool {
        (self.point, &self.context) == (other.point, &other.context)
    }
}

/// Where it is, and nothing of what passes there.
impl fmt::Debug for Occasion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Occasion").field("point", &self.point).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
