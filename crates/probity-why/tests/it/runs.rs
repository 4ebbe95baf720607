//! Small runs of the real machine, with a model whose answers hang on its window in a known way.

use std::sync::{Arc, Mutex};

use probity_contract::{Content, Effect, Label, Limits, ModelRequest, ReplyPart, Stop, ToolOutput};
use probity_core::{Host, Task, run_task};
use probity_testkit::{
    Acts, MemoryJournal, ScriptedModel, ScriptedPolicy, ScriptedTool, Turn, principal, run_id,
};
use probity_trace::{Record, encode_frame, encode_header};

/// The record of lines, by way of its bytes.
pub(crate) fn record_of(journal: &MemoryJournal) -> Record {
    let mut bytes = Vec::new();
    encode_header(&mut bytes);
    for line in journal.lines() {
        encode_frame(&line, &mut bytes).unwrap();
    }
    Record::read(&bytes).unwrap().record
}

/// All texts of a window as one.
pub(crate) fn window_text(request: &ModelRequest) -> String {
    request.items.iter().map(|item| item.flat_text()).collect::<Vec<_>>().join("\n")
}

/// The number behind `limit=` in a text.
pub(crate) fn limit_in(text: &str) -> Option<&str> {
    let (_, behind) = text.rsplit_once("limit=")?;
    behind.split_whitespace().next()
}

/// Looks, pays, and then tells the limit; each step hangs on what the window says.
pub(crate) fn payer(request: &ModelRequest) -> Vec<ReplyPart> {
    let text = window_text(request);
    let results =
        request.items.iter().filter(|item| matches!(item.content, Content::ToolResult { .. })).count();
    let to = if text.contains("vendor is ACME-9") { "ACME-9" } else { "nobody" };
    match results {
        0 => vec![ReplyPart::call("p1", "look", r#"{"what":"limits"}"#)],
        1 => vec![ReplyPart::call("p2", "pay", format!(r#"{{"amount":1,"to":"{to}"}}"#))],
        _ => match limit_in(&text) {
            Some(limit) => vec![ReplyPart::text(format!("Paid. The limit is {limit} EUR."))],
            None => vec![ReplyPart::text("Paid. I know of no limit.")],
        },
    }
}

/// Runs a task of `payer` with notes that say who the vendor is and what the limit; the record of it.
pub(crate) async fn paid(
    notes: &[(&str, &str)],
    answer: fn(&ModelRequest) -> Vec<ReplyPart>,
) -> (Record, Vec<ModelRequest>) {
    let asked: Arc<Mutex<Vec<ModelRequest>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let model = ScriptedModel::by(move |request| {
        seen.lock().unwrap().push(request.clone());
        Turn::parts(answer(request), Stop::EndTurn)
    });
    let journal = MemoryJournal::new();
    let limits = Limits { turns_max: 8, ..Limits::default() };
    let task = Task::new(Arc::new(model), principal("ada"), "Pay the vendor and tell me the limit.")
        .instructions("You pay.")
        .tool(Arc::new(ScriptedTool::new(
            "look",
            Effect::Pure,
            Acts::Returns(ToolOutput::text("limits are in the notes")),
        )))
        .tool(Arc::new(ScriptedTool::new(
            "pay",
            Effect::Once,
            Acts::Returns(ToolOutput::text("paid as P-17")),
        )))
        .policy(Arc::new(ScriptedPolicy::allowing()))
        .limits(limits);
    let task = notes.iter().fold(task, |task, (name, text)| task.context(*name, text, Label::untrusted()));
    run_task(task, run_id("paid"), Host::new(Box::new(journal.clone()))).await.unwrap();
    let asked = asked.lock().unwrap().clone();
    (record_of(&journal), asked)
}
