//! What a record and an event stream look like: a run with an allowed, a denied, an approved and a misread call.

use std::sync::Arc;

use probity_contract::{Access, Effect, Label, ModelParams, Prices, Target};
use probity_testkit::{
    Acts, FakeClock, Judges, ScriptedApprover, ScriptedModel, ScriptedPolicy, ScriptedTool, Turn,
};
use serde_json::json;

use crate::scene::{Played, scene_of};

async fn rich() -> Played {
    let turns = [
        Turn::calls(&[
            ("fs_read", r#"{"path": "notes.md"}"#),
            ("pay", r#"{"amount": 120, "to": "Nord GmbH"}"#),
            ("pay", r#"{"amount": 9000, "to": "Nord GmbH"}"#),
            ("pay", r#"{"amount": 12"#),
        ])
        .streamed_by(1_000),
        Turn::text(r#"{"paid": "120"}"#),
        Turn::text(r#"{"paid": 120}"#).streamed_by(4),
    ];
    let prices = Prices { input_usd: 1.0, cached_input_usd: None, output_usd: 2.0 };
    let (root, path) = ("work".to_owned(), "notes.md".to_owned());
    let resolved = path.clone();
    let note = Target::Path { root, path, resolved, access: Access::Read, recursive: false };
    let read = ScriptedTool::new("fs_read", Effect::Pure, Acts::Returns(text("pay Nord GmbH")));
    let pay = ScriptedTool::new("pay", Effect::Once, Acts::Returns(text("paid")));
    let rules = ScriptedPolicy::by("rules", |call, _| match call.arguments().to_value()["amount"].as_u64() {
        None => Judges::allows(),
        Some(0..=500) => Judges::asks("payments need a person"),
        Some(_) => Judges::denies("more than 500 in one payment"),
    });
    // Members by name: whether the JSON library keeps another order depends on what else is in the build.
    let schema = json!({"properties": {"paid": {"type": "integer"}}, "type": "object"});
    let params = ModelParams { output_schema: Some(schema), ..ModelParams::default() };
    let mut scene = scene_of(ScriptedModel::new(turns).priced(prices))
        .tool(&read.touching(vec![note]))
        .tool(&pay)
        .policy(&rules)
        .approver(&ScriptedApprover::approving("eve"))
        // One at a time, so that the order of events is the order of calls.
        .limits(|limits| limits.tool_calls_parallel_max = 1)
        .task(|task| {
            let task = task.title("pay the bill").instructions("You pay bills.").params(params);
            task.context("vendor", "Nord GmbH is known.", Label::untrusted())
        });
    scene.clock = Arc::new(FakeClock::new());
    scene.run_whole().await
}

fn text(text: &str) -> probity_contract::ToolOutput {
    probity_contract::ToolOutput::text(text)
}

#[tokio::test(start_paused = true)]
async fn record_of_a_rich_run() {
    let lines = rich().await.journal.lines();
    let lines: Vec<String> = lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn events_of_a_rich_run() {
    let events = rich().await.watcher.events();
    let events: Vec<String> = events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    insta::assert_snapshot!(events.join("\n"));
}

/// Same task, same run: to the byte.
#[tokio::test(start_paused = true)]
async fn the_same_task_gives_the_same_record_to_the_byte() {
    let (one, other) = (rich().await, rich().await);
    let bytes = |played: &Played| serde_json::to_vec(&played.journal.lines()).unwrap();
    assert_eq!(bytes(&one), bytes(&other));
}
