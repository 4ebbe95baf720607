//! The order of arms, computed anew from all tallies before each shot.
//!
//! A plan runs from its beginning until it lacks a shot, and asks for that. So nothing is remembered that a later shot
//! could prove wrong, and the code reads as if every arm could simply be looked at.

use super::arm::Arm;
use super::settings::Reach;
use super::state::State;
use super::suspect::Change;
use super::tally::Tally;

/// Suspects that are tried one by one before the rest is looked at jointly.
const SINGLY_MAX: usize = 3;
/// Kept shots of a baseline before anything is compared with it.
const BASELINE_KEPT_MIN: u32 = 2;
/// Shots of a baseline after which it is given up where it never looked steady.
const BASELINE_SHOTS_MAX: u32 = 16;
/// How many times likelier one reading of an arm must be than the other before the plan goes on with it.
const READING_FACTOR: f64 = 9.0;
/// The same before it is said that nothing is to be found.
const NOTHING_FACTOR: f64 = 30.0;
/// Times that contradicting readings are asked again, each time for [`READING_FACTOR`] times more.
const DOUBTS_MAX: i32 = 3;
/// Shots of one arm for a reading; after that the majority is taken.
const READING_SHOTS_MAX: u32 = 15;
/// Shots without an outcome after which an arm is unknown.
const WITHOUT_OUTCOME_MAX: u32 = 3;
/// Shots of a changed arm in one trial.
const TRIAL_SHOTS_MAX: u32 = 40;
/// Members of a group that still get a trial each.
const GROUP_MAX: usize = 8;
/// Groups that are looked for.
const FOUND_MAX: usize = 16;

/// Suspects that were convicted together: one, or a group that only together changes the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) members: Vec<usize>,
    pub(super) change: Change,
    pub(super) stage: Stage,
}

/// Where arms are forked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// At the call that was asked about.
    Near,
    /// At the first call that saw a suspect of the arm.
    Whole,
}

/// What the plan has come to so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    pub(super) found: Vec<Found>,
    /// Whether an arm without all the others kept the answer.
    pub(super) is_rest_neutral: bool,
    /// The last stage that was begun.
    pub(super) stage: Option<Stage>,
}

/// Why the plan went no further.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stop {
    /// It lacks a shot of this arm.
    Run(Arm),
    /// The baseline flips too often.
    Unsteady,
    /// Readings contradict each other, or shots have no outcome.
    Undecided,
    /// Readings contradict each other; to be asked again.
    Contradiction,
}

/// What an arm seems to do. A lead for the order of arms, no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Kept,
    Flips,
    Unknown,
}

/// Runs the plan until it lacks a shot or has come to its end.
pub(super) fn plan(state: &mut State) -> (Progress, Result<(), Stop>) {
    let mut progress = Progress::default();
    for doubt in 0..=DOUBTS_MAX {
        let factor = READING_FACTOR.powi(doubt);
        let mut planner =
            Planner { state: &mut *state, progress: Progress::default(), stage: Stage::Near, factor };
        let outcome = planner.run();
        progress = planner.progress;
        if outcome != Err(Stop::Contradiction) {
            return (progress, outcome);
        }
    }
    (progress, Err(Stop::Undecided))
}

/// The arm in which `members` are changed.
pub(super) fn arm_of(state: &State, stage: Stage, change: Change, members: &[usize]) -> Arm {
    let first = members.iter().filter_map(|number| state.suspects.get(*number)).map(|s| s.first_seen).min();
    let from_call = match stage {
        Stage::Near => state.asked_call,
        Stage::Whole => first.unwrap_or(state.asked_call),
    };
    arm_at(from_call, change, members)
}

/// The arms that a member of a group is tried in: without the change of it, and with.
pub(super) fn trial_arms(state: &State, found: &Found, member: usize) -> (Arm, Arm) {
    let changed = arm_of(state, found.stage, found.change, &found.members);
    let others: Vec<usize> = found.members.iter().copied().filter(|other| *other != member).collect();
    (arm_at(changed.from_call, found.change, &others), changed)
}

/// What a tally seems to say, where that is `factor` times likelier than the contrary.
pub(super) fn reading(state: &State, tally: &Tally, factor: f64) -> Option<Reading> {
    let noise = noise(state);
    let lead = (f64::from(tally.flipped) - f64::from(tally.kept)) * ((1.0 - noise) / noise).ln();
    let is_over = tally.shots() >= READING_SHOTS_MAX;
    if lead >= factor.ln() || (is_over && lead > 0.0) {
        Some(Reading::Flips)
    } else if lead <= -factor.ln() || (is_over && lead < 0.0) {
        Some(Reading::Kept)
    } else if is_over || tally.without_outcome() >= WITHOUT_OUTCOME_MAX {
        Some(Reading::Unknown)
    } else {
        None
    }
}

