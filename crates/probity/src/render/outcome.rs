//! How a run ended, for a person and for a script.

use probity_contract::{Ending, MessageDenied, Usage};
use probity_core::Finished;
use probity_egress::{Egress, EgressValue, SamePrincipal, Words, egress_text, egress_value};
use probity_trace::{RunSummary, ToolCallCounts};
use serde::Serialize;
use serde_json::{Value, json};

use super::watcher::limit_words;
use crate::exit::Code;

/// The outcome of a run, as `--json` prints it.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    run: String,
    #[serde(flatten)]
    ending: Ending,
    answer: Option<String>,
    output: Option<Value>,
    usage: Usage,
    cost_usd: Option<f64>,
    model_calls: u32,
    tool_calls: ToolCallCounts,
    took_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

impl Report {
    pub(crate) fn new(finished: &Finished, summary: Option<&RunSummary>) -> Self {
        Self {
            run: finished.run().as_str().to_owned(),
            ending: finished.ending.clone(),
            answer: finished.answer.as_ref().map(|answer| answer.as_str().to_owned()),
            output: finished.output.as_ref().map(|output| output.as_value().clone()),
            usage: finished.usage,
            cost_usd: finished.cost_usd,
            model_calls: summary.map_or(0, |summary| summary.model_calls),
            tool_calls: summary.map(|summary| summary.tool_calls).unwrap_or_default(),
            took_ms: summary.map_or(0, |summary| summary.took_ms),
            error: finished.denied().map(denied_document),
        }
    }

    pub(crate) fn json(&self) -> EgressValue<SamePrincipal> {
        egress_value(self)
    }

    /// The answer alone.
    pub(crate) fn answer(&self) -> Option<Egress<SamePrincipal>> {
        self.answer.as_deref().map(egress_text)
    }

    /// The lines that end a run on a terminal.
    pub(crate) fn lines(&self) -> Vec<Egress<SamePrincipal>> {
        let words = Words::<SamePrincipal>::new;
        let counts = counts(self.model_calls, &self.tool_calls, &self.usage, self.cost_usd, self.took_ms);
        let mut lines = vec![words().passed(&ending_words(&self.ending)).text(" · ").passed(&counts).done()];
        let run = egress_text::<SamePrincipal>(&self.run);
        lines.push(
            words().text("run ").passed(&run).text(" · see it with: probity runs show ").passed(&run).done(),
        );
        lines
    }
}

/// A refused message as an error for a script: who, where and why, and nothing of what was refused.
fn denied_document(denied: &MessageDenied) -> Value {
    json!({
        "code": MessageDenied::CODE,
        "exit_code": Code::MessageDenied as u8,
        "phase": denied.phase,
        "interceptor": denied.interceptor,
        "reason": denied.reason,
    })
}

/// How a run ended, in words.
pub(crate) fn ending_words(ending: &Ending) -> Egress<SamePrincipal> {
    let words = Words::<SamePrincipal>::new;
    match ending {
        Ending::Answered => Egress::fixed("answered"),
        Ending::WrappedUp { limit } => {
            words().text("wrapped up: the limit of ").text(limit_words(*limit)).text(" was reached").done()
        }
        Ending::LimitReached { limit } => {
            words().text("stopped: the limit of ").text(limit_words(*limit)).text(" was reached").done()
        }
        Ending::Refused => Egress::fixed("refused by the model or its provider"),
        Ending::Incomplete => Egress::fixed("incomplete: the answer was cut off at the output limit"),
        Ending::OutputInvalid => Egress::fixed("failed: the answer does not follow the output schema"),
        Ending::ModelFailed { error, .. } => words().text("failed: ").passed(&egress_text(error)).done(),
        Ending::Cancelled => Egress::fixed("cancelled"),
        Ending::MessageDenied(denied) => {
            words().text("stopped: ").passed(&egress_text(&denied.to_string())).done()
        }
        Ending::RecordFailed { error } => {
            words().text("stopped: the record could not be written: ").passed(&egress_text(error)).done()
        }
    }
}

/// The counts of a run on one line.
pub(crate) fn count_words(summary: &RunSummary) -> Egress<SamePrincipal> {
    counts(summary.model_calls, &summary.tool_calls, &summary.usage, summary.cost_usd, summary.took_ms)
}

fn counts(
    model_calls: u32,
    calls: &ToolCallCounts,
    usage: &Usage,
    cost_usd: Option<f64>,
    took_ms: u64,
) -> Egress<SamePrincipal> {
    let plural = |n: u32, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let mut parts = vec![plural(model_calls, "model call", "model calls")];
    let mut tools = plural(calls.proposed, "tool call", "tool calls");
    let notes = [
        (calls.denied, "denied"),
        (calls.rejected, "not understood"),
        (calls.failed, "failed"),
        (calls.unknown, "in doubt"),
    ];
    let notes: Vec<String> =
        notes.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if !notes.is_empty() {
        tools.push_str(&format!(" ({})", notes.join(", ")));
    }
    parts.push(tools);
    if let (Some(input), Some(output)) = (usage.input, usage.output) {
        parts.push(format!("{input} tokens in, {output} out"));
    }
    if let Some(cost) = cost_usd {
        parts.push(format!("${cost:.4}"));
    }
    parts.push(format!("{}.{:01} s", took_ms / 1_000, took_ms % 1_000 / 100));
    egress_text(&parts.join(" · "))
}
