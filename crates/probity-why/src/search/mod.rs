//! Which arm to run next, and what the arms that were run say. Pure: no clock, no chance, no model.
//!
//! The statistics and what lost are in `docs/design/search.md`.

mod arm;
mod belief;
mod estimate;
mod evidence;
mod findings;
mod plan;
mod rank;
mod settings;
mod state;
mod suspect;
mod tally;
mod verdicts;

use plan::Stop;
use state::State;

pub use arm::{Arm, Cost, Outcome, Shot};
pub use estimate::{Estimate, estimate};
pub use findings::{Ended, Findings, Next, Verdict, VerdictKind};
pub use rank::{Features, SuspectKind, rank};
pub use settings::{BUDGET_MICRODOLLARS, BUDGET_MODEL_CALLS, Reach, SUSPECTS_MAX, SearchError, Settings};
pub use suspect::{Change, Suspect};
pub use tally::{Interval, Tally};

/// A search for what made an answer what it is.
///
/// Ask [`step`](Self::step) which arm to run, run it, tell the shot to [`heard`](Self::heard), and so on until it is
/// done. The probability that any suspect which makes no difference is convicted is at most
/// [`alpha`](Settings::alpha), while the baseline flips in at most [`noise_max`](Settings::noise_max) of its shots. How
/// often a cause is missed is not bounded.
#[derive(Debug)]
pub struct Search {
    state: State,
    /// The arm that was asked for last and not heard of yet.
    awaited: Option<Arm>,
}

impl Search {
    /// A search among suspects of the model call number `asked_call` (from 0): the one whose reply was asked about.
    ///
    /// # Errors
    /// When a setting is out of its range, there are more than [`SUSPECTS_MAX`] suspects, or one was first seen later
    /// than the call asked about.
    pub fn new(suspects: Vec<Suspect>, asked_call: u32, settings: Settings) -> Result<Self, SearchError> {
        if !(settings.alpha > 0.0 && settings.alpha < 1.0) {
            return Err(SearchError::Alpha(settings.alpha.to_string()));
        }
        if !(settings.noise_max > 0.0 && settings.noise_max <= 1.0) {
            return Err(SearchError::NoiseMax(settings.noise_max.to_string()));
        }
        if suspects.len() > SUSPECTS_MAX {
            return Err(SearchError::TooManySuspects(suspects.len()));
        }
        if let Some(number) = suspects.iter().position(|suspect| suspect.first_seen > asked_call) {
            return Err(SearchError::SeenTooLate(number));
        }
        Ok(Self { state: State::new(suspects, asked_call, settings), awaited: None })
    }

    /// What to do next. Asking again without having reported a shot gives the same.
    pub fn step(&mut self) -> Next {
        let (progress, outcome) = plan::plan(&mut self.state);
        let ended = match outcome {
            Err(Stop::Run(arm)) if self.state.has_budget() => {
                self.awaited = Some(arm.clone());
                return Next::Run(arm);
            }
            Err(Stop::Run(_)) => Ended::Budget,
            Err(Stop::Unsteady) => Ended::Unsteady,
            Err(Stop::Undecided) => Ended::Undecided,
            Ok(()) => Ended::Complete,
        };
        self.awaited = None;
        Next::Done(verdicts::findings(&self.state, &progress, ended))
    }

    /// How the arm that was asked for last came out. A shot that nobody asked for is not counted.
    pub fn heard(&mut self, shot: Shot) {
        if let Some(arm) = self.awaited.take() {
            self.state.hear(&arm, shot);
        }
    }

    /// What is known so far, as if the budget were used up; for who stops early.
    #[must_use]
    pub fn stopped(&mut self) -> Findings {
        let (progress, _next) = plan::plan(&mut self.state);
        verdicts::findings(&self.state, &progress, Ended::Budget)
    }

    /// What was spent so far.
    #[must_use]
    pub fn spent(&self) -> Cost {
        self.state.spent
    }
}

#[cfg(test)]
mod search_tests;
