//! Tools that panic, hang, block or flood, and calls that are no calls.

use std::time::Duration;

use probity_contract::{
    Effect, Event, Fact, ReplyPart, Stop, ToolError, ToolErrorClass, ToolOutcomeKind, ToolOutput,
};
use probity_testkit::{Acts, Blocker, ScriptedTool, Turn, fake_token};

use crate::scene::{Played, scene};

async fn one_call(tool: &ScriptedTool) -> Played {
    let turns = [Turn::calls(&[("act", r#"{"text":"x"}"#)]), Turn::text("done")];
    scene(turns).tool(tool).allowing().limits(|limits| limits.tool_timeout_ms = 200).run_whole().await
}

fn act(acts: Acts) -> ScriptedTool {
    ScriptedTool::new("act", Effect::Once, acts)
}

fn outcomes(played: &Played) -> Vec<ToolOutcomeKind> {
    let outcomes = played.facts().into_iter().filter_map(|fact| match fact {
        Fact::ToolFinished { outcome, .. } => Some(outcome),
        _ => None,
    });
    outcomes.collect()
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_has_failed_with_an_unknown_effect_and_its_secret_stays_in() {
    let secret = fake_token(5);
    let played = one_call(&act(Acts::Panics(format!("lost {secret} here")))).await;
    assert_eq!(outcomes(&played), [ToolOutcomeKind::Unknown(ToolErrorClass::Panicked)]);
    let (text, is_error) = played.result();
    assert!(is_error && text.contains("the tool broke") && text.contains("lost"), "{text}");
    assert!(!played.everything_that_left().contains(&secret));
    assert_eq!(played.answer(), Some("done"));
}

#[tokio::test(start_paused = true)]
async fn the_error_of_a_tool_is_passed_before_the_model_reads_it() {
    let secret = fake_token(6);
    let error = ToolError::new(ToolErrorClass::Failed, format!("401 for token {secret}"));
    let played = one_call(&act(Acts::Fails(error))).await;
    assert_eq!(outcomes(&played), [ToolOutcomeKind::Failed(ToolErrorClass::Failed)]);
    assert!(played.result().0.contains("401 for token"), "{:?}", played.result());
    assert!(!played.everything_that_left().contains(&secret));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_is_stopped_at_its_time_and_told_so() {
    let tool = act(Acts::Hangs);
    let started = tokio::time::Instant::now();
    let played = one_call(&tool).await;
    assert_eq!(started.elapsed().as_millis(), 200);
    assert_eq!(outcomes(&played), [ToolOutcomeKind::Unknown(ToolErrorClass::TimedOut)]);
    assert_eq!(tool.running().alive(), 0);
    // For work that outlives the future: the context's signal says that the call's time is up.
    assert!(tool.starts()[0].context.cancel.is_fired());
    assert_eq!(played.answer(), Some("done"));
}

#[tokio::test(start_paused = true)]
async fn the_signal_of_one_call_is_not_that_of_the_task() {
    let tool = act(Acts::Hangs);
    let scene = scene([Turn::calls(&[("act", "{}")]), Turn::text("done")]).tool(&tool).allowing();
    let cancel = scene.cancel.clone();
    scene.run_whole().await;
    assert!(!cancel.is_fired());
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_came_back_is_not_told_to_stop() {
    let tool = act(Acts::Echoes);
    one_call(&tool).await;
    assert!(!tool.starts()[0].context.cancel.is_fired());
}

/// On real threads: nothing that awaits could end this wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_tool_that_blocks_its_thread_is_given_up_at_its_time() {
    let blocker = Blocker::new();
    let tool = act(Acts::Blocks(blocker.clone()));
    let started = std::time::Instant::now();
    let played = one_call(&tool).await;
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert_eq!(outcomes(&played), [ToolOutcomeKind::Unknown(ToolErrorClass::TimedOut)]);
    blocker.release();
}

#[tokio::test(start_paused = true)]
async fn a_hundred_megabytes_of_output_are_cut_and_the_cut_is_said() {
    let bytes = 100 * 1024 * 1024;
    let played = one_call(&act(Acts::ReturnsBytes(bytes))).await;
    let (text, is_error) = played.result();
    assert!(!is_error && text.len() < 256 * 1024 + 200, "{}", text.len());
    assert!(text.ends_with(&format!("[output cut: the first 262144 of {bytes} bytes are shown]")));
    let finished = played.facts().into_iter().find_map(|fact| match fact {
        Fact::ToolFinished { output_bytes, .. } => Some(output_bytes),
        _ => None,
    });
    assert_eq!(finished, Some(bytes as u64));
    let summary = played.watcher.events().into_iter().find_map(|event| match event {
        Event::ToolFinished { summary, .. } => Some(summary),
        _ => None,
    });
    assert!(summary.unwrap().as_str().chars().count() <= 240);
}

#[tokio::test(start_paused = true)]
async fn output_is_cut_at_a_character() {
    let tool = act(Acts::Returns(ToolOutput::text("é".repeat(10))));
    let scene = scene([Turn::calls(&[("act", "{}")]), Turn::text("done")]).tool(&tool).allowing();
    let played = scene.limits(|limits| limits.tool_output_bytes_max = 5).run_whole().await;
    assert_eq!(played.result().0, "éé\n[output cut: the first 4 of 20 bytes are shown]");
}

/// What a tool returns is content for the model that asked, and is not redacted on that way; elsewhere it is.
#[tokio::test(start_paused = true)]
async fn output_reaches_the_model_as_it_is_and_the_observer_passed() {
    let secret = fake_token(7);
    let played = one_call(&act(Acts::Returns(ToolOutput::text(format!("key: {secret}"))))).await;
    assert_eq!(played.result().0, format!("key: {secret}"));
    assert!(played.model.asked()[1].text().contains(&secret));
    assert!(!serde_json::to_string(&played.watcher.events()).unwrap().contains(&secret));
}

/// A call that is no call: nothing is judged, nothing runs, and the model can act on what it reads.
#[tokio::test(start_paused = true)]
async fn what_is_not_understood_never_runs_and_never_becomes_an_empty_object() {
    let secret = fake_token(8);
    let with_secret = format!(r#"{{"text":1,"{secret}":2}}"#);
    let cases = [
        ("nope", r#"{"text":"x"}"#, "there is no tool of this name; the tools are: echo"),
        ("echo", "", "not complete, valid JSON"),
        ("echo", r#"{"text":"x"#, "not complete, valid JSON"),
        ("echo", r#"{"text":"x"} {"#, "not complete, valid JSON"),
        ("echo", "null", "must be a JSON object, not null"),
        ("echo", r#""{}""#, "must be a JSON object, not a string"),
        ("echo", r#"{"text":"a","text":"b"}"#, "same member name twice"),
        ("echo", r#"{"text":12}"#, "do not fit the tool's schema"),
        ("echo", "{}", "do not fit the tool's schema"),
        ("echo", with_secret.as_str(), "do not fit the tool's schema"),
    ];
    for (name, arguments, expected) in cases {
        let (tool, policy) = (ScriptedTool::echo(), probity_testkit::ScriptedPolicy::allowing());
        let turns = [Turn::calls(&[(name, arguments)]), Turn::text("done")];
        let played = scene(turns).tool(&tool).policy(&policy).run_whole().await;
        let (text, is_error) = played.result();
        assert!(is_error && text.contains(expected), "{arguments}: {text}");
        assert!(!text.contains(&secret), "{text}");
        assert_eq!((tool.start_count(), policy.heard().len()), (0, 0), "{arguments}");
        assert_eq!(played.answer(), Some("done"));
    }
}

/// What the output limit cut off may by chance be complete: it does not run. The calls before it are whole.
#[tokio::test(start_paused = true)]
async fn a_call_cut_off_at_the_output_limit_never_runs() {
    let call = |id: &str, text: &str| ReplyPart::call(id, "echo", format!(r#"{{"text":"{text}"}}"#));
    let tool = ScriptedTool::echo();
    let turns = [
        Turn::parts(vec![call("p1", "whole"), call("p2", "rm -rf /tm")], Stop::MaxTokens),
        Turn::text("done"),
    ];
    let played = scene(turns).tool(&tool).allowing().run_whole().await;
    let results = played.results();
    assert_eq!(results[0], ("whole".to_owned(), false));
    assert!(results[1].1 && results[1].0.contains("cut off"), "{results:?}");
    assert_eq!(tool.start_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn two_calls_with_one_provider_id_are_two_calls() {
    let call = |text: &str| ReplyPart::call("same", "echo", format!(r#"{{"text":"{text}"}}"#));
    let tool = ScriptedTool::echo();
    let turns = [Turn::parts(vec![call("a"), call("b")], Stop::ToolCalls), Turn::text("done")];
    let played = scene(turns).tool(&tool).allowing().run_whole().await;
    assert_eq!(played.results(), [("a".to_owned(), false), ("b".to_owned(), false)]);
    let starts = tool.starts();
    assert_ne!(starts[0].context.idempotency_key, starts[1].context.idempotency_key);
}

/// The record and the model are told the same: a pure tool that broke has changed nothing.
#[tokio::test(start_paused = true)]
async fn what_is_said_of_an_effect_fits_the_tool() {
    for (effect, outcome, words) in [
        (Effect::Pure, ToolOutcomeKind::Failed(ToolErrorClass::Panicked), "it changes nothing"),
        (Effect::Once, ToolOutcomeKind::Unknown(ToolErrorClass::Panicked), "is unknown"),
    ] {
        let played = one_call(&ScriptedTool::new("act", effect, Acts::Panics("lost".to_owned()))).await;
        assert_eq!(outcomes(&played), [outcome]);
        assert!(played.result().0.contains(words), "{effect}: {:?}", played.result());
    }
}
