//! What a run wants done, and what it is told of it.

use std::sync::Arc;

use probity_contract::{
    Allowance, Answer, Arguments, CallId, Consultation, Digest, Emission, Ending, Event, FrozenCall, Label,
    ModelCallId, ModelError, ModelReply, ModelRequest, Occasion, Opinion, PendingCall, Permit, PolicyName,
    Reconciled, RedeemError, Redemption, RunId, Said, Seat, Spending, ToolError, ToolName, ToolOutput,
    Touches, Window,
};

use crate::boundary::{Consulted, RowHeard};

/// One thing for the driver to do.
#[derive(Debug)]
pub enum Step {
    /// Append these lines to the record, and do so before asking for the next step. If it cannot be done, feed
    /// [`Outcome::RecordFailed`]; no further lines come then, for they would stand behind a gap. That holds for the
    /// lines that tell of the end, too: there is no answer then.
    Record {
        /// What to append.
        lines: Vec<Emission>,
        /// Whether it must be on the medium.
        durable: bool,
    },
    /// Tell the observers. No outcome.
    Notify(Event),
    /// Ask the model. Feed [`Outcome::ModelReplied`].
    CallModel {
        /// Which call.
        call: ModelCallId,
        /// The question.
        request: ModelRequest,
        /// Milliseconds that it may take.
        timeout_ms: u64,
        /// What becomes of what it writes while it writes.
        release: Release,
    },
    /// Let this text of the model out, which was held. No outcome.
    Release {
        /// Which model call.
        call: ModelCallId,
        /// The text.
        text: String,
        /// Whether nothing more of the call comes.
        last: bool,
    },
    /// Have a row of interceptors look at an occasion, one after the other, until one says anything but a plain allow. Feed
    /// [`Outcome::Intercepted`].
    Intercept {
        /// Which passage.
        passage: u64,
        /// Who, by the order of registration; never empty.
        seats: Vec<u32>,
        /// What each of them sees.
        occasion: Occasion,
    },
    /// Have the deployment name what passes. Feed [`Outcome::Identified`].
    Identify {
        /// Which passage.
        passage: u64,
        /// Who names it.
        provider: String,
        /// What passes.
        occasion: Occasion,
    },
    /// Ask whether a deny shall be lifted. Feed [`Outcome::Consulted`].
    Consult {
        /// Which passage.
        passage: u64,
        /// The question.
        consultation: Box<Consultation>,
    },
    /// Ask the tool what the call touches. Feed [`Outcome::Resolved`].
    Resolve {
        /// Which call.
        call: CallId,
        /// The tool.
        tool: ToolName,
        /// The checked arguments.
        arguments: Arguments,
    },
    /// Ask every policy. Feed [`Outcome::Judged`].
    Judge {
        /// The call.
        call: Arc<FrozenCall>,
        /// At which seat.
        seat: Seat,
    },
    /// Ask a person. Feed [`Outcome::Answered`].
    Ask {
        /// The question.
        question: PendingCall,
    },
    /// Use the approval of this question up, with [`Redemption::claim`], and feed [`Outcome::Redeemed`] before asking for the
    /// next step: a run that is stored in between has lost the approval.
    Redeem {
        /// The call.
        call: Arc<FrozenCall>,
        /// What stands for the question.
        binding: Digest,
    },
    /// Start the tool with the permit. Feed [`Outcome::ToolFinished`].
    RunTool {
        /// The right to run the call once.
        permit: Permit,
        /// Milliseconds that it may take.
        timeout_ms: u64,
        /// What the tasks that it starts may spend; `None` where it starts none.
        allowance: Option<Allowance>,
    },
    /// Ask the tool what became of this call, of which nothing was heard. Feed [`Outcome::Reconciled`].
    Reconcile {
        /// The call.
        call: Arc<FrozenCall>,
    },
    /// The run has ended; drop whatever still works for it.
    Done(Ending),
}

