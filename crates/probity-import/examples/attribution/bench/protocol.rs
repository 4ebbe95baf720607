//! Who is trained on and who is tested, and how what is not learned is chosen: inside the runs that are trained on.

use std::collections::{BTreeSet, HashMap};

use super::cases::Case;
use super::chance::Chance;
use super::constants::{Rule, rules};
use super::encode::Set;
use super::features::Row;
use super::ranker::{Lesson, Ranker};
use super::score::{Guess, Shares, shares};

const FOLDS: usize = 5;
const INNER_FOLDS: usize = 4;

/// What large weights cost, the highest first.
const COSTS: [f64; 4] = [30.0, 10.0, 3.0, 1.0];

/// What must not be read as 0 when its logarithm is taken.
const LIKELY_MIN: f64 = 1e-6;

/// Places of runs: in the list that is trained on, and in the list that is tested.
#[derive(Debug)]
pub(crate) struct Split {
    pub(crate) train: Vec<usize>,
    pub(crate) test: Vec<usize>,
}

/// Cuts `test` into folds of whole groups; each is to be guessed from the runs of `train` that are of none of its groups.
/// Where both are the same list that is cross-validation.
pub(crate) fn splits(train: &[&Case], test: &[&Case], folds: usize, seed: u64) -> Vec<Split> {
    let mut groups: Vec<&str> =
        test.iter().map(|case| case.group.as_str()).collect::<BTreeSet<_>>().into_iter().collect();
    Chance::new(seed).shuffle(&mut groups);
    let fold_of: HashMap<&str, usize> =
        groups.into_iter().enumerate().map(|(at, group)| (group, at % folds)).collect();
    let is_in = |case: &Case, fold: usize| fold_of.get(case.group.as_str()) == Some(&fold);
    let places = |cases: &[&Case], fold: usize, within: bool| {
        (0..cases.len()).filter(|at| is_in(cases[*at], fold) == within).collect::<Vec<_>>()
    };
    let split = |fold| Split { train: places(train, fold, false), test: places(test, fold, true) };
    (0..folds).map(split).collect()
}

/// What each run came to, over all repeats.
pub(crate) struct Outcome {
    pub(crate) ranker: Vec<Shares>,
    /// The constant that is right most often in the runs that were trained on.
    pub(crate) constant: Vec<Shares>,
    /// How many runs a fold was trained on, at least.
    pub(crate) trained_on_min: usize,
    /// How often each set of features was chosen: for steps, and for agents.
    pub(crate) chosen: [[usize; Set::ALL.len()]; 2],
}

/// Guesses every run of `test` from runs of `train`, with folds drawn so many times. `rows` are those of the cases, in
/// their order.
pub(crate) fn run(repeats: u64, train: (&[Case], &[Vec<Row>]), test: (&[Case], &[Vec<Row>])) -> Outcome {
    let train_cases: Vec<&Case> = train.0.iter().collect();
    let test_cases: Vec<&Case> = test.0.iter().collect();
    let all: Vec<Split> =
        (1..=repeats).flat_map(|seed| splits(&train_cases, &test_cases, FOLDS, seed)).collect();
    let mut outcome = Outcome {
        ranker: vec![Shares::default(); test.0.len()],
        constant: vec![Shares::default(); test.0.len()],
        trained_on_min: all.iter().map(|split| split.train.len()).min().unwrap_or(0),
        chosen: Default::default(),
    };
    for split in &all {
        let cases: Vec<&Case> = split.train.iter().map(|at| &train.0[*at]).collect();
        let rows: Vec<&[Row]> = split.train.iter().map(|at| train.1[*at].as_slice()).collect();
        let (step_rule, agent_rule) = rules(&cases);
        let (step_choice, agent_choice) = chosen(&cases, &rows);
        outcome.chosen[0][step_choice.0] += 1;
        outcome.chosen[1][agent_choice.0] += 1;
        let lessons = lessons(&cases, &rows);
        let by_step = learned(&lessons, step_choice);
        let by_agent = learned(&lessons, agent_choice);
        for at in &split.test {
            let (case, rows) = (&test.0[*at], &test.1[*at]);
            let guess = Guess {
                step: most(&by_step.likely(rows)),
                agent: agents(case, &by_agent.likely(rows)).swap_remove(0).0,
            };
            add(&mut outcome.ranker[*at], shares(case, &guess), repeats);
            let constant = Rule::guess(&step_rule, &agent_rule, &case.turns);
            add(&mut outcome.constant[*at], shares(case, &constant), repeats);
        }
    }
    outcome
}

fn add(sum: &mut Shares, one: Shares, repeats: u64) {
    sum.iter_mut().zip(one).for_each(|(sum, one)| *sum += one / repeats as f64);
}

fn lessons<'a>(cases: &[&Case], rows: &[&'a [Row]]) -> Vec<Lesson<'a>> {
    cases.iter().zip(rows).map(|(case, rows)| (*rows, case.step)).collect()
}

/// A set of features and a cost, as places in their lists.
type Choice = (usize, usize);

fn learned(lessons: &[Lesson<'_>], choice: Choice) -> Ranker {
    Ranker::learn(lessons, Set::ALL[choice.0], &[COSTS[choice.1]]).swap_remove(0)
}

/// The choices under which runs that were left out are likeliest: for steps, and for agents.
fn chosen(cases: &[&Case], rows: &[&[Row]]) -> (Choice, Choice) {
    let mut likely = [[[0.0_f64; COSTS.len()]; Set::ALL.len()]; 2];
    for split in splits(cases, cases, INNER_FOLDS, 1) {
        let taken: Vec<&Case> = split.train.iter().map(|at| cases[*at]).collect();
        let of_taken: Vec<&[Row]> = split.train.iter().map(|at| rows[*at]).collect();
        for (set_at, set) in Set::ALL.into_iter().enumerate() {
            for (cost_at, ranker) in
                Ranker::learn(&lessons(&taken, &of_taken), set, &COSTS).iter().enumerate()
            {
                for at in &split.test {
                    let case = cases[*at];
                    let turns = ranker.likely(rows[*at]);
                    let step = turns.get(case.step).copied().unwrap_or(0.0);
                    let agents = agents(case, &turns);
                    let agent =
                        agents.iter().find(|(agent, _)| *agent == case.agent).map_or(0.0, |found| found.1);
                    likely[0][set_at][cost_at] += step.max(LIKELY_MIN).ln();
                    likely[1][set_at][cost_at] += agent.max(LIKELY_MIN).ln();
                }
            }
        }
    }
    let best = |table: &[[f64; COSTS.len()]; Set::ALL.len()]| {
        let mut best = (0, 0);
        for set in 0..Set::ALL.len() {
            for cost in 0..COSTS.len() {
                if table[set][cost] > table[best.0][best.1] {
                    best = (set, cost);
                }
            }
        }
        best
    };
    (best(&likely[0]), best(&likely[1]))
}

fn most(likely: &[f64]) -> usize {
    let mut best = 0;
    for at in 0..likely.len() {
        if likely[at] > likely[best] {
            best = at;
        }
    }
    best
}

/// How likely each speaker is the one: the sum over the turns; the likeliest first.
fn agents(case: &Case, likely: &[f64]) -> Vec<(String, f64)> {
    let mut sums: Vec<(String, f64)> = Vec::new();
    for (turn, p) in case.turns.list.iter().zip(likely) {
        match sums.iter_mut().find(|(speaker, _)| *speaker == turn.speaker) {
            Some(sum) => sum.1 += p,
            None => sums.push((turn.speaker.clone(), *p)),
        }
    }
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    sums
}
