//! What must be so of the protocol by which guesses of the decisive mistake are measured, whatever they come to.

use std::collections::HashSet;

use probity_testkit::corpus;
use serde_json::{Value, json};

use crate::bench::cases::{Case, turns_of_log};
use crate::bench::constants::{Rule, rules, stated};
use crate::bench::features::rows;
use crate::bench::protocol::{Split, run, splits};
use crate::bench::score::{MEASURES, shares};
use crate::bench::{Half, agent_rx, report, who_and_when};

/// Every run of `test` is tested once, and no group is both trained on and tested.
fn check_splits(train: &[&Case], test: &[&Case], all: &[Split]) {
    let mut tested = vec![0; test.len()];
    for split in all {
        split.test.iter().for_each(|at| tested[*at] += 1);
        let groups: HashSet<&str> = split.test.iter().map(|at| test[*at].group.as_str()).collect();
        for at in &split.train {
            assert!(!groups.contains(train[*at].group.as_str()), "{} is on both sides", train[*at].group);
        }
        let left_out = train.iter().filter(|case| groups.contains(case.group.as_str())).count();
        assert_eq!(split.train.len() + left_out, train.len(), "nothing else is left out");
        assert!(!split.train.is_empty() && !split.test.is_empty());
    }
    assert!(tested.iter().all(|times| *times == 1));
}

fn check_halves(halves: &[Vec<Case>; 2]) {
    for (train, test) in [(0, 0), (1, 1), (0, 1), (1, 0)] {
        let train: Vec<&Case> = halves[train].iter().collect();
        let test: Vec<&Case> = halves[test].iter().collect();
        for seed in 1..4 {
            let outer = splits(&train, &test, 5, seed);
            check_splits(&train, &test, &outer);
            for split in &outer {
                let inner: Vec<&Case> = split.train.iter().map(|at| train[*at]).collect();
                check_splits(&inner, &inner, &splits(&inner, &inner, 4, seed));
            }
        }
    }
}

/// In percent, as `shares` has them.
fn percents(cases: &[Case], step: &Rule, agent: &Rule) -> [f64; MEASURES.len()] {
    let all: Vec<_> = cases.iter().map(|case| shares(case, &Rule::guess(step, agent, &case.turns))).collect();
    std::array::from_fn(|at| 100.0 * all.iter().map(|one| one[at]).sum::<f64>() / all.len() as f64)
}

#[test]
fn corpus_attribution_who_and_when_is_split_and_its_constants_are_the_stated_ones() {
    let Some(folder) = corpus("attribution/who-and-when/data") else { return };
    let halves = who_and_when(&folder).unwrap();
    check_halves(&halves);
    for (half, cases) in [Half::AlgorithmGenerated, Half::HandCrafted].into_iter().zip(&halves) {
        let (step, agent, step_stated, agent_stated) = stated(half).unwrap();
        let [agent_found, step_found, ..] = percents(cases, &step, &agent);
        assert!((step_found - step_stated).abs() < 0.05, "{}: {step_found}", half.name());
        assert!((agent_found - agent_stated).abs() < 0.05, "{}: {agent_found}", half.name());
        let (best_step, best_agent) = rules(&cases.iter().collect::<Vec<_>>());
        let [best_agent, best_step, ..] = percents(cases, &best_step, &best_agent);
        assert!(best_agent >= agent_found && best_step >= step_found, "the best one is no worse");
        assert!(cases.iter().all(|case| case.step < case.turns.list.len()));
    }
}

#[test]
fn corpus_attribution_agent_rx_is_split_by_customer_and_question() {
    let Some(folder) = corpus("attribution/agentrx") else { return };
    let Some(logs) = corpus("attribution/who-and-when/data/Hand-Crafted") else { return };
    let halves = agent_rx(&folder, &logs).unwrap();
    check_halves(&halves);
    assert!(halves.iter().flatten().all(|case| case.step < case.turns.list.len()));
}

#[test]
fn corpus_attribution_features_do_not_know_the_annotations() {
    let Some(folder) = corpus("attribution/who-and-when/data") else { return };
    for half in ["Algorithm-Generated", "Hand-Crafted"] {
        let mut files: Vec<_> =
            std::fs::read_dir(folder.join(half)).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        for file in files.iter().step_by(10) {
            let bytes = std::fs::read(file).unwrap();
            let mut log: Value = serde_json::from_slice(&bytes).unwrap();
            let object = log.as_object_mut().unwrap();
            let history = object.get("history").unwrap().as_array().unwrap().len();
            let question = object.get("question").unwrap().clone();
            object.retain(|name, _| matches!(name.as_str(), "history" | "question" | "mistake_step"));
            object.insert("mistake_step".to_owned(), 0.into());
            object.insert("mistake_agent".to_owned(), question);
            let without = turns_of_log(&serde_json::to_vec(&log).unwrap()).unwrap();
            let with = turns_of_log(&bytes).unwrap();
            assert_eq!(with.list.len(), history, "every turn is counted");
            assert_eq!(with, without);
            assert_eq!(rows(&with), rows(&without));
        }
    }
}

/// Runs in which the decisive turn is the one that brings an order number from nowhere. It is not always the same one.
fn planted(half: &str, count: usize) -> Vec<Case> {
    let plant = |at: usize| {
        let (length, step) = (5 + at % 4, 1 + (at * 7 + at / 3) % 4);
        let turn = |turn: usize| {
            let number = if turn == step { format!("ZX{}", 41_000 + at * 97) } else { "AB12345".to_owned() };
            let speaker = if turn.is_multiple_of(2) { "planner" } else { "clerk" };
            json!({"role": "assistant", "name": speaker, "content": format!("the order {number} is on its way")})
        };
        let history: Vec<Value> = (0..length).map(turn).collect();
        let log = json!({"question": "where is the order AB12345", "history": history, "mistake_step": step,
            "mistake_agent": "clerk"});
        let turns = turns_of_log(&serde_json::to_vec(&log).unwrap()).unwrap();
        let agent = turns.list[step].speaker.clone();
        Case { group: format!("{half} {at}"), turns, step, agent }
    };
    (0..count).map(plant).collect()
}

#[test]
fn attribution_finds_a_planted_turn_within_a_half_and_from_the_other() {
    let halves = [planted("first", 20), planted("second", 20)];
    report(1, [(Half::TauRetail, &halves[0]), (Half::MagenticOne, &halves[1])]);
    let rows: Vec<Vec<_>> =
        halves.iter().map(|cases| cases.iter().map(|case| rows(&case.turns)).collect()).collect();
    for (train, test) in [(0, 0), (0, 1)] {
        let outcome = run(1, (&halves[train], &rows[train]), (&halves[test], &rows[test]));
        let steps: f64 = outcome.ranker.iter().map(|shares| shares[1]).sum();
        let constants: f64 = outcome.constant.iter().map(|shares| shares[1]).sum();
        assert!(steps >= 18.0 && constants <= 14.0, "{steps} and {constants} of 20");
    }
}
