//! The first fact in which two runs differ.
//!
//! Runs are laid side by side by what happened, not by when or under which number: facts of calls that ran at the same time
//! are put in the order of the calls, items and calls are numbered by their order, and windows are compared by what their items
//! say. Times, provider's ids, counts of tokens and the names of the runs are no difference.

mod order;
mod said;

use probity_contract::{Ending, Fact, ItemId, RunStarted};
use serde::Serialize;

use super::compare::Difference;
use crate::record::Record;
use order::in_order;
use said::Side;

/// Bytes of texts that are compared for one pair of runs.
const COMPARED_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The first fact in which two runs differ, and how.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Divergence {
    /// What differs.
    pub what: Differs,
    /// The entry of the one run; `None` where it has no more.
    pub a: Option<u64>,
    /// The entry of the other.
    pub b: Option<u64>,
}

/// What differs in the first fact that does.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Differs {
    /// What the runs were given: the names of the parts that differ.
    Given(Vec<String>),
    /// An item says or is something else.
    Item {
        /// Of the one run.
        a: ItemId,
        /// Of the other.
        b: ItemId,
    },
    /// The windows of a model call differ, from this place on.
    Window {
        /// Counted from 0.
        position: usize,
        /// What stands there in the one; `None` where it is shorter.
        a: Option<ItemId>,
        /// What stands there in the other.
        b: Option<ItemId>,
    },
    /// A model call was made with other parameters.
    Parameters,
    /// The model answered otherwise: why it stopped, or whether it answered.
    Reply,
    /// Another tool was proposed.
    Tool,
    /// The arguments of a call differ, as proposed or as frozen.
    Arguments(Difference),
    /// What a call touches differs.
    Targets,
    /// Policies, interceptors or a person decided otherwise.
    Verdict,
    /// A tool came back otherwise.
    Result,
    /// The runs ended otherwise.
    Ending,
    /// Something else happened.
    Happened {
        /// The kind of fact in the one run.
        a: Option<String>,
        /// In the other.
        b: Option<String>,
    },
}

/// The first fact in which two runs differ; `None` where they do not.
///
/// Takes time with the size of both records. Texts that are not kept are compared by their digests.
#[must_use]
pub fn first_divergence(a: &Record, b: &Record) -> Option<Divergence> {
    let (facts_a, facts_b) = (in_order(a), in_order(b));
    let (mut side_a, mut side_b) = (Side::new(a), Side::new(b));
    let mut bytes_left = COMPARED_BYTES_MAX;
    let mut pairs = (facts_a.iter(), facts_b.iter());
    loop {
        let (at_a, at_b) = (pairs.0.next(), pairs.1.next());
        let what = match (at_a, at_b) {
            (None, None) => return None,
            (Some(one), Some(other)) if one.kind() == other.kind() => match (one.fact, other.fact) {
                (Some(one), Some(other)) => differs(&mut side_a, one, &mut side_b, other, &mut bytes_left),
                _ => None,
            },
            (one, other) => {
                let name = |at: Option<&order::Placed<'_>>| at.map(|at| at.kind().to_owned());
                Some(Differs::Happened { a: name(one), b: name(other) })
            }
        };
        if let Some(what) = what {
            let seq = |at: Option<&order::Placed<'_>>| at.map(|at| at.seq);
            return Some(Divergence { what, a: seq(at_a), b: seq(at_b) });
        }
    }
}

/// How two facts of one kind differ.
fn differs(
    a: &mut Side<'_>,
    one: &Fact,
    b: &mut Side<'_>,
    other: &Fact,
    bytes_left: &mut usize,
) -> Option<Differs> {
    let says = |differs: bool, what: Differs| differs.then_some(what);
    match (one, other) {
        (Fact::RunStarted(one), Fact::RunStarted(other)) => given(one, other),
        (
            Fact::ItemAdded { item: item_a, origin: origin_a, label: label_a, body: body_a },
            Fact::ItemAdded { item: item_b, origin: origin_b, label: label_b, body: body_b },
        ) => {
            let (said_a, said_b) = (a.add(*item_a, *origin_a, body_a), b.add(*item_b, *origin_b, body_b));
            let is_other = said_a != said_b || label_a != label_b;
            says(is_other, Differs::Item { a: *item_a, b: *item_b })
        }
        (
            Fact::ModelCalled { window: window_a, tool_choice: choice_a, tools_offered: offered_a, .. },
            Fact::ModelCalled { window: window_b, tool_choice: choice_b, tools_offered: offered_b, .. },
        ) => {
            a.send(window_a);
            b.send(window_b);
            let window = a.first_other(b).map(|position| {
                let (a, b) = (a.item_at(position), b.item_at(position));
                Differs::Window { position, a, b }
            });
            let parameters = (choice_a, offered_a) != (choice_b, offered_b);
            window.or_else(|| says(parameters, Differs::Parameters))
        }
        (Fact::ModelReplied { stop: one, .. }, Fact::ModelReplied { stop: other, .. }) => {
            says(one != other, Differs::Reply)
        }
        (Fact::ModelFailed { class: one, .. }, Fact::ModelFailed { class: other, .. }) => {
            says(one != other, Differs::Reply)
        }
        (
            Fact::CallProposed { tool: tool_a, arguments: one, .. },
            Fact::CallProposed { tool: tool_b, arguments: other, .. },
        ) => says(tool_a != tool_b, Differs::Tool).or_else(|| arguments(a, *one, b, *other, bytes_left)),
        (
            Fact::CallFrozen { arguments: one, targets: targets_a, .. },
            Fact::CallFrozen { arguments: other, targets: targets_b, .. },
        ) => arguments(a, *one, b, *other, bytes_left)
            .or_else(|| says(targets_a != targets_b, Differs::Targets)),
        (
            Fact::ToolFinished { outcome: outcome_a, output: one, .. },
            Fact::ToolFinished { outcome: outcome_b, output: other, .. },
        ) => says(outcome_a != outcome_b || one != other, Differs::Result),
        (Fact::Ended { ending: one, .. }, Fact::Ended { ending: other, .. }) => {
            says(!is_like(one, other), Differs::Ending)
        }
        (one, other) => decided(one, other),
    }
}

