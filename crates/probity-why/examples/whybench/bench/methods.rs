//! The search, and what it is measured against.

use std::collections::BTreeSet;

use anyhow::Result;
use probity_why::{Arm, Change, Cost, Ended, Next, Reach, Search, Settings, Suspect, VerdictKind, rank};

use super::case::Stands;
use super::features::{features, lexical, longest_overlap, to_f64};
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
    /// Replies that it names: steps of the chain to what it names else.
    pub(crate) replies: Vec<usize>,
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

/// Of `alpha`, what the first search of a chain may spend; each later one has half of what is left.
const FIRST_SHARE: f64 = 0.8;
/// Calls that are asked about in one chain.
const CHAIN_MAX: usize = 4;

/// Asks the call; where a reply of the model is convicted, the call that gave it is asked next.
fn search(world: &mut World<'_>) -> Result<Said> {
    let case = world.case;
    let leads: Vec<f64> = features(case, &world.reply).iter().map(rank).collect();
    let mut said = Said::default();
    let (mut named, mut others) = (Vec::new(), Vec::new());
    let (mut asked, mut left) = (vec![case.turns - 1], Settings::default().alpha);
    let mut at = 0;
    while let Some(&call) = asked.get(at) {
        let alpha = left * if at == 0 { FIRST_SHARE } else { 0.5 };
        left -= alpha;
        let (verdicts, ended) = ask(world, call, &leads, alpha)?;
        said.is_cut |= ended != Ended::Complete;
        for (number, kind) in verdicts {
            match case.reply_of(number) {
                Some(earlier) if kind.is_conviction() => {
                    if at == 0 {
                        said.replies.push(number);
                    }
                    if !asked.contains(&earlier) && asked.len() < CHAIN_MAX {
                        asked.push(earlier);
                    }
                }
                Some(_) => {}
                None if matches!(kind, VerdictKind::Absent(_)) => said.absent.push(number),
                None if case.is_absent(number) => {}
                None if kind.is_conviction() => named.push(number),
                None => others.push(number),
            }
        }
        at += 1;
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

type Verdicts = (Vec<(usize, VerdictKind)>, Ended);

/// One search, about one call, among all that stood in its window.
fn ask(world: &mut World<'_>, call: usize, leads: &[f64], alpha: f64) -> Result<Verdicts> {
    let case = world.case;
    let seen: Vec<usize> = (0..case.pieces.len()).filter(|number| case.first_seen(*number) <= call).collect();
    let suspect = |number: &usize| Suspect {
        change: if case.is_absent(*number) { Change::Restore } else { Change::Neutralise },
        first_seen: u32::try_from(case.first_seen(*number)).unwrap_or(u32::MAX),
        lead: leads[*number],
    };
    let budget = Cost { model_calls: BUDGET_CALLS, microdollars: u64::MAX };
    let settings = Settings { budget, alpha, reach: Reach::Near, ..Settings::default() };
    let mut search = Search::new(seen.iter().map(suspect).collect(), u32::try_from(call)?, settings)?;
    let pieces = |suspects: &[usize]| suspects.iter().map(|suspect| seen[*suspect]).collect::<Vec<usize>>();
    loop {
        match search.step() {
            Next::Run(arm) => {
                let (without, with) = (pieces(&arm.without), pieces(&arm.with));
                search.heard(world.shoot(&Arm { from_call: arm.from_call, without, with }, call)?);
            }
            Next::Done(findings) => {
                let verdicts = findings.verdicts.into_iter();
                let verdicts = verdicts.map(|verdict| (seen[verdict.suspect], verdict.kind)).collect();
                return Ok((verdicts, findings.ended));
            }
        }
    }
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
    let leads: Vec<f64> = features(world.case, &world.reply).iter().map(rank).collect();
    let mut top = ranked(world, &leads);
    top.truncate(5);
    majority(world, &top)
}

/// Three shots without each; two flips name it.
fn majority(world: &mut World<'_>, suspects: &[usize]) -> Result<Said> {
    let leads: Vec<f64> = features(world.case, &world.reply).iter().map(rank).collect();
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
