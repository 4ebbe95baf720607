//! Plays a recorded run again: the same machine, told the same outcomes, must write the same record.
//!
//! Nothing is asked and nothing runs: every outcome comes from the record. So it shows that a record is what this machine
//! makes of what came from outside, byte for byte; where it is not, the first line that differs is said.
#![expect(clippy::wildcard_enum_match_arm, reason = "each question here is about a few facts of many")]

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use probity_contract::{
    Answer, AnswerKind, Bench, Body, CallId, Content, ContentSetting, DenialCode, DenialDetail, Digest,
    Emission, Ending, Entry, Fact, Integrity, Kept, ModelCallId, ModelError, ModelReply, Origin, PartId,
    Reconciled, ReconciledKind, Redemption, ReplyPart, Roster, RunStarted, Seat, Target, ToolChoice,
    ToolError, ToolErrorClass, ToolOutcomeKind, ToolOutput, Touches,
};

use super::call::{Came, Settled, Stage};
use super::{FirstItem, Outcome, Run, RunSpec, SpecError, Step, Unexpected};
use crate::MemoryRedeemer;
use crate::boundary::BoundarySettings;

/// Why a run cannot be played again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The record does not hold every text in full, or not its beginning.
    #[error("replay the run: its record does not hold every text in full")]
    TextNotKept,
    /// Something in it follows from what a record does not say.
    #[error(
        "replay the run: entry {seq} is of {what}, and a record does not say all that this followed from"
    )]
    NotTold {
        /// The entry.
        seq: u64,
        /// What it is.
        what: &'static str,
    },
    /// What the run was given cannot be run by this program.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The machine makes something else of what came.
    #[error("replay the run: what follows differs from the record at entry {seq}")]
    Differs {
        /// The first entry that does.
        seq: u64,
    },
}

/// Plays a run again whose record has these lines, and gives the lines that the machine writes now.
///
/// What always holds: if it gives anything, its entries are those of the record in their order, and every text is one of the record's.
/// Texts may come in in any order. No model, tool, policy or person is asked.
///
/// # Errors
/// When the record does not say enough (texts that were not kept, interceptors, tasks that calls started, a run that was taken
/// up from a checkpoint), or the machine writes something else.
pub fn replay(lines: &[Emission]) -> Result<Vec<Emission>, ReplayError> {
    let told = Told::of(lines)?;
    // A record does not say how much the model reads of a denial; one of two it is.
    let mut differs = ReplayError::Differs { seq: 0 };
    for detail in [DenialDetail::Reason, DenialDetail::Code] {
        let mut player = Player::new(&told, detail, None)?;
        match player.play() {
            Ok(()) => return Ok(player.written),
            Err(error) => differs = error,
        }
        // Nor does it say between which two steps a cancellation came; it was shortly before what nothing else explains.
        for tick in told
            .is_cancelled()
            .then(|| player.tick.saturating_sub(CANCEL_TICKS_MAX)..=player.tick)
            .into_iter()
            .flatten()
        {
            let mut player = Player::new(&told, detail, Some(tick))?;
            if player.play().is_ok() {
                return Ok(player.written);
            }
        }
    }
    Err(differs)
}

/// Steps of the machine between a cancellation and the first entry that shows it.
const CANCEL_TICKS_MAX: usize = 32;

/// What a record tells.
struct Told<'l> {
    entries: Vec<&'l Entry>,
    parts: HashMap<PartId, &'l str>,
    started: &'l RunStarted,
}

impl<'l> Told<'l> {
    fn of(lines: &'l [Emission]) -> Result<Self, ReplayError> {
        let (mut entries, mut parts) = (Vec::new(), HashMap::new());
        for line in lines {
            match line {
                Emission::Entry(entry) => entries.push(entry),
                Emission::Part(part) => match &part.kept {
                    Kept::Full(text) => _ = parts.insert(part.id, text.as_ref()),
                    Kept::Redacted(_) | Kept::Length(_) => return Err(ReplayError::TextNotKept),
                },
            }
        }
        for entry in &entries {
            if let Some(what) = untold(&entry.fact) {
                return Err(ReplayError::NotTold { seq: entry.seq, what });
            }
        }
        let Some(Fact::RunStarted(started)) = entries.first().map(|entry| &entry.fact) else {
            return Err(ReplayError::TextNotKept);
        };
        if started.content != ContentSetting::Full {
            return Err(ReplayError::TextNotKept);
        }
        Ok(Self { entries, parts, started })
    }

