//! The nouns and ports of Probity: calls, verdicts, permits, messages, records.
//!
//! This crate decides nothing but one thing: whether a set of opinions makes a [`Permit`]. It has no clock, no
//! randomness, no I/O and no runtime. Everything that acts (models, tools, stores, people) stands behind a port here
//! and is implemented elsewhere.

mod cancel;
mod digest;
mod future;
mod gate;
mod ids;
mod intercept;
mod item;
mod json;
mod label;
pub mod limits;
mod lineage;
mod model;
mod policy;
mod ports;
mod record;
mod shown;
mod sync;
mod tool;

pub use cancel::Cancel;
pub use digest::{Digest, DigestError};
pub use future::{BoxFuture, BoxStream};
pub use gate::{
    ArgumentLabel, ArgumentSource, Asker, Bench, BenchError, CallFacts, CallView, Denial, DenialCode,
    DenialDetail, Epoch, FreezeError, FrozenCall, Grant, Judgement, Level, Opinion, PendingCall, Permit,
    QuestionFacts, RedeemError, Redeemer, Redemption, Remembered, Roster, RosterError, Ruling, Said, Seat,
    argument_values, rule,
};
pub use ids::{
    CallId, InterceptorName, ItemId, ModelCallId, ModelName, NameError, PolicyName, PrincipalId, RunId,
    ToolName,
};
pub use intercept::{
    Composition, Consultant, Consultation, EmptyPoint, Enforcement, FnInterceptor, HookDecision, HookReasons,
    HookVerdict, HookWarning, HostError, Intercepted, Interceptor, Knob, MessageDenied, NotAVerdict,
    Occasion, OnApproval, Point, Points, Profile, Resolution, Resolve, Resolved, VerdictRow, Window,
};
pub use item::{Content, Item, NativePart, Origin, ProposedCall, ReplyPart, ReplyPartKind};
pub use json::{
    Arguments, ArgumentsError, canonical_bytes, interoperable_value, write_canonical, write_canonical_members,
};
pub use label::{Integrity, Label, Readers};
pub use limits::Limits;
pub use lineage::{Allowance, Lineage, ParentCall, Spending};
pub use model::{
    Model, ModelContext, ModelError, ModelErrorClass, ModelEvent, ModelParams, ModelReply, ModelRequest,
    Prices, Stop, ToolChoice, Usage,
};
pub use policy::{Policy, PolicyError, Verdict};
pub use ports::{
    Answer, Approver, ChildJournals, Clock, Durability, Event, Failure, FailureLane, Journal, JournalError,
    Observer,
};
pub use record::{
    AnswerKind, Body, ContentSetting, Emission, Ending, Entry, Fact, ForeignTo, Imported, ImportedEdges,
    Kept, LimitKind, Part, PartId, RECORD_VERSION, ReconciledKind, RunStarted, ToolOutcomeKind, WindowDelta,
};
pub use tool::{
    Access, Effect, Holds, Operand, Reconciled, Target, Tool, ToolContext, ToolError, ToolErrorClass,
    ToolOutput, ToolSpec, Touches,
};
