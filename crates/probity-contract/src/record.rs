//! What a run writes down of itself: ordered facts that name their parents, and the texts they refer to.
//!
//! Record first, interpret later: a fact says what happened and with which numbers; graphs, slices and reports are
//! computed from the whole record. A text stands in the record once, under its BLAKE3 digest, and facts refer to it,
//! so a window is a list of ids and not a copy. A model call's window is written as a difference from the window of the
//! call before it; writing the whole list each time lost because a record would then grow with the square of the turns.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::digest::{Digest, DigestError, from_hex, serialize_hex, write_hex};
use crate::gate::{ArgumentSource, Denial, Opinion, Said, Seat};
use crate::ids::{CallId, ItemId, ModelCallId, ModelName, PolicyName, PrincipalId, RunId};
use crate::intercept::{Intercepted, MessageDenied};
use crate::item::Origin;
use crate::label::{Label, Readers};
use crate::limits::Limits;
use crate::lineage::{ParentCall, Spending};
use crate::model::{ModelErrorClass, ModelParams, Prices, Stop, ToolChoice, Usage};
use crate::tool::{Effect, Operand, Target, ToolErrorClass, ToolSpec};

/// The version of the facts in this module. A reader refuses a record of a later one.
pub const RECORD_VERSION: u32 = 1;

/// One line of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Emission {
    /// A text that later entries refer to. It comes before them.
    Part(Part),
    /// A fact.
    Entry(Entry),
}

/// A fact with its place and time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Counted from 0 without a gap.
    pub seq: u64,
    /// Milliseconds since the run started, by the driver's clock; never goes back.
    pub at_ms: u64,
    /// What happened.
    pub fact: Fact,
}

/// A text under its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The digest of the full text, whatever is kept of it.
    pub id: PartId,
    /// What is kept.
    pub kept: Kept,
}

/// How much of a text a record keeps.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// All of it.
    Full(Arc<str>),
    /// The text after the credential pass.
    Redacted(Arc<str>),
    /// Its length in bytes only.
    Length(u64),
}

/// How much content the record of a run keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentSetting {
    /// Every text as it was.
    #[default]
    Full,
    /// Every text after the credential pass.
    Redacted,
    /// Of texts, targets, reasons and errors only digests and lengths: words that stand in a fact read
    /// `[digest 3f2a91bc04de 120 bytes]`. Names that the deployment gave, the definitions of tools, and what looks like
    /// an id stay. A short text can be guessed from its digest.
    Digests,
}

/// The BLAKE3 digest of a text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct PartId([u8; 32]);

impl Serialize for PartId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_hex(&self.0, serializer)
    }
}

impl PartId {
    /// The id of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(*blake3::hash(text.as_bytes()).as_bytes())
    }

    /// The id of the JSON text of a value, which is not made for it.
    #[must_use]
    pub fn of_json(value: &Value) -> Self {
        let mut hasher = blake3::Hasher::new();
        // A value always has a JSON text, and the hasher takes everything.
        let _written = serde_json::to_writer(&mut hasher, value);
        Self(*hasher.finalize().as_bytes())
    }
}

impl fmt::Display for PartId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for PartId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.to_string();
        write!(f, "PartId({})", text.get(..12).unwrap_or(&text))
    }
}

impl TryFrom<String> for PartId {
    type Error = DigestError;
    fn try_from(text: String) -> Result<Self, DigestError> {
        from_hex(&text).map(Self)
    }
}

impl From<PartId> for String {
    fn from(id: PartId) -> Self {
        id.to_string()
    }
}

