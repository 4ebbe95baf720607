//! A stored run that another process takes up: what the time in between has changed, and what the run may still do.

use std::collections::BTreeMap;
use std::sync::Arc;

use probity_contract::{
    Answer, CallId, Denial, DenialCode, Digest, Effect, Emission, Ending, Enforcement, Fact, Intercepted,
    InterceptorName, ItemId, Label, Limits, MessageDenied, ModelCallId, ModelName, PartId, PendingCall,
    Point, PolicyName, PrincipalId, Readers, RunId, Seat, Spending, ToolName, ToolOutcomeKind, ToolSpec,
    Usage,
};

use crate::boundary::BoundarySettings;

use super::call::{Call, Settled, Stage};
use super::{Outcome, Phase, Run, RunSpec, SpecError, Unexpected, words};

/// Where and when a stored run is taken up.
#[derive(Debug, Clone, Default)]
pub struct Resumption {
    /// Which checkpoint it comes from, counted from 1.
    pub checkpoint: u64,
    /// Milliseconds of the run's clock: wall time since the run started. Earlier than the run itself stands still.
    pub now_ms: u64,
    /// What stands in the record behind the checkpoint.
    pub left_behind: LeftBehind,
}

/// What the record tells of the time between a checkpoint and the end of the process that made it.
///
/// The run cannot know what happened there, but it must not take the numbers twice, spend again what was spent, or begin
/// before an effect that the checkpoint does not know of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LeftBehind {
    entries: u64,
    next_seq: u64,
    at_ms: u64,
    next_item: u32,
    next_call: u32,
    next_model_call: u32,
    turns: u32,
    tool_calls: u32,
    usage: Usage,
    // Calls whose tool was started there, and may have changed something.
    effects: Vec<CallId>,
    // Model calls that ended there.
    model_calls_ended: Vec<ModelCallId>,
    // What tools brought back there.
    finished: Vec<Finished>,
    // Passages that were begun there.
    next_passage: u64,
    // A message that was refused there. It is not asked for again.
    message_denied: Option<MessageDenied>,
    // What was refused there, by people, policies or the engine.
    denied: Vec<(CallId, Denial)>,
    // What tasks had seen and spent that were over there.
    children: Vec<(CallId, Label, Spending)>,
    // Whether items of the window were put in the place of others there.
    replaced: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Finished {
    call: CallId,
    text: Arc<str>,
    is_error: bool,
    readers: Readers,
}

impl LeftBehind {
    /// Takes one entry that stands behind the checkpoint; `None` for a kind that is not known. `text` gives the texts that
    /// the record keeps whole.
    pub fn take(
        &mut self,
        seq: u64,
        at_ms: u64,
        fact: Option<&Fact>,
        text: impl FnOnce(PartId) -> Option<Arc<str>>,
    ) {
        self.entries += 1;
        self.next_seq = seq.saturating_add(1);
        self.at_ms = at_ms;
        match fact {
            Some(Fact::ItemAdded { item, .. }) => self.saw_item(*item),
            Some(Fact::ModelCalled { call, .. }) => {
                self.turns += 1;
                self.next_model_call = self.next_model_call.max(call.0.saturating_add(1));
            }
            Some(Fact::ModelReplied { call, item, usage, .. }) => {
                self.saw_item(*item);
                self.usage = self.usage.plus(usage);
                self.model_calls_ended.push(*call);
            }
            Some(Fact::Intercepted(row)) => {
                self.next_passage = self.next_passage.max(row.sequence.saturating_add(1));
                self.message_denied = self.message_denied.take().or_else(|| message_denied(row));
            }
            Some(Fact::ReplyRefused { call, usage }) => {
                self.usage = self.usage.plus(usage);
                self.model_calls_ended.push(*call);
            }
            Some(Fact::ModelFailed { call, .. }) => self.model_calls_ended.push(*call),
            Some(Fact::ToolFinished { call, outcome, output, readers, .. }) => {
                let is_error = *outcome != ToolOutcomeKind::Succeeded;
                let finished = text(*output).map(|text| Finished {
                    call: *call,
                    text,
                    is_error,
                    readers: readers.clone(),
                });
                self.finished.extend(finished);
            }
            Some(Fact::CallProposed { call, .. }) => {
                self.next_call = self.next_call.max(call.0.saturating_add(1));
            }
            Some(Fact::ToolStarted { call, effect, redeems }) => {
                self.tool_calls += 1;
                if *effect != Effect::Pure || redeems.is_some() {
                    self.effects.push(*call);
                }
            }
            Some(Fact::ChildEnded { call, label, spent, ending, .. }) => {
                if let Some(Ending::MessageDenied(denied)) = ending {
                    self.message_denied.get_or_insert_with(|| denied.clone());
                }
                self.children.push((*call, label.clone(), spent.clone()));
            }
            Some(Fact::Denied { call, denial }) => self.denied.push((*call, denial.clone())),
            Some(Fact::ItemReplaced { .. }) => self.replaced = true,
            Some(_) | None => {}
        }
    }

