//! A call on its way to its permit: targets told, frozen, judged, asked about, judged again.

use std::sync::Arc;

use probity_contract::limits::{APPROVAL_TTL_S, EDITS_MAX, QUESTIONS_PER_CALL_MAX, THROWN_LINE_CHARS_MAX};
use probity_contract::{
    Answer, AnswerKind, CallFacts, CallId, Denial, DenialCode, Digest, Effect, Event, Fact, FrozenCall,
    Grant, Opinion, PendingCall, PrincipalId, QuestionFacts, RedeemError, Redemption, Said, Seat, Target,
    ToolError, Touches, Verdict,
};
use probity_egress::{Egress, SamePrincipal, Words, one_line_untrusted};

use super::call::{Heard, RefusedForGood, Settled, Stage};
use super::places::limit;
use super::settling::EVENT_SUMMARY_CHARS_MAX;
use super::{Run, Unexpected, words};

impl Run {
    pub(super) fn resolved(
        &mut self,
        id: CallId,
        result: Result<Touches, ToolError>,
    ) -> Result<(), Unexpected> {
        let call = self.call_mut(id)?;
        let again = match (&call.stage, call.sent) {
            (Stage::Resolving { .. }, true) => None,
            (Stage::Reresolving, true) => call.frozen.clone(),
            _ => return Err(Unexpected),
        };
        let touches = match result {
            Ok(touches) => touches,
            // Also where the tool says that it was cancelled: a task that is has ended, and no outcome comes here.
            Err(error) => {
                let reason = words::line(&error.message).as_str().to_owned();
                self.deny(id, words::denial(DenialCode::TargetsFailed, Seat::Targets, reason));
                return Ok(());
            }
        };
        match again {
            None => self.freeze_with(id, touches),
            Some(frozen) if is_as_judged(&frozen, &touches) => {
                self.call_mut(id)?.enter(Stage::Rechecking);
                Ok(())
            }
            Some(_) => {
                let reason = "what the call touches has changed since it was judged".to_owned();
                self.deny(id, words::denial(DenialCode::TargetsChanged, Seat::Targets, reason));
                Ok(())
            }
        }
    }

