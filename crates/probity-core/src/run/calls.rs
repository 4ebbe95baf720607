//! The calls of one reply: resolved, frozen, judged, asked about, judged again, run, answered.

use std::sync::Arc;

use probity_contract::limits::{APPROVAL_TTL_S, THROWN_LINE_CHARS_MAX};
use probity_contract::{
    Answer, AnswerKind, CallFacts, CallId, Content, Denial, DenialCode, Digest, Effect, Event, Fact,
    FrozenCall, Integrity, Label, LimitKind, Opinion, Origin, PendingCall, ProposedCall, Readers, Said, Seat,
    Target, ToolError, ToolErrorClass, ToolOutcomeKind, ToolOutput, Verdict,
};
use probity_egress::{Egress, SamePrincipal, Words, one_line_untrusted};

use super::call::{Call, Heard, Settled, Stage};
use super::{Phase, Run, Step, Unexpected, words};

/// Code points of a call's arguments and of a tool's result in an event.
const EVENT_SUMMARY_CHARS_MAX: usize = 240;

/// What of the limit of tool calls is there for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    /// One is kept for it.
    Kept,
    /// Earlier calls decide.
    Undecided,
    /// None is left.
    Taken,
}

impl Run {
    fn call_mut(&mut self, id: CallId) -> Result<&mut Call, Unexpected> {
        self.state.calls.get_mut(&id).ok_or(Unexpected)
    }

    /// Moves all calls as far as they go without an outcome, and the run on when all are settled.
    pub(super) fn progress_calls(&mut self) {
        let ids: Vec<CallId> = self.state.calls.keys().copied().collect();
        for id in &ids {
            self.take_place(*id);
        }
        let all_settled = self.state.calls.values().all(Call::is_settled);
        if !all_settled {
            return;
        }
        self.settle_batch();
        if self.state.calls_withheld {
            self.hit(LimitKind::ToolCalls);
            self.ask_to_wrap_up(LimitKind::ToolCalls);
        } else {
            self.state.phase = Phase::Turn { wrap_up: None };
        }
    }

    /// Gives a cleared call a place among those at work, if one is free and a tool call is left for it.
    fn take_place(&mut self, id: CallId) {
        if self.state.calls.get(&id).is_none_or(|call| call.stage != Stage::Cleared) {
            return;
        }
        let at_work = self.state.calls.values().filter(|call| call.is_at_work()).count();
        let free = at_work < self.state.spec.limits.tool_calls_parallel_max.max(1) as usize;
        if self.is_time_up() {
            return self.deny(id, limit("the limit of time is reached"));
        }
        match self.share_of(id) {
            Share::Taken => {
                self.state.calls_withheld = true;
                self.deny(id, limit("the limit of tool calls is reached"));
            }
            Share::Kept if free => {
                if let Some(call) = self.state.calls.get_mut(&id) {
                    call.enter(Stage::Rechecking);
                }
            }
            Share::Kept | Share::Undecided => {}
        }
    }

    /// Whether a tool call is left for this call.
    ///
    /// A scarce limit goes to the first calls of the reply: what is kept for a call does not depend on whose policies
    /// were heard first, or the same task would not give the same run. A call therefore waits while earlier ones that
    /// might still need what is left are undecided.
    fn share_of(&self, id: CallId) -> Share {
        let (mut undecided_before, mut started_after) = (0_u32, 0_u32);
        for call in self.state.calls.values() {
            if call.id < id && !call.started && !call.is_settled() {
                undecided_before += 1;
            }
            if call.id > id && call.started {
                started_after += 1;
            }
        }
        let max = self.state.spec.limits.tool_calls_max;
        let certain = self.state.spent.tool_calls.saturating_sub(started_after);
        if certain >= max {
            Share::Taken
        } else if certain + undecided_before < max {
            Share::Kept
        } else {
            Share::Undecided
        }
    }

