//! What a node is, by the entry that it is.

use probity_contract::{Enforcement, Fact, HookDecision, ImportedEdges, Intercepted, ItemId, Resolved};

use super::node::{NodeKind, Provenance};
use crate::line::{Line, Noted};
use crate::record::Record;

pub(super) const fn kind_of_line(line: &Line) -> NodeKind {
    let Noted::Known(fact) = &line.fact else { return NodeKind::Unread };
    match fact {
        Fact::RunStarted(_) => NodeKind::Start,
        Fact::ItemAdded { .. } => NodeKind::Item,
        Fact::ModelCalled { .. } => NodeKind::ModelCall,
        Fact::ModelReplied { .. } => NodeKind::Reply,
        Fact::ReplyRefused { .. } => NodeKind::RefusedReply,
        Fact::ModelFailed { .. } => NodeKind::ModelFailure,
        Fact::CallProposed { .. } => NodeKind::Proposal,
        Fact::CallRejected { .. } => NodeKind::Rejection,
        Fact::CallFrozen { .. } => NodeKind::Frozen,
        Fact::Judged { .. } => NodeKind::Judgement,
        Fact::Shadowed { .. } => NodeKind::Shadow,
        Fact::Denied { .. } => NodeKind::Denial,
        Fact::Asked { .. } => NodeKind::Question,
        Fact::Answered { .. } => NodeKind::Answer,
        Fact::ToolStarted { .. } => NodeKind::Execution,
        Fact::ToolFinished { .. } => NodeKind::Outcome,
        Fact::ChildEnded { .. } => NodeKind::ChildEnd,
        Fact::Reconciled { .. } => NodeKind::Reconciliation,
        Fact::FailureReported { .. } => NodeKind::Failure,
        Fact::Resumed { .. } => NodeKind::Resumption,
        Fact::Intercepted(_) => NodeKind::Interception,
        Fact::ItemReplaced { .. } => NodeKind::Replacement,
        Fact::LimitHit { .. } => NodeKind::Limit,
        Fact::OutputRejected { .. } => NodeKind::MissedSchema,
        Fact::Foreign { .. } => NodeKind::Foreign,
        Fact::Ended { .. } => NodeKind::End,
    }
}

/// The item that an entry adds.
pub(super) const fn item_of(line: &Line) -> Option<ItemId> {
    if let Noted::Known(Fact::ItemAdded { item, .. }) = &line.fact { Some(*item) } else { None }
}

/// How the edges of a record are known: the run wrote them down, or an importer has rebuilt them.
pub(super) fn provenance_of(record: &Record) -> Provenance {
    let start = record
        .facts()
        .find_map(|(_, fact)| if let Fact::RunStarted(started) = fact { Some(started) } else { None });
    match start.and_then(|started| started.imported.as_ref()).map(|imported| imported.edges) {
        Some(ImportedEdges::Inferred) => Provenance::Inferred,
        None => Provenance::Exact,
    }
}

/// Whether what was looked at went on.
pub(super) fn proceeds(row: &Intercepted) -> bool {
    row.mode == Enforcement::EvaluateOnly
        || row.resolved_by == Some(Resolved::Approval)
        || !matches!(row.verdict.decision(), HookDecision::Deny { .. })
}

/// Whether it went on with something else in its place.
pub(super) fn has_changed(row: &Intercepted) -> bool {
    row.before != row.after && proceeds(row)
}