/// What can happen in a run. Texts are referred to by [`PartId`]; short words of the engine stand in place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fact {
    /// The first entry: what the run was given.
    RunStarted(Box<RunStarted>),
    /// An item came into the run. `model_called` says whether and where it was sent.
    ItemAdded {
        /// Its id.
        item: ItemId,
        /// Who brought it.
        origin: Origin,
        /// Its label.
        label: Label,
        /// What it says.
        body: Body,
    },
    /// A window was sent to the model.
    ModelCalled {
        /// The model call.
        call: ModelCallId,
        /// The window, as a difference from that of the call before.
        window: WindowDelta,
        /// Whether a tool had to be called.
        tool_choice: ToolChoice,
        /// Whether the tools of the run were offered.
        tools_offered: bool,
        /// Tokens that the reply might have: what was asked for, or less where a limit left less.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_tokens_max: Option<u64>,
    },
    /// The model answered.
    ModelReplied {
        /// The model call.
        call: ModelCallId,
        /// The reply as an item.
        item: ItemId,
        /// Why it stopped.
        stop: Stop,
        /// Tokens.
        usage: Usage,
        /// The model that answered, in the provider's words.
        model: Option<String>,
        /// The provider's id of the reply.
        response_id: Option<String>,
    },
    /// The model answered, and an interceptor has refused the reply: it is no item.
    ReplyRefused {
        /// The model call.
        call: ModelCallId,
        /// Tokens.
        usage: Usage,
    },
    /// The model did not answer.
    ModelFailed {
        /// The model call.
        call: ModelCallId,
        /// The sort of failure.
        class: ModelErrorClass,
        /// Redacted words.
        error: String,
    },
    /// A reply proposed a call.
    CallProposed {
        /// The call.
        call: CallId,
        /// The model call that proposed it.
        by: ModelCallId,
        /// The id that the provider gave it.
        provider_id: String,
        /// The tool's name as proposed.
        tool: String,
        /// The arguments as proposed.
        arguments: PartId,
    },
    /// A proposed call was not understood; nothing was judged and nothing ran.
    CallRejected {
        /// The call.
        call: CallId,
        /// Why, in the words that the model reads.
        reason: String,
    },
    /// The call can no longer change.
    CallFrozen {
        /// The call.
        call: CallId,
        /// Its digest.
        digest: Digest,
        /// The digest of the tool's definition.
        tool_digest: Digest,
        /// The canonical arguments.
        arguments: PartId,
        /// What it touches.
        targets: Vec<Target>,
        /// The files that it names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        operands: Vec<Operand>,
        /// The values of the arguments that may be believed further than the call.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        arguments_from: Vec<ArgumentSource>,
        /// Its label.
        label: Label,
    },
    /// A seat heard the policies.
    Judged {
        /// The call.
        call: CallId,
        /// The seat.
        seat: Seat,
        /// What each policy said.
        opinions: Vec<Opinion>,
    },
    /// A policy that is tried out would have said this. Nothing followed.
    Shadowed {
        /// The call.
        call: CallId,
        /// At which seat.
        seat: Seat,
        /// Who.
        policy: PolicyName,
        /// What.
        said: Said,
    },
    /// The call will not run.
    Denied {
        /// The call.
        call: CallId,
        /// Why.
        denial: Denial,
    },
    /// A person was asked.
    Asked {
        /// The call.
        call: CallId,
        /// The digest in question.
        digest: Digest,
        /// What stands for the question; `None` in records from before there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        binding: Option<Digest>,
        /// Which policies asked.
        askers: Vec<PolicyName>,
        /// Until when an answer counts, in run milliseconds.
        expires_at_ms: u64,
    },
    /// A person answered, or could not be asked.
    Answered {
        /// The call.
        call: CallId,
        /// The digest that the answer is for: the question's binding, or the call's in records from before there was one.
        digest: Digest,
        /// The answer.
        answer: AnswerKind,
        /// Who answered.
        by: Option<PrincipalId>,
    },
    /// A permit was handed to the tool. Written before the tool starts, and durable unless the tool is `pure` and touches
    /// nothing but paths: losing such a start loses nothing that anybody outside could have noticed.
    ToolStarted {
        /// The call.
        call: CallId,
        /// What a repetition would do.
        effect: Effect,
        /// The question whose approval this start uses up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        redeems: Option<Digest>,
    },
    /// The tool came back, or is known not to.
    ToolFinished {
        /// The call.
        call: CallId,
        /// How.
        outcome: ToolOutcomeKind,
        /// What the model will read of it.
        output: PartId,
        /// Bytes of output before the cut.
        output_bytes: u64,
        /// Milliseconds that the tool ran.
        ran_ms: u64,
        /// Who may read what it brought back, as the tool says.
        #[serde(default, skip_serializing_if = "Readers::is_everyone")]
        readers: Readers,
        /// The values within it that the tool vouches for, and that are held to be its own.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        vouched: Vec<String>,
    },
    /// A task that a call has started has ended, before the call itself.
    ChildEnded {
        /// The call.
        call: CallId,
        /// The run of that task; its own record names this call.
        run: RunId,
        /// How it ended; `None` where it broke.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ending: Option<Ending>,
        /// The join of all that it had seen. The call's result has at least this label.
        label: Label,
        /// What it spent. It counts for this run too.
        spent: Spending,
    },
    /// A tool was asked what became of a call of which nothing was heard.
    Reconciled {
        /// The call.
        call: CallId,
        /// What it said.
        found: ReconciledKind,
    },
    /// Part of the deployment failed: a policy, a hook, a sink.
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
    /// A driver took up the run from a checkpoint.
    Resumed {
        /// Which checkpoint it was, counted from 1.
        checkpoint: u64,
        /// Entries of this record, right before this one, that the checkpoint knows nothing of: the run broke off later.
        left_behind: u64,
        /// Tools whose definition is not any more what it was when the run started.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<ToolSpec>,
    },
    /// Something passed a point at which interceptors are heard.
    Intercepted(Box<Intercepted>),
    /// An interceptor has put something else in place of an item: it stands in no later window.
    ItemReplaced {
        /// The item that is gone.
        item: ItemId,
        /// The one in its place, added before.
        by: ItemId,
    },
    /// A limit was reached.
    LimitHit {
        /// Which one.
        limit: LimitKind,
    },
    /// The answer was checked against the output schema and missed it.
    OutputRejected {
        /// The reply.
        item: ItemId,
        /// What is wrong with it.
        errors: Vec<String>,
    },
    /// Something of an imported trace that has no place in the other facts, kept as it was. Nothing is computed from it.
    Foreign {
        /// What it belongs to.
        about: ForeignTo,
        /// Its name: the members that lead to it in what it belongs to, as a JSON pointer.
        at: String,
        /// What stood there, as JSON.
        json: PartId,
    },
    /// The last entry: how the run ended.
    Ended {
        /// How.
        ending: Ending,
        /// The reply that is the answer.
        answer: Option<ItemId>,
        /// Tokens of the whole run.
        usage: Usage,
        /// US dollars of the whole run, where known.
        cost_usd: Option<f64>,
    },
}

