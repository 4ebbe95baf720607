use std::ops::Range;

use probity_contract::{Fact, ItemId};
use probity_egress::{Egress, Tier, Words, bounded_summary, egress_text};
use probity_trace::{Graph, RunAt};
use probity_why::{
    Asked, Candidate, ChainStep, Ended, ForkChange, Interval, Place, Target, Verdict, VerdictKind,
};
use serde::Serialize;

use super::{PassedText, words};

/// Code points of a sentence that is a suspect.
const SENTENCE_CHARS_MAX: usize = 60;

/// What a test of suspects came to, as it is shown to somebody of a tier.
#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownConfirmed<T: Tier> {
    /// What the forks were asked for.
    pub(crate) about: Egress<T>,
    /// The reply that this says of; `None` for a call.
    pub(crate) about_id: Option<Egress<T>>,
    /// By what a fork was compared with the record.
    pub(crate) compared_by: &'static str,
    /// Whether two answers that mean the same compare alike. Where not, the verdicts are fuzzy.
    pub(crate) is_exact: bool,
    /// The model that was asked.
    pub(crate) model: Egress<T>,
    pub(crate) alpha: f64,
    pub(crate) ended: &'static str,
    pub(crate) is_cancelled: bool,
    /// Whether the answer stayed with every suspect out of sight.
    pub(crate) none_needed: bool,
    pub(crate) shots: u32,
    pub(crate) model_calls: u32,
    /// In US dollars; a part of it where `cost_is_unknown`.
    pub(crate) cost_usd: f64,
    pub(crate) cost_is_unknown: bool,
    pub(crate) failure: Option<Egress<T>>,
    /// The last call that could not be served.
    pub(crate) diverged_at: Option<[Egress<T>; 2]>,
    /// Those to blame first.
    pub(crate) verdicts: Vec<ShownVerdict<T>>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownVerdict<T: Tier> {
    pub(crate) id: Egress<T>,
    pub(crate) what: Egress<T>,
    pub(crate) verdict: &'static str,
    /// The others that the verdict is about.
    pub(crate) with: Vec<Egress<T>>,
    pub(crate) is_conviction: bool,
    pub(crate) is_sufficient: bool,
    pub(crate) changed: ShownArm,
    pub(crate) unchanged: ShownArm,
}

/// One arm: in how many shots the answer stayed, of how many that had an outcome.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct ShownArm {
    pub(crate) kept: u32,
    pub(crate) of: u32,
    /// Shots without an outcome.
    pub(crate) without_outcome: u32,
    /// Where the share lies in which it stays.
    pub(crate) interval: [f64; 2],
}

impl<T: Tier> ShownConfirmed<T> {
    pub(crate) fn of(graph: &Graph<'_>, step: &ChainStep, model: &str, alpha: f64) -> Self {
        let ChainStep { asked, kept, within, candidates, confirmed } = step;
        let findings = &confirmed.findings;
        let name = |number: usize| named(graph, candidates.get(number));
        let verdict = |verdict: &Verdict| {
            let (id, what) = name(verdict.suspect);
            let (words, with) = kind(&verdict.kind);
            ShownVerdict {
                id,
                what,
                verdict: words,
                with: with.iter().map(|number| name(*number).0).collect(),
                is_conviction: verdict.kind.is_conviction(),
                is_sufficient: verdict.is_sufficient,
                changed: arm(
                    verdict.changed.kept,
                    verdict.changed.flipped,
                    &verdict.changed,
                    verdict.changed_kept,
                ),
                unchanged: arm(verdict.base.kept, verdict.base.flipped, &verdict.base, verdict.base_kept),
            }
        };
        Self {
            about: about(graph, asked, *within),
            about_id: match asked {
                Asked::Reply(place) => {
                    reply_at(graph, *place).map(|item| words::id_of_item(graph, RunAt::FIRST, item))
                }
                Asked::Proposal(_) => None,
            },
            compared_by: kept.name(),
            is_exact: kept.is_exact(),
            model: words::name(model),
            alpha,
            ended: match findings.ended {
                Ended::Complete => "complete",
                Ended::Budget => "budget",
                Ended::Unsteady => "unsteady",
                Ended::Undecided => "undecided",
            },
            is_cancelled: confirmed.is_cancelled,
            none_needed: findings.none_needed,
            shots: findings.shots,
            model_calls: findings.spent.model_calls,
            cost_usd: findings.spent.microdollars as f64 / 1e6,
            cost_is_unknown: confirmed.cost_is_unknown,
            failure: confirmed.failure.as_deref().map(words::line),
            diverged_at: confirmed
                .diverged_at
                .as_ref()
                .map(|(tool, arguments)| [words::name(tool), words::line(arguments)]),
            verdicts: findings.verdicts.iter().map(verdict).collect(),
        }
    }
}

impl ShownArm {
    /// `0 of 3 [0.00 to 0.60]`.
    pub(crate) fn words(self) -> String {
        let [low, high] = self.interval;
        let without = match self.without_outcome {
            0 => String::new(),
            many => format!(", {many} without an outcome"),
        };
        format!("{} of {} [{low:.2} to {high:.2}]{without}", self.kept, self.of)
    }
}