    pub(super) fn hand_out_call_step(&mut self) -> Option<Step> {
        let now = self.state.ledger.now_ms();
        let limits = &self.state.spec.limits;
        let timeout_ms = self.state.spent.time_for(limits, limits.tool_timeout_ms, now);
        let waits =
            |call: &&mut Call| !call.sent && !matches!(call.stage, Stage::Running | Stage::Settled(_));
        for call in self.state.calls.values_mut().filter(waits) {
            let step = match (&call.stage, &call.frozen) {
                (Stage::Resolving { tool, arguments }, _) => {
                    Some(Step::Resolve { call: call.id, tool: tool.clone(), arguments: arguments.clone() })
                }
                (Stage::Judging, Some(frozen)) => {
                    Some(Step::Judge { call: Arc::clone(frozen), seat: Seat::Adjudicate })
                }
                (Stage::Rechecking, Some(frozen)) => {
                    Some(Step::Judge { call: Arc::clone(frozen), seat: Seat::ExecuteRecheck })
                }
                (Stage::Asking, _) => call.question.clone().map(|question| Step::Ask { question }),
                (Stage::Permitted, _) => {
                    call.take_permit().map(|permit| Step::RunTool { permit, timeout_ms })
                }
                (
                    Stage::Judging | Stage::Rechecking | Stage::Cleared | Stage::Running | Stage::Settled(_),
                    _,
                ) => None,
            };
            if let Some(step) = step {
                if call.stage == Stage::Permitted {
                    call.enter(Stage::Running);
                }
                call.sent = true;
                return Some(step);
            }
        }
        None
    }

    pub(super) fn resolved(
        &mut self,
        id: CallId,
        result: Result<Vec<Target>, ToolError>,
    ) -> Result<(), Unexpected> {
        let (run, principal) = (self.state.spec.run.clone(), self.state.spec.principal.clone());
        let label = self.state.label.clone();
        let call = self.call_mut(id)?;
        let (Stage::Resolving { tool, arguments }, true) = (&call.stage, call.sent) else {
            return Err(Unexpected);
        };
        let (tool, arguments) = (tool.clone(), arguments.clone());
        let targets = match result {
            Ok(targets) => targets,
            // Also where the tool says that it was cancelled: a task that is has ended, and no outcome comes here.
            Err(error) => {
                let reason = words::line(&error.message).as_str().to_owned();
                let denial =
                    Denial { code: DenialCode::TargetsFailed, seat: Seat::Targets, by: None, reason };
                self.deny(id, denial);
                return Ok(());
            }
        };
        let tool_digest = self.state.spec.tool(tool.as_str()).map(probity_contract::ToolSpec::digest);
        let frozen = tool_digest.and_then(|tool_digest| {
            let facts = CallFacts {
                run,
                call: id,
                principal,
                tool,
                tool_digest,
                arguments,
                targets,
                label: label.clone(),
            };
            FrozenCall::freeze(facts).ok()
        });
        let Some(frozen) = frozen else {
            let reason = "the call could not be frozen".to_owned();
            self.deny(id, Denial { code: DenialCode::TargetsFailed, seat: Seat::Targets, by: None, reason });
            return Ok(());
        };
        self.freeze(id, Arc::new(frozen))
    }

    fn freeze(&mut self, id: CallId, frozen: Arc<FrozenCall>) -> Result<(), Unexpected> {
        let arguments = self.state.ledger.part(frozen.arguments().as_str());
        self.state.ledger.fact(Fact::CallFrozen {
            call: id,
            digest: frozen.digest(),
            tool_digest: frozen.facts().tool_digest,
            arguments,
            targets: frozen.targets().to_vec(),
            label: frozen.facts().label.clone(),
        });
        self.events.push_back(Event::CallFrozen {
            call: id,
            tool: words::line(frozen.tool().as_str()),
            arguments: one_line_untrusted(frozen.arguments().as_str(), EVENT_SUMMARY_CHARS_MAX),
        });
        let call = self.call_mut(id)?;
        call.frozen = Some(frozen);
        call.enter(Stage::Judging);
        Ok(())
    }

