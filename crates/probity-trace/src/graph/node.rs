use std::fmt;

use serde::Serialize;

/// A node of one graph. The order is that of the records, entry by entry; what is no entry comes after all that are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct NodeId(pub(super) u32);

/// One of the runs that a graph is of: their order is the one in which they were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RunAt(pub(super) u32);

impl RunAt {
    /// The run that was given first.
    pub const FIRST: Self = Self(0);
}

/// What a node is. All but the last four are entries of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// What the run was given: parameters, limits.
    Start,
    /// An item.
    Item,
    /// A window that was sent to a model, and what the model made of it.
    ModelCall,
    /// That and how a model answered.
    Reply,
    /// A reply that was refused.
    RefusedReply,
    /// A model call without a reply.
    ModelFailure,
    /// A call as the model proposed it.
    Proposal,
    /// Why a proposed call was not understood.
    Rejection,
    /// A call in its last form.
    Frozen,
    /// What policies said of a call.
    Judgement,
    /// What a policy that is tried out would have said.
    Shadow,
    /// Why a call did not run.
    Denial,
    /// A question to a person.
    Question,
    /// A person's answer.
    Answer,
    /// A start of a tool.
    Execution,
    /// How a tool came back.
    Outcome,
    /// The end of a task that a call has started.
    ChildEnd,
    /// What a tool said of a call of which nothing was heard.
    Reconciliation,
    /// A part of the deployment failed.
    Failure,
    /// The run was taken up from a checkpoint.
    Resumption,
    /// What interceptors said.
    Interception,
    /// One item in another's place.
    Replacement,
    /// A limit was reached.
    Limit,
    /// An answer missed the schema.
    MissedSchema,
    /// A piece of an imported trace that has no place in the other facts.
    Foreign,
    /// How the run ended.
    End,
    /// An entry of a later program.
    Unread,
    /// The front of a list, and one thing behind it: one node for all lists that begin alike. Windows are such lists.
    Front,
    /// The tools that were offered.
    Tools,
    /// One tool's definition.
    Tool,
    /// Something that has gone in and was not recorded.
    Unknown(UnknownReason),
}

impl NodeKind {
    /// Why it is not known what has gone in here; `None` where it is.
    #[must_use]
    pub const fn unknown(self) -> Option<UnknownReason> {
        if let Self::Unknown(reason) = self {
            return Some(reason);
        }
        if matches!(self, Self::Unread) { Some(UnknownReason::LaterProgram) } else { None }
    }
}

/// Why it is not known what has gone in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownReason {
    /// The content setting of the run kept the length of a text only.
    TextNotKept,
    /// The record refers to a text that it does not hold.
    TextMissing,
    /// An entry of a later program stands before, and what it says is not understood.
    LaterProgram,
    /// What a tool read of the world.
    Outside,
    /// What an interceptor put in of its own. It may have taken it from all that the run had read.
    Interceptor,
    /// What a person put in.
    Person,
    /// A task that was started, or the one above, has a record that was not given.
    RecordNotGiven,
    /// A task that was started has a record without an end.
    RecordBrokeOff,
    /// The record names something that it does not tell of.
    NotInRecord,
    /// A conversation that the run goes on with.
    EarlierRun,
    /// What a window begins with is not told.
    WindowNotTold,
    /// There is more than a graph takes.
    TooLarge,
}

impl fmt::Display for UnknownReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TextNotKept => "a text that was not kept",
            Self::TextMissing => "a text that the record does not hold",
            Self::LaterProgram => "an entry of a later program",
            Self::Outside => "what a tool read of the world",
            Self::Interceptor => "what an interceptor put in",
            Self::Person => "what a person put in",
            Self::RecordNotGiven => "a record that was not given",
            Self::RecordBrokeOff => "a record that broke off",
            Self::NotInRecord => "something that the record does not tell of",
            Self::EarlierRun => "an earlier conversation",
            Self::WindowNotTold => "a window whose beginning is not told",
            Self::TooLarge => "what is beyond the size of a graph",
        })
    }
}

/// What an edge says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// This was made of that: its bytes went in there.
    Data,
    /// That decided that this may happen, or made it happen.
    Control,
}

/// How an edge is known, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// The run wrote it down.
    Exact,
    /// It was rebuilt from content.
    Inferred,
}

/// An edge, from the node that was made to one that it hangs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// What it hangs on.
    pub to: NodeId,
    /// In which way.
    pub kind: EdgeKind,
    /// How that is known.
    pub provenance: Provenance,
}
