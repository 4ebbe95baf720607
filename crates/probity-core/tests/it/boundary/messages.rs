//! The message boundary: what was refused or replaced is nowhere but in the record's "before". Each test of a name that begins
//! with `b` and a number is a way on which a peer lets something out.

use std::sync::Arc;

use probity_contract::{
    Effect, Ending, Fact, HookVerdict, Interceptor, MessageDenied, Model, ModelParams, Point, Points,
};
use probity_core::{Finished, Stopped, Task};
use probity_testkit::{Acts, Judges, ScriptedApprover, ScriptedPolicy, ScriptedTool, Turn, principal};

use super::channels::Channels;
use super::{content, hook, name, refusing, rows, scrubbing};
use crate::resuming::{Deployment, deployment};
use crate::scene::{Played, Scene, scene};

/// What nobody may read. No piece of it is a piece of anything else.
const REFUSED: &str = "Wq7#Zk2!Xv9@Jp4$Gh6%Rt1";

fn channels(played: &Played) -> Channels {
    let machine = played.finished.machine();
    Channels::of(&played.model, &played.watcher, &played.journal)
        .and("memory", serde_json::to_string(machine.items()).unwrap())
        .and("state", serde_json::to_string(machine).unwrap())
        .and("ending", format!("{:?} {}", played.finished.ending, words(&played.finished.ending)))
        .and("finished", format!("{:?}", played.finished))
}

fn words(ending: &Ending) -> String {
    match ending {
        Ending::MessageDenied(denied) => denied.to_string(),
        _ => String::new(),
    }
}

fn guarded(scene: Scene, interceptor: Arc<dyn Interceptor>) -> Scene {
    scene.task(|task| task.interceptor(interceptor))
}

fn prompted(turns: Vec<Turn>, prompt: &str) -> Scene {
    let mut scene = scene(turns);
    let model: Arc<dyn Model> = Arc::new(scene.model.clone());
    scene.task = Task::new(model, principal("ada"), prompt);
    scene
}

#[tokio::test]
async fn a_refused_input_is_nowhere_and_the_model_is_not_asked() {
    let scene = guarded(prompted(vec![Turn::text("hello")], REFUSED), refusing(Point::Input, "not today"));
    let played = scene.run_whole().await;
    let denied = played.finished.denied().cloned().unwrap();
    assert_eq!(
        denied,
        MessageDenied {
            phase: Point::Input,
            interceptor: Some(name("guard")),
            reason: "not today".to_owned()
        }
    );
    assert_eq!(denied.to_string(), "guard refused this input: not today");
    assert!(played.model.asked().is_empty());
    assert_eq!(played.answer(), None);
    channels(&played).hold_nothing_of(REFUSED);
    let row = rows(&played.journal).remove(0);
    assert_eq!((row.point, row.verdict.permits(), row.decided_by), (Point::Input, false, Some(0)));
    assert!(played.journal.text(row.before).unwrap().contains(REFUSED), "the marked before is kept");
}

#[tokio::test]
async fn b1_an_input_rewrite_is_the_message_on_the_first_and_on_a_continued_turn() {
    let scrub = || scrubbing(Points::MESSAGES, REFUSED, "[number]");
    let first = guarded(prompted(vec![Turn::text("noted")], &format!("call {REFUSED} now")), scrub());
    let first = first.run_whole().await;
    channels(&first).hold_nothing_of(REFUSED);
    assert_eq!(first.model.asked()[0].text(), "call [number] now");
    let earlier = first.finished.machine();
    let next = prompted(vec![Turn::text("still noted")], "and again");
    let next = guarded(next.task(|task| task.continues(earlier)), scrub()).run_whole().await;
    assert_eq!(next.model.asked()[0].text(), "call [number] now\nnoted\nand again");
    channels(&next).hold_nothing_of(REFUSED);
    let items = next.finished.machine().items();
    let wire: Vec<String> = next.model.asked()[0].window.iter().map(|(_, text)| text.clone()).collect();
    let memory: Vec<String> = items.iter().map(|item| item.flat_text()).collect();
    assert_eq!(memory[..wire.len()], wire[..], "wire and memory agree");
}

