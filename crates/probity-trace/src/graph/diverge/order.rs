use std::collections::HashMap;

use probity_contract::{Body, CallId, Fact};

use crate::facts::kind_of;
use crate::line::{Line, Noted};
use crate::record::Record;
use crate::story::call_of;

/// A fact in an order that does not depend on which of several calls was faster.
#[derive(Debug)]
pub(super) struct Placed<'r> {
    pub(super) seq: u64,
    /// `None` for an entry of a later program.
    pub(super) fact: Option<&'r Fact>,
    line: &'r Line,
    place: (usize, Phase, u32),
}

/// Where a fact stands between two model calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// The reply and what is about it.
    Reply,
    /// The calls, one after the other.
    Calls,
    /// Their results.
    Results,
    /// What comes then.
    Then,
}

impl Placed<'_> {
    /// The name of the fact.
    pub(super) fn kind(&self) -> &str {
        match &self.line.fact {
            Noted::Known(fact) => kind_of(fact),
            Noted::Opaque { kind, .. } => kind,
        }
    }
}

/// The facts of a record in such an order. That a run was taken up is left out, and what an
/// imported trace has beside the facts.
pub(super) fn in_order(record: &Record) -> Vec<Placed<'_>> {
    let mut numbers: HashMap<CallId, u32> = HashMap::new();
    let mut number = |call: CallId| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(call).or_insert(next)
    };
    let (mut turn, mut phase) = (0, Phase::Reply);
    let mut placed = Vec::with_capacity(record.lines().len());
    for line in record.lines() {
        let fact = match &line.fact {
            Noted::Known(Fact::Resumed { .. } | Fact::Foreign { .. }) => continue,
            Noted::Known(fact) => Some(fact),
            Noted::Opaque { .. } => None,
        };
        let place = match fact.and_then(|fact| Some((fact, call_of(fact)?))) {
            Some((Fact::ItemAdded { body: Body::ToolResult { .. }, .. }, call)) => {
                phase = Phase::Then;
                (turn, Phase::Results, number(call))
            }
            Some((_, call)) => {
                phase = Phase::Then;
                (turn, Phase::Calls, number(call))
            }
            None => {
                if matches!(fact, Some(Fact::ModelCalled { .. })) {
                    (turn, phase) = (turn + 1, Phase::Reply);
                }
                (turn, phase, 0)
            }
        };
        placed.push(Placed { seq: line.seq, fact, line, place });
    }
    placed.sort_by_key(|fact| fact.place);
    placed
}
