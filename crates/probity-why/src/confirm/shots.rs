//! Runs what a search asks for.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use probity_contract::limits::REPLY_BYTES_MAX;
use probity_contract::{
    Cancel, Model, ModelContext, ModelError, ModelErrorClass, ModelEvent, ModelReply, ModelRequest, Prices,
    Usage,
};

use super::candidates::Candidate;
use crate::fork::{
    Asked, Fork, ForkChange, ForkEnd, ForkError, ForkStep, Kept, KeptError, Recorded, Unjudged,
};
use crate::search::{Arm, Cost, Findings, Next, Outcome, Search, SearchError, Settings, Shot, Suspect};

/// How long one model call of a fork may take unless told otherwise.
pub const MODEL_TIMEOUT: Duration = Duration::from_secs(120);

/// A search over one run, against one model.
pub struct Confirm<'r> {
    /// The run.
    pub recorded: &'r Recorded<'r>,
    /// Whom the forks ask.
    pub model: Arc<dyn Model>,
    /// The part of the run that is asked about.
    pub asked: Asked,
    /// When it counts as the same.
    pub kept: Kept,
    /// Who may be to blame.
    pub candidates: &'r [Candidate],
    /// How to search.
    pub settings: Settings,
    /// How long one model call may take.
    pub timeout: Duration,
    /// Ends the search: nothing more is asked.
    pub cancel: Cancel,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Confirmed {
    /// The verdicts; their numbers are those of the candidates.
    pub findings: Findings,
    /// Whether it was stopped before it came to its end.
    pub is_cancelled: bool,
    /// The last failure of the model, in redacted words.
    pub failure: Option<String>,
    /// The last call that could not be served: the tool and the arguments.
    pub diverged_at: Option<(String, String)>,
    /// Whether some fork cost something that is not known: the model has no prices, or its usage was not told.
    pub cost_is_unknown: bool,
}