/// A run that asks a person about its first call, and ends with an answer.
fn asking_with(interceptors: Vec<Arc<dyn Interceptor>>) -> Deployment {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let policy = ScriptedPolicy::new("careful", Judges::asks("is it fine?"));
    let turns =
        vec![Turn::calls(&[("act", r#"{"text":"x"}"#)]), Turn::text(&format!("the number is {REFUSED}"))];
    let prompt = format!("call {REFUSED} now");
    Deployment { interceptors, prompt, ..deployment(&[&tool], &policy, turns) }
}

/// Starts, pauses, and goes on with an approval.
async fn resumed(deployment: &Deployment) -> Finished {
    let Stopped::Paused(_) = deployment.start().await else { panic!("it waits for a person") };
    let approver = Some(ScriptedApprover::approving("eve"));
    let next = Deployment { approver, ..deployment.clone() };
    match next.resume(&deployment.last_state()).await.unwrap() {
        Stopped::Finished(finished) => *finished,
        Stopped::Paused(_) => panic!("it has an answer"),
    }
}

fn deployed(deployment: &Deployment, finished: &Finished) -> Channels {
    let kept: Vec<String> =
        deployment.kept.states.lock().unwrap().iter().map(|(state, _)| state.clone()).collect();
    Channels::of(&deployment.model, &deployment.watcher, &deployment.journal)
        .and("memory", serde_json::to_string(finished.machine().items()).unwrap())
        .and("state", serde_json::to_string(finished.machine()).unwrap())
        .and("checkpoints", kept.join("\n"))
        .and("finished", format!("{finished:?} {}", words(&finished.ending)))
}

#[tokio::test]
async fn b1_b7_b8_rewrites_hold_on_a_resumed_turn_and_in_every_checkpoint() {
    let deployment = asking_with(vec![scrubbing(Points::MESSAGES, REFUSED, "[number]")]);
    let finished = resumed(&deployment).await;
    assert_eq!(finished.answer.as_ref().unwrap().as_str(), "the number is [number]");
    assert!(deployment.kept.states.lock().unwrap().len() > 1, "there were checkpoints");
    deployed(&deployment, &finished).hold_nothing_of(REFUSED);
    assert_eq!(deployment.model.asked()[1].window[0].1, "call [number] now");
}

#[tokio::test]
async fn b2_b3_a_refused_answer_after_a_tool_turn_and_a_resume_surfaces_as_itself_and_is_nowhere() {
    let deployment = asking_with(vec![
        scrubbing(Points::one(Point::Input), REFUSED, "[number]"),
        refusing(Point::Output, "it names a number"),
    ]);
    let finished = resumed(&deployment).await;
    let denied = finished.denied().unwrap();
    assert_eq!((denied.phase, denied.reason.as_str()), (Point::Output, "it names a number"));
    assert_eq!((&finished.answer, &finished.output), (&None, &None));
    deployed(&deployment, &finished).hold_nothing_of(REFUSED);
    let facts = deployment.journal.facts();
    assert!(facts.iter().any(|fact| matches!(fact, Fact::ReplyRefused { .. })), "what it cost is on record");
    assert!(finished.usage.total() > 0);
}

#[tokio::test]
async fn b3_b4_a_refused_answer_that_was_streamed_has_never_been_out() {
    let turn = Turn::text(&format!("well: {REFUSED}")).streamed_by(3);
    let scene = guarded(prompted(vec![turn], "tell me"), refusing(Point::Output, "no"));
    let played = scene.run_whole().await;
    assert_eq!(played.watcher.text(), "");
    channels(&played).hold_nothing_of(REFUSED);
}

#[tokio::test]
async fn b5_a_refused_input_is_gone_from_every_later_window() {
    let first = guarded(prompted(vec![], REFUSED), refusing(Point::Input, "no")).run_whole().await;
    let next = prompted(vec![Turn::text("fine")], "something else");
    let next = next.task(|task| task.continues(first.finished.machine())).run_whole().await;
    assert_eq!(next.model.asked()[0].text(), "something else");
    channels(&next).hold_nothing_of(REFUSED);
}

#[tokio::test]
async fn b6_interceptors_are_told_of_the_cancellation_and_who_acts_after_a_resume_too() {
    let seen = super::Seen::at(Points::ALL);
    let mut deployment = asking_with(vec![Arc::new(seen.clone())]);
    deployment.prompt = "go on".to_owned();
    let _finished = resumed(&deployment).await;
    let occasions = seen.occasions();
    assert!(occasions.iter().all(|occasion| occasion.context()["session"]["id"] == "run"));
    let sequence: Vec<u64> =
        occasions.iter().filter_map(|occasion| occasion.context()["sequence"].as_u64()).collect();
    assert!(sequence.is_sorted_by(|one, other| one < other), "{sequence:?}: no number twice over a resume");
    let mut scene = scene(vec![Turn::hangs()]);
    let seen = super::Seen::at(Points::one(Point::AgentShutdown));
    scene = guarded(scene, Arc::new(seen.clone()));
    scene.cancel.fire();
    let played = scene.run_whole().await;
    assert_eq!(played.finished.ending, Ending::Cancelled);
    assert_eq!(seen.cancelled(), [true], "the task's signal is handed on");
}

#[tokio::test]
async fn b10_a_recording_of_a_scrubbed_input_holds_the_raw_text_as_the_marked_before_and_nowhere_else() {
    let scene = prompted(vec![Turn::text("noted")], &format!("call {REFUSED} now"));
    let played = guarded(scene, scrubbing(Points::MESSAGES, REFUSED, "[number]")).run_whole().await;
    let record = serde_json::to_string(&played.journal.lines()).unwrap();
    assert_eq!(record.matches(REFUSED).count(), 1, "once, as the before of the row");
    channels(&played).hold_nothing_of(REFUSED);
}

#[tokio::test]
async fn i14_a_reason_that_quotes_what_it_refuses_quotes_nothing() {
    let quoting = |point| {
        hook("guard", Points::one(point), |occasion| {
            let quoted = content(occasion.target()).to_owned();
            Ok(HookVerdict::deny(format!("it says {quoted} and more"))?.with_message(quoted))
        })
    };
    let input = guarded(prompted(vec![], REFUSED), quoting(Point::Input)).run_whole().await;
    channels(&input).hold_nothing_of(REFUSED);
    assert!(words(&input.finished.ending).contains("it says"), "the rest of the reason is told");
    let answer = Turn::text(REFUSED).streamed_by(2);
    let output = guarded(prompted(vec![answer], "tell me"), quoting(Point::Output)).run_whole().await;
    channels(&output).hold_nothing_of(REFUSED);
}

#[tokio::test]
async fn a_refused_answer_is_neither_checked_nor_asked_for_again() {
    let schema = serde_json::json!({"type": "object", "required": ["a"]});
    let scene = prompted(vec![Turn::text(REFUSED), Turn::text(r#"{"a":1}"#)], "tell me").task(|task| {
        let params = ModelParams { output_schema: Some(schema), ..ModelParams::default() };
        task.params(params)
    });
    let played = guarded(scene, refusing(Point::Output, "no")).run_whole().await;
    assert_eq!(played.model.asked().len(), 1);
    assert!(!played.facts().iter().any(|fact| matches!(fact, Fact::OutputRejected { .. })));
    channels(&played).hold_nothing_of(REFUSED);
}

#[tokio::test]
async fn a_rewritten_answer_is_checked_against_the_schema_as_it_is_then() {
    let schema = serde_json::json!({"type": "object", "required": ["a"]});
    let params = ModelParams { output_schema: Some(schema), ..ModelParams::default() };
    let breaks = scrubbing(Points::one(Point::Output), r#"\"a\""#, r#"\"b\""#);
    let turns = (0..4).map(|_| Turn::text(r#"{"a":1}"#)).collect();
    let scene = prompted(turns, "tell me").task(|task| task.params(params));
    let played = guarded(scene, breaks).run_whole().await;
    assert_eq!(played.finished.ending, Ending::OutputInvalid);
    assert!(played.facts().iter().any(|fact| matches!(fact, Fact::OutputRejected { .. })));
}

#[tokio::test]
async fn the_title_of_a_run_whose_prompt_is_looked_at_says_nothing_of_it() {
    let played =
        guarded(prompted(vec![Turn::text("x")], "harmless"), refusing(Point::Input, "no")).run_whole().await;
    let Fact::RunStarted(started) = &played.facts()[0] else { panic!("the first entry") };
    assert_eq!(started.title, "untitled");
}
