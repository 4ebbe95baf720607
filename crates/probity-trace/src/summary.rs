use probity_contract::{
    Ending, Fact, ItemId, ModelName, PrincipalId, ReconciledKind, RunId, ToolOutcomeKind, Usage,
};
use serde::{Deserialize, Serialize};

use crate::line::Noted;
use crate::record::Record;
use crate::text::Fidelity;

/// What a list shows of a run, computed from its record. Its texts have passed no exit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The run.
    pub run: RunId,
    /// A few words that tell people which run this is.
    pub title: String,
    /// For whom it acted.
    pub principal: PrincipalId,
    /// The model.
    pub model: ModelName,
    /// When it started, in milliseconds since 1970 UTC.
    pub started_at_unix_ms: u64,
    /// Milliseconds from the start to the last entry.
    pub took_ms: u64,
    /// Whether the record tells that the run ended. Otherwise it goes on or broke off; the record cannot tell which.
    pub ended: bool,
    /// How it ended; `None` where it did not, or in a way that is new to this program.
    pub ending: Option<Ending>,
    /// Tokens of the whole run; of one that did not end, those of the replies so far.
    pub usage: Usage,
    /// US dollars, where known.
    pub cost_usd: Option<f64>,
    /// Calls to the model.
    pub model_calls: u32,
    /// Calls to tools.
    pub tool_calls: ToolCallCounts,
    /// The reply that is the answer.
    pub answer_item: Option<ItemId>,
    /// The answer; `None` where there is none or the record does not keep its text.
    pub answer: Option<String>,
    /// Entries and frames of a later program, which the figures above leave out.
    pub not_understood: u64,
}

/// How many tool calls a run had. A call that was started counts in `run`, and there once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolCallCounts {
    /// Proposed by the model.
    pub proposed: u32,
    /// Not understood; nothing was judged.
    pub rejected: u32,
    /// Denied.
    pub denied: u32,
    /// Started.
    pub run: u32,
    /// Of `run`, those that came back with an error.
    pub failed: u32,
    /// Of `run`, those of which it is not known whether the effect happened.
    pub unknown: u32,
}

impl Record {
    /// The summary; `None` where the run broke off before it said what it is.
    #[must_use]
    pub fn summary(&self) -> Option<RunSummary> {
        let start = self.start()?;
        let mut summary = RunSummary {
            run: start.run.clone(),
            title: start.title.clone(),
            principal: start.principal.clone(),
            model: start.model.clone(),
            started_at_unix_ms: start.started_at_unix_ms,
            took_ms: self.lines().last().map_or(0, |line| line.at_ms),
            ended: false,
            ending: None,
            usage: Usage::default(),
            cost_usd: None,
            model_calls: 0,
            tool_calls: self.tool_call_counts(),
            answer_item: None,
            answer: None,
            not_understood: self.not_understood(),
        };
        self.add_model_calls(&mut summary);
        self.add_end(&mut summary);
        Some(summary)
    }

    fn tool_call_counts(&self) -> ToolCallCounts {
        let mut counts = ToolCallCounts::default();
        for story in self.calls() {
            counts.proposed += u32::from(story.proposed.is_some());
            counts.rejected += u32::from(story.rejected.is_some());
            counts.denied += u32::from(story.denied.is_some());
            counts.run += u32::from(!story.attempts.is_empty());
            let is_known = matches!(story.reconciled, Some(ReconciledKind::Done | ReconciledKind::NotDone));
            let came_back_unknown = matches!(story.outcome(), Some(ToolOutcomeKind::Unknown(_)));
            let is_unknown = story.in_doubt || (came_back_unknown && !is_known);
            counts.unknown += u32::from(is_unknown);
            counts.failed +=
                u32::from(!is_unknown && matches!(story.outcome(), Some(ToolOutcomeKind::Failed(_))));
        }
        counts
    }

    fn add_model_calls(&self, summary: &mut RunSummary) {
        let mut prices = None;
        for (_, fact) in self.facts() {
            if let Fact::ModelReplied { usage, .. } = fact {
                summary.usage = summary.usage.plus(usage);
            } else if let Fact::ModelCalled { .. } = fact {
                summary.model_calls = summary.model_calls.saturating_add(1);
            } else if let Fact::RunStarted(started) = fact {
                prices = prices.or(started.prices);
            }
        }
        summary.cost_usd = prices.and_then(|prices| prices.cost_usd(&summary.usage));
    }

    fn add_end(&self, summary: &mut RunSummary) {
        for line in self.lines().iter().rev() {
            match &line.fact {
                Noted::Known(Fact::Ended { ending, answer, usage, cost_usd }) => {
                    summary.ended = true;
                    summary.ending = Some(ending.clone());
                    summary.usage = *usage;
                    summary.cost_usd = *cost_usd;
                    summary.answer_item = *answer;
                    let text = answer.and_then(|item| self.answer_text(item));
                    let kept = text.filter(|text| text.fidelity <= Fidelity::Redacted);
                    summary.answer = kept.map(|text| text.text);
                    return;
                }
                Noted::Opaque { kind, .. } if kind == "ended" => {
                    summary.ended = true;
                    return;
                }
                Noted::Known(_) | Noted::Opaque { .. } => {}
            }
        }
    }
}