/// Why nothing could be searched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfirmError {
    /// The run cannot be forked.
    #[error(transparent)]
    Fork(#[from] ForkError),
    /// The recorded part cannot be compared with.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// Whether a reply is as it was could not be told.
    #[error(transparent)]
    Unjudged(#[from] Unjudged),
    /// The search cannot begin.
    #[error(transparent)]
    Search(#[from] SearchError),
}

impl Confirm<'_> {
    /// Searches until there is a verdict on all, the budget is used up, or the signal fires. `told` hears of every shot.
    ///
    /// Needs a tokio runtime with time. No tool runs, whatever the model proposes.
    ///
    /// # Errors
    /// When the run cannot be forked or compared with; nothing was asked then. When a judge cannot tell.
    pub async fn run(&self, mut told: impl FnMut(&Arm, &Shot)) -> Result<Confirmed, ConfirmError> {
        self.kept.check(self.recorded, &self.asked)?;
        // The window of the call in question must be whole; which earlier ones are is found when they are needed.
        self.recorded.request(self.asked.place())?;
        let suspects: Vec<Suspect> =
            self.candidates.iter().map(|candidate| candidate.suspect.clone()).collect();
        let asked_call = u32::try_from(self.asked.place()).unwrap_or(u32::MAX);
        let mut search = Search::new(suspects, asked_call, self.settings.clone())?;
        let mut notes = Notes::default();
        loop {
            let arm = match search.step() {
                Next::Done(findings) => return Ok(notes.with(findings, false)),
                Next::Run(arm) => arm,
            };
            if self.cancel.is_fired() {
                return Ok(notes.with(search.stopped(), true));
            }
            let shot = self.shoot(&arm, &mut notes).await?;
            told(&arm, &shot);
            search.heard(shot);
        }
    }

    /// Runs one arm once.
    async fn shoot(&self, arm: &Arm, notes: &mut Notes) -> Result<Shot, ConfirmError> {
        let changes: Vec<ForkChange> = arm
            .without
            .iter()
            .chain(&arm.with)
            .filter_map(|number| self.candidates.get(*number))
            .map(|candidate| candidate.change.clone())
            .collect();
        let from = usize::try_from(arm.from_call).unwrap_or(usize::MAX);
        let mut fork = Fork::begin(self.recorded, from, &changes, self.asked.clone(), self.kept.clone())?;
        let mut cost = Cost::default();
        let outcome = loop {
            match fork.step() {
                ForkStep::Ask(request) => {
                    cost.model_calls = cost.model_calls.saturating_add(1);
                    let answer = ask(&self.model, request, self.timeout, &self.cancel).await;
                    match &answer {
                        Ok(reply) => match dollars(self.prices(), &reply.usage) {
                            Some(usd) => cost.microdollars = cost.microdollars.saturating_add(usd),
                            None => notes.cost_is_unknown = true,
                        },
                        Err(error) => notes.failure = Some(error.to_string()),
                    }
                    fork.heard(answer.as_ref().map_err(|error| error.class));
                }
                // No fork of a search is told that it may read.
                ForkStep::Read(_) => fork.heard_read(None),
                ForkStep::Done(ForkEnd::Came { is_kept: true }) => break Outcome::Kept,
                ForkStep::Done(ForkEnd::Came { is_kept: false }) => break Outcome::Flipped,
                ForkStep::Done(ForkEnd::Diverged { tool, arguments }) => {
                    notes.diverged_at = Some((tool, arguments));
                    break Outcome::Diverged;
                }
                // Who stops the search stops the judge; what was known by then is told.
                ForkStep::Done(ForkEnd::Unjudged(_)) if self.cancel.is_fired() => break Outcome::Failed,
                ForkStep::Done(ForkEnd::Unjudged(unjudged)) => return Err(unjudged.into()),
                ForkStep::Done(ForkEnd::Failed(_) | ForkEnd::TurnsOver) => break Outcome::Failed,
            }
        };
        Ok(Shot { outcome, cost })
    }

    fn prices(&self) -> Option<Prices> {
        self.model.prices().or_else(|| self.recorded.prices())
    }
}

#[derive(Default)]
struct Notes {
    failure: Option<String>,
    diverged_at: Option<(String, String)>,
    cost_is_unknown: bool,
}

impl Notes {
    fn with(self, findings: Findings, is_cancelled: bool) -> Confirmed {
        let Self { failure, diverged_at, cost_is_unknown } = self;
        Confirmed { findings, is_cancelled, failure, diverged_at, cost_is_unknown }
    }
}

/// Asks a model once. Whatever is no reply is an error: none in time, a broken client, a stream that ends early.
pub(super) async fn ask(
    model: &Arc<dyn Model>,
    request: ModelRequest,
    timeout: Duration,
    cancel: &Cancel,
) -> Result<ModelReply, ModelError> {
    let asked = async {
        let mut stream = model.call(request, ModelContext { cancel: cancel.clone(), timeout });
        let mut bytes = 0_usize;
        while let Some(event) = stream.next().await {
            bytes = bytes.saturating_add(match event? {
                ModelEvent::Finished(reply) => return Ok(reply),
                ModelEvent::Text { delta, .. }
                | ModelEvent::Reasoning { delta, .. }
                | ModelEvent::CallArguments { delta, .. } => delta.len(),
                ModelEvent::CallStarted { name, .. } => name.len(),
            });
            if bytes > REPLY_BYTES_MAX {
                let words = format!("the reply is longer than {REPLY_BYTES_MAX} bytes");
                return Err(ModelError::new(ModelErrorClass::TooLarge, words));
            }
        }
        Err(ModelError::new(
            ModelErrorClass::Truncated,
            "the model's stream ended before the reply was complete",
        ))
    };
    match tokio::time::timeout(timeout, AssertUnwindSafe(asked).catch_unwind()).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_panic)) => Err(ModelError::new(ModelErrorClass::Malformed, "the model's client broke")),
        Err(_elapsed) => Err(ModelError::new(ModelErrorClass::TimedOut, "the model did not answer in time")),
    }
}

/// Millionths of a dollar, rounded up.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast to an integer saturates, and costs are not negative"
)]
fn dollars(prices: Option<Prices>, usage: &Usage) -> Option<u64> {
    Some((prices?.cost_usd(usage)?.max(0.0) * 1e6).ceil() as u64)
}
