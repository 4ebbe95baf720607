//! Who watches cannot change anything.

use probity_contract::Event;
use probity_testkit::{ScriptedTool, Turn, Watcher};

use crate::scene::scene;

#[tokio::test(start_paused = true)]
async fn i10_an_observer_that_panics_is_not_told_again_and_changes_nothing() {
    let (tool, watcher) = (ScriptedTool::echo(), Watcher::panicking());
    let turns = [Turn::calls(&[("echo", r#"{"text":"x"}"#)]), Turn::text("done").streamed_by(2)];
    let played = scene(turns).tool(&tool).allowing().watcher(&watcher).run_whole().await;
    assert_eq!((played.answer(), tool.start_count()), (Some("done"), 1));
    assert_eq!(watcher.events().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn events_come_in_the_order_in_which_things_happen() {
    let tool = ScriptedTool::echo();
    let turns = [Turn::calls(&[("echo", r#"{"text":"x"}"#)]), Turn::text("done").streamed_by(100)];
    let played = scene(turns).tool(&tool).allowing().run_whole().await;
    let kinds: Vec<String> = played
        .watcher
        .events()
        .iter()
        .map(|event| serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        kinds,
        [
            "model_started",
            "model_finished",
            "call_frozen",
            "call_allowed",
            "tool_started",
            "tool_finished",
            "model_started",
            "text",
            "model_finished"
        ]
    );
    let finished = played
        .watcher
        .events()
        .into_iter()
        .any(|event| matches!(event, Event::ToolFinished { ok: true, .. }));
    assert!(finished);
}
