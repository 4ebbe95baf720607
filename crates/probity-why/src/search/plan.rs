//! The order of arms, computed anew from all tallies before each shot.
//!
//! A plan runs from its beginning until it lacks a shot, and asks for that. So nothing is remembered that a later shot
//! could prove wrong, and the code reads as if every arm could simply be looked at.

use super::arm::Arm;
use super::belief::{Belief, Seen};
use super::settings::Reach;
use super::state::State;
use super::suspect::Change;
use super::tally::Tally;

/// Suspects that are tried one by one before the rest is looked at jointly.
const SINGLY_MAX: usize = 3;
/// How likely the second and third of them must be for that, after what was heard of those before.
const SINGLY_WORTH: f64 = 0.15;
/// The same of the first, whose trial is opened with it.
const SINGLY_WORTH_FIRST: f64 = 0.08;
/// How likely the first of them must be for its trial to be opened with its first shot. A trial that comes to nothing has
/// spent its share of the error; one that is opened after a flip has lost that flip.
const TRIAL_AT_ONCE: f64 = 0.3;
/// Kept shots of a baseline before anything is compared with it.
const BASELINE_KEPT_MIN: u32 = 1;
/// Shots of a baseline after which it is given up where it never looked steady.
const BASELINE_SHOTS_MAX: u32 = 16;
/// How likely an explanation must be before it gets a trial.
const BELIEVED: f64 = 0.6;
/// How likely it must be that nothing is to be found before the search says so.
const NOTHING: f64 = 0.9;
/// The same of absent items: looked at once more, since nothing else looks at them.
const NOTHING_ABSENT: f64 = 0.97;
/// How likely it is, before any shot, that nothing is to be found: at first; where something was found, or was looked for
/// near; and among absent items.
const NONE_AT_FIRST: f64 = 0.25;
const NONE_LATER: f64 = 0.7;
const NONE_ABSENT: f64 = 0.5;
/// How many times likelier one reading of an arm must be than the other.
const READING_FACTOR: f64 = 9.0;
/// Shots of one arm for a reading; after that the majority is taken.
const READING_SHOTS_MAX: u32 = 15;
/// Shots without an outcome after which an arm is not run again.
const WITHOUT_OUTCOME_MAX: u32 = 3;
/// Shots of a changed arm in one trial.
const TRIAL_SHOTS_MAX: u32 = 60;
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
    /// What was heard contradicts itself, or shots have no outcome.
    Undecided,
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
    let mut planner = Planner { state, progress: Progress::default(), stage: Stage::Near };
    let outcome = planner.run();
    (planner.progress, outcome)
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

/// What a tally seems to say, where that is likelier than the contrary by [`READING_FACTOR`].
pub(super) fn reading(state: &State, tally: &Tally) -> Option<Reading> {
    let noise = noise(state);
    let lead = (f64::from(tally.flipped) - f64::from(tally.kept)) * ((1.0 - noise) / noise).ln();
    let is_over = tally.shots() >= READING_SHOTS_MAX;
    if lead >= READING_FACTOR.ln() || (is_over && lead > 0.0) {
        Some(Reading::Flips)
    } else if lead <= -READING_FACTOR.ln() || (is_over && lead < 0.0) {
        Some(Reading::Kept)
    } else if is_over || tally.without_outcome() >= WITHOUT_OUTCOME_MAX {
        Some(Reading::Unknown)
    } else {
        None
    }
}

/// The reading that a suspect is rejected by.
pub(super) fn is_read_as_kept(state: &State, tally: &Tally) -> bool {
    reading(state, tally) == Some(Reading::Kept)
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
}

