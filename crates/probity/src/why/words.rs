//! Nodes and places in words.

use probity_contract::{Body, Fact, ItemId, Seat};
use probity_egress::{Egress, Tier, Words, egress_text, one_line_untrusted};
use probity_trace::{Author, Graph, LetIn, NodeId, NodeKind, Noted, RunAt};
use probity_why::{AskedPart, Place, SuspectKind};

/// Code points of a name.
const NAME_CHARS_MAX: usize = 60;

/// Code points of a line of foreign words.
const LINE_CHARS_MAX: usize = 200;

/// Names that are listed of one decision.
const NAMES_MAX: usize = 8;

pub(super) fn name<T: Tier>(text: &str) -> Egress<T> {
    one_line_untrusted(text, NAME_CHARS_MAX)
}

/// Foreign words on one line.
pub(super) fn line<T: Tier>(text: &str) -> Egress<T> {
    one_line_untrusted(text, LINE_CHARS_MAX)
}

/// `i3`; of a task that was started, `i3 of 01h455…`.
pub(super) fn id_of_item<T: Tier>(graph: &Graph<'_>, run: RunAt, item: ItemId) -> Egress<T> {
    within(graph, run, &item.to_string())
}

fn within<T: Tier>(graph: &Graph<'_>, run: RunAt, id: &str) -> Egress<T> {
    let id = egress_text(id);
    let other = graph.record(run).and_then(probity_trace::Record::start).filter(|_| run != RunAt::FIRST);
    match other {
        Some(start) => Words::new().passed(&id).text(" of ").passed(&name(start.run.as_str())).done(),
        None => id,
    }
}

/// What a place is called and what it is.
pub(super) fn place<T: Tier>(graph: &Graph<'_>, place: Place) -> (Egress<T>, Egress<T>) {
    match place {
        Place::Item { run, item } => (id_of_item(graph, run, item), item_words(graph, run, item)),
        Place::Tool { run, .. } => {
            let tool = place.tool(graph).map(|tool| tool.name.as_str()).unwrap_or_default();
            let what = Words::new().text("definition of the tool ").passed(&name(tool)).done();
            (within(graph, run, "tools"), what)
        }
    }
}

pub(super) fn item_words<T: Tier>(graph: &Graph<'_>, run: RunAt, item: ItemId) -> Egress<T> {
    let Some(item) = graph.record(run).and_then(|record| record.item(item)) else {
        return Egress::fixed("an item that the record does not add");
    };
    let words = Words::new();
    match item.body {
        Body::Instructions { .. } => Egress::fixed("instructions"),
        Body::Person { .. } => Egress::fixed("what was asked"),
        Body::Context { name: called, .. } => words.text("context ").passed(&name(called)).done(),
        Body::Reply { .. } => Egress::fixed("the model's reply"),
        Body::ToolResult { tool, call, is_error, .. } => {
            let words = words.text(if *is_error { "error of " } else { "result of " }).passed(&name(tool));
            words.text(" (").passed(&egress_text(&call.to_string())).text(")").done()
        }
        Body::Notice { .. } => Egress::fixed("a notice of the engine"),
    }
}

/// What is asked about.
pub(super) fn asked<T: Tier>(asked: AskedPart) -> Egress<T> {
    let words = Words::new();
    match asked {
        AskedPart::Answer(item) => words.text("the answer ").passed(&egress_text(&item.to_string())).done(),
        AskedPart::Reply(item) => words.text("the reply ").passed(&egress_text(&item.to_string())).done(),
        AskedPart::Call(call) => {
            words.text("the arguments of ").passed(&egress_text(&call.to_string())).done()
        }
    }
}

pub(super) const fn kind(kind: SuspectKind) -> &'static str {
    match kind {
        SuspectKind::ToolResult => "tool result",
        SuspectKind::Context => "context",
        SuspectKind::Instructions => "instructions",
        SuspectKind::ToolDefinition => "tool definition",
        SuspectKind::Reply => "reply",
        SuspectKind::Person => "person",
    }
}

/// What a node is called: `i3`, `c1`, `m2`, or by its entry.
pub(super) fn id<T: Tier>(graph: &Graph<'_>, node: NodeId) -> Egress<T> {
    let Some((run, line)) = graph.place(node) else { return Egress::fixed("?") };
    let Noted::Known(fact) = &line.fact else { return within(graph, run, &format!("entry {}", line.seq)) };
    let id = match fact {
        Fact::ItemAdded { item, .. }
        | Fact::ItemReplaced { item, .. }
        | Fact::OutputRejected { item, .. } => item.to_string(),
        Fact::ModelCalled { call, .. }
        | Fact::ModelReplied { call, .. }
        | Fact::ReplyRefused { call, .. }
        | Fact::ModelFailed { call, .. } => call.to_string(),
        Fact::CallProposed { call, .. }
        | Fact::CallRejected { call, .. }
        | Fact::CallFrozen { call, .. }
        | Fact::Judged { call, .. }
        | Fact::Shadowed { call, .. }
        | Fact::Denied { call, .. }
        | Fact::Asked { call, .. }
        | Fact::Answered { call, .. }
        | Fact::ToolStarted { call, .. }
        | Fact::ToolFinished { call, .. }
        | Fact::ChildEnded { call, .. }
        | Fact::Reconciled { call, .. } => call.to_string(),
        Fact::RunStarted(_)
        | Fact::FailureReported { .. }
        | Fact::Resumed { .. }
        | Fact::Intercepted(_)
        | Fact::LimitHit { .. }
        | Fact::Foreign { .. }
        | Fact::Ended { .. } => format!("entry {}", line.seq),
    };
    within(graph, run, &id)
}