    pub(super) fn judged(
        &mut self,
        id: CallId,
        seat: Seat,
        opinions: Vec<Opinion>,
    ) -> Result<(), Unexpected> {
        let roster = self.state.spec.roster.clone();
        let call = self.call_mut(id)?;
        match (&call.stage, seat, call.sent) {
            (Stage::Judging, Seat::Adjudicate, true) | (Stage::Rechecking, Seat::ExecuteRecheck, true) => {}
            _ => return Err(Unexpected),
        }
        let heard = call.hear(seat, &opinions, &roster);
        let allowed_by = match seat {
            Seat::Adjudicate => Some(allowed_by(&opinions, call)),
            Seat::Targets | Seat::ExecuteRecheck => None,
        };
        self.state.ledger.fact(Fact::Judged { call: id, seat, opinions });
        match (heard, seat) {
            (Heard::Denied(denial), _) => self.deny(id, denial),
            (Heard::Ask(askers), Seat::Adjudicate) => self.ask(id, askers)?,
            // Whether a person's grant covers who asks is for the permit to check.
            (Heard::Ask(_) | Heard::Cleared, Seat::Targets | Seat::ExecuteRecheck) => self.start(id)?,
            (Heard::Cleared, Seat::Adjudicate) => {
                self.call_mut(id)?.enter(Stage::Cleared);
                if let Some(by) = allowed_by {
                    self.events.push_back(Event::CallAllowed { call: id, by });
                }
            }
        }
        Ok(())
    }

    fn ask(&mut self, id: CallId, askers: Vec<probity_contract::Asker>) -> Result<(), Unexpected> {
        let expires_at_ms = self.state.ledger.now_ms().saturating_add(APPROVAL_TTL_S * 1_000);
        let call = self.call_mut(id)?;
        let frozen = call.frozen.clone().ok_or(Unexpected)?;
        let digest = frozen.digest();
        let names = askers.iter().map(|asker| asker.policy.clone()).collect();
        call.question = Some(PendingCall { call: frozen, askers, expires_at_ms });
        call.enter(Stage::Asking);
        self.state.ledger.fact(Fact::Asked { call: id, digest, askers: names, expires_at_ms });
        self.events.push_back(Event::Asking { call: id });
        Ok(())
    }

    pub(super) fn answered(&mut self, id: CallId, digest: Digest, answer: Answer) -> Result<(), Unexpected> {
        let now = self.state.ledger.now_ms();
        let question = self.state.calls.get(&id).filter(|call| call.stage == Stage::Asking && call.sent);
        let question = question.and_then(|call| call.question.clone());
        let Some(question) = question.filter(|question| question.call.digest() == digest) else {
            return self.void_answer(id, digest, answer);
        };
        let expired = now >= question.expires_at_ms;
        let denial = |code, reason: String| Denial { code, seat: Seat::Adjudicate, by: None, reason };
        let (kind, by, next) = match answer {
            Answer::Approve { by } if expired => (
                AnswerKind::Void,
                Some(by),
                Err(denial(DenialCode::Expired, "the answer came too late".to_owned())),
            ),
            Answer::Approve { by } => (AnswerKind::Approved, Some(by.clone()), Ok(question.approve(by))),
            Answer::Refuse { by, reason } => {
                let reason = words::line(&reason).as_str().to_owned();
                (AnswerKind::Refused, Some(by), Err(denial(DenialCode::PersonRefused, reason)))
            }
            Answer::Nobody if expired => (
                AnswerKind::Void,
                None,
                Err(denial(DenialCode::Expired, "nobody answered in time".to_owned())),
            ),
            Answer::Nobody => {
                let reason = "a person must approve this call and there is nobody to ask".to_owned();
                (AnswerKind::Nobody, None, Err(denial(DenialCode::NobodyToAsk, reason)))
            }
        };
        self.state.ledger.fact(Fact::Answered { call: id, digest, answer: kind, by });
        match next {
            Err(denial) => self.deny(id, denial),
            Ok(grant) => {
                let by = Words::new().text("approved by ").passed(&words::line(grant.by().as_str())).done();
                let call = self.call_mut(id)?;
                call.grant = Some(grant);
                call.question = None;
                call.enter(Stage::Cleared);
                self.events.push_back(Event::CallAllowed { call: id, by });
            }
        }
        Ok(())
    }