/// The reading that a suspect is rejected by.
pub(super) fn is_read_as_kept(state: &State, tally: &Tally) -> bool {
    reading(state, tally, READING_FACTOR) == Some(Reading::Kept)
}

fn arm_at(from_call: u32, change: Change, members: &[usize]) -> Arm {
    let mut members = members.to_vec();
    members.sort_unstable();
    let mut arm = Arm::baseline(from_call);
    match change {
        Change::Neutralise => arm.without = members,
        Change::Restore => arm.with = members,
    }
    arm
}

/// How often shots of one arm seem to differ from each other: a guess with a prior of about one in thirteen.
fn noise(state: &State) -> f64 {
    let (mut odd, mut shots) = (0.3, 4.0);
    for (arm, tally) in state.tallies() {
        if arm.is_baseline() {
            odd += f64::from(tally.flipped);
            shots += f64::from(tally.shots());
        } else {
            odd += f64::from(tally.flipped.min(tally.kept));
            shots += f64::from(tally.shots().saturating_sub(1));
        }
    }
    f64::clamp(odd / shots, 0.02, 0.35)
}

struct Planner<'a> {
    state: &'a mut State,
    progress: Progress,
    stage: Stage,
    factor: f64,
}

impl Planner<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        let last = self.state.asked_call;
        if self.state.settings.reach == Reach::NearFirst {
            self.search(Stage::Near)?;
            let is_all_near = self.state.suspects.iter().all(|suspect| suspect.first_seen == last);
            if is_all_near || !self.progress.found.is_empty() {
                return Ok(());
            }
        }
        self.search(Stage::Whole)
    }

    fn search(&mut self, stage: Stage) -> Result<(), Stop> {
        self.stage = stage;
        self.progress.stage = Some(stage);
        let [suspects, absent] = [Change::Neutralise, Change::Restore].map(|change| {
            let is_such =
                |number: &usize| self.state.suspects.get(*number).is_some_and(|s| s.change == change);
            self.state.order.iter().copied().filter(is_such).collect::<Vec<usize>>()
        });
        if stage == Stage::Near {
            self.steady(&Arm::baseline(self.state.asked_call))?;
        }
        self.needed(&suspects)?;
        self.absent(&absent)
    }

    /// What the answer needs: singly, then jointly, until all else is seen to be neutral.
    fn needed(&mut self, all: &[usize]) -> Result<(), Stop> {
        let mut open = all.to_vec();
        let mut singly = all.iter().copied().take(SINGLY_MAX);
        // Forks of whole runs are dear: there the first question is whether anything is to be found.
        if self.stage == Stage::Whole && self.state.settings.reach == Reach::NearFirst {
            singly = all.iter().copied().take(0);
        }
        while !open.is_empty() {
            let is_joint = !self.progress.found.is_empty() || singly.len() == 0;
            if is_joint {
                let nothing = if self.progress.found.is_empty() { NOTHING_FACTOR } else { READING_FACTOR };
                let rest = arm_of(self.state, self.stage, Change::Neutralise, &open);
                match self.read(&rest, nothing)? {
                    Reading::Kept => {
                        self.progress.is_rest_neutral = true;
                        return Ok(());
                    }
                    Reading::Flips => {}
                    Reading::Unknown => return self.one_by_one(&open),
                }
            }
            let single = singly.find(|number| open.contains(number));
            let group = match single {
                Some(number) => vec![number],
                None if is_joint => self.smallest(Change::Neutralise, &open)?,
                None => continue,
            };
            if self.convict(Change::Neutralise, &group)? {
                open.retain(|number| !group.contains(number));
            } else if single.is_none() {
                return Err(Stop::Contradiction);
            }
        }
        self.progress.is_rest_neutral = !self.progress.found.is_empty();
        Ok(())
    }

    /// What was never sent and would have changed the answer.
    fn absent(&mut self, all: &[usize]) -> Result<(), Stop> {
        if all.is_empty() {
            return Ok(());
        }
        let group = if all.len() == 1 {
            all.to_vec()
        } else {
            let together = arm_of(self.state, self.stage, Change::Restore, all);
            match self.read(&together, READING_FACTOR)? {
                Reading::Kept => return Ok(()),
                Reading::Flips => self.smallest(Change::Restore, all)?,
                Reading::Unknown => return Err(Stop::Undecided),
            }
        };
        if self.convict(Change::Restore, &group)? || all.len() == 1 {
            return Ok(());
        }
        Err(Stop::Contradiction)
    }

    /// Where joint arms have no outcome: each suspect alone.
    fn one_by_one(&mut self, open: &[usize]) -> Result<(), Stop> {
        let mut is_undecided = false;
        for number in open {
            match self.convict(Change::Neutralise, &[*number]) {
                Err(Stop::Undecided) => is_undecided = true,
                other => drop(other?),
            }
        }
        if is_undecided { Err(Stop::Undecided) } else { Ok(()) }
    }

    /// A smallest part of a set that still flips, where the set flips (QuickXplain): a constant number of readings, and
    /// for each member a logarithm of the set's size.
    fn smallest(&mut self, change: Change, set: &[usize]) -> Result<Vec<usize>, Stop> {
        self.part(change, &[], false, set)
    }

    fn part(
        &mut self,
        change: Change,
        fixed: &[usize],
        has_grown: bool,
        set: &[usize],
    ) -> Result<Vec<usize>, Stop> {
        if has_grown {
            let arm = arm_of(self.state, self.stage, change, fixed);
            match self.read(&arm, READING_FACTOR)? {
                Reading::Flips => return Ok(Vec::new()),
                Reading::Kept => {}
                Reading::Unknown => return Err(Stop::Undecided),
            }
        }
        if set.len() <= 1 {
            return Ok(set.to_vec());
        }
        let (better, worse) = set.split_at(set.len() / 2);
        let from_worse = self.part(change, &[fixed, better].concat(), true, worse)?;
        let has_grown = !from_worse.is_empty();
        let from_better = self.part(change, &[fixed, from_worse.as_slice()].concat(), has_grown, better)?;
        Ok([from_better, from_worse].concat())
    }

    /// Whether the trials of all members held.
    fn convict(&mut self, change: Change, members: &[usize]) -> Result<bool, Stop> {
        if members.len() > GROUP_MAX || self.progress.found.len() >= FOUND_MAX {
            return Err(Stop::Undecided);
        }
        let found = Found { members: members.to_vec(), change, stage: self.stage };
        let trials: Vec<(Arm, Arm)> =
            members.iter().map(|member| trial_arms(self.state, &found, *member)).collect();
        for (base, changed) in &trials {
            self.state.trial(base, changed);
        }
        for (base, changed) in &trials {
            if !self.holds(base, changed)? {
                return Ok(false);
            }
        }
        self.progress.found.push(found);
        Ok(true)
    }

    /// Whether a trial held; it is over, too, when the arm seems to be kept, or its base to flip.
    fn holds(&mut self, base: &Arm, changed: &Arm) -> Result<bool, Stop> {
        let number = self.state.trial(base, changed);
        let Some(standing) = self.state.standing(number) else {
            return Err(Stop::Undecided);
        };
        if standing.has_held {
            return Ok(true);
        }
        if base.is_baseline() {
            self.steady(base)?;
        } else {
            match self.read(base, READING_FACTOR)? {
                Reading::Kept => {}
                Reading::Flips => return Ok(false),
                Reading::Unknown => return Err(Stop::Undecided),
            }
        }
        let tally = self.state.tally(changed);
        match reading(self.state, &tally, READING_FACTOR * self.factor) {
            Some(Reading::Kept) => return Ok(false),
            Some(Reading::Unknown) => return Err(Stop::Undecided),
            Some(Reading::Flips) | None => {}
        }
        if standing.changed.shots() >= TRIAL_SHOTS_MAX
            || standing.changed.without_outcome() >= WITHOUT_OUTCOME_MAX
        {
            return Err(Stop::Undecided);
        }
        let lacks_base =
            standing.base.kept < BASELINE_KEPT_MIN || standing.after_base > standing.after_changed;
        Err(Stop::Run(if lacks_base { base.clone() } else { changed.clone() }))
    }

    /// Goes on where a baseline keeps the answer at least twice as often as not, and twice at least.
    fn steady(&mut self, baseline: &Arm) -> Result<(), Stop> {
        let tally = self.state.tally(baseline);
        if tally.kept >= BASELINE_KEPT_MIN && tally.kept >= tally.flipped.saturating_mul(2) {
            return Ok(());
        }
        if tally.without_outcome() >= WITHOUT_OUTCOME_MAX {
            return Err(Stop::Undecided);
        }
        if tally.shots() >= BASELINE_SHOTS_MAX || tally.flipped >= tally.kept.saturating_add(4) {
            return Err(Stop::Unsteady);
        }
        Err(Stop::Run(baseline.clone()))
    }

    fn read(&mut self, arm: &Arm, factor: f64) -> Result<Reading, Stop> {
        reading(self.state, &self.state.tally(arm), factor * self.factor)
            .ok_or_else(|| Stop::Run(arm.clone()))
    }
}
