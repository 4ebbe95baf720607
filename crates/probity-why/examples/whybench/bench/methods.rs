//! The search, and what it is measured against.

use std::collections::BTreeSet;

use anyhow::Result;
use probity_why::{Cost, Ended, ForkChange, Settings};

use super::case::Stands;
use super::texts::{lexical, longest_overlap, to_f64};
use super::world::World;

/// A way to name culprits.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&mut World<'_>) -> Result<Said>,
}

/// What a method says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    /// Suspects, those to blame first; absent ones not among them.
    pub(crate) ranked: Vec<usize>,
    /// Suspects that it names as causes. `None` where it only ranks: then as many as there are, and one at least.
    pub(crate) named: Option<Vec<usize>>,
    /// Absent items that it names.
    pub(crate) absent: Vec<usize>,
    /// Calls whose replies it names: steps of the chain to what it names else.
    pub(crate) replies: Vec<usize>,
    /// How many it names of what no case is about: the words of the person.
    pub(crate) strangers: usize,
    /// Whether it ended without a verdict for want of calls or of a steady model.
    pub(crate) is_cut: bool,
}

/// All methods; the first is ours.
pub(crate) const METHODS: [Method; 6] = [
    Method { name: "search", run: search },
    Method { name: "last tool result", run: last_result },
    Method { name: "longest overlap", run: overlap },
    Method { name: "lexical rank", run: lexical_rank },
    Method { name: "leave-one-out x 3", run: leave_one_out },
    Method { name: "majority of 3, top 5", run: majority_of_top },
];

/// Shots that the budget of the search allows here.
const BUDGET_CALLS: u32 = 150;

/// As the runtime asks: one call first, then those whose replies were convicted.
fn search(world: &mut World<'_>) -> Result<Said> {
    let budget = Cost { model_calls: BUDGET_CALLS, microdollars: u64::MAX };
    let steps = world.confirm(Settings { budget, ..Settings::default() })?;
    let mut said = Said::default();
    let (mut named, mut others) = (Vec::new(), Vec::new());
    for (place, step) in steps.iter().enumerate() {
        said.is_cut |= step.confirmed.findings.ended != Ended::Complete;
        for verdict in &step.confirmed.findings.verdicts {
            let is_convicted = verdict.kind.is_conviction();
            let change = &step.candidates[verdict.suspect].change;
            match (change, world.piece_of(change)) {
                (ForkChange::Restore(_), Some(number)) if is_convicted => said.absent.push(number),
                (ForkChange::Restore(_), Some(_)) => {}
                (_, Some(number)) if is_convicted => named.push(number),
                (_, Some(number)) => others.push(number),
                // Only those of the call asked about can be checked; the chain goes on from the others.
                (_, None) if is_convicted => match world.reply_of(change) {
                    Some(reply) if place == 0 => said.replies.push(reply),
                    Some(_) => {}
                    None => said.strangers += 1,
                },
                (_, None) => {}
            }
        }
    }
    let mut seen = BTreeSet::new();
    named.retain(|number| seen.insert(*number));
    others.retain(|number| seen.insert(*number));
    said.ranked = [named.clone(), others].concat();
    said.absent.sort_unstable();
    said.absent.dedup();
    said.named = Some(named);
    Ok(said)
}

fn last_result(world: &mut World<'_>) -> Result<Said> {
    let mut ranked: Vec<usize> = world.case.sent().collect();
    // Pages stand last; without any, the last item of the context is.
    ranked.sort_by_key(|number| {
        (!matches!(world.case.pieces[*number].stands, Stands::Page { .. }), std::cmp::Reverse(*number))
    });
    Ok(Said { ranked, ..Said::default() })
}

fn overlap(world: &mut World<'_>) -> Result<Said> {
    let scores = world.case.pieces.iter().map(|piece| to_f64(longest_overlap(&piece.text, &world.reply)));
    Ok(Said { ranked: ranked(world, &scores.collect::<Vec<_>>()), ..Said::default() })
}

fn lexical_rank(world: &mut World<'_>) -> Result<Said> {
    let scores = lexical(world.case, &world.reply);
    Ok(Said { ranked: ranked(world, &scores), ..Said::default() })
}

fn leave_one_out(world: &mut World<'_>) -> Result<Said> {
    let all: Vec<usize> = world.case.sent().collect();
    majority(world, &all)
}

fn majority_of_top(world: &mut World<'_>) -> Result<Said> {
    let leads = world.leads()?;
    let mut top = ranked(world, &leads);
    top.truncate(5);
    majority(world, &top)
}

/// Three shots without each; two flips name it.
fn majority(world: &mut World<'_>, suspects: &[usize]) -> Result<Said> {
    let leads = world.leads()?;
    let mut flips = Vec::new();
    for number in suspects {
        let mut count = 0;
        for _ in 0..3 {
            count += u32::from(world.shoot_without(&[*number])?);
        }
        flips.push((*number, count));
    }
    flips.sort_by(|a, b| b.1.cmp(&a.1).then(leads[b.0].total_cmp(&leads[a.0])));
    let named = flips.iter().filter(|(_, count)| *count >= 2).map(|(number, _)| *number).collect();
    let ranked = flips.into_iter().map(|(number, _)| number).collect();
    Ok(Said { ranked, named: Some(named), ..Said::default() })
}

fn ranked(world: &World<'_>, scores: &[f64]) -> Vec<usize> {
    let mut ranked: Vec<usize> = world.case.sent().collect();
    ranked.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    ranked
}