/// What a run was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// [`RECORD_VERSION`].
    pub version: u32,
    /// The run.
    pub run: RunId,
    /// A few words that tell people which run this is; redacted.
    pub title: String,
    /// For whom it acts.
    pub principal: PrincipalId,
    /// The call that has started it, where one has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentCall>,
    /// Which trace of another framework it was read from; `None` of a run that was made here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// The model.
    pub model: ModelName,
    /// What the model's tokens cost.
    pub prices: Option<Prices>,
    /// Parameters of every model call.
    pub params: ModelParams,
    /// The tools.
    pub tools: Vec<ToolSpec>,
    /// The policies.
    pub policies: Vec<PolicyName>,
    /// The policies of the tasks above, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inherited: Vec<Vec<PolicyName>>,
    /// The limits.
    pub limits: Limits,
    /// How much content is kept.
    pub content: ContentSetting,
    /// The schema that the answer must follow.
    pub output_schema: Option<Value>,
    /// When it started, in milliseconds since 1970 UTC.
    pub started_at_unix_ms: u64,
}

/// What an imported record was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// The format, as its importer is called.
    pub format: String,
    /// SHA-256 of the file's content, as `sha256sum` prints it.
    pub file: Digest,
    /// Where in the file it began: `line 7`, or a JSON pointer. Empty where it is the whole file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// How it is known what went into what.
    pub edges: ImportedEdges,
}

