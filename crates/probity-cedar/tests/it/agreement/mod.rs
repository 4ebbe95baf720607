//! The front end agrees with a plain interpreter of the same policies.
//!
//! Policies are drawn as values, printed as Cedar, and interpreted here a second time by code that shares nothing with the
//! crate: integers that overflow, conditions that are not reached, members that are missing, several targets, and the order
//! of deny, ask and allow.

mod call;
mod dice;
mod expr;
mod rule;

use std::collections::BTreeMap;

use probity_contract::{PolicyError, Verdict};

use crate::scene::{Said, load_for, said};
use call::{Scene, tools};
use dice::Dice;
use rule::Rule;

/// Each policy set is loaded once and asked about many calls, because loading is what costs.
const CALLS_PER_SET: usize = 250;
const SETS: u64 = 100;

/// What the interpreter expects, and the policies that decide.
fn expected(rules: &[Rule], scene: &Scene) -> (Said, Vec<usize>) {
    let mut held: BTreeMap<Says, Vec<usize>> = BTreeMap::new();
    let mut all_covered = true;
    for resource in scene.resources() {
        let mut covered = false;
        for (number, rule) in rules.iter().enumerate() {
            match rule.holds(scene, &resource) {
                Err(expr::Overflow) => return (Said::Error, Vec::new()),
                Ok(false) => {}
                Ok(true) => {
                    covered = true;
                    held.entry(rule.says).or_default().push(number);
                }
            }
        }
        all_covered &= covered;
    }
    let decides = |says| held.get(&says).cloned();
    if let Some(numbers) = decides(Says::Forbid) {
        return (Said::Deny, numbers);
    }
    if let Some(numbers) = decides(Says::Ask) {
        return (Said::Ask, numbers);
    }
    match decides(Says::Permit) {
        Some(numbers) if all_covered => (Said::Allow, numbers),
        _ => (Said::Abstain, Vec::new()),
    }
}

/// What a rule is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Says {
    Forbid,
    Ask,
    Permit,
}

/// The first policies that decide stand in the reason.
fn names_the_rules(verdict: &Result<Verdict, PolicyError>, mut numbers: Vec<usize>) -> bool {
    let Ok(Verdict::Deny { reason } | Verdict::Ask { reason } | Verdict::Allow { reason }) = verdict else {
        return true;
    };
    numbers.sort_unstable();
    numbers.dedup();
    numbers.iter().take(3).all(|number| reason.contains(&format!("`a.cedar#{}`", number + 1)))
}

fn agree(seed: u64) -> BTreeMap<Said, usize> {
    let tools = tools();
    let mut seen = BTreeMap::new();
    for set in 0..SETS {
        let mut dice = Dice::new(seed * 1_000_003 + set);
        let rules: Vec<Rule> = (0..dice.within(1, 9)).map(|_| Rule::draw(&mut dice)).collect();
        let text: String = rules.iter().map(|rule| format!("{rule}\n")).collect();
        let policy = load_for(&text, &tools).unwrap_or_else(|error| panic!("{error}\n{text}"));
        for _ in 0..CALLS_PER_SET {
            let scene = Scene::draw(&mut dice);
            let (expects, numbers) = expected(&rules, &scene);
            let verdict = policy.verdict(&scene.call(&tools), scene.seat);
            let heard = said(&verdict);
            assert_eq!(heard, expects, "{text}\n{scene:?}\n{verdict:?}");
            assert!(names_the_rules(&verdict, numbers), "{text}\n{scene:?}\n{verdict:?}");
            *seen.entry(heard).or_default() += 1;
        }
    }
    seen
}

/// Agrees on 25 000 calls, and has met each answer often enough to mean something.
fn check(seed: u64) {
    let seen = agree(seed);
    for answer in [Said::Abstain, Said::Allow, Said::Ask, Said::Deny, Said::Error] {
        let times = seen.get(&answer).copied().unwrap_or(0);
        assert!(times > 200, "{answer:?} came up {times} times: {seen:?}");
    }
}

// Four tests, so that they run beside each other: 100 000 calls in all.

#[test]
fn on_the_first_25_000_calls() {
    check(1);
}

#[test]
fn on_the_second_25_000_calls() {
    check(2);
}

#[test]
fn on_the_third_25_000_calls() {
    check(3);
}

#[test]
fn on_the_fourth_25_000_calls() {
    check(4);
}