    fn is_time_up(&self) -> bool {
        let now = self.state.ledger.now_ms();
        self.state.spent.time_for(&self.state.spec.limits, u64::MAX, now) == 0
    }

    /// Writes an answer down that nobody waits for. It moves nothing else, and is none for a call that never was.
    fn void_answer(&mut self, id: CallId, digest: Digest, answer: Answer) -> Result<(), Unexpected> {
        let by = match answer {
            Answer::Approve { by } | Answer::Refuse { by, .. } => Some(by),
            Answer::Nobody => None,
        };
        if (1..self.state.next_call).contains(&id.0) {
            self.state.ledger.fact(Fact::Answered { call: id, digest, answer: AnswerKind::Void, by });
        }
        Err(Unexpected)
    }

    /// Makes the permit and writes down that the tool starts; both come before the tool has it.
    fn start(&mut self, id: CallId) -> Result<(), Unexpected> {
        // The policies may have taken what was left.
        if self.is_time_up() {
            self.deny(id, limit("the limit of time is reached"));
            return Ok(());
        }
        let now = self.state.ledger.now_ms();
        let call = self.call_mut(id)?;
        let tool = call.tool.clone();
        let targets = call.frozen.iter().flat_map(|frozen| frozen.targets());
        let leaves_the_machine = targets.into_iter().any(|target| !matches!(target, Target::Path { .. }));
        match call.mint(now) {
            Err(denial) => self.deny(id, denial),
            Ok(()) => {
                call.enter(Stage::Permitted);
                call.started = true;
                self.state.spent.tool_calls += 1;
                let effect = self.state.spec.tool(&tool).map_or(Effect::Once, |tool| tool.effect);
                self.state.ledger.fact(Fact::ToolStarted { call: id, effect });
                if effect != Effect::Pure || leaves_the_machine {
                    self.state.ledger.require_durable();
                }
                self.events.push_back(Event::ToolStarted { call: id });
            }
        }
        Ok(())
    }

    pub(super) fn tool_finished(
        &mut self,
        id: CallId,
        result: Result<ToolOutput, ToolError>,
        output_bytes: u64,
        ran_ms: u64,
    ) -> Result<(), Unexpected> {
        let call = self.call_mut(id)?;
        if call.stage != Stage::Running {
            return Err(Unexpected);
        }
        let tool = call.tool.clone();
        let (settled, outcome) = match result {
            Ok(output) => {
                let settled = Settled { text: output.text.into(), is_error: false, trusted: output.trusted };
                (settled, ToolOutcomeKind::Succeeded)
            }
            Err(error) => {
                let pure = self.state.spec.tool(&tool).is_some_and(|tool| tool.effect == Effect::Pure);
                let text = Arc::from(words::tool_failed(&error, pure).as_str());
                (Settled { text, is_error: true, trusted: false }, outcome_kind(error.class, pure))
            }
        };
        self.finish(id, settled, outcome, output_bytes, ran_ms);
        Ok(())
    }

    fn finish(
        &mut self,
        id: CallId,
        settled: Settled,
        outcome: ToolOutcomeKind,
        output_bytes: u64,
        ran_ms: u64,
    ) {
        let output = self.state.ledger.part(&settled.text);
        self.state.ledger.fact(Fact::ToolFinished { call: id, outcome, output, output_bytes, ran_ms });
        let summary = one_line_untrusted(&settled.text, EVENT_SUMMARY_CHARS_MAX);
        self.events.push_back(Event::ToolFinished { call: id, ok: !settled.is_error, summary, ran_ms });
        if let Some(call) = self.state.calls.get_mut(&id) {
            call.enter(Stage::Settled(settled));
        }
    }

