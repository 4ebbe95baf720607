//! Plays a recorded run again: the same machine, told the same outcomes, must write the same record.
//!
//! Nothing is asked and nothing runs: every outcome comes from the record. So it shows that a record is what this machine
//! makes of what came from outside, byte for byte; where it is not, the first line that differs is said.

mod came;
mod taken_up;
mod told;

use probity_contract::{
    Answer, AnswerKind, CallId, DenialCode, DenialDetail, Digest, Effect, Emission, Entry, Fact, ModelCallId,
    RedeemError, Redemption, Seat, ToolOutcomeKind,
};

use super::call::{Came, Settled, Stage};
use super::{Outcome, Run, RunSpec, SpecError, Step, Unexpected};
use crate::MemoryRedeemer;
use taken_up::{Branch, Moments};
use told::Told;

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
/// Texts may come in in any order. No model, tool, policy or person is asked. A run that was taken up from a checkpoint goes on from
/// where that was made, and what its record tells of the time behind it.
///
/// # Errors
/// When the record does not say enough (texts that were not kept, interceptors, a task that a call of another started), or the
/// machine writes something else. The latter is also what a run comes to that was taken up by another task than the one it began with
/// (other limits or policies, a tool less), or that has started tasks and came near its limits: a record does not tell these.
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
    spec: RunSpec,
    // What checkpoints may have held from which it was taken up.
    moments: Moments,
    branches: Vec<Branch>,
    // Before which entry that was done last.
    taken_up_at: Option<usize>,
    // Steps and outcomes so far, and before which of them the task is cancelled.
    tick: usize,
    cancel_at: Option<usize>,
}

impl<'t> Player<'t> {
    fn new(told: &'t Told<'t>, detail: DenialDetail, cancel_at: Option<usize>) -> Result<Self, ReplayError> {
        let spec = told.spec(detail)?;
        let run = Run::new(spec.clone())?;
        Ok(Self {
            told,
            run,
            written: Vec::new(),
            entries: 0,
            owed: Vec::new(),
            redeemer: MemoryRedeemer::new(),
            spec,
            moments: Moments::default(),
            branches: Vec::new(),
            taken_up_at: None,
            tick: 0,
            cancel_at,
        })
    }

    /// Plays until the record or the run ends; what is written is the record's own beginning all the while.
    fn play(&mut self) -> Result<(), ReplayError> {
        let mut played = self.play_on();
        while let Err(error) = played {
            let Some(went_back) = self.go_back() else { return Err(error) };
            played = went_back.and_then(|()| self.play_on()).map_err(|other| later(error, other));
        }
        Ok(())
    }

    fn play_on(&mut self) -> Result<(), ReplayError> {
        let mut refused_at = None;
        loop {
            if self.is_to_be_taken_up() {
                self.take_up()?;
            }
            if self.cancel_at == Some(self.tick) {
                let at_ms = self.next_entry().ok_or_else(|| self.differs())?.at_ms;
                self.run.feed(at_ms, Outcome::Cancelled).map_err(|_| self.differs())?;
            }
            self.tick = self.tick.saturating_add(1);
            match self.run.next() {
                None => {
                    self.remember();
                    // A record that broke off ends where it ends.
                    let Some(next) = self.told.entries.get(self.entries).copied() else { return Ok(()) };
                    // An answer that nobody waits for is refused and written down all the same; anything else is not.
                    if refused_at == Some(self.entries) {
                        return Err(self.differs());
                    }
                    if self.answered_at_rest() {
                        continue;
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

    /// The first entry that the machine has not made yet, written or not.
    fn next_entry(&self) -> Option<&'t Entry> {
        let at = usize::try_from(self.run.state.ledger.entries()).ok()?;
        self.told.entries.get(at).copied()
    }

    /// Whether the process that wrote the last entry may have ended right behind it.
    fn is_broken_off(&self) -> bool {
        match self.told.entries.get(self.entries) {
            Some(_) => self.is_to_be_taken_up(),
            None => !matches!(self.told.entries.last().map(|entry| &entry.fact), Some(Fact::Ended { .. })),
        }
    }

    fn differs(&self) -> ReplayError {
        ReplayError::Differs { seq: self.entries as u64 }
    }

    /// Why an approval could not be used up, where the record says so next of its call: another process may have been first.
    fn refused_redemption(&self, id: CallId) -> Option<RedeemError> {
        let is_start = |fact: &&Fact| matches!(fact, Fact::ToolStarted { call, .. } if *call == id);
        let is_denial = |fact: &&Fact| matches!(fact, Fact::Denied { call, .. } if *call == id);
        let next =
            self.told.facts_of_a_process(self.entries).find(|fact| is_start(fact) || is_denial(fact))?;
        let Fact::Denied { denial, .. } = next else { return None };
        let error = || RedeemError::Failed(denial.reason.clone());
        (denial.code == DenialCode::Redeemed).then(error)
    }

    /// Answers that nobody waited for and that came before the machine went on.
    fn feed_what_came_at_once(&mut self) {
        loop {
            let before = self.run.state.ledger.entries();
            let Some(Entry { at_ms, fact, .. }) = self.next_entry() else { return };
            let Fact::Answered { call, digest, answer: AnswerKind::Void, by } = fact else { return };
            let is_asked = self.run.questions().any(|question| question.binding() == *digest);
            if is_asked || self.owed.contains(&Owed::Answer(*call, *digest)) {
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
                    // A record may break off within one hand-over.
                    if self.is_broken_off() {
                        break;
                    }
                    if !self.told.is_told(&line, self.entries) {
                        return Err(self.differs());
                    }
                    self.entries += usize::from(matches!(line, Emission::Entry(_)));
                    self.written.push(line);
                }
                self.remember();
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
                let refused = self.refused_redemption(call.id());
                let result = refused
                    .map_or_else(|| Redemption::claim(&self.redeemer, &call.facts().run, binding), Err);
                let outcome = Outcome::Redeemed { call: call.id(), result };
                // Its time is that of what follows from it, where anything does.
                let next = self.next_entry().map_or_else(|| self.run.clock_ms(), |next| next.at_ms);
                self.run.feed(next, outcome).map_err(|_| self.differs())?;
            }
            Step::Notify(_) | Step::Release { .. } | Step::Done(_) => {}
            Step::Intercept { .. } | Step::Identify { .. } | Step::Consult { .. } => {
                return Err(self.differs());
            }
        }
        Ok(())
    }
}

enum Next {
    Outcome(Outcome),
    Result { call: CallId, settled: Settled, came: Came },
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
        if is_unknown && effect == Some(Effect::Reconcile) {
            self.reconcile(id, false);
        }
        self.measure_waiting();
        Ok(())
    }
}

/// The one that a record came to later.
fn later(one: ReplayError, other: ReplayError) -> ReplayError {
    match (&one, &other) {
        (ReplayError::Differs { seq: first }, ReplayError::Differs { seq: second }) if second <= first => one,
        _ => other,
    }
}
