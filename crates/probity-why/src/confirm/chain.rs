//! Goes the chain back: a reply that was convicted is asked about next.

use std::sync::Arc;
use std::time::Duration;

use probity_contract::{Cancel, ItemId, Model};
use probity_trace::Atom;

use super::candidates::{Candidate, candidates_with_replies, candidates_within};
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
    /// Whether the sentences of an item that the first search convicted are searched in turn.
    pub sentences: bool,
}

/// One search of a chain.
#[derive(Debug)]
pub struct ChainStep {
    /// What it was about.
    pub asked: Asked,
    /// When that counted as the same.
    pub kept: Kept,
    /// The item whose sentences it was about; `None` where it was about whole items.
    pub within: Option<ItemId>,
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
        Self { recorded, model, asked, kept, atoms, settings, timeout, cancel, sentences: false }
    }

    /// Searches, and goes back from call to call. The first step is about what was asked; `told` hears of every shot.
    ///
    /// A reply about which nothing can be asked, since the record does not hold its window, is the chain's end there.
    ///
    /// # Errors
    /// When the part that was asked about cannot be forked or compared with; nothing was asked then.
    pub async fn run(&self, mut told: impl FnMut(&Arm, &Shot)) -> Result<Vec<ChainStep>, ConfirmError> {
        let mut questions = vec![(self.asked.clone(), self.kept.clone())];
        let mut steps: Vec<ChainStep> = Vec::new();
        let mut left = Left { alpha: self.settings.alpha, budget: self.settings.budget };
        while let Some((asked, kept)) = questions.get(steps.len()).cloned() {
            let candidates = candidates_with_replies(self.recorded, &asked, &self.atoms);
            let step = match candidates {
                Ok(candidates) => self.search(asked, kept, None, candidates, &mut left, &mut told).await,
                Err(error) => Err(error.into()),
            };
            let step = match step {
                Ok(step) => step,
                Err(error @ ConfirmError::Unjudged(_)) => return Err(error),
                Err(error) if steps.is_empty() => return Err(error),
                Err(_) => {
                    questions.remove(steps.len());
                    continue;
                }
            };
            for place in self.convicted_replies(&step.candidates, &step.confirmed) {
                let is_new = questions.iter().all(|(asked, _)| asked.place() != place);
                if is_new && questions.len() < CHAIN_STEPS_MAX {
                    questions.extend(self.question(place));
                }
            }
            steps.push(step);
        }
        if self.sentences {
            self.search_within(&mut steps, &mut left, &mut told).await?;
        }
        Ok(steps)
    }

    /// The sentences of what the first search convicted.
    async fn search_within(
        &self,
        steps: &mut Vec<ChainStep>,
        left: &mut Left,
        told: &mut impl FnMut(&Arm, &Shot),
    ) -> Result<(), ConfirmError> {
        let Some(first) = steps.first() else { return Ok(()) };
        for item in convicted_items(&first.candidates, &first.confirmed) {
            let candidates = candidates_within(self.recorded, &self.asked, &self.atoms, item)?;
            if candidates.is_empty() {
                continue;
            }
            let (asked, kept) = (self.asked.clone(), self.kept.clone());
            steps.push(self.search(asked, kept, Some(item), candidates, left, told).await?);
        }
        Ok(())
    }

    async fn search(
        &self,
        asked: Asked,
        kept: Kept,
        within: Option<ItemId>,
        candidates: Vec<Candidate>,
        left: &mut Left,
        told: &mut impl FnMut(&Arm, &Shot),
    ) -> Result<ChainStep, ConfirmError> {
        let settings = Settings {
            alpha: left.alpha,
            budget: left.budget,
            reach: Reach::Near,
            noise_max: self.settings.noise_max,
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
        let confirmed = confirm.run(told).await?;
        left.budget = less(left.budget, confirmed.findings.spent);
        left.alpha = confirmed.findings.alpha_left;
        Ok(ChainStep { asked, kept, within, candidates, confirmed })
    }

    /// The places of the replies that were convicted.
    fn convicted_replies<'a>(
        &'a self,
        candidates: &'a [Candidate],
        confirmed: &'a Confirmed,
    ) -> impl Iterator<Item = usize> + 'a {
        convicted_items(candidates, confirmed)
            .into_iter()
            .filter_map(|item| self.recorded.place_of_reply(item))
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

/// What the searches that come have left.
struct Left {
    alpha: f64,
    budget: Cost,
}

/// The whole items that were convicted.
fn convicted_items(candidates: &[Candidate], confirmed: &Confirmed) -> Vec<ItemId> {
    let convicted = confirmed.findings.verdicts.iter().filter(|verdict| verdict.kind.is_conviction());
    let items = convicted.filter_map(|verdict| {
        let change = &candidates.get(verdict.suspect)?.change;
        let ForkChange::StandIn(Target::Item(item)) = change else { return None };
        Some(*item)
    });
    items.collect()
}

/// What is left of a budget.
fn less(budget: Cost, spent: Cost) -> Cost {
    Cost {
        model_calls: budget.model_calls.saturating_sub(spent.model_calls),
        microdollars: budget.microdollars.saturating_sub(spent.microdollars),
    }
}