    fn saw_item(&mut self, item: ItemId) {
        self.next_item = self.next_item.max(item.0.saturating_add(1));
    }
}

/// What a row says was refused, where the run could not go on from there.
fn message_denied(row: &Intercepted) -> Option<MessageDenied> {
    let ends_the_run = match row.point {
        Point::PreToolCall | Point::PostToolCall | Point::AgentShutdown => false,
        Point::AgentStartup | Point::Input | Point::PreModelCall | Point::PostModelCall | Point::Output => {
            true
        }
    };
    if !ends_the_run || row.mode == Enforcement::EvaluateOnly || row.verdict.permits() {
        return None;
    }
    let by = row.decided_by.and_then(|index| row.verdicts.iter().find(|said| said.index == index));
    let reason = words::line(row.verdict.reason().unwrap_or("no reason was given"));
    Some(MessageDenied {
        phase: row.point,
        interceptor: by.map(|said| said.interceptor.clone()),
        reason: reason.as_str().to_owned(),
    })
}

/// Why a stored run cannot be taken up by a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// It is another run.
    #[error("take up run `{stored}`: the task was put together for run `{given}`")]
    OtherRun {
        /// The stored run.
        stored: RunId,
        /// The task's.
        given: RunId,
    },
    /// It acts for somebody else.
    #[error("take up the run of `{stored}`: the task acts for `{given}`")]
    OtherPrincipal {
        /// For whom the stored run acts.
        stored: PrincipalId,
        /// For whom the task does.
        given: PrincipalId,
    },
    /// The tasks above are not the same.
    #[error("take up the run: the tasks above it are not those it was started by")]
    OtherAncestors,
    /// It asks another model.
    #[error("take up a run of the model `{stored}`: the task has `{given}`")]
    OtherModel {
        /// The stored run's.
        stored: ModelName,
        /// The task's.
        given: ModelName,
    },
    /// Somebody who was to be heard is not there any more.
    #[error("take up the run: the policy `{0}` judged it before and is gone")]
    PolicyGone(PolicyName),
    /// Somebody who looked at what passes is not there any more.
    #[error("take up the run: the interceptor `{0}` looked at it before and is gone")]
    InterceptorGone(InterceptorName),
    /// An effect stands in the record behind the checkpoint: there is a later one.
    #[error(
        "take up the run: call {0} has had an effect since this checkpoint, so there must be a later one"
    )]
    Older(CallId),
    /// It has ended.
    #[error("take up the run: it has ended")]
    Ended,
    /// The task is not sound.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

impl ResumeError {
    /// The next step to take.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::OtherRun { .. } => "take up the run whose checkpoint it is",
            Self::OtherPrincipal { .. } => "take it up for whom it was started",
            Self::OtherAncestors => "take it up below the tasks that have started it",
            Self::OtherModel { .. } => "take it up with the model that it was started with",
            Self::PolicyGone(_) => {
                "give the task that policy again; a run that goes on may only be judged more strictly"
            }
            Self::InterceptorGone(_) => {
                "give the task that interceptor again, at the points at which it was heard"
            }
            Self::Older(_) => "take up the last checkpoint of the run",
            Self::Ended => "start the task again",
            Self::Spec(_) => "mend the task",
        }
    }
}