    fn is_cancelled(&self) -> bool {
        let last = self.entries.last().map(|entry| &entry.fact);
        matches!(last, Some(Fact::Ended { ending: Ending::Cancelled, .. }))
    }

    fn text(&self, part: PartId) -> Result<&'l str, ReplayError> {
        self.parts.get(&part).copied().ok_or(ReplayError::TextNotKept)
    }

    fn content(&self, body: &Body) -> Result<Content, ReplayError> {
        let text = |part: &PartId| self.text(*part).map(Arc::from);
        Ok(match body {
            Body::Instructions { text: part } => Content::Instructions(text(part)?),
            Body::Person { text: part } => Content::Person(text(part)?),
            Body::Context { name, text: part } => Content::Context { name: name.clone(), text: text(part)? },
            Body::Notice { text: part } => Content::Notice(text(part)?),
            Body::ToolResult { call, provider_id, tool, text: part, is_error } => Content::ToolResult {
                call: *call,
                provider_id: provider_id.clone(),
                tool: tool.clone(),
                text: text(part)?,
                is_error: *is_error,
            },
            Body::Reply { parts } => Content::Reply(self.parts_of(parts)?.into()),
        })
    }

    fn parts_of(&self, parts: &[PartId]) -> Result<Vec<ReplyPart>, ReplayError> {
        let read =
            |part: &PartId| serde_json::from_str(self.text(*part)?).map_err(|_| ReplayError::TextNotKept);
        parts.iter().map(read).collect()
    }

    /// The facts from an entry on.
    fn facts_from(&self, at: usize) -> impl Iterator<Item = &'l Fact> {
        self.entries.iter().skip(at).map(|entry| &entry.fact)
    }

    /// What the run was given, as far as a record says it.
    fn spec(&self, denial_detail: DenialDetail) -> Result<RunSpec, ReplayError> {
        let started = self.started;
        let mut items = Vec::new();
        let mut first_tool_choice = ToolChoice::Auto;
        for fact in self.facts_from(1) {
            match fact {
                Fact::ItemAdded { origin, label, body, .. } => items.push(FirstItem {
                    origin: *origin,
                    label: label.clone(),
                    content: self.content(body)?,
                }),
                Fact::ModelCalled { tool_choice, tools_offered: true, .. } => {
                    first_tool_choice = tool_choice.clone();
                    break;
                }
                _ => break,
            }
        }
        let roster = Roster::new(started.policies.clone());
        let roster = roster.map_err(|_| ReplayError::NotTold { seq: 0, what: "two policies of one name" })?;
        Ok(RunSpec {
            run: started.run.clone(),
            title: started.title.clone(),
            principal: started.principal.clone(),
            model: started.model.clone(),
            prices: started.prices,
            params: Arc::new(started.params.clone()),
            tools: started.tools.clone().into(),
            first_tool_choice,
            principals_above: Vec::new(),
            parent: None,
            delegates: BTreeMap::new(),
            bench: Bench::of(roster),
            boundary: BoundarySettings::default(),
            limits: started.limits.clone(),
            denial_detail,
            content: started.content,
            items,
            started_at_unix_ms: started.started_at_unix_ms,
        })
    }
}

/// What a record does not say enough of to be played again.
fn untold(fact: &Fact) -> Option<&'static str> {
    match fact {
        Fact::RunStarted(started) if !started.inherited.is_empty() || started.parent.is_some() => {
            Some("a task that a call has started")
        }
        Fact::RunStarted(started) if started.imported.is_some() => Some("another program's run"),
        Fact::Intercepted(_) | Fact::ItemReplaced { .. } | Fact::ReplyRefused { .. } => Some("interceptors"),
        Fact::ChildEnded { .. } => Some("a task that a call has started"),
        Fact::Resumed { .. } => Some("a checkpoint"),
        Fact::Foreign { .. } => Some("another program's run"),
        Fact::Ended { ending: Ending::RecordFailed { .. } | Ending::MessageDenied(_), .. } => {
            Some("an ending from outside of the run")
        }
        _ => None,
    }
}