/// What becomes of what a model writes while it writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Release {
    /// It goes to the observers at once.
    AsItComes,
    /// It is held; [`Step::Release`] says what may go out.
    Held,
    /// It is held, and comes to the machine in pieces that fit all these windows. The last piece comes with the reply only.
    Pieces(Vec<Window>),
}

/// What became of a step.
#[derive(Debug)]
pub enum Outcome {
    /// The model answered or failed.
    ModelReplied {
        /// Which call.
        call: ModelCallId,
        /// The complete reply, or why there is none.
        result: Result<ModelReply, ModelError>,
    },
    /// The model wrote so much more that it can be judged; only where the step said so, in the order in which it was
    /// written, and before [`Outcome::ModelReplied`].
    ModelWrote {
        /// Which call.
        call: ModelCallId,
        /// What was added.
        text: String,
    },
    /// Interceptors have looked, or could not: those of the step, or the first of them up to one who did not say a plain
    /// allow.
    Intercepted {
        /// Which passage.
        passage: u64,
        /// Who said it.
        row: RowHeard,
    },
    /// Somebody has decided whether a deny shall be lifted, or could not.
    Consulted {
        /// Which passage.
        passage: u64,
        /// What was decided.
        resolution: Consulted,
    },
    /// What passes was named.
    Identified {
        /// Which passage.
        passage: u64,
        /// The name; `None` where it could not be.
        name: Option<String>,
    },
    /// The tool told what the call touches, or could not.
    Resolved {
        /// Which call.
        call: CallId,
        /// What that is, or why it is not known.
        result: Result<Touches, ToolError>,
    },
    /// The policies have spoken.
    Judged {
        /// Which call.
        call: CallId,
        /// At which seat.
        seat: Seat,
        /// What each said.
        opinions: Vec<Opinion>,
    },
    /// A person has answered, or cannot be asked.
    Answered {
        /// Which call.
        call: CallId,
        /// What stands for the question.
        binding: Digest,
        /// The answer.
        answer: Answer,
    },
    /// The approval was used up, or could not be.
    Redeemed {
        /// Which call.
        call: CallId,
        /// The proof, or why there is none.
        result: Result<Redemption, RedeemError>,
    },
    /// The tool came back.
    ToolFinished {
        /// Which call.
        call: CallId,
        /// The output, cut to the limit, or the error.
        result: Result<ToolOutput, ToolError>,
        /// Bytes before the cut.
        output_bytes: u64,
        /// Milliseconds that it ran.
        ran_ms: u64,
    },
    /// The tool told what became of a call, or could not.
    Reconciled {
        /// Which call.
        call: CallId,
        /// What it says.
        result: Result<Reconciled, ToolError>,
    },
    /// A task that a call has started is over; comes before the call's own [`Outcome::ToolFinished`].
    ChildEnded {
        /// Which call.
        call: CallId,
        /// The task's run.
        run: RunId,
        /// How it ended; `None` where it broke.
        ending: Option<Ending>,
        /// The join of all that it had seen.
        label: Label,
        /// What it spent.
        spent: Spending,
    },
    /// A policy that is tried out would have said this; for the record.
    Shadowed {
        /// The call in question.
        call: CallId,
        /// The seat in question.
        seat: Seat,
        /// Who.
        policy: PolicyName,
        /// What.
        said: Said,
    },
    /// A part of the deployment failed and was reported; for the record.
    FailureReported {
        /// The call in question.
        call: Option<CallId>,
        /// The seat in question.
        seat: Option<Seat>,
        /// Who failed.
        who: String,
        /// Redacted words.
        error: String,
    },
    /// The task was cancelled.
    Cancelled,
    /// The record could not be written. Redacted words.
    RecordFailed(String),
}

/// An outcome that nobody waits for: late, repeated, or for another step. It moves nothing. An answer to a call of a run
/// that goes on is written down as void, for somebody may have given it in good faith.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("take an outcome that no step waits for")]
pub struct Unexpected;
