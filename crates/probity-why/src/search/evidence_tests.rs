use std::collections::BTreeMap;

use super::*;

/// Shots of both arms together that an opponent may make.
const HORIZON: u32 = 16;

fn tally(kept: u32, flipped: u32) -> Tally {
    Tally { kept, flipped, ..Tally::default() }
}

/// The largest probability to ever reach `threshold` when an opponent, who sees everything, chooses the next arm.
fn reached_at_most(q0: f64, q1: f64, noise_max: f64, threshold: f64) -> f64 {
    fn value(
        at: [u32; 4],
        (q0, q1, noise_max, threshold): (f64, f64, f64, f64),
        known: &mut BTreeMap<[u32; 4], f64>,
    ) -> f64 {
        let [k0, f0, k1, f1] = at;
        if evidence(&tally(k0, f0), &tally(k1, f1), noise_max) >= threshold {
            return 1.0;
        }
        if at.iter().sum::<u32>() >= HORIZON {
            return 0.0;
        }
        if let Some(value) = known.get(&at) {
            return *value;
        }
        let rates = (q0, q1, noise_max, threshold);
        let base = (1.0 - q0) * value([k0 + 1, f0, k1, f1], rates, known)
            + q0 * value([k0, f0 + 1, k1, f1], rates, known);
        let changed = (1.0 - q1) * value([k0, f0, k1 + 1, f1], rates, known)
            + q1 * value([k0, f0, k1, f1 + 1], rates, known);
        let best = f64::max(base, changed);
        known.insert(at, best);
        best
    }
    value([0; 4], (q0, q1, noise_max, threshold), &mut BTreeMap::new())
}

#[test]
fn no_choice_of_arms_reaches_a_threshold_more_often_than_its_share() {
    for (noise_max, rates) in [(0.3, [0.01, 0.1, 0.2, 0.25, 0.3]), (1.0, [0.1, 0.3, 0.5, 0.6, 0.9])] {
        for share in [share(0), share(1), share(4)] {
            let error = 0.05 * share;
            for q0 in rates {
                for q1 in [q0, q0 / 2.0] {
                    let reached = reached_at_most(q0, q1, noise_max, 1.0 / error);
                    assert!(reached <= error, "{reached} > {error} at {q0}, {q1}, up to {noise_max}");
                }
            }
        }
    }
}

#[test]
fn the_opponent_of_that_test_does_reach_something() {
    assert!(reached_at_most(0.3, 0.3, 0.3, 20.0) > 0.01);
}

#[test]
fn one_kept_and_three_flipped_convict_the_first_suspect_and_nothing_less_does() {
    let enough = 1.0 / (0.05 * share(0));
    assert!(evidence(&tally(1, 0), &tally(0, 3), 0.3) >= enough);
    assert!(evidence(&tally(2, 0), &tally(0, 2), 0.3) < enough);
    assert!(evidence(&tally(0, 0), &tally(0, 3), 0.3) < enough);
}

#[test]
fn arms_that_come_out_alike_are_evidence_for_nothing() {
    for (kept, flipped) in [(0, 0), (5, 0), (0, 5), (3, 3), (40, 10)] {
        assert!(evidence(&tally(kept, flipped), &tally(kept, flipped), 1.0) <= 1.0 + 1e-9);
    }
}

#[test]
fn all_shares_together_are_at_most_one() {
    let sum: f64 = (0..1000).map(share).sum();
    // The sum of a thousand shares is rounded a thousand times.
    assert!(sum <= 1.0 + 1e-12 && sum > 0.9999, "{sum}");
}