/// How it is known of an imported record what went into what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportedEdges {
    /// From equal content, ids and order. No edge of such a record was written down as it happened.
    Inferred,
}

/// What a piece of an imported trace belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForeignTo {
    /// The run as a whole.
    Run,
    /// An item.
    Item(ItemId),
    /// A model call.
    ModelCall(ModelCallId),
    /// A tool call.
    Call(CallId),
}

/// What an item says, by reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Body {
    /// How the model shall behave.
    Instructions {
        /// The text.
        text: PartId,
    },
    /// What was asked.
    Person {
        /// The text.
        text: PartId,
    },
    /// Material under a name.
    Context {
        /// The name.
        name: String,
        /// The text.
        text: PartId,
    },
    /// A model's reply; each part is a [`crate::ReplyPart`] as JSON.
    Reply {
        /// The parts in order.
        parts: Vec<PartId>,
    },
    /// What a call brought back.
    ToolResult {
        /// The call.
        call: CallId,
        /// The id that the provider gave the call.
        provider_id: String,
        /// The tool's name as proposed.
        tool: String,
        /// The text.
        text: PartId,
        /// Whether the call failed, was denied or did not run.
        is_error: bool,
    },
    /// A sentence of the engine.
    Notice {
        /// The text.
        text: PartId,
    },
}

/// A window as a difference from the window of the model call before: the first `keep` items stay, then `added` follow.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WindowDelta {
    /// How many items of the window before stand at the front.
    pub keep: u32,
    /// The items after them.
    pub added: Vec<ItemId>,
}

/// What a person answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// Approved.
    Approved,
    /// Refused.
    Refused,
    /// Approved with other arguments.
    Edited,
    /// There was nobody to ask.
    Nobody,
    /// Too late, a second one, or for another digest: without effect.
    Void,
}

/// What a tool said of a call of which nothing was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReconciledKind {
    /// It was done.
    Done,
    /// It was not done.
    NotDone,
    /// It cannot tell.
    Unknown,
}

/// How a tool came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome", content = "class")]
pub enum ToolOutcomeKind {
    /// With a result.
    Succeeded,
    /// With an error that says nothing happened, or what happened.
    Failed(ToolErrorClass),
    /// It is not known whether the effect happened.
    Unknown(ToolErrorClass),
}

/// The limits that can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Model calls.
    Turns,
    /// Tool calls.
    ToolCalls,
    /// Tokens.
    Tokens,
    /// US dollars.
    Cost,
    /// Wall time.
    WallTime,
    /// Calls in one reply.
    CallsPerReply,
}

/// How a run ended. Stable names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ending")]
pub enum Ending {
    /// The model answered.
    Answered,
    /// A limit was reached and there is a last answer: asked for without tools and therefore perhaps not a full one, or
    /// given by a provider that did not keep to the output it was allowed.
    WrappedUp {
        /// Which limit.
        limit: LimitKind,
    },
    /// A limit was reached and there is no answer.
    LimitReached {
        /// Which limit.
        limit: LimitKind,
    },
    /// The model or its provider refused.
    Refused,
    /// The reply was cut off at the output limit; what there is of it is the answer. Where that limit came from
    /// `tokens_max` or `cost_usd_max`, a `limit_hit` stands before.
    Incomplete,
    /// The answer kept missing the output schema.
    OutputInvalid,
    /// The model could not be asked.
    ModelFailed {
        /// The sort of failure.
        class: ModelErrorClass,
        /// Redacted words.
        error: String,
    },
    /// The task was cancelled.
    Cancelled,
    /// An interceptor has refused a message. There is no answer, and the message stands nowhere but in the record.
    MessageDenied(MessageDenied),
    /// The record could not be written, so nothing more was done.
    RecordFailed {
        /// Redacted words.
        error: String,
    },
}
