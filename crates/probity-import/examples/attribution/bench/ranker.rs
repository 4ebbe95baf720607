//! A linear ranker: the turns of a run compete for being the decisive one (a softmax over them), and large weights cost.
//! The cost is convex, so the weights are the same ones however they are found; Newton's steps find them.

use super::encode::{Encoder, Set};
use super::features::Row;

const NEWTON_STEPS_MAX: usize = 25;
const HALVINGS_MAX: usize = 20;
const GAIN_MIN: f64 = 1e-7;

pub(crate) struct Ranker {
    encoder: Encoder,
    weights: Vec<f64>,
}

/// One run to learn from: its turns, and which was the decisive one.
pub(crate) type Lesson<'a> = (&'a [Row], usize);

struct Encoded {
    turns: Vec<Vec<(usize, f64)>>,
    right: usize,
}

impl Ranker {
    /// Learns once for each of the costs, the highest first; each begins where the one before has ended.
    pub(crate) fn learn(lessons: &[Lesson<'_>], set: Set, costs: &[f64]) -> Vec<Self> {
        let runs: Vec<&[Row]> = lessons.iter().map(|lesson| lesson.0).collect();
        let encoder = Encoder::of(&runs, set);
        let mut weights = vec![0.0; encoder.width()];
        let encoded: Vec<Encoded> = lessons
            .iter()
            .filter(|(rows, right)| *right < rows.len())
            .map(|(rows, right)| Encoded {
                turns: rows.iter().map(|row| encoder.encode(row)).collect(),
                right: *right,
            })
            .collect();
        let learned = costs.iter().map(|cost| {
            descend(&encoded, &mut weights, *cost);
            Self { encoder: encoder.clone(), weights: weights.clone() }
        });
        learned.collect()
    }

    /// How likely each turn is the decisive one.
    pub(crate) fn likely(&self, rows: &[Row]) -> Vec<f64> {
        let turns: Vec<_> = rows.iter().map(|row| self.encoder.encode(row)).collect();
        softmax(&turns, &self.weights)
    }
}

fn softmax(turns: &[Vec<(usize, f64)>], weights: &[f64]) -> Vec<f64> {
    let scores: Vec<f64> =
        turns.iter().map(|turn| turn.iter().map(|(at, x)| weights[*at] * x).sum()).collect();
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

fn loss(runs: &[Encoded], weights: &[f64], cost: f64) -> f64 {
    let fit: f64 = runs.iter().map(|run| -softmax(&run.turns, weights)[run.right].max(1e-300).ln()).sum();
    fit + 0.5 * cost * weights.iter().map(|weight| weight * weight).sum::<f64>()
}

fn descend(runs: &[Encoded], weights: &mut Vec<f64>, cost: f64) {
    let width = weights.len();
    let mut now = loss(runs, weights, cost);
    for _ in 0..NEWTON_STEPS_MAX {
        let mut slope: Vec<f64> = weights.iter().map(|weight| cost * weight).collect();
        let mut bend = vec![0.0; width * width];
        for at in 0..width {
            bend[at * width + at] = cost;
        }
        for run in runs {
            let likely = softmax(&run.turns, weights);
            let mut mean = vec![0.0; width];
            for (turn, p) in run.turns.iter().zip(&likely) {
                for (place, (at, x)) in turn.iter().enumerate() {
                    mean[*at] += p * x;
                    for (other, y) in &turn[..=place] {
                        bend[at * width + other] += p * x * y;
                    }
                }
            }
            for (at, x) in &run.turns[run.right] {
                slope[*at] -= x;
            }
            for at in 0..width {
                slope[at] += mean[at];
                for other in 0..=at {
                    bend[at * width + other] -= mean[at] * mean[other];
                }
            }
        }
        let Some(step) = solved(bend, slope) else { return };
        let mut part = 1.0;
        let mut next = None;
        for _ in 0..HALVINGS_MAX {
            let tried: Vec<f64> =
                weights.iter().zip(&step).map(|(weight, step)| weight - part * step).collect();
            let loss = loss(runs, &tried, cost);
            if loss <= now {
                next = Some((tried, loss));
                break;
            }
            part /= 2.0;
        }
        let Some((tried, loss)) = next else { return };
        let gain = now - loss;
        (*weights, now) = (tried, loss);
        if gain < GAIN_MIN {
            return;
        }
    }
}

/// Solves for a symmetric matrix of which the lower half is given (Cholesky); `None` where it is not positive.
fn solved(mut lower: Vec<f64>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    for row in 0..n {
        for column in 0..=row {
            let dot: f64 = (0..column).map(|at| lower[row * n + at] * lower[column * n + at]).sum();
            let rest = lower[row * n + column] - dot;
            lower[row * n + column] = if row == column {
                if rest <= 0.0 {
                    return None;
                }
                rest.sqrt()
            } else {
                rest / lower[column * n + column]
            };
        }
    }
    for row in 0..n {
        let dot: f64 = (0..row).map(|at| lower[row * n + at] * right[at]).sum();
        right[row] = (right[row] - dot) / lower[row * n + row];
    }
    for row in (0..n).rev() {
        let dot: f64 = (row + 1..n).map(|at| lower[at * n + row] * right[at]).sum();
        right[row] = (right[row] - dot) / lower[row * n + row];
    }
    Some(right)
}
