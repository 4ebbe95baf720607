//! What a search may cost, before anything runs.

use super::arm::Cost;
use super::settings::{Reach, Settings};
use super::suspect::Suspect;

/// Shots of a search that finds its culprit at the top of the rank: one of the baseline, three without it, one with
/// nothing else.
const SHOTS_LEAST: u32 = 5;
/// Shots of a trial that was opened late.
const SHOTS_TRIAL: u32 = 6;

/// What a search may cost. Guesses, but for `most`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// A steady model, and the culprit where the rank has it.
    pub least: Cost,
    /// A steady model, and the culprit last in the rank.
    pub likely: Cost,
    /// The budget, and one more shot, since a shot that began is not cut off.
    pub most: Cost,
}

/// What a search will cost, with `call_microdollars` for one model call.
#[must_use]
pub fn estimate(
    suspects: &[Suspect],
    asked_call: u32,
    settings: &Settings,
    call_microdollars: u64,
) -> Estimate {
    let earliest = suspects.iter().map(|suspect| suspect.first_seen).min().unwrap_or(asked_call);
    let calls_whole = asked_call.saturating_sub(earliest).saturating_add(1);
    let calls = match settings.reach {
        Reach::Near | Reach::NearFirst => 1,
        Reach::Whole => calls_whole,
    };
    let levels = suspects.len().checked_ilog2().map_or(0, |log| log.saturating_add(1));
    let shots_likely = SHOTS_LEAST.saturating_add(levels).saturating_add(SHOTS_TRIAL);
    let cost = |model_calls: u32| Cost {
        model_calls,
        microdollars: call_microdollars.saturating_mul(u64::from(model_calls)),
    };
    let most_calls = settings.budget.model_calls.saturating_add(calls_whole);
    let most = Cost {
        model_calls: most_calls,
        microdollars: settings
            .budget
            .microdollars
            .saturating_add(call_microdollars.saturating_mul(u64::from(calls_whole)))
            .min(cost(most_calls).microdollars),
    };
    let capped = |shots: u32| {
        let cost = cost(shots.saturating_mul(calls));
        Cost {
            model_calls: cost.model_calls.min(most.model_calls),
            microdollars: cost.microdollars.min(most.microdollars),
        }
    };
    Estimate { least: capped(SHOTS_LEAST), likely: capped(shots_likely), most }
}
