use probity_contract::{
    Body, CallId, Enforcement, Fact, ForeignTo, Intercepted, ItemId, Kept, ModelCallId, Opinion, PartId,
    ReplyPart, ReplyPartKind, Resolved, Said, Verdict,
};
use probity_egress::{SamePrincipal, bounded_summary, egress_text};
use serde::Serialize;

use crate::facts::{kind_of, parts_of};
use crate::line::{Line, Noted};
use crate::record::Record;
use crate::story::call_of;

/// Characters of [`Moment::words`].
pub const MOMENT_CHARS_MAX: usize = 200;

/// One entry for display: its place, its subject, and one short line.
///
/// The line went through the credential pass before it was cut, so that no part of a credential is left at its end, where no
/// later pass would know it. It is no exit for all that: whoever shows it passes it for whom it is shown to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moment {
    /// The entry.
    pub seq: u64,
    /// Milliseconds since the run started.
    pub at_ms: u64,
    /// The name of the fact as it stands in the record.
    pub kind: String,
    /// The tool call that it is about.
    pub call: Option<CallId>,
    /// The model call that it is about.
    pub model_call: Option<ModelCallId>,
    /// The item that it is about.
    pub item: Option<ItemId>,
    /// A few words of it, without control characters; empty where the other fields say all.
    pub words: String,
}

impl Record {
    /// Every entry as one short line, in order.
    #[must_use]
    pub fn timeline(&self) -> Vec<Moment> {
        self.lines().iter().map(|line| self.moment(line)).collect()
    }

    fn moment(&self, line: &Line) -> Moment {
        let mut moment = Moment {
            seq: line.seq,
            at_ms: line.at_ms,
            kind: String::new(),
            call: None,
            model_call: None,
            item: None,
            words: String::new(),
        };
        match &line.fact {
            Noted::Known(fact) => {
                moment.kind = kind_of(fact).to_owned();
                moment.call = call_of(fact);
                moment.model_call = model_call_of(fact);
                moment.item = item_of(fact);
                moment.words = one_line(&self.words_of(fact));
            }
            Noted::Opaque { kind, .. } => {
                moment.kind = one_line(kind);
                "written by a later version".clone_into(&mut moment.words);
            }
        }
        moment
    }

    fn words_of(&self, fact: &Fact) -> String {
        match fact {
            Fact::RunStarted(start) => start.title.clone(),
            Fact::ItemAdded { body: Body::Reply { parts }, .. } => self.words_of_reply(parts),
            Fact::ItemAdded { .. } => self.first_words(parts_of(fact)),
            Fact::ModelCalled { window, .. } => {
                format!("{} items kept, {} new", window.keep, window.added.len())
            }
            Fact::ModelReplied { usage, model, .. } => {
                let name = model.as_deref().map(beginning).unwrap_or_default();
                format!("{} tokens {name}", usage.total())
            }
            Fact::ReplyRefused { usage, .. } => format!("{} tokens", usage.total()),
            Fact::CallProposed { tool, arguments, .. } => {
                format!("{} {}", beginning(tool), self.first_words(std::slice::from_ref(arguments)))
            }
            Fact::CallRejected { reason, .. } => beginning(reason),
            Fact::CallFrozen { digest, .. } => digest.short(),
            Fact::Judged { seat, opinions, .. } => {
                let said: Vec<String> = opinions.iter().take(8).map(words_of_opinion).collect();
                format!("{seat}: {}", beginning(&said.join("; ")))
            }
            Fact::Shadowed { seat, policy, said, .. } => {
                let opinion = Opinion::own(policy.clone(), said.clone());
                format!("{seat}, tried out: {}", beginning(&words_of_opinion(&opinion)))
            }
            Fact::Denied { denial, .. } => beginning(&denial.reason),
            Fact::Asked { askers, .. } => {
                beginning(&askers.iter().take(8).map(|name| name.as_str()).collect::<Vec<_>>().join(", "))
            }
            Fact::Answered { answer, by, .. } => {
                let who = by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
                format!("{}{who}", name_of(answer))
            }
            Fact::ToolStarted { effect, .. } => effect.to_string(),
            Fact::ToolFinished { outcome, ran_ms, .. } => format!("{} after {ran_ms} ms", name_of(outcome)),
            Fact::Reconciled { found, .. } => name_of(found),
            Fact::ChildEnded { run, ending, .. } => {
                let ending = ending.as_ref().map_or_else(|| "broke".to_owned(), name_of);
                format!("{run}: {ending}")
            }
            Fact::ModelFailed { error, .. } => beginning(error),
            Fact::FailureReported { who, error, .. } => format!("{}: {}", beginning(who), beginning(error)),
            Fact::Resumed { checkpoint, left_behind: 0, .. } => format!("from checkpoint {checkpoint}"),
            Fact::Resumed { checkpoint, left_behind, .. } => {
                format!(
                    "from checkpoint {checkpoint}, which knows nothing of the {left_behind} entries before this"
                )
            }
            Fact::Intercepted(row) => words_of_row(row),
            Fact::ItemReplaced { item, by } => format!("{item} by {by}"),
            Fact::LimitHit { limit } => name_of(limit),
            Fact::OutputRejected { errors, .. } => errors.first().map(|e| beginning(e)).unwrap_or_default(),
            Fact::Foreign { at, json, .. } => {
                format!("{}: {}", beginning(at), self.first_words(std::slice::from_ref(json)))
            }
            Fact::Ended { ending, .. } => name_of(ending),
        }
    }

