//! One entry of a record as one row; the overview of a run, and what went wrong in all of them.

use probity_contract::{Body, Fact, HookDecision, Opinion, PartId, Said, ToolOutcomeKind, Verdict};
use probity_trace::{Fidelity, NodeId, Noted, Record, RunAt};
use serde_json::Value;

use super::answer::{NAME_CHARS_MAX, Page, Row, TraceAnswer};
use super::texts::told;
use super::{Asked, TraceError, known};

/// Characters of a line of a text.
pub(super) const LINE_CHARS_MAX: usize = 240;

/// Members of a list within a row.
pub(super) const INNER_MAX: usize = 8;

/// Tools and runs that the overview names.
const NAMED_MAX: usize = 24;

impl Asked<'_> {
    pub(super) fn overview(&self, run: Option<&str>, page: Page) -> Result<TraceAnswer, TraceError> {
        let run = run.map_or(Ok(RunAt::FIRST), |run| self.run_at(run))?;
        let record = self.graph.record(run).ok_or(TraceError::NoSuchId)?;
        let mut head = Row::new()
            .id("run", &self.run_name(run))
            .fixed("known", known(record))
            .count("entries", record.lines().len())
            .count("items", record.items().count())
            .number("entries_not_understood", record.not_understood())
            .count("texts_missing", record.dangling().len());
        if let Some(summary) = record.summary() {
            let calls = &summary.tool_calls;
            head = head
                .named("run_id", summary.run.as_str())
                .named("model", summary.model.as_str())
                .number("took_ms", summary.took_ms)
                .number("model_calls", summary.model_calls.into())
                .number("calls_proposed", calls.proposed.into())
                .number("calls_run", calls.run.into())
                .number("calls_denied", calls.denied.into())
                .number("calls_not_understood", calls.rejected.into())
                .number("calls_failed", calls.failed.into())
                .number("calls_unknown", calls.unknown.into());
            head = head.passed("untrusted_title", &told(&summary.title, LINE_CHARS_MAX));
            head = match &summary.ending {
                Some(ending) => head.word("ending", ending),
                None if summary.ended => head.fixed("ending", "not understood"),
                None => head.fixed("ending", "none: the run goes on or broke off"),
            };
        }
        if let Some(answer) = self.graph.answer(run) {
            head = head.id("answer", &self.name(answer));
            head = self.with_item_text(head, answer);
        }
        let first = record.facts().next().map(|(_, fact)| fact);
        if let Some(Fact::RunStarted(start)) = first {
            let tools = start.tools.iter().map(|tool| tool.name.as_str());
            head = head.list(("tools", "tools_left_out"), NAMED_MAX, tools, |name| name.into());
            let policies = start.policies.iter();
            head = head
                .list(("policies", "policies_left_out"), NAMED_MAX, policies, |name| words(name.as_str()));
        }
        let others = self.graph.runs().filter(|other| *other != run);
        head = head.list(("other_runs", "other_runs_left_out"), NAMED_MAX, others, |other| {
            let row = Row::new().id("run", &self.run_name(other));
            let start = self.graph.record(other).and_then(Record::start);
            start.map_or(row.clone(), |start| row.named("run_id", start.run.as_str())).value()
        });
        let steps: Vec<NodeId> = self.entries(run, record, |fact| {
            matches!(
                fact,
                Fact::ModelCalled { .. }
                    | Fact::ModelFailed { .. }
                    | Fact::ReplyRefused { .. }
                    | Fact::CallProposed { .. }
                    | Fact::Denied { .. }
                    | Fact::Answered { .. }
                    | Fact::ToolFinished { .. }
                    | Fact::ChildEnded { .. }
                    | Fact::ItemReplaced { .. }
                    | Fact::LimitHit { .. }
                    | Fact::OutputRejected { .. }
                    | Fact::Resumed { .. }
                    | Fact::Ended { .. }
            )
        });
        Ok(TraceAnswer::rows(head, &steps, page, |node| self.tell(*node)))
    }

    pub(super) fn errors(&self, page: Page) -> TraceAnswer {
        let mut all = Vec::new();
        let mut head = Row::new().count("runs", self.graph.runs().count());
        let mut missing = 0;
        for run in self.graph.runs() {
            let Some(record) = self.graph.record(run) else { continue };
            missing += record.dangling().len();
            all.extend(self.entries(run, record, is_wrong));
            if self.graph.end(run).is_none() {
                head = head.flag("a_run_has_no_end", true);
            }
        }
        head = head.count("texts_missing", missing);
        TraceAnswer::rows(head, &all, page, |node| self.tell(*node))
    }

    fn entries(&self, run: RunAt, record: &Record, is_meant: impl Fn(&Fact) -> bool) -> Vec<NodeId> {
        let meant = record.facts().filter(|(_, fact)| is_meant(fact));
        meant.filter_map(|(line, _)| self.graph.entry(run, line.seq)).collect()
    }

    /// One node as one row.
    pub(super) fn tell(&self, node: NodeId) -> Row {
        let mut row = Row::new().id("id", &self.name(node));
        if let Some(kind) = self.graph.kind(node) {
            row = match kind.unknown() {
                Some(reason) => row.fixed("kind", "unknown").word("why", &reason),
                None => row.word("kind", &kind),
            };
        }
        let Some((run, line)) = self.graph.place(node) else { return row };
        let Some(record) = self.graph.record(run) else { return row };
        row = row.fixed("known", known(record)).number("at_ms", line.at_ms);
        // What is no entry only stands at one.
        if self.graph.entry(run, line.seq) != Some(node) {
            return row.id(
                "at",
                &self.graph.entry(run, line.seq).map_or_else(|| self.name(node), |at| self.name(at)),
            );
        }
        row = row.named("fact", line.kind());
        if let Some(call) = line.call() {
            row = row.id("call", &self.call_name(run, call));
        }
        match &line.fact {
            Noted::Known(fact) => self.tell_fact(row, node, run, record, fact),
            Noted::Opaque { .. } => row.fixed("note", "written by a later program"),
        }
    }

    fn tell_fact(&self, row: Row, node: NodeId, run: RunAt, record: &Record, fact: &Fact) -> Row {
        let line = |row: Row, words: &str| row.passed("untrusted", &told(words, LINE_CHARS_MAX));
        match fact {
            Fact::RunStarted(start) => line(row, &start.title),
            Fact::ItemAdded { origin, label, body, .. } => {
                let row =
                    row.word("origin", origin).word("trust", &label.integrity).fixed("role", role(body));
                let row = match body {
                    Body::Context { name, .. } => row.named("name", name),
                    Body::ToolResult { tool, is_error, .. } => {
                        row.named("tool", tool).flag("is_error", *is_error)
                    }
                    Body::Instructions { .. }
                    | Body::Person { .. }
                    | Body::Reply { .. }
                    | Body::Notice { .. } => row,
                };
                self.with_item_text(row, node)
            }
            Fact::ModelCalled { window, tools_offered, .. } => row
                .number("items_kept", window.keep.into())
                .count("items_new", window.added.len())
                .flag("tools_offered", *tools_offered),
            Fact::ModelReplied { item, stop, .. } => {
                row.id("item", &self.item_name(run, *item)).word("stop", stop)
            }
            Fact::ReplyRefused { call, .. } => row.id("model_call", &self.model_call_name(run, *call)),
            Fact::ModelFailed { call, class, error } => {
                line(row.id("model_call", &self.model_call_name(run, *call)).word("class", class), error)
            }
            Fact::CallProposed { by, tool, arguments, .. } => {
                let row = row.id("model_call", &self.model_call_name(run, *by)).named("tool", tool);
                part(row, record, *arguments)
            }
            Fact::CallRejected { reason, .. } => line(row, reason),
            Fact::CallFrozen { arguments, label, .. } => {
                part(row.word("trust", &label.integrity), record, *arguments)
            }
            Fact::Judged { seat, opinions, .. } => row.named("seat", &seat.to_string()).list(
                ("opinions", "opinions_left_out"),
                INNER_MAX,
                opinions,
                opinion,
            ),
            Fact::Shadowed { seat, policy, said, .. } => {
                let tried = Opinion::own(policy.clone(), said.clone());
                row.named("seat", &seat.to_string()).list(
                    ("tried_out", "tried_out_left_out"),
                    1,
                    [&tried],
                    opinion,
                )
            }
            Fact::Denied { denial, .. } => {
                let row = row.word("code", &denial.code).named("seat", &denial.seat.to_string());
                let by = denial.by.as_ref().map_or("the engine", |by| by.as_str());
                line(row.named("by", by), &denial.reason)
            }
            Fact::Asked { askers, .. } => {
                row.list(("askers", "askers_left_out"), INNER_MAX, askers, |asker| words(asker.as_str()))
            }
            Fact::Answered { answer, by, .. } => {
                let row = row.word("answer", answer);
                by.as_ref().map_or(row.clone(), |by| row.named("by", by.as_str()))
            }
            Fact::ToolStarted { effect, .. } => row.word("effect", effect),
            Fact::ToolFinished { outcome, output, output_bytes, ran_ms, .. } => {
                let row = match outcome {
                    ToolOutcomeKind::Succeeded => row.fixed("outcome", "succeeded"),
                    ToolOutcomeKind::Failed(class) => row.fixed("outcome", "failed").word("class", class),
                    ToolOutcomeKind::Unknown(class) => row.fixed("outcome", "unknown").word("class", class),
                };
                part(row.number("output_bytes", *output_bytes).number("ran_ms", *ran_ms), record, *output)
            }
            Fact::ChildEnded { run: child, ending, .. } => {
                let row = row.named("run_id", child.as_str());
                let row = self.graph.run(child).map_or(row.clone(), |at| row.id("run", &self.run_name(at)));
                ending
                    .as_ref()
                    .map_or(row.clone().fixed("ending", "broke"), |ending| row.word("ending", ending))
            }
            Fact::Reconciled { found, .. } => row.word("found", found),
            Fact::FailureReported { who, error, .. } => line(row.named("who", who), error),
            Fact::Resumed { checkpoint, left_behind, .. } => {
                row.number("checkpoint", *checkpoint).number("entries_left_behind", *left_behind)
            }
            Fact::Intercepted(heard) => {
                let row = row.named("point", &heard.point.to_string());
                let row = row.named("decision", heard.verdict.decision().name());
                let row = row.list(("heard", "heard_left_out"), INNER_MAX, &heard.verdicts, |said| {
                    let who = Row::new().named("interceptor", said.interceptor.as_str());
                    who.named("decision", &said.decision).value()
                });
                let row = heard.item.map_or(row.clone(), |item| row.id("item", &self.item_name(run, item)));
                heard.verdict.reason().map_or(row.clone(), |reason| line(row, reason))
            }
            Fact::ItemReplaced { item, by } => {
                row.id("gone", &self.item_name(run, *item)).id("by", &self.item_name(run, *by))
            }
            Fact::LimitHit { limit } => row.word("limit", limit),
            Fact::OutputRejected { item, errors } => {
                let row = row.id("item", &self.item_name(run, *item)).count("errors", errors.len());
                errors.first().map_or(row.clone(), |error| line(row, error))
            }
            Fact::Foreign { at, json, .. } => part(row.named("at", at), record, *json),
            Fact::Ended { ending, answer, .. } => {
                let row = row.word("ending", ending);
                answer.map_or(row.clone(), |item| row.id("answer", &self.item_name(run, item)))
            }
        }
    }

    /// The beginning of an item, and how much of its text there is.
    pub(super) fn with_item_text(&self, row: Row, node: NodeId) -> Row {
        let found = self.graph.item_of(node).and_then(|(run, item)| {
            let at = self.graph.runs().position(|other| other == run)?;
            self.texts().item(at, item)
        });
        let Some(shown) = found else { return row };
        let Some(text) = &shown.text else {
            return row.fixed("note", "its text was not read: there is too much in these records");
        };
        let row = match shown.fidelity {
            Fidelity::Full => row,
            Fidelity::Redacted => row.fixed("kept", "redacted"),
            Fidelity::Withheld => row.fixed("kept", "nothing: by the content setting"),
            Fidelity::Unknown => row.fixed("kept", "not all: the record does not hold it"),
        };
        row.count("text_bytes", text.len()).passed("untrusted", &told(text.as_str(), LINE_CHARS_MAX))
    }
}

