//! A call on its way to its permit: targets told, frozen, judged, asked about, judged again.

use std::sync::Arc;

use probity_contract::limits::{APPROVAL_TTL_S, THROWN_LINE_CHARS_MAX};
use probity_contract::{
    Answer, AnswerKind, Asker, CallFacts, CallId, Denial, DenialCode, Digest, Effect, Event, Fact,
    FrozenCall, Opinion, PendingCall, Said, Seat, Target, ToolError, Verdict,
};
use probity_egress::{Egress, SamePrincipal, Words, one_line_untrusted};

use super::call::{Call, Heard, Settled, Stage};
use super::places::limit;
use super::settling::EVENT_SUMMARY_CHARS_MAX;
use super::{Run, Unexpected, words};

impl Run {
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

    fn ask(&mut self, id: CallId, askers: Vec<Asker>) -> Result<(), Unexpected> {
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

    pub(super) fn deny(&mut self, id: CallId, denial: Denial) {
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