/// How decisions about calls, and what became of them, differ.
fn decided(one: &Fact, other: &Fact) -> Option<Differs> {
    let (is_other, what) = match (one, other) {
        (Fact::CallRejected { reason: one, .. }, Fact::CallRejected { reason: other, .. }) => {
            (one != other, Differs::Verdict)
        }
        (
            Fact::Judged { seat: seat_a, opinions: one, .. },
            Fact::Judged { seat: seat_b, opinions: other, .. },
        ) => {
            let is_same = one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| {
                    (one.level, &one.policy, &one.said) == (other.level, &other.policy, &other.said)
                });
            (seat_a != seat_b || !is_same, Differs::Verdict)
        }
        (Fact::Denied { denial: one, .. }, Fact::Denied { denial: other, .. }) => {
            (one != other, Differs::Verdict)
        }
        (Fact::Asked { askers: one, .. }, Fact::Asked { askers: other, .. }) => {
            (one != other, Differs::Verdict)
        }
        (Fact::Answered { answer: one, by: by_a, .. }, Fact::Answered { answer: other, by: by_b, .. }) => {
            ((one, by_a) != (other, by_b), Differs::Verdict)
        }
        (
            Fact::Shadowed { policy: policy_a, said: one, .. },
            Fact::Shadowed { policy: policy_b, said: other, .. },
        ) => ((policy_a, one) != (policy_b, other), Differs::Verdict),
        (Fact::Intercepted(one), Fact::Intercepted(other)) => {
            let is_changed = one.before != one.after || other.before != other.after;
            let is_other = one.point != other.point
                || one.verdicts != other.verdicts
                || one.verdict.decision() != other.verdict.decision()
                || (is_changed && one.after != other.after);
            (is_other, Differs::Verdict)
        }
        (Fact::ToolStarted { effect: one, .. }, Fact::ToolStarted { effect: other, .. }) => {
            (one != other, Differs::Result)
        }
        (Fact::Reconciled { found: one, .. }, Fact::Reconciled { found: other, .. }) => {
            (one != other, Differs::Result)
        }
        (Fact::ChildEnded { ending: one, .. }, Fact::ChildEnded { ending: other, .. }) => {
            (one != other, Differs::Result)
        }
        (Fact::LimitHit { limit: one }, Fact::LimitHit { limit: other }) => (one != other, Differs::Ending),
        (Fact::OutputRejected { errors: one, .. }, Fact::OutputRejected { errors: other, .. }) => {
            (one != other, Differs::Reply)
        }
        _ => (false, Differs::Reply),
    };
    is_other.then_some(what)
}

fn arguments(
    a: &Side<'_>,
    one: probity_contract::PartId,
    b: &Side<'_>,
    other: probity_contract::PartId,
    bytes_left: &mut usize,
) -> Option<Differs> {
    let difference = if one == other {
        Difference::None
    } else {
        a.record.difference_to(one, b.record, other, bytes_left)
    };
    (difference != Difference::None).then_some(Differs::Arguments(difference))
}

/// Endings whose words may differ: which error it was is no other ending.
fn is_like(one: &Ending, other: &Ending) -> bool {
    match (one, other) {
        (Ending::ModelFailed { class: one, .. }, Ending::ModelFailed { class: other, .. }) => one == other,
        (Ending::RecordFailed { .. }, Ending::RecordFailed { .. }) => true,
        (one, other) => one == other,
    }
}

fn given(a: &RunStarted, b: &RunStarted) -> Option<Differs> {
    let parts = [
        ("principal", a.principal != b.principal),
        ("model", a.model != b.model),
        ("params", a.params != b.params),
        ("tools", a.tools != b.tools),
        ("policies", a.policies != b.policies || a.inherited != b.inherited),
        ("limits", a.limits != b.limits),
        ("output_schema", a.output_schema != b.output_schema),
    ];
    let other: Vec<String> =
        parts.iter().filter(|(_, is_other)| *is_other).map(|(name, _)| (*name).to_owned()).collect();
    (!other.is_empty()).then_some(Differs::Given(other))
}
