//! One function scores every method.

use super::family::{Kind, Role};
use super::methods::Said;
use super::texts::to_f64;
use super::world::World;

/// How a method did on a case at a noise.
#[derive(Debug, Clone)]
pub(crate) struct Scored {
    pub(crate) family: String,
    pub(crate) method: &'static str,
    pub(crate) kind: Kind,
    pub(crate) has_decoy: bool,
    pub(crate) size: usize,
    pub(crate) turns: usize,
    pub(crate) noise_percent: u32,
    /// Whether the first of the rank is a culprit (needed, in the absent families). Where there is one.
    pub(crate) is_top_right: bool,
    /// F1 of the named set against the culprits.
    pub(crate) f1: f64,
    /// Whether exactly the absent items that matter were named.
    pub(crate) is_absent_found: bool,
    /// Named, and how many of these make a difference.
    pub(crate) named: usize,
    pub(crate) named_right: usize,
    pub(crate) calls: u32,
    pub(crate) shots: u32,
    pub(crate) is_cut: bool,
}

/// Scores what was said of a case. That named suspects make a difference was checked when the case was drawn.
pub(crate) fn score(world: &World<'_>, method: &'static str, noise_percent: u32, said: &Said) -> Scored {
    let (case, spent) = (world.case, world.spent());
    let mut truth = [case.with_role(Role::Culprit), case.with_role(Role::Needed)].concat();
    truth.sort_unstable();
    let absent = case.with_role(Role::Absent);
    let named = said.named.clone().unwrap_or_else(|| {
        let told = truth.len().max(1);
        said.ranked.iter().copied().take(told).collect()
    });
    let hits = named.iter().filter(|number| truth.contains(number)).count();
    let absent_hits = said.absent.iter().filter(|number| absent.contains(number)).count();
    // Only those of the call asked about can be checked so; the chain goes on from them.
    let reply_hits = said.replies.iter().filter(|number| world.needed_replies.contains(number)).count();
    let f1 = if named.is_empty() && truth.is_empty() {
        1.0
    } else {
        2.0 * to_f64(hits) / to_f64(named.len() + truth.len())
    };
    Scored {
        family: case.family.clone(),
        method,
        kind: case.kind,
        has_decoy: !case.with_role(Role::Decoy).is_empty(),
        size: case.size,
        turns: case.turns,
        noise_percent,
        is_top_right: said.ranked.first().is_some_and(|first| truth.contains(first)),
        f1,
        is_absent_found: absent_hits == absent.len() && said.absent.len() == absent.len(),
        named: named.len() + said.absent.len() + said.replies.len() + said.strangers,
        named_right: hits + absent_hits + reply_hits,
        calls: spent.0.model_calls,
        shots: spent.1,
        is_cut: said.is_cut,
    }
}
