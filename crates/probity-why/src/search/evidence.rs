//! The evidence of one trial: how much better "the change matters" explains the shots than "it does not" can.

use super::tally::{Tally, ln_likelihood};

/// What is expected where a change matters: how often the base flips, how often the changed arm flips, and the weight of
/// that expectation. Fixed before any shot, which is what makes the evidence valid; the weights sum to 1.
const EXPECTED: [(f64, f64, f64); 5] =
    [(0.01, 0.99, 0.4), (0.05, 0.95, 0.2), (0.1, 0.9, 0.2), (0.2, 0.8, 0.1), (0.05, 0.6, 0.1)];

/// The part of the error that is left for the convictions after one that was tried in vain. Small enough that one kept shot
/// of the baseline and three flips convict at once.
const LATER: f64 = 0.45;

/// The evidence against "the changed arm flips no more often than the base, and the base in at most `noise_max`".
///
/// At most a non-negative martingale that starts at 1, under every pair of rates of that hypothesis and any choice of the
/// next arm. So it ever reaches `1/a` with probability at most `a`.
pub(super) fn evidence(base: &Tally, changed: &Tally, noise_max: f64) -> f64 {
    let (f0, k0) = (f64::from(base.flipped), f64::from(base.kept));
    let (f1, k1) = (f64::from(changed.flipped), f64::from(changed.kept));
    let expected: f64 = EXPECTED
        .iter()
        .map(|(q0, q1, weight)| weight * (ln_likelihood(*q0, f0, k0) + ln_likelihood(*q1, f1, k1)).exp())
        .sum();
    (expected.ln() - ln_likeliest(f0, k0, f1, k1, noise_max)).exp()
}

/// The largest log likelihood over all `q1 <= q0 <= noise_max`.
fn ln_likeliest(f0: f64, k0: f64, f1: f64, k1: f64, noise_max: f64) -> f64 {
    let rate = |flipped: f64, kept: f64| if flipped + kept == 0.0 { 0.0 } else { flipped / (flipped + kept) };
    let (free0, free1) = (rate(f0, k0), rate(f1, k1));
    // Where the rates alone are in the wrong order, the best allowed pair has them equal: the likelihood is concave.
    let (q0, q1) = if f0 + k0 > 0.0 && free1 <= free0 {
        (free0.min(noise_max), free1.min(noise_max))
    } else {
        let pooled = rate(f0 + f1, k0 + k1).min(noise_max);
        (pooled, pooled)
    };
    ln_likelihood(q0, f0, k0) + ln_likelihood(q1, f1, k1)
}

/// The share of `alpha` that a conviction may spend before which this many were tried in vain. All shares together are at
/// most 1.
pub(super) fn share(number: usize) -> f64 {
    (1.0 - LATER) * LATER.powi(i32::try_from(number).unwrap_or(i32::MAX))
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
