//! What a record that keeps no full content keeps of the words that stand in its facts.

use probity_contract::{Body, Fact, Opinion, Said, Target, Verdict};
use probity_egress::{SamePrincipal, egress_text, egress_value};
use serde_json::Value;

/// Passes every word of a fact that did not come from the engine itself: names and ids that a model or provider made up,
/// reasons of policies, targets. Texts are not concerned; a fact only refers to them.
pub(super) fn pass(fact: &mut Fact) {
    match fact {
        Fact::RunStarted(started) => {
            for tool in &mut started.tools {
                pass_text(&mut tool.description);
                pass_value(&mut tool.input_schema);
            }
            started.output_schema.iter_mut().for_each(pass_value);
            started.params.output_schema.iter_mut().for_each(pass_value);
        }
        Fact::ItemAdded { body, .. } => match body {
            Body::Context { name, .. } => pass_text(name),
            Body::ToolResult { provider_id, tool, .. } => {
                pass_text(provider_id);
                pass_text(tool);
            }
            Body::Instructions { .. } | Body::Person { .. } | Body::Reply { .. } | Body::Notice { .. } => {}
        },
        Fact::ModelReplied { model, response_id, .. } => {
            model.iter_mut().chain(response_id).for_each(pass_text);
        }
        Fact::CallProposed { provider_id, tool, .. } => {
            pass_text(provider_id);
            pass_text(tool);
        }
        Fact::CallFrozen { targets, .. } => targets.iter_mut().for_each(pass_target),
        Fact::Judged { opinions, .. } => opinions.iter_mut().for_each(pass_opinion),
        Fact::Denied { denial, .. } => pass_text(&mut denial.reason),
        // Passed where they were made, or the engine's own.
        Fact::ModelCalled { .. }
        | Fact::ModelFailed { .. }
        | Fact::CallRejected { .. }
        | Fact::Asked { .. }
        | Fact::Answered { .. }
        | Fact::ToolStarted { .. }
        | Fact::ToolFinished { .. }
        | Fact::FailureReported { .. }
        | Fact::LimitHit { .. }
        | Fact::OutputRejected { .. }
        | Fact::Ended { .. } => {}
    }
}

fn pass_text(text: &mut String) {
    let passed = egress_text::<SamePrincipal>(text);
    if passed.as_str() != text {
        *text = passed.as_str().to_owned();
    }
}

fn pass_value(value: &mut Value) {
    let passed = egress_value::<SamePrincipal>(value);
    // A snapshot is plain JSON; should it ever not be, nothing is the safe thing to keep.
    *value = serde_json::to_value(&passed).unwrap_or(Value::Null);
}

fn pass_opinion(opinion: &mut Opinion) {
    match &mut opinion.said {
        Said::Verdict(Verdict::Allow { reason } | Verdict::Ask { reason } | Verdict::Deny { reason }) => {
            pass_text(reason);
        }
        Said::Verdict(Verdict::Abstain) | Said::Failed(_) | Said::Cancelled => {}
    }
}

fn pass_target(target: &mut Target) {
    match target {
        Target::Path { root, path, resolved, access: _, recursive: _ } => {
            [root, path, resolved].into_iter().for_each(pass_text);
        }
        Target::Url { url, host, port: _, method } => [url, host, method].into_iter().for_each(pass_text),
        Target::Command { argv } => argv.iter_mut().for_each(pass_text),
        Target::Other { what, value } => [what, value].into_iter().for_each(pass_text),
    }
}