impl Run {
    /// Takes a stored run up in a process that owes no outcome, for a task as it is now. `spec` is that task's.
    ///
    /// What waits is asked for again and what was running is settled by its effect, as by [`Run::abandon_outstanding`].
    /// Nothing becomes wider: everybody who judged before must still be there, limits only fall, a tool that the run did
    /// not have is not added, and a call for a tool that is gone or defined differently is denied. What the run reads, its
    /// parameters, its prices and what its record keeps stay as they were. Policies that have come are heard from now on.
    ///
    /// # Errors
    /// When the run is not this task's, or has gone on since it was stored. The run is then of no use.
    pub fn resume(&mut self, spec: &RunSpec, resumption: &Resumption) -> Result<(), ResumeError> {
        self.check_fits(spec)?;
        self.check_last(&resumption.left_behind)?;
        let paused_at_ms = self.state.ledger.now_ms();
        self.skip(&resumption.left_behind);
        self.state.ledger.advance(resumption.now_ms);
        if self.state.waiting_since_ms.is_none() {
            // Nobody worked for the run meanwhile.
            self.state.spent.waited_ms += self.state.ledger.now_ms().saturating_sub(paused_at_ms);
        }
        let tools = self.tools_changed(spec);
        self.state.ledger.fact(Fact::Resumed {
            checkpoint: resumption.checkpoint,
            left_behind: resumption.left_behind.entries,
            tools: tools.values().flatten().cloned().collect(),
        });
        for (id, label, spent) in &resumption.left_behind.children {
            self.count_child(*id, label, spent);
        }
        self.take_results(&resumption.left_behind);
        self.take_boundary(spec);
        // By the effects that the tools had when they were started.
        self.abandon_outstanding();
        self.take_tools(tools)?;
        self.state.spec.bench = spec.bench.clone();
        self.state.spec.limits = stricter(&self.state.spec.limits, &spec.limits);
        self.state.spec.delegates.clone_from(&spec.delegates);
        self.share_out_again();
        if let Some(denied) = resumption.left_behind.message_denied.clone() {
            // It was refused, and its process ended before it could say so.
            self.end(Ending::MessageDenied(denied));
        }
        self.state.ledger.require_durable();
        Ok(())
    }

    /// Who is heard now. What follows from what they say stays as it was, and so does what they can judge of a text that is
    /// still being written: whatever is looser now is not for this run.
    fn take_boundary(&mut self, spec: &RunSpec) {
        let stored = std::mem::take(&mut self.state.spec.boundary);
        let mut seats = spec.boundary.seats.clone();
        for seat in &mut seats {
            let before = stored.seats.iter().find(|before| before.name == seat.name);
            seat.window = before.map_or(seat.window, |before| before.window);
        }
        self.state.spec.boundary = BoundarySettings { seats, ..stored };
    }

    /// The questions that a person is asked now, in the order of their calls.
    pub fn questions(&self) -> impl Iterator<Item = &PendingCall> {
        self.state.calls.values().filter(|call| call.is_asking()).filter_map(|call| call.question.as_ref())
    }

    /// Takes a person's answer while no driver is at work for the run, and gives what its record must hear of it. Nothing else
    /// moves: what follows from the answer is for the driver that goes on.
    ///
    /// # Errors
    /// [`Unexpected`] when no open question is called like that.
    pub fn answer_at_rest(
        &mut self,
        now_ms: u64,
        binding: Digest,
        answer: Answer,
    ) -> Result<Vec<Emission>, Unexpected> {
        let is_meant = |call: &&mut Call| {
            call.is_asking() && call.question.as_ref().is_some_and(|question| question.binding() == binding)
        };
        let call = self.state.calls.values_mut().find(is_meant).ok_or(Unexpected)?;
        call.sent = true;
        let call = call.id;
        self.feed(now_ms, Outcome::Answered { call, binding, answer })?;
        self.events.clear();
        Ok(self.state.ledger.take().map(|(lines, _)| lines).unwrap_or_default())
    }

