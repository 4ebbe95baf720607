//! The tables.

use super::cases::{Case, Half};
use super::constants::{Rule, rules, stated};
use super::features::{Row, rows};
use super::protocol::{Outcome, run};
use super::score::{MEASURES, Shares, by_lot, interval, mean, shares};

/// Prints what two halves come to, each within itself and from the other, with folds drawn so many times.
pub(crate) fn report(repeats: u64, halves: [(Half, &[Case]); 2]) {
    let rows: [Vec<Vec<Row>>; 2] =
        halves.map(|(_, cases)| cases.iter().map(|case| rows(&case.turns)).collect());
    for (at, (half, cases)) in halves.into_iter().enumerate() {
        let other = 1 - at;
        let turns: usize = cases.iter().map(|case| case.turns.list.len()).sum();
        println!(
            "\n{}: {} runs, {:.1} turns each",
            half.name(),
            cases.len(),
            turns as f64 / cases.len().max(1) as f64
        );
        print!("{:58}", "");
        MEASURES.iter().for_each(|measure| print!("  {measure:^21}"));
        println!();
        let refs: Vec<&Case> = cases.iter().collect();
        let lot: Vec<Shares> = cases.iter().map(by_lot).collect();
        line("by lot", &lot);
        let constant = |(step, agent): &(Rule, Rule)| -> Vec<Shares> {
            cases.iter().map(|case| shares(case, &Rule::guess(step, agent, &case.turns))).collect()
        };
        let best = rules(&refs);
        let named = stated(half).map(|(step, agent, step_stated, agent_stated)| {
            let all = constant(&(step.clone(), agent.clone()));
            line(&format!("constant: {step}; {agent}"), &all);
            let [agents, steps, ..] = percents(&all);
            let differs =
                |stated: f64, found: f64| if (stated - found).abs() < 0.05 { "equal" } else { "DIFFERENT" };
            println!(
                "  stated for it: step {step_stated:.1} ({}), agent {agent_stated:.1} ({})",
                differs(step_stated, steps),
                differs(agent_stated, agents)
            );
            all
        });
        let hindsight = constant(&best);
        line(&format!("best constant in hindsight: {}; {}", best.0, best.1), &hindsight);
        let against = named.as_ref().unwrap_or(&hindsight);
        let own = (cases, rows[at].as_slice());
        let within = run(repeats, own, own);
        told("nested cross-validation", &within, against);
        let across = run(repeats, (halves[other].1, rows[other].as_slice()), own);
        told(&format!("trained on {}", halves[other].0.name()), &across, against);
    }
    println!(
        "\nshares in percent, over {repeats} draws of the folds; in brackets, 95 % of resamples of the runs. Steps count from 0.\n\
         constants in hindsight were chosen with the labels of the runs they are tested on; those that were learned were not"
    );
}

fn told(title: &str, outcome: &Outcome, against: &[Shares]) {
    println!("  {title} (at least {} runs trained on)", outcome.trained_on_min);
    line("  constant, chosen where it was trained", &outcome.constant);
    line("  ranker", &outcome.ranker);
    for (name, other) in [("first constant above", against), ("chosen constant", outcome.constant.as_slice())]
    {
        let less = |(a, b): (&Shares, &Shares)| std::array::from_fn(|at| a[at] - b[at]);
        line(
            &format!("  ranker less {name}"),
            &outcome.ranker.iter().zip(other).map(less).collect::<Vec<_>>(),
        );
    }
    let [steps, agents] = outcome.chosen;
    println!("    features chosen (place, content, all): for steps {steps:?}, for agents {agents:?}");
}

fn percents(list: &[Shares]) -> Shares {
    std::array::from_fn(|at| 100.0 * mean(&list.iter().map(|shares| shares[at]).collect::<Vec<_>>()))
}

fn line(title: &str, list: &[Shares]) {
    let percents = percents(list);
    print!("  {title:56}");
    for (at, percent) in percents.iter().enumerate() {
        let (low, high) = interval(&list.iter().map(|shares| shares[at]).collect::<Vec<_>>());
        print!("  {percent:5.1} [{:5.1}, {:5.1}]", 100.0 * low, 100.0 * high);
    }
    println!();
}
