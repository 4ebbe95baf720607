//! Models that break off, hang, flood, panic or err.

use std::time::Duration;

use probity_contract::limits::REPLY_BYTES_MAX;
use probity_contract::{Ending, Event, Fact, ModelErrorClass, ModelEvent, ReplyPart, ReplyPartKind, Stop};
use probity_testkit::{Blocker, ScriptedTool, Turn, fake_token};

use crate::scene::{Played, scene};

async fn ask(turn: Turn) -> Played {
    scene([turn]).tool(&ScriptedTool::echo()).allowing().run_whole().await
}

fn check(played: &Played, class: ModelErrorClass, words: &str) {
    let Ending::ModelFailed { class: ended, error } = &played.finished.ending else {
        panic!("{:?}", played.finished.ending)
    };
    assert_eq!(*ended, class);
    assert!(error.contains(words), "{error}");
    assert_eq!(played.answer(), None);
    let failed =
        |event: &Event| matches!(event, Event::ModelFailed { error, .. } if error.as_str().contains(words));
    assert!(played.watcher.events().iter().any(failed));
    assert!(
        played
            .facts()
            .iter()
            .any(|fact| matches!(fact, Fact::ModelFailed { class: told, .. } if *told == class))
    );
    assert_eq!(played.model.streams().alive(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_error_ends_the_run_and_keeps_its_secret_in() {
    let secret = fake_token(9);
    let played = ask(Turn::fails(ModelErrorClass::Auth, &format!("the key {secret} is not accepted"))).await;
    check(&played, ModelErrorClass::Auth, "is not accepted");
    assert!(!played.everything_that_left().contains(&secret));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_early_is_cut_off_and_half_a_call_never_runs() {
    let tool = ScriptedTool::echo();
    let events = vec![
        ModelEvent::Text { part: 0, delta: "I will".to_owned() },
        ModelEvent::CallStarted { part: 1, name: "echo".to_owned() },
        ModelEvent::CallArguments { part: 1, delta: r#"{"text":"whole"}"#.to_owned() },
    ];
    let played = scene([Turn::breaks_off().after_events(events)]).tool(&tool).allowing().run_whole().await;
    check(&played, ModelErrorClass::Truncated, "ended before the reply was complete");
    assert_eq!(tool.start_count(), 0);
    assert_eq!(played.watcher.text(), "I will");
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_the_run_and_keeps_its_secret_in() {
    let secret = fake_token(10);
    let played = ask(Turn::panics(&format!("lost {secret}"))).await;
    check(&played, ModelErrorClass::Malformed, "broke");
    assert!(!played.everything_that_left().contains(&secret));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_hangs_is_stopped_at_its_time() {
    let started = tokio::time::Instant::now();
    let scene = scene([Turn::hangs()]).limits(|limits| limits.model_timeout_ms = 700);
    let played = scene.run_whole().await;
    assert_eq!(started.elapsed().as_millis(), 700);
    check(&played, ModelErrorClass::TimedOut, "within 700 ms");
    assert!(played.finished.hint.unwrap().as_str().starts_with("give the run more time"));
}

/// On real threads: nothing that awaits could end this wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_model_that_blocks_its_thread_is_given_up_at_its_time() {
    let blocker = Blocker::new();
    let scene = scene([Turn::text("late").blocked_by(blocker.clone())]);
    let started = std::time::Instant::now();
    let played = scene.limits(|limits| limits.model_timeout_ms = 200).run().await;
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert!(
        matches!(played.finished.ending, Ending::ModelFailed { class: ModelErrorClass::TimedOut, .. }),
        "{:?}",
        played.finished.ending
    );
    blocker.release();
}

#[tokio::test(start_paused = true)]
async fn a_reply_over_the_limit_is_refused_whether_it_streams_or_comes_at_once() {
    let words = format!("longer than {REPLY_BYTES_MAX} bytes");
    let long = "x".repeat(REPLY_BYTES_MAX / 2 + 1);
    let arguments = ModelEvent::CallArguments { part: 1, delta: long.clone() };
    check(
        &ask(Turn::text("x").after_events(vec![arguments.clone(), arguments])).await,
        ModelErrorClass::TooLarge,
        &words,
    );
    let text = ModelEvent::Text { part: 0, delta: "x".repeat(64 * 1024) };
    let arguments = ModelEvent::CallArguments { part: 1, delta: "x".repeat(REPLY_BYTES_MAX - 64 * 1024) };
    let just_enough = vec![text.clone(), arguments.clone()];
    assert_eq!(ask(Turn::text("done").after_events(just_enough)).await.answer(), Some("done"));
    let more = ModelEvent::Reasoning { part: 2, delta: "x".to_owned() };
    check(
        &ask(Turn::text("x").after_events(vec![text, arguments, more])).await,
        ModelErrorClass::TooLarge,
        &words,
    );
    let reasoning = ReplyPart { kind: ReplyPartKind::Reasoning(long.clone()), native: None };
    for parts in [
        vec![ReplyPart::text(long.clone()), ReplyPart::text(long.clone())],
        vec![reasoning, ReplyPart::call("p1", "echo", long.clone())],
    ] {
        check(&ask(Turn::parts(parts, Stop::EndTurn)).await, ModelErrorClass::TooLarge, &words);
    }
}

#[tokio::test(start_paused = true)]
async fn a_secret_split_over_deltas_never_leaves() {
    let secret = fake_token(11);
    let text = format!("the token is {secret}, keep it safe");
    for chars in [1, 2, 3, 7, 1_000] {
        let reasoning = ReplyPart { kind: ReplyPartKind::Reasoning(text.clone()), native: None };
        let turn =
            Turn::parts(vec![reasoning, ReplyPart::text(text.clone())], Stop::EndTurn).streamed_by(chars);
        let played = ask(turn).await;
        let events = serde_json::to_string(&played.watcher.events()).unwrap();
        let joined = |kind: &str| -> String {
            let events: serde_json::Value = serde_json::from_str(&events).unwrap();
            let deltas = events.as_array().unwrap().iter().filter(|event| event["event"] == kind);
            deltas.map(|event| event["delta"].as_str().unwrap().to_owned()).collect()
        };
        for shown in [joined("text"), joined("reasoning"), played.answer().unwrap().to_owned()] {
            assert!(!shown.contains(&secret[4..12]), "{chars}: {shown}");
            assert!(
                shown.starts_with("the token is ") && shown.ends_with(", keep it safe"),
                "{chars}: {shown}"
            );
        }
        assert_eq!(joined("text"), played.answer().unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn refusals_and_cut_answers_end_as_what_they_are() {
    let played = ask(Turn::parts(vec![ReplyPart::text("no")], Stop::Refused)).await;
    assert_eq!((&played.finished.ending, played.answer()), (&Ending::Refused, None));
    let played = ask(Turn::parts(vec![ReplyPart::text("half an ans")], Stop::MaxTokens)).await;
    assert_eq!((&played.finished.ending, played.answer()), (&Ending::Incomplete, Some("half an ans")));
}

#[tokio::test(start_paused = true)]
async fn a_refused_reply_runs_none_of_its_calls() {
    let tool = ScriptedTool::echo();
    let call = ReplyPart::call("p1", "echo", r#"{"text":"x"}"#);
    let turns = [Turn::parts(vec![call], Stop::Refused), Turn::text("done")];
    let played = scene(turns).tool(&tool).allowing().run_whole().await;
    assert_eq!(tool.start_count(), 0);
    assert!(played.result().0.contains("refused"));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_pauses_is_asked_again_with_the_same_window() {
    let pause = Turn::parts(vec![ReplyPart::text("thinking")], Stop::Paused);
    let played = scene([pause, Turn::text("done")]).run_whole().await;
    let asked = played.model.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1].window[..asked[0].window.len()], asked[0].window[..]);
    assert_eq!(played.answer(), Some("done"));
}

#[tokio::test(start_paused = true)]
async fn only_the_first_turn_may_be_made_to_call_a_tool() {
    use probity_contract::ToolChoice;
    let turns = [Turn::calls(&[("echo", r#"{"text":"x"}"#)]), Turn::text("done")];
    let scene = scene(turns).tool(&ScriptedTool::echo()).allowing();
    let played = scene.task(|task| task.first_tool_choice(ToolChoice::Required)).run_whole().await;
    let choices: Vec<ToolChoice> = played.model.asked().into_iter().map(|asked| asked.tool_choice).collect();
    assert_eq!(choices, [ToolChoice::Required, ToolChoice::Auto]);
}

/// A reply of nothing but empty parts says no byte and still costs something.
#[tokio::test(start_paused = true)]
async fn empty_parts_count_against_the_limit_of_a_reply() {
    let words = format!("longer than {REPLY_BYTES_MAX} bytes");
    let parts = vec![ReplyPart::call("", "", ""); REPLY_BYTES_MAX / 1024 + 1];
    check(&ask(Turn::parts(parts, Stop::ToolCalls)).await, ModelErrorClass::TooLarge, &words);
    let started = vec![ModelEvent::CallStarted { part: 0, name: String::new() }; REPLY_BYTES_MAX / 1024 + 1];
    check(&ask(Turn::text("x").after_events(started)).await, ModelErrorClass::TooLarge, &words);
}

/// A model client's advice reaches whoever watches and whoever asked, without a secret.
#[tokio::test(start_paused = true)]
async fn the_hint_of_a_failed_model_call_is_handed_on() {
    let secret = fake_token(21);
    let hint = format!("set the key, not {secret}");
    let played = ask(Turn::fails(ModelErrorClass::Auth, "no").with_hint(&hint)).await;
    let hint = played.finished.hint.as_ref().unwrap();
    assert!(hint.as_str().starts_with("set the key, not "), "{hint:?}");
    let told = played.watcher.events().into_iter().find_map(|event| match event {
        Event::ModelFailed { hint, .. } => hint,
        _ => None,
    });
    assert_eq!(told.as_ref(), Some(hint));
    assert!(!played.everything_that_left().contains(&secret) && !hint.as_str().contains(&secret));
    assert!(ask(Turn::fails(ModelErrorClass::Auth, "no")).await.finished.hint.is_none());
}

/// A stream holds a little back. What it held of the reasoning is told before the answer begins, and a long answer is
/// told while it comes.
#[tokio::test(start_paused = true)]
async fn deltas_come_in_order_and_before_the_end() {
    let thought = "The bill is due on Friday, and the vendor is known from the years before. ".repeat(4);
    let words = "It will be paid on Thursday, which leaves a day for the bank to say no to it. ".repeat(12);
    let reasoning = ReplyPart { kind: ReplyPartKind::Reasoning(thought.clone()), native: None };
    let parts = vec![reasoning, ReplyPart::text(words.clone())];
    let played = ask(Turn::parts(parts, Stop::EndTurn).streamed_by(9)).await;
    let (mut thoughts, mut texts) = (Vec::new(), Vec::new());
    for event in played.watcher.events() {
        match event {
            Event::Reasoning { delta, .. } => {
                assert!(texts.is_empty(), "`{delta}` comes behind the answer's beginning");
                thoughts.push(delta.as_str().to_owned());
            }
            Event::Text { delta, .. } => texts.push(delta.as_str().to_owned()),
            _ => {}
        }
    }
    assert_eq!((thoughts.concat(), texts.concat()), (thought, words));
    assert!(texts.len() > 20, "{texts:?}");
    assert!(texts.last().unwrap().len() < 400, "{texts:?}");
}
