//! How often guesses are right.

use super::cases::Case;
use super::chance::Chance;

const RESAMPLES: usize = 2000;
const TAIL: f64 = 0.025;

/// Who, and at which turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Guess {
    pub(crate) step: usize,
    pub(crate) agent: String,
}

/// What is measured, in the order of the columns.
pub(crate) const MEASURES: [&str; 4] = ["agent", "step", "step ±1", "step ±3"];

/// The share of right guesses of one run, over the guesses that were made of it.
pub(crate) type Shares = [f64; MEASURES.len()];

/// What one guess is worth.
pub(crate) fn shares(case: &Case, guess: &Guess) -> Shares {
    let away = case.step.abs_diff(guess.step);
    let is = |right: bool| f64::from(u8::from(right));
    [is(guess.agent == case.agent), is(away == 0), is(away <= 1), is(away <= 3)]
}

/// What guessing by lot is worth: each turn as likely, and its speaker with it.
pub(crate) fn by_lot(case: &Case) -> Shares {
    let turns = &case.turns.list;
    let mut sum = [0.0; MEASURES.len()];
    for (step, turn) in turns.iter().enumerate() {
        let one = shares(case, &Guess { step, agent: turn.speaker.clone() });
        sum.iter_mut().zip(one).for_each(|(sum, one)| *sum += one / turns.len() as f64);
    }
    sum
}

pub(crate) fn mean(list: &[f64]) -> f64 {
    list.iter().sum::<f64>() / list.len().max(1) as f64
}

/// Between what a mean lies in 95 of 100 resamples of the runs.
pub(crate) fn interval(list: &[f64]) -> (f64, f64) {
    let mut chance = Chance::new(17);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| list.iter().map(|_| list[chance.below(list.len())]).sum::<f64>() / list.len().max(1) as f64)
        .collect();
    means.sort_by(f64::total_cmp);
    let low = (TAIL * RESAMPLES as f64) as usize;
    (means[low], means[RESAMPLES - 1 - low])
}