    /// Milliseconds since 1970 UTC when the run was started.
    #[must_use]
    pub const fn started_at_unix_ms(&self) -> u64 {
        self.state.spec.started_at_unix_ms
    }

    /// Entries that the run has handed out for its record.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.state.ledger.handed_out()
    }

    /// Milliseconds of the run's clock.
    #[must_use]
    pub const fn clock_ms(&self) -> u64 {
        self.state.ledger.now_ms()
    }

    fn check_fits(&self, spec: &RunSpec) -> Result<(), ResumeError> {
        let stored = &self.state.spec;
        if matches!(self.state.phase, Phase::Ended(_)) {
            return Err(ResumeError::Ended);
        }
        if stored.run != spec.run {
            return Err(ResumeError::OtherRun { stored: stored.run.clone(), given: spec.run.clone() });
        }
        if stored.principal != spec.principal {
            let (stored, given) = (stored.principal.clone(), spec.principal.clone());
            return Err(ResumeError::OtherPrincipal { stored, given });
        }
        let (before, now) = (stored.bench.levels(), spec.bench.levels());
        if stored.principals_above != spec.principals_above || before.len() != now.len() {
            return Err(ResumeError::OtherAncestors);
        }
        if stored.model != spec.model {
            return Err(ResumeError::OtherModel { stored: stored.model.clone(), given: spec.model.clone() });
        }
        for (before, now) in before.iter().zip(now) {
            if let Some(gone) = before.names().iter().find(|name| !now.names().contains(name)) {
                return Err(ResumeError::PolicyGone(gone.clone()));
            }
        }
        match stored.boundary.lost_in(&spec.boundary) {
            Some(gone) => Err(ResumeError::InterceptorGone(gone.clone())),
            None => Ok(()),
        }
    }

    /// Every start of a tool that may change something is kept in a checkpoint before the tool has its permit. One that this
    /// checkpoint does not know of was made after a later checkpoint.
    fn check_last(&self, left_behind: &LeftBehind) -> Result<(), ResumeError> {
        let known = |id: &CallId| self.state.calls.get(id).is_some_and(|call| call.may_have_started());
        match left_behind.effects.iter().find(|id| !known(id)) {
            Some(id) => Err(ResumeError::Older(*id)),
            None => Ok(()),
        }
    }

    fn skip(&mut self, behind: &LeftBehind) {
        let state = &mut self.state;
        state.ledger.skip_to(behind.next_seq, behind.at_ms);
        state.next_item = state.next_item.max(behind.next_item);
        state.next_call = state.next_call.max(behind.next_call);
        state.next_model_call = state.next_model_call.max(behind.next_model_call);
        state.next_passage = state.next_passage.max(behind.next_passage);
        state.spent.turns += behind.turns;
        state.spent.tool_calls += behind.tool_calls;
        state.spent.lost(&behind.usage);
        if behind.replaced {
            // The window that the record told last has other items in it than this run's, so the next is told whole.
            state.window_recorded = 0;
        }
        if let Phase::Model { call, wrap_up, .. } = state.phase
            && behind.model_calls_ended.contains(&call)
        {
            // The answer is lost and its number is taken.
            state.phase = Phase::Turn { wrap_up };
        }
    }

    /// What a tool brought back before the process ended is known, where the record keeps it whole. What was denied stays
    /// denied.
    fn take_results(&mut self, behind: &LeftBehind) {
        for (id, denial) in &behind.denied {
            if let Some(call) = self.state.calls.get_mut(id).filter(|call| !call.is_settled()) {
                let text = Arc::from(words::denied(denial, self.state.spec.denial_detail).as_str());
                call.enter(Stage::Settled(Settled { text, is_error: true, trusted: false }));
            }
        }
        for finished in &behind.finished {
            let came_back =
                |call: &&mut Call| call.may_have_started() || matches!(call.stage, Stage::Returning(_));
            let call = self.state.calls.get_mut(&finished.call).filter(came_back);
            if let Some(call) = call {
                let (text, is_error) = (Arc::clone(&finished.text), finished.is_error);
                (call.brought_for, call.vouched) = (finished.readers.clone(), Vec::new());
                call.enter(Stage::Settled(Settled { text, is_error, trusted: false }));
            }
        }
    }

    /// The tools of the run that are not what they were: gone, or as they are defined now.
    fn tools_changed(&self, spec: &RunSpec) -> BTreeMap<ToolName, Option<ToolSpec>> {
        let now = |name: &ToolName| spec.tools.iter().find(|tool| tool.name == *name);
        let changed = self.state.spec.tools.iter().filter(|tool| now(&tool.name) != Some(tool));
        changed.map(|tool| (tool.name.clone(), now(&tool.name).cloned())).collect()
    }

    fn take_tools(&mut self, changed: BTreeMap<ToolName, Option<ToolSpec>>) -> Result<(), ResumeError> {
        if changed.is_empty() {
            return Ok(());
        }
        let is_meant = |call: &&mut Call| changed.keys().any(|name| name.as_str() == call.tool);
        let mut to_deny = Vec::new();
        for call in self.state.calls.values_mut().filter(is_meant) {
            match &call.stage {
                // Its tool has had the permit: what is known of it is told, and it is not said that nothing ran.
                Stage::Reconciling(reconciling) => {
                    let otherwise = reconciling.otherwise.clone();
                    call.enter(Stage::Settled(otherwise));
                }
                Stage::Returning(_) | Stage::Settled(_) => {}
                Stage::Looking(_)
                | Stage::Resolving { .. }
                | Stage::Judging
                | Stage::Inheriting
                | Stage::Asking
                | Stage::Cleared
                | Stage::Reresolving
                | Stage::Rechecking
                | Stage::Redeeming
                | Stage::Permitted
                | Stage::Running => to_deny.push(call.id),
            }
        }
        for id in to_deny {
            let reason = "the tool is not any more the one that the call was made for".to_owned();
            self.deny(id, words::denial(DenialCode::ToolChanged, Seat::Targets, reason));
        }
        let as_now = |tool: &ToolSpec| match changed.get(&tool.name) {
            None => Some(tool.clone()),
            Some(now) => now.clone(),
        };
        self.state.spec.tools = self.state.spec.tools.iter().filter_map(as_now).collect();
        self.schemas = Arc::new(self.state.spec.check()?);
        Ok(())
    }
}

