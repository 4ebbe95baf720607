//! What can be told of a fact without knowing what it is asked for: its name, and the texts it refers to.

use probity_contract::{Body, Fact, PartId};

/// The name under which a fact stands in the record.
pub(crate) const fn kind_of(fact: &Fact) -> &'static str {
    match fact {
        Fact::RunStarted(_) => "run_started",
        Fact::ItemAdded { .. } => "item_added",
        Fact::ModelCalled { .. } => "model_called",
        Fact::ModelReplied { .. } => "model_replied",
        Fact::ReplyRefused { .. } => "reply_refused",
        Fact::ModelFailed { .. } => "model_failed",
        Fact::CallProposed { .. } => "call_proposed",
        Fact::CallRejected { .. } => "call_rejected",
        Fact::CallFrozen { .. } => "call_frozen",
        Fact::Judged { .. } => "judged",
        Fact::Denied { .. } => "denied",
        Fact::Asked { .. } => "asked",
        Fact::Answered { .. } => "answered",
        Fact::ToolStarted { .. } => "tool_started",
        Fact::ToolFinished { .. } => "tool_finished",
        Fact::FailureReported { .. } => "failure_reported",
        Fact::Shadowed { .. } => "shadowed",
        Fact::Resumed { .. } => "resumed",
        Fact::Reconciled { .. } => "reconciled",
        Fact::ChildEnded { .. } => "child_ended",
        Fact::Intercepted(_) => "intercepted",
        Fact::ItemReplaced { .. } => "item_replaced",
        Fact::LimitHit { .. } => "limit_hit",
        Fact::OutputRejected { .. } => "output_rejected",
        Fact::Foreign { .. } => "foreign",
        Fact::Ended { .. } => "ended",
    }
}

/// The texts that a fact refers to, in its order.
pub(crate) fn parts_of(fact: &Fact) -> &[PartId] {
    match fact {
        Fact::ItemAdded { body, .. } => parts_of_body(body),
        Fact::CallProposed { arguments: text, .. }
        | Fact::CallFrozen { arguments: text, .. }
        | Fact::ToolFinished { output: text, .. }
        | Fact::Foreign { json: text, .. } => std::slice::from_ref(text),
        Fact::RunStarted(_)
        | Fact::ModelCalled { .. }
        | Fact::ModelReplied { .. }
        | Fact::ReplyRefused { .. }
        | Fact::ModelFailed { .. }
        | Fact::CallRejected { .. }
        | Fact::Judged { .. }
        | Fact::Denied { .. }
        | Fact::Asked { .. }
        | Fact::Answered { .. }
        | Fact::ToolStarted { .. }
        | Fact::FailureReported { .. }
        | Fact::Shadowed { .. }
        | Fact::Resumed { .. }
        | Fact::Reconciled { .. }
        | Fact::ChildEnded { .. }
        | Fact::Intercepted(_)
        | Fact::ItemReplaced { .. }
        | Fact::LimitHit { .. }
        | Fact::OutputRejected { .. }
        | Fact::Ended { .. } => &[],
    }
}

pub(crate) fn parts_of_body(body: &Body) -> &[PartId] {
    match body {
        Body::Instructions { text }
        | Body::Person { text }
        | Body::Context { text, .. }
        | Body::ToolResult { text, .. }
        | Body::Notice { text } => std::slice::from_ref(text),
        Body::Reply { parts } => parts,
    }
}
