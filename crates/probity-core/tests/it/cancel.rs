//! R3: a cancelled task stops within 100 ms, wherever it is, and everything that worked for it is gone.

use std::time::Duration;

use probity_contract::{CallId, Cancel, Effect, Ending, Fact, ToolErrorClass, ToolOutcomeKind};
use probity_testkit::{Acts, Blocker, Gauge, Judges, ScriptedApprover, ScriptedPolicy, ScriptedTool, Turn};

use crate::scene::{Played, Scene, scene};

const STOPS_WITHIN_MS: u128 = 100;

fn act(acts: Acts) -> ScriptedTool {
    ScriptedTool::new("act", Effect::Once, acts)
}

fn calling() -> Vec<Turn> {
    vec![Turn::calls(&[("act", r#"{"text":"1"}"#), ("act", r#"{"text":"2"}"#)]), Turn::text("done")]
}

/// Runs the scene, cancels after a second, and checks that it stopped in time and that nothing is left of `work`.
async fn cancelled_during(scene: Scene, work: &Gauge) -> Played {
    let cancel: Cancel = scene.cancel.clone();
    let running = tokio::spawn(scene.run_whole());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(work.alive() > 0, "nothing was going on");
    let cancelled = tokio::time::Instant::now();
    cancel.fire();
    let played = running.await.unwrap();
    assert!(cancelled.elapsed().as_millis() < STOPS_WITHIN_MS, "{:?}", cancelled.elapsed());
    assert_eq!(played.finished.ending, Ending::Cancelled);
    assert_eq!(played.answer(), None);
    // What was aborted is dropped by its worker.
    tokio::task::yield_now().await;
    assert_eq!(work.alive(), 0, "something was left behind");
    assert!(played.watcher.failures().is_empty(), "a cancellation is nobody's fault");
    played
}

#[tokio::test(start_paused = true)]
async fn r3_during_a_model_call() {
    let scene = scene([Turn::hangs().after_deltas(&["half an ans"])]);
    let streams = scene.model.streams().clone();
    let played = cancelled_during(scene, &streams).await;
    assert!(played.results().is_empty());
}

#[tokio::test(start_paused = true)]
async fn r3_while_a_tool_tells_its_targets() {
    let tool = act(Acts::Echoes).resolving(Acts::Hangs);
    let scene = scene(calling()).tool(&tool).allowing();
    let cancel = scene.cancel.clone();
    let running = tokio::spawn(scene.run_whole());
    tokio::time::sleep(Duration::from_secs(1)).await;
    cancel.fire();
    let played = running.await.unwrap();
    assert_eq!(played.finished.ending, Ending::Cancelled);
    assert_eq!(played.results().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn r3_while_a_policy_judges() {
    let (tool, policy) = (act(Acts::Echoes), ScriptedPolicy::new("slow", Judges::Hangs));
    let played = cancelled_during(scene(calling()).tool(&tool).policy(&policy), policy.judging()).await;
    assert_eq!((tool.start_count(), played.results().len()), (0, 2));
    for (text, is_error) in played.results() {
        assert!(is_error && text.contains("cancelled"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn r3_while_a_person_is_asked() {
    let (tool, person) = (act(Acts::Echoes), ScriptedApprover::hanging());
    let policy = ScriptedPolicy::new("careful", Judges::asks("sure?"));
    let scene = scene(calling()).tool(&tool).policy(&policy).approver(&person);
    let played = cancelled_during(scene, person.questions()).await;
    assert_eq!((tool.start_count(), played.results().len(), person.asked().len()), (0, 2, 2));
}

#[tokio::test(start_paused = true)]
async fn r3_while_tools_run() {
    for (effect, outcome) in [
        (Effect::Once, ToolOutcomeKind::Unknown(ToolErrorClass::Cancelled)),
        (Effect::Pure, ToolOutcomeKind::Failed(ToolErrorClass::Cancelled)),
    ] {
        let tool = ScriptedTool::new("act", effect, Acts::Hangs);
        let played = cancelled_during(scene(calling()).tool(&tool).allowing(), tool.running()).await;
        assert_eq!((tool.start_count(), played.results().len()), (2, 2));
        assert!(tool.starts().iter().all(|start| start.context.cancel.is_fired()));
        let outcomes = played.facts().into_iter().filter_map(|fact| match fact {
            Fact::ToolFinished { call, outcome, .. } => Some((call, outcome)),
            _ => None,
        });
        assert_eq!(outcomes.collect::<Vec<_>>(), [(CallId(1), outcome), (CallId(2), outcome)]);
    }
}

/// What a call brought back before the task was cancelled is kept beside the one that was cut off.
#[tokio::test(start_paused = true)]
async fn r3_a_finished_sibling_keeps_its_result() {
    let tool = ScriptedTool::by("act", Effect::Once, |call| match call.id() {
        CallId(1) => Acts::Hangs,
        _ => Acts::Echoes,
    });
    let played = cancelled_during(scene(calling()).tool(&tool).allowing(), tool.running()).await;
    let results = played.results();
    assert!(results[0].1 && results[0].0.contains("unknown"), "{results:?}");
    assert_eq!(results[1], ("2".to_owned(), false));
}

#[tokio::test(start_paused = true)]
async fn a_task_cancelled_before_its_start_asks_nobody() {
    let scene = scene([Turn::text("done")]);
    scene.cancel.fire();
    let played = scene.run_whole().await;
    assert_eq!(played.finished.ending, Ending::Cancelled);
    assert!(played.watcher.text().is_empty());
}

/// Dropping the run's future is the hard stop: everything that worked for it goes with it.
#[tokio::test(start_paused = true)]
async fn a_dropped_run_leaves_nothing_behind() {
    let model_hangs = scene([Turn::hangs()]);
    let streams = model_hangs.model.streams().clone();
    let tool = act(Acts::Hangs);
    let tool_hangs = scene(calling()).tool(&tool).allowing();
    let policy = ScriptedPolicy::new("slow", Judges::Hangs);
    let policy_hangs = scene(calling()).tool(&tool).policy(&policy);
    let person = ScriptedApprover::hanging();
    let careful = ScriptedPolicy::new("careful", Judges::asks("sure?"));
    let person_hangs = scene(calling()).tool(&tool).policy(&careful).approver(&person);
    for (scene, work) in [
        (model_hangs, &streams),
        (tool_hangs, tool.running()),
        (policy_hangs, policy.judging()),
        (person_hangs, person.questions()),
    ] {
        let running = tokio::spawn(scene.run());
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(work.alive() > 0);
        running.abort();
        assert!(running.await.is_err());
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(work.alive(), 0);
    }
}

/// On real threads: a tool that blocks its thread cannot be stopped, but it cannot hold up the end either.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn r3_a_tool_that_blocks_its_thread_does_not_hold_up_the_end() {
    let blocker = Blocker::new();
    let tool = act(Acts::Blocks(blocker.clone()));
    let scene = scene(calling()).tool(&tool).allowing().limits(|limits| limits.tool_calls_parallel_max = 1);
    let cancel = scene.cancel.clone();
    let running = tokio::spawn(scene.run_whole());
    while tool.start_count() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let cancelled = tokio::time::Instant::now();
    cancel.fire();
    let played = running.await.unwrap();
    assert!(cancelled.elapsed() < Duration::from_secs(30), "{:?}", cancelled.elapsed());
    assert_eq!(played.finished.ending, Ending::Cancelled);
    blocker.release();
}