/// What a node is.
pub(super) const fn kind_of_node(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Start => "the start",
        NodeKind::Item => "item",
        NodeKind::ModelCall => "model call",
        NodeKind::Reply => "reply",
        NodeKind::RefusedReply => "refused reply",
        NodeKind::ModelFailure => "failure of the model",
        NodeKind::Proposal => "proposed call",
        NodeKind::Rejection => "call that was not understood",
        NodeKind::Frozen => "frozen call",
        NodeKind::Judgement => "judgement",
        NodeKind::Shadow => "policy that is tried out",
        NodeKind::Denial => "denial",
        NodeKind::Question => "question to a person",
        NodeKind::Answer => "answer of a person",
        NodeKind::Execution => "start of the tool",
        NodeKind::Outcome => "return of the tool",
        NodeKind::ChildEnd => "end of a task",
        NodeKind::Reconciliation => "what the tool said later",
        NodeKind::Failure => "failure of a part",
        NodeKind::Resumption => "resumption",
        NodeKind::Interception => "interceptors",
        NodeKind::Replacement => "replacement",
        NodeKind::Limit => "limit",
        NodeKind::MissedSchema => "missed schema",
        NodeKind::Foreign => "something of the imported trace",
        NodeKind::End => "the end",
        NodeKind::Unread => "entry of a later program",
        NodeKind::Front => "window",
        NodeKind::Tools => "the tools",
        NodeKind::Tool => "tool definition",
        NodeKind::Unknown(_) => "unknown",
    }
}

pub(super) fn author<T: Tier>(author: &Author) -> Egress<T> {
    let words = Words::new();
    match author {
        Author::Task => Egress::fixed("the task"),
        Author::Principal(who) => words.text("the principal ").passed(&name(who.as_str())).done(),
        Author::Model { call, model } => {
            let words = words.text("the model in ").passed(&egress_text(&call.to_string()));
            match model {
                Some(model) => words.text(" (").passed(&name(model.as_str())).text(")").done(),
                None => words.done(),
            }
        }
        Author::Tool { call } => words.text("the tool in ").passed(&egress_text(&call.to_string())).done(),
        Author::Interceptors(who) => {
            words.text("the interceptors ").passed(&names(who.iter().map(|who| who.as_str()))).done()
        }
        Author::Person(Some(who)) => words.text("the person ").passed(&name(who.as_str())).done(),
        Author::Person(None) => Egress::fixed("a person"),
        Author::Policies(who) => {
            words.text("the policies ").passed(&names(who.iter().map(|who| who.as_str()))).done()
        }
        Author::Engine => Egress::fixed("the engine"),
    }
}

/// Who let something go on, and where.
pub(super) fn let_in<T: Tier>(graph: &Graph<'_>, row: &LetIn) -> Egress<T> {
    let words = Words::new();
    match row {
        LetIn::Interceptors { point, heard, .. } => {
            let at = serde_json::to_value(point).ok();
            let at = at.as_ref().and_then(serde_json::Value::as_str).unwrap_or("a point").replace('_', " ");
            let who = names(heard.iter().map(|who| who.as_str()));
            words.text("interceptors at ").passed(&egress_text(&at)).text(": ").passed(&who).done()
        }
        LetIn::Policies { node, allowed } => {
            let who = names(allowed.iter().map(|who| who.as_str()));
            let seat = seat(graph, *node).map(|seat| seat.to_string()).unwrap_or_default();
            let words = words.text("policies at the seat ").passed(&egress_text(&seat));
            words.text(": ").passed(&who).done()
        }
        LetIn::Person { by: Some(who), .. } => words.text("the person ").passed(&name(who.as_str())).done(),
        LetIn::Person { by: None, .. } => Egress::fixed("a person"),
    }
}

fn seat(graph: &Graph<'_>, node: NodeId) -> Option<Seat> {
    match &graph.place(node)?.1.fact {
        Noted::Known(Fact::Judged { seat, .. }) => Some(*seat),
        Noted::Known(_) | Noted::Opaque { .. } => None,
    }
}

fn names<'n, T: Tier>(all: impl Iterator<Item = &'n str>) -> Egress<T> {
    let mut all = all.peekable();
    let listed: Vec<Egress<T>> = all.by_ref().take(NAMES_MAX).map(name).collect();
    if listed.is_empty() {
        return Egress::fixed("nobody");
    }
    let more = all.count() as u64;
    let listed = Egress::join(listed, ", ");
    if more == 0 {
        listed
    } else {
        Words::new().passed(&listed).text(" and ").number(more).text(" more").done()
    }
}