    fn freeze_with(&mut self, id: CallId, touches: Touches) -> Result<(), Unexpected> {
        let (run, principal) = (self.state.spec.run.clone(), self.state.spec.principal.clone());
        let Stage::Resolving { tool, arguments } = self.call_mut(id)?.stage.clone() else {
            return Err(Unexpected);
        };
        let (label, arguments_from) = self.call_labels(&tool, &arguments);
        let tool_digest = self.state.spec.tool(tool.as_str()).map(probity_contract::ToolSpec::digest);
        let frozen = tool_digest.and_then(|tool_digest| {
            let Touches { targets, operands } = touches;
            let facts = CallFacts {
                run,
                call: id,
                principal,
                tool,
                tool_digest,
                arguments,
                targets,
                operands,
                arguments_from,
                label,
            };
            FrozenCall::freeze(facts).ok()
        });
        let Some(frozen) = frozen else {
            let reason = "the call could not be frozen".to_owned();
            self.deny(id, words::denial(DenialCode::TargetsFailed, Seat::Targets, reason));
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
            operands: frozen.operands().to_vec(),
            arguments_from: frozen.facts().arguments_from.clone(),
            label: frozen.facts().label.clone(),
        });
        self.events.push_back(Event::CallFrozen {
            call: id,
            tool: words::line(frozen.tool().as_str()),
            arguments: one_line_untrusted(frozen.arguments().as_str(), EVENT_SUMMARY_CHARS_MAX),
        });
        let refused = self.state.refused_for_good.iter().find(|refused| refused.request == frozen.request());
        if let Some(refused) = refused {
            let denial = words::denial(DenialCode::PersonRefused, Seat::Adjudicate, refused.reason.clone());
            self.deny(id, denial);
            return Ok(());
        }
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
        let bench = self.state.spec.bench.clone();
        let call = self.call_mut(id)?;
        if !call.sent || call.seat() != Some(seat) {
            return Err(Unexpected);
        }
        let heard = call.hear(seat, &opinions, &bench);
        let answered = call.is_answered();
        if seat != Seat::ExecuteRecheck {
            call.allowed_by.extend(allowed_by(&opinions));
        }
        self.state.ledger.fact(Fact::Judged { call: id, seat, opinions });
        match (heard, seat) {
            (Heard::Denied(denial), _) => self.deny(id, denial),
            (_, Seat::Adjudicate) if bench.has_ancestors() => {
                self.call_mut(id)?.enter(Stage::Inheriting);
            }
            (Heard::Ask(_), Seat::ExecuteRecheck) if answered => self.redeem_or_start(id)?,
            (Heard::Cleared, Seat::ExecuteRecheck) => self.redeem_or_start(id)?,
            _ => self.ask_or_clear(id, seat)?,
        }
        Ok(())
    }

    /// Puts a call whose first seats have spoken to a person, if anybody has asked and nothing answers it yet.
    fn ask_or_clear(&mut self, id: CallId, seat: Seat) -> Result<(), Unexpected> {
        let (askers, _) = self.call_mut(id)?.asked();
        if !askers.is_empty() {
            return self.ask(id, seat);
        }
        let by = Egress::join(std::mem::take(&mut self.call_mut(id)?.allowed_by), "; ");
        self.clear(id, by)
    }

    fn clear(&mut self, id: CallId, by: Egress<SamePrincipal>) -> Result<(), Unexpected> {
        self.call_mut(id)?.enter(Stage::Cleared);
        self.events.push_back(Event::CallAllowed { call: id, by });
        Ok(())
    }

    fn ask(&mut self, id: CallId, seat: Seat) -> Result<(), Unexpected> {
        let now = self.state.ledger.now_ms();
        let spec = &self.state.spec;
        let principals = std::iter::once(&spec.principal).chain(&spec.principals_above).cloned().collect();
        let call = self.call_mut(id)?;
        if call.questions >= QUESTIONS_PER_CALL_MAX {
            let reason = "a person was asked too often about this call".to_owned();
            self.deny(id, words::denial(DenialCode::NobodyToAsk, seat, reason));
            return Ok(());
        }
        call.questions += 1;
        call.waited = true;
        let number = call.questions;
        let (askers, epochs) = call.asked();
        let frozen = call.frozen.clone().ok_or(Unexpected)?;
        let (not_before_ms, expires_at_ms) = (now, now.saturating_add(APPROVAL_TTL_S * 1_000));
        let names = askers.iter().map(|asker| asker.policy.clone()).collect();
        let digest = frozen.digest();
        let question = PendingCall::put(QuestionFacts {
            call: frozen,
            seat,
            askers,
            epochs,
            principals,
            number,
            not_before_ms,
            expires_at_ms,
        });
        let binding = Some(question.binding());
        self.state.ledger.fact(Fact::Asked { call: id, digest, binding, askers: names, expires_at_ms });
        if let Some(grant) = self.state.remembered.iter_mut().find_map(|kept| kept.redeem(&question, now)) {
            return self.approved(id, &question, grant);
        }
        let call = self.call_mut(id)?;
        call.question = Some(question);
        call.enter(Stage::Asking);
        self.events.push_back(Event::Asking { call: id });
        Ok(())
    }

    /// Goes on with a call that a person has approved, now or before.
    fn approved(&mut self, id: CallId, question: &PendingCall, grant: Grant) -> Result<(), Unexpected> {
        let (digest, answer, by) = (question.binding(), AnswerKind::Approved, Some(grant.by().clone()));
        self.state.ledger.fact(Fact::Answered { call: id, digest, answer, by });
        let by = Words::new().text("approved by ").passed(&words::line(grant.by().as_str())).done();
        let call = self.call_mut(id)?;
        call.grant = Some(grant);
        call.question = None;
        self.clear(id, by)
    }

    pub(super) fn answered(&mut self, id: CallId, binding: Digest, answer: Answer) -> Result<(), Unexpected> {
        let now = self.state.ledger.now_ms();
        let question = self.state.calls.get(&id).filter(|call| call.stage == Stage::Asking && call.sent);
        let question = question.and_then(|call| call.question.clone());
        let Some(question) = question.filter(|question| question.binding() == binding) else {
            return self.void_answer(id, binding, answer);
        };
        let seat = question.facts().seat;
        let expired = now >= question.facts().expires_at_ms;
        let (kind, by, denial) = match answer {
            Answer::Approve { by, .. } | Answer::Edit { by, .. } if expired => {
                (AnswerKind::Void, Some(by), (DenialCode::Expired, "the answer came too late".to_owned()))
            }
            Answer::Nobody | Answer::Later if expired => {
                (AnswerKind::Void, None, (DenialCode::Expired, "nobody answered in time".to_owned()))
            }
            Answer::Approve { by, more } => {
                if more > 0 {
                    self.state.remembered.push(question.remember(by.clone(), more));
                }
                return self.approved(id, &question, question.approve(by));
            }
            Answer::Edit { by, arguments } => return self.edited(id, &question, by, &arguments),
            Answer::Refuse { by, reason, for_good } => {
                let reason = words::line(&reason).as_str().to_owned();
                if for_good {
                    let request = question.call().request();
                    self.state.refused_for_good.push(RefusedForGood { request, reason: reason.clone() });
                }
                (AnswerKind::Refused, Some(by), (DenialCode::PersonRefused, reason))
            }
            Answer::Later => return Ok(()),
            Answer::Nobody => {
                let reason = "a person must approve this call and there is nobody to ask".to_owned();
                (AnswerKind::Nobody, None, (DenialCode::NobodyToAsk, reason))
            }
        };
        self.state.ledger.fact(Fact::Answered { call: id, digest: binding, answer: kind, by });
        let (code, reason) = denial;
        self.deny(id, words::denial(code, seat, reason));
        Ok(())
    }

    /// Takes other arguments for a call from a person. They are checked like a model's, and judged like a model's.
    fn edited(
        &mut self,
        id: CallId,
        question: &PendingCall,
        by: PrincipalId,
        arguments: &str,
    ) -> Result<(), Unexpected> {
        let (digest, answer) = (question.binding(), AnswerKind::Edited);
        self.state.ledger.fact(Fact::Answered { call: id, digest, answer, by: Some(by) });
        let tool = question.call().tool().clone();
        let edits = self.call_mut(id)?.edits;
        let checked = match edits < EDITS_MAX {
            true => self.schemas.check_arguments(&tool, arguments),
            false => Err("the arguments were changed too often".to_owned()),
        };
        match checked {
            Ok(arguments) => {
                let provider_id = self.call_mut(id)?.provider_id.clone();
                // A changed call is a new one, for interceptors as well.
                let stage = self.look_at_call(id, &provider_id, tool, arguments);
                self.call_mut(id)?.edit(stage);
            }
            Err(why) => {
                let reason = words::line(&why).as_str().to_owned();
                self.deny(id, words::denial(DenialCode::EditRefused, Seat::EditRecheck, reason));
            }
        }
        Ok(())
    }

    /// Writes an answer down that nobody waits for. It moves nothing else, and is none for a call that never was.
    fn void_answer(&mut self, id: CallId, binding: Digest, answer: Answer) -> Result<(), Unexpected> {
        let by = match answer {
            Answer::Approve { by, .. } | Answer::Refuse { by, .. } | Answer::Edit { by, .. } => Some(by),
            Answer::Nobody | Answer::Later => None,
        };
        if (1..self.state.next_call).contains(&id.0) {
            let answer = AnswerKind::Void;
            self.state.ledger.fact(Fact::Answered { call: id, digest: binding, answer, by });
        }
        Err(Unexpected)
    }

    /// An approval is used up before the permit is made on it: of those who go on with one stored run, one succeeds.
    fn redeem_or_start(&mut self, id: CallId) -> Result<(), Unexpected> {
        let call = self.call_mut(id)?;
        match call.to_redeem() {
            Some(_) => {
                call.enter(Stage::Redeeming);
                Ok(())
            }
            None => self.start(id, None),
        }
    }

    pub(super) fn redeemed(
        &mut self,
        id: CallId,
        result: Result<Redemption, RedeemError>,
    ) -> Result<(), Unexpected> {
        let call = self.call_mut(id)?;
        if call.stage != Stage::Redeeming || !call.sent {
            return Err(Unexpected);
        }
        match result {
            Ok(redemption) => self.start(id, Some(redemption)),
            Err(error) => {
                let reason = words::line(&error.to_string()).as_str().to_owned();
                self.deny(id, words::denial(DenialCode::Redeemed, Seat::ExecuteRecheck, reason));
                Ok(())
            }
        }
    }

    /// Makes the permit and writes down that the tool starts; both come before the tool has it.
    fn start(&mut self, id: CallId, redemption: Option<Redemption>) -> Result<(), Unexpected> {
        // The policies may have taken what was left.
        if self.is_time_up() {
            self.deny(id, limit("the limit of time is reached"));
            return Ok(());
        }
        if let Some(denial) = self.no_children(id) {
            self.deny(id, denial);
            return Ok(());
        }
        let now = self.state.ledger.now_ms();
        let call = self.call_mut(id)?;
        let tool = call.tool.clone();
        let targets = call.frozen.iter().flat_map(|frozen| frozen.targets());
        let leaves_the_machine = targets.into_iter().any(|target| !matches!(target, Target::Path { .. }));
        match call.mint(redemption, now) {
            Err(denial) => self.deny(id, denial),
            Ok(redeems) => {
                call.enter(Stage::Permitted);
                call.started = true;
                self.state.spent.tool_calls += 1;
                let effect = self.state.spec.tool(&tool).map_or(Effect::Once, |tool| tool.effect);
                self.state.ledger.fact(Fact::ToolStarted { call: id, effect, redeems });
                if effect != Effect::Pure || leaves_the_machine || redeems.is_some() {
                    self.state.ledger.require_durable();
                }
                self.events.push_back(Event::ToolStarted { call: id });
            }
        }
        Ok(())
    }

    pub(super) fn deny(&mut self, id: CallId, denial: Denial) {
        let text = words::denied(&denial, self.state.spec.denial_detail);
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

fn is_as_judged(frozen: &FrozenCall, now: &Touches) -> bool {
    frozen.targets() == now.targets && frozen.operands() == now.operands
}

/// Who allowed a call and by which rule, for people.
fn allowed_by(opinions: &[Opinion]) -> Vec<Egress<SamePrincipal>> {
    let allows = opinions.iter().filter_map(|opinion| match &opinion.said {
        Said::Verdict(Verdict::Allow { reason }) => {
            let policy = words::line(opinion.policy.as_str());
            let reason = one_line_untrusted(reason, THROWN_LINE_CHARS_MAX);
            Some(Words::new().passed(&policy).text(": ").passed(&reason).done())
        }
        Said::Verdict(_) | Said::Failed(_) | Said::Cancelled => None,
    });
    allows.collect()
}
