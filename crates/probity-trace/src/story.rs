use std::collections::HashMap;

use probity_contract::{
    AnswerKind, ArgumentSource, Body, CallId, Denial, Digest, Effect, Fact, ForeignTo, Intercepted, ItemId,
    Label, ModelCallId, Opinion, PartId, PolicyName, PrincipalId, ReconciledKind, Said, Seat, Target,
    ToolOutcomeKind,
};
use serde::Serialize;

use crate::line::Line;
use crate::record::Record;

/// All that a record says of one tool call, in the order of its way through the gate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallStory {
    /// The call.
    pub call: CallId,
    /// What the model proposed.
    pub proposed: Option<Proposal>,
    /// Why it was not understood, if it was not.
    pub rejected: Option<String>,
    /// What it was frozen to; after an edit, the last form.
    pub frozen: Option<FrozenForm>,
    /// The seats that heard policies.
    pub hearings: Vec<Hearing>,
    /// Why it did not run, if it was denied.
    pub denied: Option<Denial>,
    /// The questions to people.
    pub asked: Vec<Question>,
    /// The answers to them.
    pub answered: Vec<Answered>,
    /// Every time the tool was started.
    pub attempts: Vec<Attempt>,
    /// What the tool said of an attempt of which nothing was heard.
    pub reconciled: Option<ReconciledKind>,
    /// What policies that are tried out would have said.
    pub shadowed: Vec<Shadowed>,
    /// What interceptors said of it, before it was frozen and after the tool came back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intercepted: Vec<Intercepted>,
    /// What the model reads of it.
    pub result: Option<ItemId>,
    /// Whether an effect may have happened of which the record does not tell the outcome: the tool was started, and
    /// neither came back nor, where a repetition does no harm, was run again to its end.
    pub in_doubt: bool,
}

/// What a policy that is tried out would have said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shadowed {
    /// At which seat.
    pub seat: Seat,
    /// Who.
    pub policy: PolicyName,
    /// What.
    pub said: Said,
}

/// A call as the model worded it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// Milliseconds since the run started.
    pub at_ms: u64,
    /// The model call that proposed it.
    pub by: ModelCallId,
    /// The id that the provider gave it.
    pub provider_id: String,
    /// The tool's name as proposed.
    pub tool: String,
    /// The arguments as proposed.
    pub arguments: PartId,
}

/// A call that can no longer change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrozenForm {
    /// Its digest.
    pub digest: Digest,
    /// The digest of the tool's definition.
    pub tool_digest: Digest,
    /// The canonical arguments.
    pub arguments: PartId,
    /// What it touches.
    pub targets: Vec<Target>,
    /// Its label.
    pub label: Label,
    /// The values of the arguments that may be believed further.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments_from: Vec<ArgumentSource>,
}

/// What was said at one seat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hearing {
    /// Milliseconds since the run started.
    pub at_ms: u64,
    /// The seat.
    pub seat: Seat,
    /// What each policy said.
    pub opinions: Vec<Opinion>,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Question {
    /// Milliseconds since the run started.
    pub at_ms: u64,
    /// The digest in question.
    pub digest: Digest,
    /// Which policies asked.
    pub askers: Vec<PolicyName>,
    /// Until when an answer counts, in run milliseconds.
    pub expires_at_ms: u64,
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answered {
    /// Milliseconds since the run started.
    pub at_ms: u64,
    /// The digest that the answer is for.
    pub digest: Digest,
    /// The answer.
    pub answer: AnswerKind,
    /// Who answered.
    pub by: Option<PrincipalId>,
}

/// One start of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// Milliseconds since the run started; `None` where the record only tells the end.
    pub started_at_ms: Option<u64>,
    /// What a repetition would do.
    pub effect: Option<Effect>,
    /// How it came back, if it did.
    pub end: Option<AttemptEnd>,
}

/// How one start of a tool ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttemptEnd {
    /// Milliseconds since the run started.
    pub at_ms: u64,
    /// How.
    pub outcome: ToolOutcomeKind,
    /// What the model will read of it.
    pub output: PartId,
    /// Bytes of output before the cut.
    pub output_bytes: u64,
    /// Milliseconds that the tool ran.
    pub ran_ms: u64,
}

impl CallStory {
    const fn of(call: CallId) -> Self {
        Self {
            call,
            proposed: None,
            rejected: None,
            frozen: None,
            hearings: Vec::new(),
            denied: None,
            asked: Vec::new(),
            answered: Vec::new(),
            attempts: Vec::new(),
            result: None,
            reconciled: None,
            shadowed: Vec::new(),
            intercepted: Vec::new(),
            in_doubt: false,
        }
    }

    /// How the last attempt came back; `None` where no attempt did.
    #[must_use]
    pub fn outcome(&self) -> Option<ToolOutcomeKind> {
        self.attempts.iter().rev().find_map(|attempt| attempt.end.as_ref()).map(|end| end.outcome)
    }

    fn end_attempt(&mut self, end: AttemptEnd) {
        match self.attempts.iter_mut().rev().find(|attempt| attempt.end.is_none()) {
            Some(open) => open.end = Some(end),
            None => self.attempts.push(Attempt { started_at_ms: None, effect: None, end: Some(end) }),
        }
    }