    fn deny(&mut self, id: CallId, denial: Denial) {
        let text = words::denied(&denial);
        self.events.push_back(Event::CallDenied {
            call: id,
            code: denial.code,
            by: denial.by.as_ref().map(|policy| words::line(policy.as_str())),
            reason: words::line(&denial.reason),
        });
        self.state.ledger.fact(Fact::Denied { call: id, denial });
        if let Some(call) = self.state.calls.get_mut(&id) {
            let text = Arc::from(text.as_str());
            call.enter(Stage::Settled(Settled { text, is_error: true, trusted: false }));
        }
    }

    /// Gives every call of the reply its result item, in the order of proposal.
    pub(super) fn settle_batch(&mut self) {
        for (id, call) in std::mem::take(&mut self.state.calls) {
            let settled = match call.stage {
                Stage::Settled(settled) => settled,
                Stage::Resolving { .. }
                | Stage::Judging
                | Stage::Asking
                | Stage::Cleared
                | Stage::Rechecking
                | Stage::Permitted
                | Stage::Running => Settled {
                    text: Arc::from(words::not_run(false).as_str()),
                    is_error: true,
                    trusted: false,
                },
            };
            let integrity = if settled.trusted { Integrity::Trusted } else { Integrity::Untrusted };
            let content = Content::ToolResult {
                call: id,
                provider_id: call.provider_id,
                tool: call.tool,
                text: settled.text,
                is_error: settled.is_error,
            };
            self.add_item(Origin::Tool(id), Label { integrity, readers: Readers::Everyone }, content);
        }
        self.settle_surplus();
    }

    /// Answers the calls over the limit of one reply, all with the same words: how many there are is up to the model.
    fn settle_surplus(&mut self) {
        let text: Arc<str> = Arc::from(words::rejected("too many calls in one reply").as_str());
        for (call, ProposedCall { provider_id, name: tool, .. }) in std::mem::take(&mut self.state.surplus) {
            let content =
                Content::ToolResult { call, provider_id, tool, text: Arc::clone(&text), is_error: true };
            let label = Label { integrity: Integrity::Untrusted, readers: Readers::Everyone };
            self.add_item(Origin::Tool(call), label, content);
        }
    }

    /// Settles whatever is open when the run ends, and gives every call its result item.
    pub(super) fn close_open_calls(&mut self, cancelled: bool) {
        let open = self.state.calls.values().filter(|call| !call.is_settled());
        let open: Vec<(CallId, Stage, String)> =
            open.map(|call| (call.id, call.stage.clone(), call.tool.clone())).collect();
        for (id, stage, tool) in open {
            let text = Arc::from(words::not_run(cancelled).as_str());
            let not_run = Settled { text, is_error: true, trusted: false };
            match stage {
                Stage::Running => {
                    let effect = self.state.spec.tool(&tool).map_or(Effect::Once, |tool| tool.effect);
                    self.finish_cut_off(id, effect);
                }
                // The start stands in the record, but the tool never had the permit.
                Stage::Permitted => {
                    let outcome = ToolOutcomeKind::Failed(ToolErrorClass::Unavailable);
                    self.finish(id, not_run, outcome, 0, 0);
                }
                Stage::Resolving { .. }
                | Stage::Judging
                | Stage::Asking
                | Stage::Cleared
                | Stage::Rechecking => {
                    if let Some(call) = self.state.calls.get_mut(&id) {
                        call.enter(Stage::Settled(not_run));
                    }
                }
                Stage::Settled(_) => {}
            }
        }
        self.settle_batch();
    }

    /// Makes calls whole that were read back: a permit is not stored.
    pub(super) fn restore_calls(&mut self) {
        for id in self.calls_at(&Stage::Permitted) {
            if self.state.ledger.withdraw_start(id) {
                self.judge_again(id);
            } else {
                // The record tells of the start, so the tool may have had the permit.
                self.settle_unknown(id);
            }
        }
    }

