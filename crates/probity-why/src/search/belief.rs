//! What the shots so far make likely: where to look next, never a verdict.

use super::tally::Tally;

/// How often a shot comes out against what its arm does, and the weight of that guess.
const NOISE: [(f64, f64); 4] = [(0.01, 0.5), (0.05, 0.2), (0.1, 0.2), (0.2, 0.1)];
/// Suspects, best lead first, among which pairs are thought of. Pairs beyond are left to bisection.
const PAIRS_AMONG: usize = 48;
/// How likely it is, before any shot, that a pair is what holds the answer.
const PAIR: f64 = 0.1;
/// How likely it is, before any shot, that something else does: a larger group, or none that behaves like one.
const OTHER: f64 = 0.03;

/// How far the first shot of an arm that no explanation covers is no sign of its second: 0 is "not at all".
const HABIT: f64 = 0.1;

/// An arm as belief sees it: which of the open suspects it changes, and how it came out.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) changes: Vec<bool>,
    pub(super) tally: Tally,
}

/// How likely each explanation is; all of them together are 1.
#[derive(Debug)]
pub(super) struct Belief {
    /// No open suspect changes the answer.
    pub(super) none: f64,
    /// One does, by position in the list of open suspects.
    pub(super) singles: Vec<f64>,
    /// Two do, if both are changed.
    pub(super) pairs: Vec<(usize, usize, f64)>,
    /// Something else.
    pub(super) other: f64,
}

impl Belief {
    /// From all arms. `leads` are those of the open suspects, best first; `none` is how likely it is, before any shot,
    /// that there is nothing.
    pub(super) fn new(leads: &[f64], seen: &[Seen], none: f64) -> Self {
        let ln_likelihood = |flips: &dyn Fn(&Seen) -> bool| {
            let (mut expected, mut odd) = (0.0, 0.0);
            for arm in seen {
                let (kept, flipped) = (f64::from(arm.tally.kept), f64::from(arm.tally.flipped));
                let (with, against) = if flips(arm) { (flipped, kept) } else { (kept, flipped) };
                expected += with;
                odd += against;
            }
            weigh(expected, odd)
        };
        let changes = |arm: &Seen, at: usize| arm.changes.get(at).copied().unwrap_or(false);
        let weights = weights(leads);
        let single = 1.0 - none - PAIR - OTHER;
        let mut singles: Vec<f64> = weights
            .iter()
            .enumerate()
            .map(|(at, weight)| (single * weight).ln() + ln_likelihood(&|arm| changes(arm, at)))
            .collect();
        let mut pairs = Vec::new();
        for (a, first) in weights.iter().enumerate().take(PAIRS_AMONG) {
            let others = weights.iter().enumerate().take(PAIRS_AMONG).skip(a + 1);
            pairs.extend(others.map(|(b, second)| (a, b, first * second)));
        }
        let total: f64 = pairs.iter().map(|pair| pair.2).sum();
        for (a, b, belief) in &mut pairs {
            let both = ln_likelihood(&|arm| changes(arm, *a) && changes(arm, *b));
            *belief = (PAIR * *belief / total).ln() + both;
        }
        let mut none = none.ln() + ln_likelihood(&|_| false);
        let mut other =
            OTHER.ln() + seen.iter().map(|arm| ln_by_itself(arm.tally.kept, arm.tally.flipped)).sum::<f64>();

        let all =
            [none, other].into_iter().chain(singles.iter().copied()).chain(pairs.iter().map(|pair| pair.2));
        let largest = all.clone().fold(f64::NEG_INFINITY, f64::max);
        let ln_sum = largest + all.map(|belief| (belief - largest).exp()).sum::<f64>().ln();
        let normal = |belief: &mut f64| *belief = (*belief - ln_sum).exp();
        normal(&mut none);
        normal(&mut other);
        singles.iter_mut().for_each(normal);
        pairs.iter_mut().for_each(|pair| normal(&mut pair.2));
        Self { none, singles, pairs, other }
    }

    /// How likely one suspect is to matter, alone or in a pair.
    pub(super) fn shares(&self) -> Vec<f64> {
        let mut shares = self.singles.clone();
        for (a, b, belief) in &self.pairs {
            for at in [a, b] {
                if let Some(share) = shares.get_mut(*at) {
                    *share += belief;
                }
            }
        }
        shares
    }

    /// How likely an arm that changes these positions is to flip, noise apart.
    pub(super) fn flips(&self, changes: &[bool]) -> f64 {
        let is_in = |at: usize| changes.get(at).copied().unwrap_or(false);
        let singles: f64 =
            self.singles.iter().enumerate().filter(|(at, _)| is_in(*at)).map(|(_, share)| share).sum();
        let pairs: f64 =
            self.pairs.iter().filter(|(a, b, _)| is_in(*a) && is_in(*b)).map(|pair| pair.2).sum();
        singles + pairs + self.other / 2.0
    }

    /// The likeliest explanation that names suspects, and how likely it is.
    pub(super) fn likeliest(&self) -> (Vec<usize>, f64) {
        let singles = self.singles.iter().enumerate().map(|(at, belief)| (vec![at], *belief));
        let best = singles.fold((Vec::new(), 0.0), |best, next| if next.1 > best.1 { next } else { best });
        let pair =
            self.pairs.iter().fold((0, 0, 0.0), |best, next| if next.2 > best.2 { *next } else { best });
        if pair.2 > best.1 { (vec![pair.0, pair.1], pair.2) } else { best }
    }
}

/// How likely each of the open suspects is to be the one, before any shot.
///
/// Half of it is what the leads say, taken as logarithms of likelihoods; the other half only goes by their order (1/2,
/// 1/3, 1/4, …), since leads may be wrong by any amount.
fn weights(leads: &[f64]) -> Vec<f64> {
    let best = leads.iter().copied().filter(|lead| lead.is_finite()).fold(f64::NEG_INFINITY, f64::max);
    let by_lead = leads.iter().map(|lead| if lead.is_finite() { (lead - best).exp() } else { 0.0 });
    let by_lead: Vec<f64> = by_lead.collect();
    let by_order: Vec<f64> = (0..leads.len()).map(|at| 1.0 / (to_f64(at) + 2.0)).collect();
    let (lead_sum, order_sum): (f64, f64) = (by_lead.iter().sum(), by_order.iter().sum());
    let shares = by_lead.iter().zip(&by_order);
    shares
        .map(|(lead, order)| 0.5 * lead / lead_sum.max(f64::MIN_POSITIVE) + 0.5 * order / order_sum)
        .collect()
}

/// The logarithm of how likely an arm's shots are if it does what no explanation says, but mostly the same each time.
fn ln_by_itself(kept: u32, flipped: u32) -> f64 {
    let rising = |from: f64, steps: u32| (0..steps).map(|step| (from + f64::from(step)).ln()).sum::<f64>();
    rising(HABIT, kept) + rising(HABIT, flipped) - rising(2.0 * HABIT, kept.saturating_add(flipped))
}

fn weigh(expected: f64, odd: f64) -> f64 {
    let sum: f64 =
        NOISE.iter().map(|(q, weight)| weight * (expected * (1.0 - q).ln() + odd * q.ln()).exp()).sum();
    sum.max(f64::MIN_POSITIVE).ln()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of suspects are small")]
fn to_f64(number: usize) -> f64 {
    number as f64
}