/// What the machine waits for.
#[derive(Debug, Clone, PartialEq)]
enum Owed {
    Model(ModelCallId),
    Touches(CallId),
    Opinions(CallId, Seat),
    Answer(CallId, Digest),
    Result(CallId),
    Reconciled(CallId),
}

struct Player<'t> {
    told: &'t Told<'t>,
    run: Run,
    written: Vec<Emission>,
    entries: usize,
    owed: Vec<Owed>,
    redeemer: MemoryRedeemer,
    // Steps and outcomes so far, and before which of them the task is cancelled.
    tick: usize,
    cancel_at: Option<usize>,
}

impl<'t> Player<'t> {
    fn new(told: &'t Told<'t>, detail: DenialDetail, cancel_at: Option<usize>) -> Result<Self, ReplayError> {
        let run = Run::new(told.spec(detail)?)?;
        let (written, owed, redeemer) = (Vec::new(), Vec::new(), MemoryRedeemer::new());
        Ok(Self { told, run, written, entries: 0, owed, redeemer, tick: 0, cancel_at })
    }

    /// Plays until the record or the run ends; what is written is the record's own beginning all the while.
    fn play(&mut self) -> Result<(), ReplayError> {
        let mut refused_at = None;
        loop {
            if self.cancel_at == Some(self.tick) {
                let at = usize::try_from(self.run.state.ledger.entries()).unwrap_or(usize::MAX);
                let next = self.told.entries.get(at).ok_or_else(|| self.differs())?;
                self.run.feed(next.at_ms, Outcome::Cancelled).map_err(|_| self.differs())?;
            }
            self.tick = self.tick.saturating_add(1);
            match self.run.next() {
                None => {
                    // A record that broke off ends where it ends.
                    let Some(next) = self.told.entries.get(self.entries).copied() else { return Ok(()) };
                    // An answer that nobody waits for is refused and written down all the same; anything else is not.
                    if refused_at == Some(self.entries) {
                        return Err(self.differs());
                    }
                    let outcome = self.outcome(next)?;
                    refused_at = self.feed(next.at_ms, outcome).is_err().then_some(self.entries);
                    self.feed_what_came_at_once();
                }
                Some(Step::Done(_)) if self.entries == self.told.entries.len() => return Ok(()),
                Some(Step::Done(_)) => return Err(self.differs()),
                Some(step) => self.carry_out(step)?,
            }
        }
    }

    /// Whether a line is the record's: the next entry, or a text that stands somewhere in it.
    fn is_told(&self, line: &Emission) -> bool {
        match line {
            Emission::Entry(entry) => self.told.entries.get(self.entries).is_some_and(|told| *told == entry),
            Emission::Part(part) => match &part.kept {
                Kept::Full(text) => self.told.parts.get(&part.id).is_some_and(|told| *told == text.as_ref()),
                Kept::Redacted(_) | Kept::Length(_) => false,
            },
        }
    }

    fn is_broken_off(&self) -> bool {
        !matches!(self.told.entries.last().map(|entry| &entry.fact), Some(Fact::Ended { .. }))
    }

    fn differs(&self) -> ReplayError {
        ReplayError::Differs { seq: self.entries as u64 }
    }

    /// Answers that nobody waited for and that came before the machine went on.
    fn feed_what_came_at_once(&mut self) {
        loop {
            let before = self.run.state.ledger.entries();
            let next = usize::try_from(before).ok().and_then(|at| self.told.entries.get(at));
            let Some(Entry { at_ms, fact, .. }) = next else { return };
            let Fact::Answered { call, digest, answer: AnswerKind::Void, by } = fact else { return };
            if self.owed.contains(&Owed::Answer(*call, *digest)) {
                return;
            }
            let answer = by.clone().map_or(Answer::Nobody, |by| Answer::Approve { by, more: 0 });
            let outcome = Outcome::Answered { call: *call, binding: *digest, answer };
            let _refused = self.run.feed(*at_ms, outcome);
            if self.run.state.ledger.entries() == before {
                return;
            }
        }
    }

