//! The ports that a host fills: where the record goes, who is asked, who watches, what time it is.

use probity_egress::{Egress, SamePrincipal};
use serde::Serialize;

use crate::future::BoxFuture;
use crate::gate::{DenialCode, PendingCall, Seat};
use crate::ids::{CallId, ModelCallId, PrincipalId, RunId};
use crate::lineage::ParentCall;
use crate::model::Usage;
use crate::record::{Emission, LimitKind};
use crate::shown::Shown;

/// Where a run's record is appended.
pub trait Journal: Send {
    /// Appends in order. With [`Durability::Durable`] all that was ever appended is on the medium when this returns.
    ///
    /// # Errors
    /// When it could not be written. The run then does nothing more.
    fn append(&mut self, lines: &[Emission], durability: Durability) -> Result<(), JournalError>;
}

/// How safe an append must be when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Handed to the operating system: survives the end of the process.
    Handed,
    /// On the medium: survives the loss of power.
    Durable,
}

/// Why a record could not be written. `Display` and `Debug` have passed the credential pass; the
/// fields have not.
#[derive(thiserror::Error)]
#[error("{}", Shown(message))]
pub struct JournalError {
    /// What happened.
    pub message: String,
    /// What caused it.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Where the records of tasks go that a run's calls start.
pub trait ChildJournals: Send + Sync {
    /// Begins the record of `run`, which `parent` has started. Nothing of that task happens before, nor where it cannot be begun.
    ///
    /// # Errors
    /// When it cannot be begun. The task is then not started, and the call says so.
    fn begin(&self, run: &RunId, parent: &ParentCall) -> Result<Box<dyn Journal>, JournalError>;
}

/// Who decides where a policy asks for a person.
pub trait Approver: Send + Sync {
    /// Puts the question to a person. The future may wait as long as the question is open; dropping it withdraws it.
    fn ask<'a>(&'a self, question: &'a PendingCall) -> BoxFuture<'a, Answer>;
}

/// A person's answer.
#[derive(Clone, PartialEq, Eq)]
pub enum Answer {
    /// The call may run as shown.
    Approve {
        /// Who says so.
        by: PrincipalId,
        /// How many more times the very same call may run in this run without a question. Usually none.
        more: u32,
    },
    /// It must not run.
    Refuse {
        /// Who says so.
        by: PrincipalId,
        /// Why, in words that the model may read.
        reason: String,
        /// Whether the same arguments for the same tool are refused without a question for the rest of the run.
        for_good: bool,
    },
    /// The call shall run with other arguments. They come before the tool and all policies like a call of the model's, and
    /// whoever asks about them asks again.
    Edit {
        /// Who says so.
        by: PrincipalId,
        /// The arguments, a JSON object.
        arguments: String,
    },
    /// There is nobody to ask.
    Nobody,
    /// Not now. The question stays open; when nothing else can go on, the run pauses. Where it cannot pause, it counts as
    /// [`Answer::Nobody`].
    Later,
}

/// The time, as the driver sees it.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970 UTC.
    fn unix_ms(&self) -> u64;
    /// Milliseconds since some fixed moment; never goes back.
    fn monotonic_ms(&self) -> u64;
}

/// Who watches a run: a terminal, an event stream.
///
/// Everything in an event has passed its tier. An observer cannot change anything; one that panics is dropped.
pub trait Observer: Send + Sync {
    /// Takes one event. It must return quickly: the run waits for it, and one that hangs holds the run up for ever. Whoever
    /// writes to something slow queues the event and returns.
    fn on_event(&self, event: &Event);
}

/// Where failures of policies, of tools that shall tell their targets, of approvers and of sinks are reported, once each.
///
/// Each report comes on a blocking thread of its own, so two may come at once and in any order, and a lane that hangs holds
/// up no decision. Once the run has ended it waits a moment for reports under way and no longer; a runtime that is shut
/// down waits for threads that block.
pub trait FailureLane: Send + Sync {
    /// Takes one report. A lane that panics is ignored; the decision was made before.
    fn on_failure(&self, failure: &Failure);
}