/// For each limit the stricter of both.
fn stricter(one: &Limits, other: &Limits) -> Limits {
    fn least<T: PartialOrd>(one: Option<T>, other: Option<T>) -> Option<T> {
        match (one, other) {
            (Some(one), Some(other)) => Some(if other < one { other } else { one }),
            (one, other) => one.or(other),
        }
    }
    Limits {
        turns_max: one.turns_max.min(other.turns_max),
        tool_calls_max: one.tool_calls_max.min(other.tool_calls_max),
        tool_calls_parallel_max: one.tool_calls_parallel_max.min(other.tool_calls_parallel_max),
        tokens_max: least(one.tokens_max, other.tokens_max),
        cost_usd_max: least(one.cost_usd_max, other.cost_usd_max),
        wall_ms_max: least(one.wall_ms_max, other.wall_ms_max),
        model_timeout_ms: one.model_timeout_ms.min(other.model_timeout_ms),
        tool_timeout_ms: one.tool_timeout_ms.min(other.tool_timeout_ms),
        judge_timeout_ms: one.judge_timeout_ms.min(other.judge_timeout_ms),
        tool_output_bytes_max: one.tool_output_bytes_max.min(other.tool_output_bytes_max),
        output_retries_max: one.output_retries_max.min(other.output_retries_max),
    }
}