/// The text of a part of a record as one line.
fn part(row: Row, record: &Record, part: PartId) -> Row {
    let text = record.part_text(part);
    if text.fidelity > Fidelity::Redacted {
        return row.fixed("note", "its text is not kept");
    }
    row.count("recorded_bytes", text.text.len()).passed("untrusted", &told(&text.text, LINE_CHARS_MAX))
}

fn opinion(opinion: &Opinion) -> Value {
    let row = Row::new().named("policy", opinion.policy.as_str());
    let (said, why) = match &opinion.said {
        Said::Verdict(Verdict::Abstain) => ("abstains", ""),
        Said::Verdict(Verdict::Allow { reason }) => ("allows", reason.as_str()),
        Said::Verdict(Verdict::Ask { reason }) => ("asks", reason.as_str()),
        Said::Verdict(Verdict::Deny { reason }) => ("denies", reason.as_str()),
        Said::Failed(line) => ("failed", line.as_str()),
        Said::Cancelled => ("was cancelled", ""),
    };
    let row = row.fixed("said", said);
    if why.is_empty() { row.value() } else { row.named("untrusted_reason", why).value() }
}

fn is_wrong(fact: &Fact) -> bool {
    match fact {
        Fact::ItemAdded { body: Body::ToolResult { is_error, .. }, .. } => *is_error,
        Fact::ToolFinished { outcome, .. } => !matches!(outcome, ToolOutcomeKind::Succeeded),
        Fact::Judged { opinions, .. } => {
            opinions.iter().any(|opinion| matches!(opinion.said, Said::Failed(_) | Said::Cancelled))
        }
        Fact::Intercepted(row) => matches!(row.verdict.decision(), HookDecision::Deny { .. }),
        Fact::Ended { ending, .. } => !matches!(ending, probity_contract::Ending::Answered),
        Fact::ReplyRefused { .. }
        | Fact::ModelFailed { .. }
        | Fact::CallRejected { .. }
        | Fact::Denied { .. }
        | Fact::FailureReported { .. }
        | Fact::Resumed { .. }
        | Fact::LimitHit { .. }
        | Fact::OutputRejected { .. } => true,
        Fact::ChildEnded { ending, .. } => !matches!(ending, Some(probity_contract::Ending::Answered)),
        Fact::RunStarted(_)
        | Fact::ItemAdded { .. }
        | Fact::ModelCalled { .. }
        | Fact::ModelReplied { .. }
        | Fact::CallProposed { .. }
        | Fact::CallFrozen { .. }
        | Fact::Shadowed { .. }
        | Fact::Asked { .. }
        | Fact::Answered { .. }
        | Fact::ToolStarted { .. }
        | Fact::Reconciled { .. }
        | Fact::ItemReplaced { .. }
        | Fact::Foreign { .. } => false,
    }
}

pub(super) const fn role(body: &Body) -> &'static str {
    match body {
        Body::Instructions { .. } => "instructions",
        Body::Person { .. } => "person",
        Body::Context { .. } => "context",
        Body::Reply { .. } => "reply",
        Body::ToolResult { .. } => "tool_result",
        Body::Notice { .. } => "notice",
    }
}

/// A name of the record as a value.
pub(super) fn words(name: &str) -> Value {
    told(name, NAME_CHARS_MAX).as_str().into()
}
