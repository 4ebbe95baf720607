//! Questions about a run whose answer came from a task that it started: the slice goes on into the other record, and out of it again.

use std::sync::Arc;

use probity_contract::{Content, Effect, ModelRequest, ReplyPart, Stop, ToolOutput};
use probity_core::{ChildProfile, Host, ReplayError, SubAgent, Task, replay, run_task};
use probity_testkit::{
    Acts, MemoryChildren, MemoryJournal, ScriptedModel, ScriptedPolicy, ScriptedTool, Turn, principal,
    run_id, tool_name,
};
use probity_trace::{Graph, Provenance, Record};
use probity_why::{Asking, AtomSource, Place, TraceSource, Why};
use serde_json::json;

use crate::queries::{ask, ids};
use crate::runs::{limit_in, record_of, window_text};

/// Has somebody look the limit up, and tells what comes back.
fn asker(request: &ModelRequest) -> Vec<ReplyPart> {
    match limit_in(&window_text(request)) {
        Some(limit) => vec![ReplyPart::text(format!("The limit is {limit} EUR."))],
        None => vec![ReplyPart::call("p1", "scout", r#"{"task":"look the limit up"}"#)],
    }
}

/// Looks it up, and reports what it read.
fn scout(request: &ModelRequest) -> Vec<ReplyPart> {
    let has_looked = request.items.iter().any(|item| matches!(item.content, Content::ToolResult { .. }));
    match limit_in(&window_text(request)).filter(|_| has_looked) {
        Some(limit) => vec![ReplyPart::text(format!("It says limit={limit} EUR"))],
        None => vec![ReplyPart::call("p1", "look", r#"{"what":"limits"}"#)],
    }
}

fn model(answer: fn(&ModelRequest) -> Vec<ReplyPart>) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::by(move |request| Turn::parts(answer(request), Stop::EndTurn)))
}

/// What was written of a run that has started a task, and of that task.
async fn delegated() -> [MemoryJournal; 2] {
    let look = ScriptedTool::new(
        "look",
        Effect::Pure,
        Acts::Returns(ToolOutput::text("as of May, limit=7315 EUR for all")),
    );
    let profile = ChildProfile::new(principal("scout"), model(scout)).as_above().tool(Arc::new(look));
    let agent = SubAgent::new(tool_name("scout"), "Looks things up.", profile);
    let task = Task::new(model(asker), principal("ada"), "What is the limit?")
        .tool(Arc::new(agent))
        .policy(Arc::new(ScriptedPolicy::allowing()));
    let (journal, children) = (MemoryJournal::new(), MemoryChildren::new());
    let host = Host { children: Some(Arc::new(children.clone())), ..Host::new(Box::new(journal.clone())) };
    run_task(task, run_id("above"), host).await.unwrap();
    let begun = children.begun();
    assert_eq!(begun.len(), 1);
    [journal, begun[0].2.clone()]
}

async fn records() -> [Record; 2] {
    delegated().await.map(|journal| record_of(&journal))
}

#[tokio::test]
async fn a_slice_goes_on_into_the_task_that_a_call_started() {
    let source = TraceSource::new(Vec::from(records().await));
    let overview = ask(&source, "trace_overview", json!({}));
    assert!(overview.to_string().contains("r1"), "{overview}");
    // The tool's result within the started task, from the answer of the run above.
    let found = ask(&source, "trace_find", json!({"text": "as of May"}));
    let read = ids(&found)[0].to_owned();
    assert!(read.starts_with("r1/i"), "{found}");
    let slice = ask(&source, "trace_slice", json!({"id": "answer", "limit": 100}));
    assert!(ids(&slice).contains(&read.as_str()), "{slice}");
    assert_eq!(slice["known"], "exact");
    // And from there forward, back to it.
    let forward = ask(&source, "trace_slice", json!({"id": read, "forward": true, "limit": 100}));
    let answer = ask(&source, "trace_node", json!({"id": "answer"}))["id"].as_str().unwrap().to_owned();
    assert!(ids(&forward).contains(&answer.as_str()), "{forward}");
}

#[tokio::test]
async fn a_value_is_from_where_the_started_task_read_it() {
    let records = records().await;
    let [above, below] = &records;
    let graph = Graph::of(&[above, below]);
    let why = Why::of(&graph, &Asking::Answer).unwrap();
    let holders = why.atoms.iter().find_map(|asked| match &asked.source {
        AtomSource::Copied { holders, .. } if asked.atom.text == "7315" => Some(holders),
        _ => None,
    });
    let holders = holders.unwrap();
    // What the tool of the started task brought, its report, and the result of the call above.
    let texts: Vec<(&Place, String)> = holders
        .iter()
        .filter_map(|holder| match holder.source {
            Place::Item { run, item } => Some((&holder.source, graph.record(run)?.item_text(item)?.text)),
            Place::Tool { .. } => None,
        })
        .collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    let (read, _) = texts.iter().find(|(_, text)| text == "as of May, limit=7315 EUR for all").unwrap();
    let chain = why.chains.iter().find(|chain| chain.place == **read).unwrap();
    assert!(chain.links.iter().all(|link| link.provenance == Provenance::Exact), "{chain:?}");
}

#[tokio::test]
async fn a_run_that_has_started_a_task_is_played_again() {
    let [above, below] = delegated().await;
    assert_eq!(replay(&above.lines()).unwrap(), above.lines());
    // What the task was given is with the run above.
    assert!(matches!(replay(&below.lines()), Err(ReplayError::NotTold { seq: 0, .. })));
}