/// The report of a failed part. It carries no arguments, no tool output and no source chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Always `hook`.
    pub phase: &'static str,
    /// At which seat, if it was judging or telling what a call touches.
    pub seat: Option<Seat>,
    /// Which call.
    pub call: Option<CallId>,
    /// Which tool.
    pub tool: Option<Egress<SamePrincipal>>,
    /// Who failed: a policy, an interceptor, a tool, `approver` or `consultant`.
    pub who: Egress<SamePrincipal>,
    /// The sort of failure: `error`, `panic`, `timeout`, or `malformed` where a policy answered with what is no verdict.
    pub class: &'static str,
    /// One redacted line.
    pub text: Egress<SamePrincipal>,
}

/// What an observer sees of a run, as it happens.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A model call began.
    ModelStarted {
        /// Which one.
        call: ModelCallId,
    },
    /// Answer text came in. Deltas of one call join to the redacted text.
    Text {
        /// Which model call.
        call: ModelCallId,
        /// What was added.
        delta: Egress<SamePrincipal>,
    },
    /// Reasoning came in.
    Reasoning {
        /// Which model call.
        call: ModelCallId,
        /// What was added.
        delta: Egress<SamePrincipal>,
    },
    /// What a model wrote was looked at before it was released, and all that could be has been.
    StreamHeld {
        /// Which model call.
        call: ModelCallId,
        /// The most bytes that were released at once.
        held_bytes_max: u64,
        /// The longest time in milliseconds between the first of some bytes and their release.
        held_ms_max: u64,
    },
    /// A model call ended with a reply.
    ModelFinished {
        /// Which one.
        call: ModelCallId,
        /// Its tokens.
        usage: Usage,
        /// Milliseconds it took.
        took_ms: u64,
    },
    /// A model call ended without one.
    ModelFailed {
        /// Which one.
        call: ModelCallId,
        /// Redacted words.
        error: Egress<SamePrincipal>,
        /// What to do about it, where the model's client knows.
        hint: Option<Egress<SamePrincipal>>,
    },
    /// A call was understood and frozen.
    CallFrozen {
        /// The call.
        call: CallId,
        /// The tool.
        tool: Egress<SamePrincipal>,
        /// The arguments on one line, bounded.
        arguments: Egress<SamePrincipal>,
    },
    /// A proposed call was not understood.
    CallRejected {
        /// The call.
        call: CallId,
        /// The tool as proposed, on one line.
        tool: Egress<SamePrincipal>,
        /// Why.
        reason: Egress<SamePrincipal>,
    },
    /// A call was allowed by every policy, or approved.
    CallAllowed {
        /// The call.
        call: CallId,
        /// Which policies allowed it, and by which rule; or who approved it.
        by: Egress<SamePrincipal>,
    },
    /// A call was denied.
    CallDenied {
        /// The call.
        call: CallId,
        /// For programs.
        code: DenialCode,
        /// Which policy spoke.
        by: Option<Egress<SamePrincipal>>,
        /// Why.
        reason: Egress<SamePrincipal>,
    },
    /// A person is asked.
    Asking {
        /// The call.
        call: CallId,
    },
    /// A tool began.
    ToolStarted {
        /// The call.
        call: CallId,
    },
    /// A tool ended.
    ToolFinished {
        /// The call.
        call: CallId,
        /// Whether it succeeded.
        ok: bool,
        /// The result or the error on one line, bounded.
        summary: Egress<SamePrincipal>,
        /// Milliseconds it ran.
        ran_ms: u64,
    },
    /// A limit was reached.
    LimitHit {
        /// Which one.
        limit: LimitKind,
    },
    /// An answer missed the output schema and is asked for again.
    OutputRejected {
        /// What is wrong.
        errors: Egress<SamePrincipal>,
    },
}
