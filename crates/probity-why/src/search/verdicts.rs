//! Verdicts from what the plan came to and the tallies.

use super::arm::Arm;
use super::findings::{Ended, Findings, Verdict, VerdictKind};
use super::plan::{Found, Progress, Stage, arm_of, is_read_as_kept, trial_arms};
use super::state::State;
use super::suspect::Change;
use super::tally::Tally;

/// What is said of every suspect.
pub(super) fn findings(state: &State, progress: &Progress, ended: Ended) -> Findings {
    let necessary: Vec<usize> = progress
        .found
        .iter()
        .filter(|found| found.change == Change::Neutralise)
        .filter_map(|found| match found.members.as_slice() {
            [single] => Some(*single),
            _ => None,
        })
        .collect();
    let held_by: Vec<usize> = progress
        .found
        .iter()
        .filter(|found| found.change == Change::Neutralise)
        .flat_map(|found| found.members.iter().copied())
        .collect();
    let sufficient = if progress.is_rest_neutral { held_by.clone() } else { Vec::new() };

    let mut verdicts = Vec::with_capacity(state.suspects.len());
    for found in &progress.found {
        for member in &found.members {
            verdicts.push(convicted(state, found, *member, &necessary, sufficient == [*member]));
        }
    }
    let convicted: Vec<usize> = verdicts.iter().map(|verdict| verdict.suspect).collect();
    let mut open: Vec<Verdict> = Vec::new();
    let mut rejected: Vec<Verdict> = Vec::new();
    for number in state.order.iter().copied().filter(|number| !convicted.contains(number)) {
        let verdict = not_convicted(state, progress, number, ended);
        let list = if verdict.kind == VerdictKind::Rejected { &mut rejected } else { &mut open };
        list.push(verdict);
    }
    // Nothing was decided of these: what flipped more often than it was kept comes first.
    let lead = |verdict: &Verdict| i64::from(verdict.changed.flipped) - i64::from(verdict.changed.kept);
    open.sort_by_key(|verdict| std::cmp::Reverse(lead(verdict).max(0)));
    verdicts.append(&mut open);
    verdicts.append(&mut rejected);

    let baselines = state
        .tallies()
        .filter(|(arm, _)| arm.is_baseline())
        .map(|(arm, tally)| (arm.from_call, *tally))
        .collect();
    Findings {
        verdicts,
        none_needed: progress.is_rest_neutral && held_by.is_empty(),
        sufficient,
        ended,
        baselines,
        spent: state.spent,
        shots: state.shots,
        alpha: state.settings.alpha,
        alpha_left: state.alpha_left(),
    }
}

fn convicted(
    state: &State,
    found: &Found,
    member: usize,
    necessary: &[usize],
    is_sufficient: bool,
) -> Verdict {
    let others = |all: &[usize]| all.iter().copied().filter(|other| *other != member).collect::<Vec<usize>>();
    let kind = match (found.change, found.members.len()) {
        (Change::Restore, _) => VerdictKind::Absent(others(&found.members)),
        (Change::Neutralise, 1) if necessary.len() == 1 => VerdictKind::Necessary,
        (Change::Neutralise, 1) => VerdictKind::JointWith(others(necessary)),
        (Change::Neutralise, _) => VerdictKind::RedundantWith(others(&found.members)),
    };
    let (base, changed) = trial_arms(state, found, member);
    verdict(state, member, kind, is_sufficient, &base, Some(changed))
}

fn not_convicted(state: &State, progress: &Progress, number: usize, ended: Ended) -> Verdict {
    let change = state.suspects.get(number).map_or(Change::Neutralise, |suspect| suspect.change);
    let stage = progress.stage.unwrap_or(Stage::Near);
    let single = arm_of(state, stage, change, &[number]);
    let is_in = |arm: &Arm| match change {
        Change::Neutralise => arm.without.binary_search(&number).is_ok(),
        Change::Restore => arm.with.binary_search(&number).is_ok(),
    };
    // The smallest arm that was kept says the most about it.
    let kept = state
        .tallies()
        .filter(|(arm, tally)| {
            is_in(arm) && arm.from_call <= single.from_call && is_read_as_kept(state, tally)
        })
        .map(|(arm, _)| arm)
        .min_by_key(|arm| arm.without.len() + arm.with.len());
    let (kind, arm) = match (kept, ended) {
        (Some(arm), Ended::Complete | Ended::Budget | Ended::Undecided) => {
            (VerdictKind::Rejected, arm.clone())
        }
        _ => (VerdictKind::Inconclusive, single),
    };
    let base = Arm::baseline(arm.from_call);
    let was_run = state.tally(&arm) != Tally::default();
    verdict(state, number, kind, false, &base, was_run.then_some(arm))
}

fn verdict(
    state: &State,
    suspect: usize,
    kind: VerdictKind,
    is_sufficient: bool,
    base: &Arm,
    arm: Option<Arm>,
) -> Verdict {
    let alpha = state.settings.alpha;
    let base_tally = state.tally(base);
    let changed = arm.as_ref().map(|arm| state.tally(arm)).unwrap_or_default();
    let evidence =
        arm.as_ref().and_then(|arm| state.standing_of(base, arm)).map_or(0.0, |trial| trial.evidence);
    Verdict {
        suspect,
        kind,
        is_sufficient,
        changed_kept: changed.kept_rate(alpha),
        base_kept: base_tally.kept_rate(alpha),
        arm,
        changed,
        base: base_tally,
        evidence,
    }
}
