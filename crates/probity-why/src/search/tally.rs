//! Counts of one arm, and what they say about its rate.

use super::arm::{Cost, Outcome, Shot};

/// How the shots of one arm came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// The answer came out the same.
    pub kept: u32,
    /// The answer came out otherwise.
    pub flipped: u32,
    /// Stopped before an effect that differed.
    pub diverged: u32,
    /// Could not be run.
    pub failed: u32,
    /// What all of them cost.
    pub cost: Cost,
}

/// Bounds of a rate, both in 0..=1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Tally {
    /// Shots that are evidence: kept or flipped.
    #[must_use]
    pub fn shots(&self) -> u32 {
        self.kept.saturating_add(self.flipped)
    }

    /// Shots that said nothing.
    #[must_use]
    pub fn without_outcome(&self) -> u32 {
        self.diverged.saturating_add(self.failed)
    }

    /// Where the rate at which the answer is kept lies, with an error of at most `alpha` *whenever one stops looking*.
    ///
    /// It holds the rates that the even mixture over all rates has not refuted by a factor of `1/alpha`, so it is wider
    /// than an interval for a number of shots that was fixed beforehand. Without shots it is everything.
    #[must_use]
    pub fn kept_rate(&self, alpha: f64) -> Interval {
        let (kept, flipped) = (f64::from(self.kept), f64::from(self.flipped));
        if self.shots() == 0 {
            return Interval { low: 0.0, high: 1.0 };
        }
        let mixture = ln_beta_counts(self.kept, self.flipped);
        let is_inside = |rate: f64| mixture - ln_likelihood(rate, kept, flipped) < -alpha.ln();
        let mode = kept / (kept + flipped);
        let edge = |mut outside: f64, mut inside: f64| {
            if is_inside(outside) {
                return outside;
            }
            for _ in 0..BISECTIONS {
                let middle = f64::midpoint(outside, inside);
                if is_inside(middle) { inside = middle } else { outside = middle }
            }
            outside
        };
        Interval { low: edge(0.0, mode), high: edge(1.0, mode) }
    }

    pub(super) fn add(&mut self, shot: Shot) {
        let count = match shot.outcome {
            Outcome::Kept => &mut self.kept,
            Outcome::Flipped => &mut self.flipped,
            Outcome::Diverged => &mut self.diverged,
            Outcome::Failed => &mut self.failed,
        };
        *count = count.saturating_add(1);
        self.cost = self.cost.plus(shot.cost);
    }

    /// What came after an earlier tally of the same arm.
    pub(super) fn since(&self, earlier: Self) -> Self {
        Self {
            kept: self.kept.saturating_sub(earlier.kept),
            flipped: self.flipped.saturating_sub(earlier.flipped),
            diverged: self.diverged.saturating_sub(earlier.diverged),
            failed: self.failed.saturating_sub(earlier.failed),
            cost: self.cost,
        }
    }
}

/// Halvings of 0..1; finer than anyone reads.
const BISECTIONS: u32 = 40;

/// `hits · ln rate + misses · ln (1 - rate)`, with `0 · ln 0 = 0`.
pub(super) fn ln_likelihood(rate: f64, hits: f64, misses: f64) -> f64 {
    let part = |count: f64, rate: f64| if count == 0.0 { 0.0 } else { count * rate.ln() };
    part(hits, rate) + part(misses, 1.0 - rate)
}

/// The logarithm of the integral of the likelihood over all rates: `a! b! / (a + b + 1)!`.
fn ln_beta_counts(a: u32, b: u32) -> f64 {
    let (few, many) = (a.min(b), a.max(b));
    // 1/(a+b+1) over the binomial coefficient, as a product of `few` factors.
    let choose: f64 = (1..=few).map(|i| (f64::from(many) + f64::from(i)).ln() - f64::from(i).ln()).sum();
    -choose - (f64::from(a) + f64::from(b) + 1.0).ln()
}

#[cfg(test)]
#[path = "tally_tests.rs"]
mod tests;
