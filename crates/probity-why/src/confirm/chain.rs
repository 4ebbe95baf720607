//! Goes the chain back: a reply that was convicted is asked about next.

use std::sync::Arc;
use std::time::Duration;

use probity_contract::{Cancel, Model};
use probity_trace::Atom;

use super::candidates::{Candidate, candidates_with_replies};
use super::shots::{Confirm, ConfirmError, Confirmed, MODEL_TIMEOUT};
use crate::fork::{Asked, ForkChange, Kept, Recorded, Target};
use crate::search::{Arm, Cost, Reach, Settings, Shot};

/// Calls that are asked about in one chain.
pub const CHAIN_STEPS_MAX: usize = 4;

/// Searches over one run: about the call that was asked about, then about each earlier call whose reply was convicted.
///
/// Every fork begins at the call that its search is about, so a shot is one model call. All that stood in its window are suspects, the
/// model's own replies among them. The error of all searches together is at most that of the settings, and so is what they spend.
pub struct ConfirmChain<'r> {
    /// The run.
    pub recorded: &'r Recorded<'r>,
    /// Whom the forks ask.
    pub model: Arc<dyn Model>,
    /// The part of the run that is asked about.
    pub asked: Asked,
    /// When it counts as the same.
    pub kept: Kept,
    /// The values in it, by which suspects are ranked.
    pub atoms: Vec<Atom>,
    /// How to search. The reach is near, whatever it says.
    pub settings: Settings,
    /// How long one model call may take.
    pub timeout: Duration,
    /// Ends the search: nothing more is asked.
    pub cancel: Cancel,
}

/// One search of a chain.
#[derive(Debug)]
pub struct ChainStep {
    /// What it was about.
    pub asked: Asked,
    /// When that counted as the same.
    pub kept: Kept,
    /// Who could be to blame.
    pub candidates: Vec<Candidate>,
    /// What was found; the numbers are those of `candidates`.
    pub confirmed: Confirmed,
}

impl<'r> ConfirmChain<'r> {
    /// A chain with the settings that hold unless told otherwise.
    #[must_use]
    pub fn new(
        recorded: &'r Recorded<'r>,
        model: Arc<dyn Model>,
        asked: Asked,
        kept: Kept,
        atoms: Vec<Atom>,
    ) -> Self {
        let (settings, timeout, cancel) = (Settings::default(), MODEL_TIMEOUT, Cancel::new());
        Self { recorded, model, asked, kept, atoms, settings, timeout, cancel }
    }

    /// Searches, and goes back from call to call. The first step is about what was asked; `told` hears of every shot.
    ///
    /// A reply about which nothing can be asked, since the record does not hold its window, is the chain's end there.
    ///
    /// # Errors
    /// When the part that was asked about cannot be forked or compared with; nothing was asked then.
    pub async fn run(&self, mut told: impl FnMut(&Arm, &Shot)) -> Result<Vec<ChainStep>, ConfirmError> {
        let mut questions = vec![(self.asked.clone(), self.kept.clone())];
        let mut steps = Vec::new();
        let (mut alpha_left, mut spent) = (self.settings.alpha, Cost::default());
        while let Some((asked, kept)) = questions.get(steps.len()).cloned() {
            let is_first = steps.is_empty();
            let budget = less(self.settings.budget, spent);
            let settings =
                Settings { alpha: alpha_left, budget, reach: Reach::Near, ..self.settings.clone() };
            let candidates = match candidates_with_replies(self.recorded, &asked, &self.atoms) {
                Ok(candidates) => candidates,
                Err(error) if is_first => return Err(error.into()),
                Err(_) => {
                    questions.remove(steps.len());
                    continue;
                }
            };
            let confirm = Confirm {
                recorded: self.recorded,
                model: Arc::clone(&self.model),
                asked: asked.clone(),
                kept: kept.clone(),
                candidates: &candidates,
                settings,
                timeout: self.timeout,
                cancel: self.cancel.clone(),
            };
            let confirmed = match confirm.run(&mut told).await {
                Ok(confirmed) => confirmed,
                Err(error) if is_first => return Err(error),
                Err(_) => {
                    questions.remove(steps.len());
                    continue;
                }
            };
            spent = spent.plus(confirmed.findings.spent);
            alpha_left = confirmed.findings.alpha_left;
            for place in self.convicted_replies(&candidates, &confirmed) {
                let is_new = questions.iter().all(|(asked, _)| asked.place() != place);
                if is_new && questions.len() < CHAIN_STEPS_MAX {
                    questions.extend(self.question(place));
                }
            }
            steps.push(ChainStep { asked, kept, candidates, confirmed });
        }
        Ok(steps)
    }

    /// The places of the replies that were convicted.
    fn convicted_replies<'a>(
        &'a self,
        candidates: &'a [Candidate],
        confirmed: &'a Confirmed,
    ) -> impl Iterator<Item = usize> + 'a {
        let convicted = confirmed.findings.verdicts.iter().filter(|verdict| verdict.kind.is_conviction());
        convicted.filter_map(|verdict| {
            let change = &candidates.get(verdict.suspect)?.change;
            let ForkChange::StandIn(Target::Item(item)) = change else { return None };
            self.recorded.place_of_reply(*item)
        })
    }

    /// What is asked about a reply: the same where the same holds of it already, else whether it comes out as it was.
    fn question(&self, place: usize) -> Option<(Asked, Kept)> {
        let asked = Asked::Reply(place);
        if self.kept.check(self.recorded, &asked).is_ok() {
            return Some((asked, self.kept.clone()));
        }
        let kept = Kept::reply(self.recorded, place).ok()?;
        Some((asked, kept))
    }
}

/// What is left of a budget.
fn less(budget: Cost, spent: Cost) -> Cost {
    Cost {
        model_calls: budget.model_calls.saturating_sub(spent.model_calls),
        microdollars: budget.microdollars.saturating_sub(spent.microdollars),
    }
}