    /// The text of a reply; where it has none, how many calls it proposes.
    fn words_of_reply(&self, parts: &[PartId]) -> String {
        let kept = parts.iter().filter_map(|part| match self.part(*part) {
            Some(Kept::Full(text) | Kept::Redacted(text)) => serde_json::from_str::<ReplyPart>(text).ok(),
            Some(Kept::Length(_)) | None => None,
        });
        let (mut text, mut calls) = (String::new(), 0_u32);
        for part in kept {
            match part.kind {
                // All of it: a credential may go on from one part into the next.
                ReplyPartKind::Text(words) => text.push_str(&words),
                ReplyPartKind::Call(_) => calls += 1,
                ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => {}
            }
        }
        if text.is_empty() && calls > 0 { format!("{calls} calls") } else { beginning(&text) }
    }

    fn first_words(&self, parts: &[PartId]) -> String {
        match parts.first().and_then(|part| self.part(*part)) {
            Some(Kept::Full(text) | Kept::Redacted(text)) => beginning(text),
            Some(Kept::Length(_)) | None => String::new(),
        }
    }
}

fn words_of_opinion(opinion: &Opinion) -> String {
    let (said, why) = match &opinion.said {
        Said::Verdict(Verdict::Allow { reason }) => ("allows", reason.as_str()),
        Said::Verdict(Verdict::Ask { reason }) => ("asks", reason.as_str()),
        Said::Verdict(Verdict::Deny { reason }) => ("denies", reason.as_str()),
        Said::Verdict(Verdict::Abstain) => ("abstains", ""),
        Said::Failed(line) => ("failed", line.as_str()),
        Said::Cancelled => ("was cancelled", ""),
    };
    let colon = if why.is_empty() { "" } else { ": " };
    format!("{} {said}{colon}{}", opinion.policy, beginning(why))
}

/// Where, what came of it, and who said why: nothing of what passed there.
fn words_of_row(row: &Intercepted) -> String {
    let said = row.verdict.decision().name();
    let who = row.decided_by.and_then(|index| row.verdicts.iter().find(|said| said.index == index));
    let who = who.map(|row| format!(" by {}", row.interceptor)).unwrap_or_default();
    let why = row.verdict.reason().map(|reason| format!(": {}", beginning(reason))).unwrap_or_default();
    let tried = if row.mode == Enforcement::EvaluateOnly { ", tried out" } else { "" };
    let asked = match row.resolved_by {
        Some(Resolved::Approval) => ", after a person lifted a deny",
        Some(Resolved::Rejection) => ", after nobody lifted the deny",
        None => "",
    };
    format!("{}{tried}: {said}{who}{asked}{why}", row.point)
}

const fn model_call_of(fact: &Fact) -> Option<ModelCallId> {
    match fact {
        Fact::ModelCalled { call, .. }
        | Fact::ModelReplied { call, .. }
        | Fact::ReplyRefused { call, .. }
        | Fact::ModelFailed { call, .. } => Some(*call),
        Fact::CallProposed { by, .. } => Some(*by),
        Fact::Intercepted(row) => row.model_call,
        Fact::Foreign { about: ForeignTo::ModelCall(call), .. } => Some(*call),
        Fact::RunStarted(_)
        | Fact::ItemAdded { .. }
        | Fact::CallRejected { .. }
        | Fact::CallFrozen { .. }
        | Fact::Judged { .. }
        | Fact::Denied { .. }
        | Fact::Asked { .. }
        | Fact::Answered { .. }
        | Fact::ToolStarted { .. }
        | Fact::ToolFinished { .. }
        | Fact::FailureReported { .. }
        | Fact::Resumed { .. }
        | Fact::Reconciled { .. }
        | Fact::ChildEnded { .. }
        | Fact::Shadowed { .. }
        | Fact::ItemReplaced { .. }
        | Fact::LimitHit { .. }
        | Fact::OutputRejected { .. }
        | Fact::Foreign { .. }
        | Fact::Ended { .. } => None,
    }
}

const fn item_of(fact: &Fact) -> Option<ItemId> {
    match fact {
        Fact::ItemAdded { item, .. }
        | Fact::ModelReplied { item, .. }
        | Fact::OutputRejected { item, .. } => Some(*item),
        Fact::Ended { answer, .. } => *answer,
        Fact::Intercepted(row) => row.item,
        Fact::Foreign { about: ForeignTo::Item(item), .. } => Some(*item),
        Fact::ItemReplaced { by, .. } => Some(*by),
        Fact::RunStarted(_)
        | Fact::ModelCalled { .. }
        | Fact::ReplyRefused { .. }
        | Fact::ModelFailed { .. }
        | Fact::CallProposed { .. }
        | Fact::CallRejected { .. }
        | Fact::CallFrozen { .. }
        | Fact::Judged { .. }
        | Fact::Denied { .. }
        | Fact::Asked { .. }
        | Fact::Answered { .. }
        | Fact::ToolStarted { .. }
        | Fact::ToolFinished { .. }
        | Fact::FailureReported { .. }
        | Fact::Resumed { .. }
        | Fact::Reconciled { .. }
        | Fact::ChildEnded { .. }
        | Fact::Shadowed { .. }
        | Fact::Foreign { .. }
        | Fact::LimitHit { .. } => None,
    }
}

/// The name of a unit-like value as it stands in the record: its own word, or that under its tag.
fn name_of(value: &impl Serialize) -> String {
    let json = serde_json::to_value(value).unwrap_or_default();
    let tagged = json.get("outcome").or_else(|| json.get("ending"));
    tagged.unwrap_or(&json).as_str().unwrap_or_default().to_owned()
}

fn beginning(text: &str) -> String {
    bounded_summary(&egress_text::<SamePrincipal>(text), MOMENT_CHARS_MAX).as_str().to_owned()
}

fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c };
    beginning(text).chars().map(plain).collect::<String>().trim_end().to_owned()
}