impl Planner<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        let last = self.state.asked_call;
        let reach = self.state.settings.reach;
        if reach != Reach::Whole {
            self.search(Stage::Near)?;
            let is_all_near = self.state.suspects.iter().all(|suspect| suspect.first_seen == last);
            if reach == Reach::Near || is_all_near || !self.progress.found.is_empty() {
                return Ok(());
            }
        }
        self.search(Stage::Whole)
    }

    fn search(&mut self, stage: Stage) -> Result<(), Stop> {
        self.stage = stage;
        self.progress.stage = Some(stage);
        self.progress.is_rest_neutral = false;
        let [suspects, absent] = [Change::Neutralise, Change::Restore].map(|change| {
            let is_such =
                |number: &usize| self.state.suspects.get(*number).is_some_and(|s| s.change == change);
            self.state.order.iter().copied().filter(is_such).collect::<Vec<usize>>()
        });
        let is_second = stage == Stage::Whole && self.state.settings.reach == Reach::NearFirst;
        if !is_second {
            let from_call = arm_of(self.state, stage, Change::Neutralise, &suspects).from_call;
            self.steady(&Arm::baseline(from_call))?;
        }
        let mut open = self.without_convicted(Change::Neutralise, suspects);
        let mut singly =
            if is_second || !self.progress.found.is_empty() { 0 } else { SINGLY_MAX.min(open.len()) };
        while let Some(group) = self.next_found(Change::Neutralise, &open, singly)? {
            open.retain(|number| !group.contains(number));
            singly = 0;
        }
        self.progress.is_rest_neutral = true;
        let known = self.progress.found.len();
        let absent = self.without_convicted(Change::Restore, absent);
        if self.progress.found.len() == known {
            self.next_found(Change::Restore, &absent, 0)?;
        }
        Ok(())
    }

    /// What was convicted in this stage is found, and open no more.
    fn without_convicted(&mut self, change: Change, mut open: Vec<usize>) -> Vec<usize> {
        let is_such = |found: &&Found| found.stage == self.stage && found.change == change;
        let convicted: Vec<Found> = self.state.convicted.iter().filter(is_such).cloned().collect();
        open.retain(|number| !convicted.iter().any(|found| found.members.contains(number)));
        self.progress.found.extend(convicted);
        open
    }

    /// Convicts the next suspect or group among the open ones, or says that nothing more is to be found.
    fn next_found(
        &mut self,
        change: Change,
        open: &[usize],
        singly: usize,
    ) -> Result<Option<Vec<usize>>, Stop> {
        if open.is_empty() {
            return Ok(None);
        }
        if singly > 0 {
            self.singly(change, open, singly)?;
        }
        let (none, nothing) = match change {
            Change::Neutralise if singly > 0 => (NONE_AT_FIRST, NOTHING),
            Change::Neutralise => (NONE_LATER, NOTHING),
            Change::Restore => (NONE_ABSENT, NOTHING_ABSENT),
        };
        let belief = self.belief(change, open, none);
        let (positions, share) = belief.likeliest();
        let likeliest: Vec<usize> = positions.iter().filter_map(|at| open.get(*at)).copied().collect();
        if share >= BELIEVED {
            return self.convict(change, &likeliest).map(|()| Some(likeliest));
        }
        let together = arm_of(self.state, self.stage, change, open);
        let tally = self.state.tally(&together);
        if is_dead(&tally) {
            return self.one_by_one(change, open);
        }
        if tally.shots() == 0 {
            return Err(Stop::Run(together));
        }
        if belief.none >= nothing {
            return Ok(None);
        }
        if belief.other >= BELIEVED {
            let group = self.smallest(change, open)?;
            return self.convict(change, &group).map(|()| Some(group));
        }
        Err(self.telling(change, open, &belief))
    }

    /// A first shot of each of the best that is likely enough; the very first gets its trial at once, so that no shot
    /// of it is lost. Where not even that one is likely, the joint arm comes first, and no share of the error is spent on a guess.
    fn singly(&mut self, change: Change, open: &[usize], best: usize) -> Result<(), Stop> {
        for (place, number) in open.iter().enumerate().take(best) {
            let single = arm_of(self.state, self.stage, change, &[*number]);
            let tally = self.state.tally(&single);
            if tally.shots() == 0 && !is_dead(&tally) {
                let share = self.belief(change, open, NONE_AT_FIRST).singles.get(place).copied();
                let worth = if place == 0 { SINGLY_WORTH_FIRST } else { SINGLY_WORTH };
                if share.is_none_or(|share| share < worth) {
                    return Ok(());
                }
                if place == 0 && share.is_some_and(|share| share >= TRIAL_AT_ONCE) {
                    self.state.open(&[(Arm::baseline(single.from_call), single.clone())]);
                }
                return Err(Stop::Run(single));
            }
            if tally.flipped > tally.kept {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The arm whose outcome is least certain: it changes the likeliest suspects, as many as it takes.
    fn telling(&self, change: Change, open: &[usize], belief: &Belief) -> Stop {
        let shares = belief.shares();
        let mut positions: Vec<usize> = (0..open.len()).collect();
        let share = |at: usize| shares.get(at).copied().unwrap_or(0.0);
        positions.sort_by(|a, b| share(*b).total_cmp(&share(*a)).then(a.cmp(b)));
        let mut changes = vec![false; open.len()];
        let mut members = Vec::new();
        let mut best: Option<(f64, Arm)> = None;
        for at in positions {
            if let (Some(number), Some(is_in)) = (open.get(at), changes.get_mut(at)) {
                members.push(*number);
                *is_in = true;
            }
            let doubt = (belief.flips(&changes) - 0.5).abs();
            if best.as_ref().is_none_or(|(least, _)| doubt < *least) {
                let arm = arm_of(self.state, self.stage, change, &members);
                if !is_dead(&self.state.tally(&arm)) {
                    best = Some((doubt, arm));
                }
            }
        }
        best.map_or(Stop::Undecided, |(_, arm)| Stop::Run(arm))
    }

    /// What all arms of this stage say about the open suspects. Arms that change all of a group that was found flip for
    /// that reason, so they say nothing.
    fn belief(&self, change: Change, open: &[usize], none: f64) -> Belief {
        let mut seen = Vec::new();
        for (arm, tally) in self.state.tallies() {
            let (members, foreign) = match change {
                Change::Neutralise => (&arm.without, &arm.with),
                Change::Restore => (&arm.with, &arm.without),
            };
            let is_of_stage = arm.is_baseline() || *arm == arm_of(self.state, self.stage, change, members);
            let is_explained = self.progress.found.iter().any(|found| {
                found.change == change
                    && found.members.iter().all(|member| members.binary_search(member).is_ok())
            });
            if foreign.is_empty() && is_of_stage && !is_explained {
                let changes = open.iter().map(|number| members.binary_search(number).is_ok()).collect();
                seen.push(Seen { changes, tally: *tally });
            }
        }
        let leads =
            open.iter().filter_map(|number| self.state.suspects.get(*number)).map(|suspect| suspect.lead);
        Belief::new(&leads.collect::<Vec<f64>>(), &seen, none)
    }

    /// Where a joint arm has no outcome: each suspect alone.
    fn one_by_one(&mut self, change: Change, open: &[usize]) -> Result<Option<Vec<usize>>, Stop> {
        let mut is_undecided = false;
        for number in open {
            let single = arm_of(self.state, self.stage, change, &[*number]);
            match self.read(&single)? {
                Reading::Flips => return self.convict(change, &[*number]).map(|()| Some(vec![*number])),
                Reading::Kept => {}
                Reading::Unknown => is_undecided = true,
            }
        }
        if is_undecided { Err(Stop::Undecided) } else { Ok(None) }
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
            match self.read(&arm)? {
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

    /// Goes on until the trials of all members held.
    fn convict(&mut self, change: Change, members: &[usize]) -> Result<(), Stop> {
        if members.is_empty() || members.len() > GROUP_MAX || self.progress.found.len() >= FOUND_MAX {
            return Err(Stop::Undecided);
        }
        let found = Found { members: members.to_vec(), change, stage: self.stage };
        let trials: Vec<(Arm, Arm)> =
            members.iter().map(|member| trial_arms(self.state, &found, *member)).collect();
        self.state.open(&trials);
        for (base, changed) in &trials {
            self.hold(base, changed)?;
        }
        self.state.convict(found.clone(), &trials);
        self.progress.found.push(found);
        Ok(())
    }

    /// Goes on until a trial held. What speaks against it changes the belief that it was opened for.
    fn hold(&mut self, base: &Arm, changed: &Arm) -> Result<(), Stop> {
        let Some(standing) = self.state.standing_of(base, changed) else {
            return Err(Stop::Undecided);
        };
        if standing.has_held {
            return Ok(());
        }
        if base.is_baseline() {
            self.steady(base)?;
        }
        if standing.changed.shots() >= TRIAL_SHOTS_MAX
            || is_dead(&standing.changed)
            || is_dead(&standing.base)
        {
            return Err(Stop::Undecided);
        }
        let lacks_base = standing.base.shots() == 0 || standing.after_base > standing.after_changed;
        Err(Stop::Run(if lacks_base { base.clone() } else { changed.clone() }))
    }

    /// Goes on where a baseline keeps the answer at least twice as often as not, and once at least.
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

    /// What an arm does, by its own shots or those of others: what holds a part that flips flips, and a part of what is
    /// kept is kept.
    fn read(&self, arm: &Arm) -> Result<Reading, Stop> {
        if let Some(reading) = reading(self.state, &self.state.tally(arm)) {
            return Ok(reading);
        }
        let is_part =
            |part: &[usize], of: &[usize]| part.iter().all(|number| of.binary_search(number).is_ok());
        for (other, tally) in self.state.tallies().filter(|(other, _)| !other.is_baseline()) {
            let is_below = is_part(&other.without, &arm.without) && is_part(&other.with, &arm.with);
            let is_above = is_part(&arm.without, &other.without) && is_part(&arm.with, &other.with);
            match reading(self.state, tally) {
                Some(Reading::Flips) if is_below => return Ok(Reading::Flips),
                Some(Reading::Kept) if is_above => return Ok(Reading::Kept),
                _ => {}
            }
        }
        Err(Stop::Run(arm.clone()))
    }
}

fn is_dead(tally: &Tally) -> bool {
    tally.without_outcome() >= WITHOUT_OUTCOME_MAX
}
