//! What was heard so far, and the trials that were opened.

use std::collections::BTreeMap;

use super::arm::{Arm, Cost, Shot};
use super::evidence::{evidence, share};
use super::plan::Found;
use super::settings::Settings;
use super::suspect::Suspect;
use super::tally::Tally;

/// Everything a plan is computed from.
#[derive(Debug)]
pub(super) struct State {
    pub(super) suspects: Vec<Suspect>,
    /// Numbers of suspects, best lead first.
    pub(super) order: Vec<usize>,
    pub(super) asked_call: u32,
    pub(super) settings: Settings,
    pub(super) spent: Cost,
    pub(super) shots: u32,
    /// In the order in which their trials held. Final: later shots take nothing of it back.
    pub(super) convicted: Vec<Found>,
    tallies: BTreeMap<Arm, Tally>,
    trials: Vec<Trial>,
}

/// One comparison that may convict.
#[derive(Debug)]
struct Trial {
    /// The trials of one group have one number: the group is convicted only where all of them hold, so wrongly only where one
    /// wrong one does, and they share one share of the error.
    number: usize,
    /// The part of the error that its number may spend. Fixed when it was opened.
    share: f64,
    /// Whether it was part of a conviction.
    is_convicted: bool,
    base: Arm,
    changed: Arm,
    // INVARIANT: taken when the trial was opened. What came before chose the suspect and is no evidence against it; a
    // baseline draws like any arm that makes no difference, so all of its shots count.
    base_before: Tally,
    changed_before: Tally,
    /// The evidence at the moment it sufficed.
    held: Option<f64>,
}

/// How a trial stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Standing {
    pub(super) base: Tally,
    pub(super) changed: Tally,
    pub(super) evidence: f64,
    pub(super) has_held: bool,
    /// The evidence after one more shot of either arm that comes out as expected.
    pub(super) after_base: f64,
    pub(super) after_changed: f64,
}

impl State {
    pub(super) fn new(suspects: Vec<Suspect>, asked_call: u32, settings: Settings) -> Self {
        let lead = |number: &usize| {
            let lead = suspects.get(*number).map_or(f64::NEG_INFINITY, |suspect| suspect.lead);
            if lead.is_finite() { lead } else { f64::NEG_INFINITY }
        };
        let mut order: Vec<usize> = (0..suspects.len()).collect();
        order.sort_by(|a, b| lead(b).total_cmp(&lead(a)).then(a.cmp(b)));
        Self {
            suspects,
            order,
            asked_call,
            settings,
            spent: Cost::default(),
            shots: 0,
            convicted: Vec::new(),
            tallies: BTreeMap::new(),
            trials: Vec::new(),
        }
    }

    /// Counts a shot of an arm, and lets every trial whose evidence suffices now hold for good.
    pub(super) fn hear(&mut self, arm: &Arm, shot: Shot) {
        self.tallies.entry(arm.clone()).or_default().add(shot);
        self.spent = self.spent.plus(shot.cost);
        self.shots = self.shots.saturating_add(1);
        for number in 0..self.trials.len() {
            let reached = self.reached(number);
            if let Some(trial) = self.trials.get_mut(number) {
                trial.held = trial.held.or(reached);
            }
        }
    }

    pub(super) fn has_budget(&self) -> bool {
        let budget = self.settings.budget;
        self.spent.model_calls < budget.model_calls && self.spent.microdollars < budget.microdollars
    }

    pub(super) fn tally(&self, arm: &Arm) -> Tally {
        self.tallies.get(arm).copied().unwrap_or_default()
    }

    pub(super) fn tallies(&self) -> impl Iterator<Item = (&Arm, &Tally)> {
        self.tallies.iter()
    }

    /// Opens the trials that must all hold for one conviction, those that are not open yet.
    pub(super) fn open(&mut self, arms: &[(Arm, Arm)]) {
        let number = self.trials.last().map_or(0, |trial| trial.number + 1);
        let share = share(self.unconvicted().len());
        for (base, changed) in arms {
            if self.trials.iter().any(|trial| trial.base == *base && trial.changed == *changed) {
                continue;
            }
            let base_before = if base.is_baseline() { Tally::default() } else { self.tally(base) };
            let changed_before = self.tally(changed);
            let (base, changed) = (base.clone(), changed.clone());
            self.trials.push(Trial {
                number,
                share,
                is_convicted: false,
                base,
                changed,
                base_before,
                changed_before,
                held: None,
            });
        }
    }

    /// Convicts what these trials were opened for; all of them have held.
    pub(super) fn convict(&mut self, found: Found, arms: &[(Arm, Arm)]) {
        for trial in &mut self.trials {
            trial.is_convicted |=
                arms.iter().any(|(base, changed)| trial.base == *base && trial.changed == *changed);
        }
        self.convicted.push(found);
    }

    /// What the convictions that were tried and have not come about leave of the error.
    pub(super) fn alpha_left(&self) -> f64 {
        self.settings.alpha * (1.0 - self.unconvicted().values().sum::<f64>()).max(0.0)
    }

    /// The shares of the convictions that were tried and have not come about, by number.
    //
    // INVARIANT: only these count against the error. Take the first wrong conviction: all before it were right, so every
    // wrong try before it is one of these, and no two of those have the same share.
    fn unconvicted(&self) -> BTreeMap<usize, f64> {
        let open = self.trials.iter().filter(|trial| !trial.is_convicted);
        open.map(|trial| (trial.number, trial.share)).collect()
    }

    /// How the trial between two arms stands; `None` where it was never opened.
    pub(super) fn standing_of(&self, base: &Arm, changed: &Arm) -> Option<Standing> {
        let number = self.trials.iter().position(|trial| trial.base == *base && trial.changed == *changed);
        number.and_then(|number| self.standing(number))
    }

    fn standing(&self, number: usize) -> Option<Standing> {
        let trial = self.trials.get(number)?;
        let noise_max = trial.noise_max(&self.settings);
        let (base, changed) = self.fresh(trial);
        let kept = Tally { kept: base.kept + 1, ..base };
        let flipped = Tally { flipped: changed.flipped + 1, ..changed };
        let now = evidence(&base, &changed, noise_max);
        Some(Standing {
            base,
            changed,
            evidence: trial.held.unwrap_or(now),
            has_held: trial.held.is_some(),
            after_base: evidence(&kept, &changed, noise_max),
            after_changed: evidence(&base, &flipped, noise_max),
        })
    }

    fn reached(&self, number: usize) -> Option<f64> {
        let trial = self.trials.get(number)?;
        let (base, changed) = self.fresh(trial);
        let evidence = evidence(&base, &changed, trial.noise_max(&self.settings));
        (evidence * trial.share * self.settings.alpha >= 1.0).then_some(evidence)
    }

    fn fresh(&self, trial: &Trial) -> (Tally, Tally) {
        (
            self.tally(&trial.base).since(trial.base_before),
            self.tally(&trial.changed).since(trial.changed_before),
        )
    }
}

impl Trial {
    /// Only of the baseline is a bound assumed.
    fn noise_max(&self, settings: &Settings) -> f64 {
        if self.base.is_baseline() { settings.noise_max } else { 1.0 }
    }
}