impl<T: Tier> ShownConfirmed<T> {
    /// What there is to say where nobody was convicted.
    pub(crate) fn without_conviction(&self) -> Option<&'static str> {
        if self.verdicts.iter().any(|verdict| verdict.is_conviction) {
            return None;
        }
        Some(match (self.ended, self.none_needed) {
            (_, true) => "no cause among them: the answer stays with all of them out of sight",
            ("complete", false) => "no cause was confirmed",
            ("unsteady", false) => {
                "no verdict: with nothing changed the answer comes out otherwise too often"
            }
            _ => "no cause was confirmed before the test ended",
        })
    }

    /// What it cost, and the error that holds.
    pub(crate) fn spent(&self) -> String {
        let cost = match (self.cost_is_unknown, self.cost_usd > 0.0) {
            (false, _) => format!("${:.4}", self.cost_usd),
            (true, true) => format!("at least ${:.4}", self.cost_usd),
            (true, false) => "at a cost that is not known".to_owned(),
        };
        format!(
            "{} forks, {} model calls, {cost}; the probability that any of these convictions is wrong is at most {}",
            self.shots, self.model_calls, self.alpha
        )
    }

    /// What cut the test short, where something did.
    pub(crate) fn cut_short(&self) -> Option<&'static str> {
        match self.ended {
            _ if self.is_cancelled => Some("cancelled: what is said here is what was known by then"),
            "budget" => Some("the budget was used up before everything had a verdict"),
            "undecided" => Some("what was heard contradicts itself, or too many forks had no answer"),
            _ => None,
        }
    }
}

fn arm(kept: u32, flipped: u32, tally: &probity_why::Tally, interval: Interval) -> ShownArm {
    let round = |share: f64| (share * 1000.0).round() / 1000.0;
    ShownArm {
        kept,
        of: kept.saturating_add(flipped),
        without_outcome: tally.without_outcome(),
        interval: [round(interval.low), round(interval.high)],
    }
}

fn kind(kind: &VerdictKind) -> (&'static str, &[usize]) {
    match kind {
        VerdictKind::Necessary => ("necessary", &[]),
        VerdictKind::JointWith(with) => ("joint with", with),
        VerdictKind::RedundantWith(with) => ("redundant with", with),
        VerdictKind::Absent(with) => ("absent", with),
        VerdictKind::Rejected => ("rejected", &[]),
        VerdictKind::Inconclusive => ("inconclusive", &[]),
    }
}

/// What the model said in this call to it.
fn reply_at(graph: &Graph<'_>, place: usize) -> Option<ItemId> {
    let record = graph.record(RunAt::FIRST)?;
    let asked = record.model_calls().nth(place)?;
    record.facts().find_map(|(_, fact)| {
        let Fact::ModelReplied { call, item, .. } = fact else { return None };
        (*call == asked).then_some(*item)
    })
}

/// What a search was about, in words.
fn about<T: Tier>(graph: &Graph<'_>, asked: &Asked, within: Option<ItemId>) -> Egress<T> {
    let call = graph.record(RunAt::FIRST).and_then(|record| record.model_calls().nth(asked.place()));
    let call = egress_text(&call.map(|call| call.to_string()).unwrap_or_default());
    let words = match asked {
        Asked::Reply(_) => Words::new().text("what the model said in ").passed(&call),
        Asked::Proposal(_) => Words::new().text("what the model proposed in ").passed(&call),
    };
    match within {
        Some(item) => words.text(", by the sentences of ").passed(&egress_text(&item.to_string())).done(),
        None => words.done(),
    }
}

/// The beginning of a sentence of an item. The whole text is passed, and it is cut out of that.
fn sentence<T: Tier>(graph: &Graph<'_>, run: RunAt, item: ItemId, range: Range<usize>) -> Egress<T> {
    let text = Place::Item { run, item }.text(graph).map(|text| text.text).unwrap_or_default();
    bounded_summary(&PassedText::of(&text).piece(&range), SENTENCE_CHARS_MAX)
}

/// What a suspect is called and what it is.
fn named<T: Tier>(graph: &Graph<'_>, candidate: Option<&Candidate>) -> (Egress<T>, Egress<T>) {
    let run = RunAt::FIRST;
    match candidate.map(|candidate| &candidate.change) {
        Some(ForkChange::StandIn(Target::Passage { item, start, end })) => {
            let range = egress_text(&format!(", bytes {start}..{end}: "));
            let words = Words::new().passed(&words::item_words(graph, run, *item)).passed(&range);
            let sentence = sentence(graph, run, *item, *start..*end);
            (words::id_of_item(graph, run, *item), words.passed(&sentence).done())
        }
        Some(
            ForkChange::StandIn(Target::Item(item))
            | ForkChange::Replace(item, _)
            | ForkChange::Restore(item),
        ) => (words::id_of_item(graph, run, *item), words::item_words(graph, run, *item)),
        Some(ForkChange::StandIn(Target::Tool(tool))) => (egress_text("tools"), words::name(tool.as_str())),
        None => (Egress::fixed("?"), Egress::fixed("a suspect that is not known")),
    }
}
