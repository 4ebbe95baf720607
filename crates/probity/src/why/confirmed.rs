use probity_egress::{Egress, Tier, egress_text};
use probity_trace::{Graph, RunAt};
use probity_why::{Candidate, Confirmed, Ended, ForkChange, Interval, Kept, Target, Verdict, VerdictKind};
use serde::Serialize;

use super::words;

/// What a test of suspects came to, as it is shown to somebody of a tier.
#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownConfirmed<T: Tier> {
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
    pub(crate) fn of(
        graph: &Graph<'_>,
        confirmed: &Confirmed,
        candidates: &[Candidate],
        kept: &Kept,
        model: &str,
        alpha: f64,
    ) -> Self {
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

/// What a suspect is called and what it is.
fn named<T: Tier>(graph: &Graph<'_>, candidate: Option<&Candidate>) -> (Egress<T>, Egress<T>) {
    let run = RunAt::FIRST;
    match candidate.map(|candidate| &candidate.change) {
        Some(
            ForkChange::StandIn(Target::Item(item) | Target::Passage { item, .. })
            | ForkChange::Replace(item, _)
            | ForkChange::Restore(item),
        ) => (words::id_of_item(graph, run, *item), words::item_words(graph, run, *item)),
        Some(ForkChange::StandIn(Target::Tool(tool))) => (egress_text("tools"), words::name(tool.as_str())),
        None => (Egress::fixed("?"), Egress::fixed("a suspect that is not known")),
    }
}