    fn feed(&mut self, now_ms: u64, next: Next) -> Result<(), Unexpected> {
        match next {
            Next::Outcome(outcome) => self.run.feed(now_ms, outcome),
            Next::Result { call, settled, came } => self.run.finish_as_recorded(now_ms, call, settled, came),
        }
    }

    fn carry_out(&mut self, step: Step) -> Result<(), ReplayError> {
        match step {
            Step::Record { lines, .. } => {
                for line in lines {
                    // A record that broke off may end within one hand-over.
                    if self.entries == self.told.entries.len() && self.is_broken_off() {
                        break;
                    }
                    if !self.is_told(&line) {
                        return Err(self.differs());
                    }
                    self.entries += usize::from(matches!(line, Emission::Entry(_)));
                    self.written.push(line);
                }
            }
            Step::CallModel { call, .. } => self.owed.push(Owed::Model(call)),
            Step::Resolve { call, .. } => self.owed.push(Owed::Touches(call)),
            Step::Judge { call, seat } => self.owed.push(Owed::Opinions(call.id(), seat)),
            Step::Ask { question } => {
                self.owed.push(Owed::Answer(question.call().id(), question.binding()));
            }
            Step::RunTool { permit, .. } => self.owed.push(Owed::Result(permit.call().id())),
            Step::Reconcile { call } => self.owed.push(Owed::Reconciled(call.id())),
            Step::Redeem { call, binding } => {
                let result = Redemption::claim(&self.redeemer, &call.facts().run, binding);
                let outcome = Outcome::Redeemed { call: call.id(), result };
                let now_ms = self.run.clock_ms();
                self.run.feed(now_ms, outcome).map_err(|_| self.differs())?;
            }
            Step::Notify(_) | Step::Release { .. } | Step::Done(_) => {}
            Step::Intercept { .. } | Step::Identify { .. } | Step::Consult { .. } => {
                return Err(self.differs());
            }
        }
        Ok(())
    }

    fn takes(&mut self, owed: &Owed) -> bool {
        let at = self.owed.iter().position(|open| open == owed);
        at.map(|at| self.owed.remove(at)).is_some()
    }

    /// What must have come for this entry to be written next.
    fn outcome(&mut self, next: &'t Entry) -> Result<Next, ReplayError> {
        let made = match &next.fact {
            Fact::ItemAdded { origin: Origin::Model(call), .. } => self.replied(*call)?,
            Fact::ModelReplied { call, .. } => self.replied(*call)?,
            Fact::ModelFailed { call, class, error } => {
                let result = Err(ModelError::new(*class, error.clone()));
                self.takes(&Owed::Model(*call)).then_some(Outcome::ModelReplied { call: *call, result })
            }
            Fact::CallFrozen { call, .. } => self.resolved(*call, self.touches(*call)),
            Fact::Judged { call, seat, opinions } => {
                if self.takes(&Owed::Opinions(*call, *seat)) {
                    Some(Outcome::Judged { call: *call, seat: *seat, opinions: opinions.clone() })
                } else {
                    self.resolved(*call, self.touches_before(*call))
                }
            }
            Fact::ToolStarted { call, .. } => self.resolved(*call, self.touches_before(*call)),
            Fact::Denied { call, denial } => match denial.code {
                DenialCode::TargetsFailed => {
                    let error = ToolError::new(ToolErrorClass::Unavailable, denial.reason.clone());
                    let result = Err(error);
                    self.takes(&Owed::Touches(*call)).then_some(Outcome::Resolved { call: *call, result })
                }
                DenialCode::TargetsChanged => self.resolved(*call, self.other_touches(*call)),
                _ => self.resolved(*call, self.touches_before(*call)),
            },
            Fact::Answered { call, digest, answer, by } => {
                self.answered(*call, *digest, *answer, by.as_ref())?
            }
            Fact::ToolFinished { call, .. } if self.takes(&Owed::Result(*call)) => {
                return self.finished(next);
            }
            Fact::Reconciled { call, found } => self.reconciled(*call, *found)?,
            Fact::Shadowed { call, seat, policy, said } => Some(Outcome::Shadowed {
                call: *call,
                seat: *seat,
                policy: policy.clone(),
                said: said.clone(),
            }),
            Fact::FailureReported { call, seat, who, error } => Some(Outcome::FailureReported {
                call: *call,
                seat: *seat,
                who: who.clone(),
                error: error.clone(),
            }),
            _ => None,
        };
        made.map(Next::Outcome).ok_or_else(|| self.differs())
    }