    fn is_in_doubt(&self) -> bool {
        if matches!(self.reconciled, Some(ReconciledKind::Done | ReconciledKind::NotDone)) {
            return false;
        }
        let mut ended_later = false;
        self.attempts.iter().rev().any(|attempt| {
            let harmless = matches!(attempt.effect, Some(Effect::Pure | Effect::Idempotent));
            let open = attempt.end.is_none() && !(ended_later && harmless);
            ended_later |= attempt.end.is_some();
            open
        })
    }
}

impl Record {
    /// The tool calls in the order in which the record first names them.
    #[must_use]
    pub fn calls(&self) -> Vec<CallStory> {
        let mut stories: Vec<CallStory> = Vec::new();
        let mut places: HashMap<CallId, usize> = HashMap::new();
        for (line, fact) in self.facts() {
            let Some(call) = call_of(fact) else { continue };
            let place = *places.entry(call).or_insert(stories.len());
            if place == stories.len() {
                stories.push(CallStory::of(call));
            }
            if let Some(story) = stories.get_mut(place) {
                tell(story, line, fact);
            }
        }
        for story in &mut stories {
            story.in_doubt = story.is_in_doubt();
        }
        stories
    }

    /// One tool call; `None` where the record does not name it.
    #[must_use]
    pub fn call(&self, call: CallId) -> Option<CallStory> {
        let mut about = self.facts().filter(|(_, fact)| call_of(fact) == Some(call)).peekable();
        about.peek()?;
        let mut story = CallStory::of(call);
        about.for_each(|(line, fact)| tell(&mut story, line, fact));
        story.in_doubt = story.is_in_doubt();
        Some(story)
    }
}

/// The call that a fact is about.
pub(crate) const fn call_of(fact: &Fact) -> Option<CallId> {
    match fact {
        Fact::CallProposed { call, .. }
        | Fact::CallRejected { call, .. }
        | Fact::CallFrozen { call, .. }
        | Fact::Judged { call, .. }
        | Fact::Denied { call, .. }
        | Fact::Asked { call, .. }
        | Fact::Answered { call, .. }
        | Fact::ToolStarted { call, .. }
        | Fact::ToolFinished { call, .. }
        | Fact::Reconciled { call, .. }
        | Fact::ChildEnded { call, .. }
        | Fact::Shadowed { call, .. }
        | Fact::ItemAdded { body: Body::ToolResult { call, .. }, .. } => Some(*call),
        Fact::FailureReported { call, .. } => *call,
        Fact::Foreign { about, .. } => match about {
            ForeignTo::Call(call) => Some(*call),
            ForeignTo::Run | ForeignTo::Item(_) | ForeignTo::ModelCall(_) => None,
        },
        Fact::Intercepted(row) => row.call,
        Fact::RunStarted(_)
        | Fact::ItemAdded { .. }
        | Fact::ModelCalled { .. }
        | Fact::ModelReplied { .. }
        | Fact::ReplyRefused { .. }
        | Fact::ModelFailed { .. }
        | Fact::Resumed { .. }
        | Fact::ItemReplaced { .. }
        | Fact::LimitHit { .. }
        | Fact::OutputRejected { .. }
        | Fact::Ended { .. } => None,
    }
}

/// Adds one fact to the story of the call that it is about.
fn tell(story: &mut CallStory, line: &Line, fact: &Fact) {
    let at_ms = line.at_ms;
    match fact.clone() {
        Fact::CallProposed { by, provider_id, tool, arguments, .. } => {
            story.proposed = Some(Proposal { at_ms, by, provider_id, tool, arguments });
        }
        Fact::CallRejected { reason, .. } => story.rejected = Some(reason),
        Fact::CallFrozen { digest, tool_digest, arguments, targets, label, arguments_from, .. } => {
            story.frozen =
                Some(FrozenForm { digest, tool_digest, arguments, targets, label, arguments_from });
        }
        Fact::Judged { seat, opinions, .. } => story.hearings.push(Hearing { at_ms, seat, opinions }),
        Fact::Denied { denial, .. } => story.denied = Some(denial),
        Fact::Asked { digest, askers, expires_at_ms, .. } => {
            story.asked.push(Question { at_ms, digest, askers, expires_at_ms });
        }
        Fact::Answered { digest, answer, by, .. } => {
            story.answered.push(Answered { at_ms, digest, answer, by });
        }
        Fact::ToolStarted { effect, .. } => {
            story.attempts.push(Attempt { started_at_ms: Some(at_ms), effect: Some(effect), end: None });
        }
        Fact::ToolFinished { outcome, output, output_bytes, ran_ms, .. } => {
            story.end_attempt(AttemptEnd { at_ms, outcome, output, output_bytes, ran_ms });
        }
        Fact::Reconciled { found, .. } => story.reconciled = Some(found),
        Fact::Shadowed { seat, policy, said, .. } => story.shadowed.push(Shadowed { seat, policy, said }),
        Fact::Intercepted(row) => story.intercepted.push(*row),
        Fact::ItemAdded { item, .. } => story.result = Some(item),
        Fact::RunStarted(_)
        | Fact::Foreign { .. }
        | Fact::ChildEnded { .. }
        | Fact::ModelCalled { .. }
        | Fact::ModelReplied { .. }
        | Fact::ReplyRefused { .. }
        | Fact::ModelFailed { .. }
        | Fact::FailureReported { .. }
        | Fact::Resumed { .. }
        | Fact::ItemReplaced { .. }
        | Fact::LimitHit { .. }
        | Fact::OutputRejected { .. }
        | Fact::Ended { .. } => {}
    }
}