    /// Hands steps out again whose outcomes nobody owes any more, and settles the calls that were running.
    pub(super) fn abandon_calls(&mut self) {
        for id in self.calls_at(&Stage::Running) {
            self.settle_unknown(id);
        }
        self.state.calls.values_mut().for_each(|call| call.sent = false);
    }

    fn calls_at(&self, stage: &Stage) -> Vec<CallId> {
        self.state.calls.values().filter(|call| call.stage == *stage).map(|call| call.id).collect()
    }

    fn judge_again(&mut self, id: CallId) {
        if let Some(call) = self.state.calls.get_mut(&id) {
            call.judge_again();
            // One call counts once, however often it is tried.
            self.state.spent.tool_calls = self.state.spent.tool_calls.saturating_sub(1);
        }
    }

    /// Settles a call of which nobody knows whether it had its effect, as the effect allows.
    fn settle_unknown(&mut self, id: CallId) {
        let Some(call) = self.state.calls.get(&id) else { return };
        let effect = self.state.spec.tool(&call.tool).map_or(Effect::Once, |tool| tool.effect);
        self.finish_cut_off(id, effect);
        match effect {
            Effect::Pure | Effect::Idempotent => self.judge_again(id),
            Effect::Reconcile | Effect::Once => {}
        }
    }

    fn finish_cut_off(&mut self, id: CallId, effect: Effect) {
        let pure = effect == Effect::Pure;
        let text = Arc::from(words::cut_off(pure).as_str());
        let outcome = outcome_kind(ToolErrorClass::Cancelled, pure);
        self.finish(id, Settled { text, is_error: true, trusted: false }, outcome, 0, 0);
    }

    /// Keeps count of the time in which the run only waits for people.
    pub(super) fn measure_waiting(&mut self) {
        let calls = self.state.calls.values();
        let open = calls.filter(|call| !call.is_settled() && call.stage != Stage::Cleared);
        let (mut asking, mut working) = (false, false);
        open.for_each(|call| if call.stage == Stage::Asking { asking = true } else { working = true });
        let only_waits = asking && !working;
        let now = self.state.ledger.now_ms();
        match (only_waits, self.state.waiting_since_ms) {
            (true, None) => self.state.waiting_since_ms = Some(now),
            (false, Some(since)) => {
                self.state.spent.waited_ms += now.saturating_sub(since);
                self.state.waiting_since_ms = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
}

fn limit(words: &str) -> Denial {
    Denial { code: DenialCode::Limit, seat: Seat::ExecuteRecheck, by: None, reason: words.to_owned() }
}

fn outcome_kind(class: ToolErrorClass, pure: bool) -> ToolOutcomeKind {
    match class {
        ToolErrorClass::TimedOut | ToolErrorClass::Cancelled | ToolErrorClass::Panicked if !pure => {
            ToolOutcomeKind::Unknown(class)
        }
        ToolErrorClass::TimedOut
        | ToolErrorClass::Cancelled
        | ToolErrorClass::Panicked
        | ToolErrorClass::InvalidArguments
        | ToolErrorClass::Refused
        | ToolErrorClass::NotFound
        | ToolErrorClass::Failed
        | ToolErrorClass::Unavailable => ToolOutcomeKind::Failed(class),
    }
}

/// Who allowed a call and by which rule, for people.
fn allowed_by(opinions: &[Opinion], call: &Call) -> Egress<SamePrincipal> {
    let allows = opinions.iter().filter_map(|opinion| match &opinion.said {
        Said::Verdict(Verdict::Allow { reason }) => {
            let policy = words::line(opinion.policy.as_str());
            let reason = one_line_untrusted(reason, THROWN_LINE_CHARS_MAX);
            Some(Words::new().passed(&policy).text(": ").passed(&reason).done())
        }
        Said::Verdict(_) | Said::Failed(_) | Said::Cancelled => None,
    });
    let grant = call
        .grant
        .as_ref()
        .map(|grant| Words::new().text("approved by ").passed(&words::line(grant.by().as_str())).done());
    Egress::join(allows.chain(grant), "; ")
}