    fn resolved(&mut self, call: CallId, touches: Option<Touches>) -> Option<Outcome> {
        let result = Ok(touches?);
        self.takes(&Owed::Touches(call)).then_some(Outcome::Resolved { call, result })
    }

    /// What the next frozen form of a call touches.
    fn touches(&self, call: CallId) -> Option<Touches> {
        self.told.facts_from(self.entries).find_map(|fact| touches_of(fact, call))
    }

    /// What its last frozen form touches.
    fn touches_before(&self, call: CallId) -> Option<Touches> {
        let before = self.told.entries.get(..self.entries)?;
        before.iter().rev().find_map(|entry| touches_of(&entry.fact, call))
    }

    /// Something else than that.
    fn other_touches(&self, call: CallId) -> Option<Touches> {
        let mut touches = self.touches_before(call)?;
        if touches.targets.pop().is_none() && touches.operands.pop().is_none() {
            touches.targets.push(Target::Other { what: "replay".to_owned(), value: "changed".to_owned() });
        }
        Some(touches)
    }

    fn replied(&mut self, call: ModelCallId) -> Result<Option<Outcome>, ReplayError> {
        if !self.takes(&Owed::Model(call)) {
            return Ok(None);
        }
        let reply = self.told.facts_from(self.entries).find_map(|fact| match fact {
            Fact::ModelReplied { call: own, item, stop, usage, model, response_id } if *own == call => {
                Some((*item, stop, usage, model, response_id))
            }
            _ => None,
        });
        let Some((item, stop, usage, model, response_id)) = reply else { return Ok(None) };
        let parts = self.told.facts_from(self.entries).find_map(|fact| match fact {
            Fact::ItemAdded { item: own, body: Body::Reply { parts }, .. } if *own == item => Some(parts),
            _ => None,
        });
        let Some(parts) = parts else { return Ok(None) };
        let result = Ok(ModelReply {
            parts: self.told.parts_of(parts)?,
            stop: stop.clone(),
            usage: *usage,
            model: model.clone(),
            response_id: response_id.clone(),
        });
        Ok(Some(Outcome::ModelReplied { call, result }))
    }

    fn answered(
        &mut self,
        call: CallId,
        digest: Digest,
        answer: AnswerKind,
        by: Option<&probity_contract::PrincipalId>,
    ) -> Result<Option<Outcome>, ReplayError> {
        self.takes(&Owed::Answer(call, digest));
        let answer = match (answer, by.cloned()) {
            (AnswerKind::Approved | AnswerKind::Void, Some(by)) => Answer::Approve { by, more: 0 },
            (AnswerKind::Refused, Some(by)) => {
                let reason = self.told.facts_from(self.entries).find_map(|fact| match fact {
                    Fact::Denied { call: own, denial } if *own == call => Some(denial.reason.clone()),
                    _ => None,
                });
                Answer::Refuse { by, reason: reason.unwrap_or_default(), for_good: false }
            }
            (AnswerKind::Edited, Some(by)) => {
                let arguments = self.told.facts_from(self.entries).find_map(|fact| match fact {
                    Fact::CallFrozen { call: own, arguments, .. } if *own == call => Some(*arguments),
                    _ => None,
                });
                let Some(arguments) = arguments else { return Ok(None) };
                Answer::Edit { by, arguments: self.told.text(arguments)?.to_owned() }
            }
            (AnswerKind::Nobody | AnswerKind::Void, None) => Answer::Nobody,
            _ => return Ok(None),
        };
        Ok(Some(Outcome::Answered { call, binding: digest, answer }))
    }

    /// A tool came back, with what the model read of it.
    fn finished(&self, next: &Entry) -> Result<Next, ReplayError> {
        let Fact::ToolFinished { call, outcome, output, output_bytes, ran_ms, readers, vouched } = &next.fact
        else {
            return Err(self.differs());
        };
        let text = self.told.text(*output)?;
        let (call, came) =
            (*call, Came::Back { outcome: *outcome, output_bytes: *output_bytes, ran_ms: *ran_ms });
        if *outcome == ToolOutcomeKind::Succeeded {
            let output = ToolOutput {
                text: text.to_owned(),
                trusted: self.is_trusted(call),
                readers: readers.clone(),
                vouched: vouched.clone(),
            };
            let (output_bytes, ran_ms) = (*output_bytes, *ran_ms);
            return Ok(Next::Outcome(Outcome::ToolFinished {
                call,
                result: Ok(output),
                output_bytes,
                ran_ms,
            }));
        }
        // The words of an error are part of a sentence by now, which is taken as it is.
        let settled = Settled { text: text.into(), is_error: true, trusted: false };
        Ok(Next::Result { call, settled, came })
    }

    /// Whether the tool vouched for its result, by the label that this has.
    fn is_trusted(&self, call: CallId) -> bool {
        self.told.facts_from(self.entries).any(|fact| match fact {
            Fact::ItemAdded { origin: Origin::Tool(own), label, .. } if *own == call => {
                label.integrity >= Integrity::ToolTrusted
            }
            _ => false,
        })
    }

    fn reconciled(&mut self, call: CallId, found: ReconciledKind) -> Result<Option<Outcome>, ReplayError> {
        let result = match found {
            ReconciledKind::NotDone => Ok(Reconciled::NotDone),
            ReconciledKind::Unknown => Err(ToolError::new(ToolErrorClass::Unavailable, "it cannot tell")),
            ReconciledKind::Done => {
                let result = self.told.facts_from(self.entries).find_map(|fact| match fact {
                    Fact::ItemAdded { body: Body::ToolResult { call: own, text, .. }, .. }
                        if *own == call =>
                    {
                        Some(*text)
                    }
                    _ => None,
                });
                let Some(text) = result else { return Ok(None) };
                let output = ToolOutput {
                    text: self.told.text(text)?.to_owned(),
                    trusted: self.is_trusted(call),
                    ..ToolOutput::default()
                };
                Ok(Reconciled::Done(output))
            }
        };
        Ok(self.takes(&Owed::Reconciled(call)).then_some(Outcome::Reconciled { call, result }))
    }
}

enum Next {
    Outcome(Outcome),
    Result { call: CallId, settled: Settled, came: Came },
}

fn touches_of(fact: &Fact, call: CallId) -> Option<Touches> {
    match fact {
        Fact::CallFrozen { call: own, targets, operands, .. } if *own == call => {
            Some(Touches { targets: targets.clone(), operands: operands.clone() })
        }
        _ => None,
    }
}

impl Run {
    /// Takes what the model read of a call, as a record says it.
    fn finish_as_recorded(
        &mut self,
        now_ms: u64,
        id: CallId,
        settled: Settled,
        came: Came,
    ) -> Result<(), Unexpected> {
        self.restore_calls();
        self.state.ledger.advance(now_ms);
        self.changed = true;
        let call = self.call_mut(id)?;
        if call.stage != Stage::Running {
            return Err(Unexpected);
        }
        let tool = call.tool.clone();
        let is_unknown = matches!(came, Came::Back { outcome: ToolOutcomeKind::Unknown(_), .. });
        let effect = self.state.spec.tool(&tool).map(|tool| tool.effect);
        self.take_result(id, settled, came);
        if is_unknown && effect == Some(probity_contract::Effect::Reconcile) {
            self.reconcile(id, false);
        }
        self.measure_waiting();
        Ok(())
    }
}
