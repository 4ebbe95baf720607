//! What follows from a verdict at each of the eight points, and that a point without anybody is not there.

use std::sync::Arc;

use probity_contract::{
    Content, DenialCode, Effect, Ending, Fact, HookVerdict, Point, Points, ReplyPart, Stop, ToolOutput,
};
use probity_core::{BoundarySettings, ChangedCalls};
use probity_testkit::{Acts, Judges, ScriptedApprover, ScriptedPolicy, ScriptedTool, Turn};
use serde_json::json;

use super::{Seen, content, hook, refusing, rows, scrubbing};
use crate::scene::{Scene, scene};

fn acting() -> Scene {
    scene([Turn::calls(&[("act", r#"{"text":"raw"}"#)]), Turn::text("done")]).allowing()
}

/// The arguments that a tool was started with first.
fn arguments(tool: &ScriptedTool) -> serde_json::Value {
    tool.starts()[0].call.arguments().to_value()
}

fn echo() -> ScriptedTool {
    ScriptedTool::new("act", Effect::Once, Acts::Echoes)
}

#[tokio::test]
async fn a_run_passes_all_points_in_the_order_of_its_life_with_one_row_each() {
    let seen = Seen::at(Points::ALL);
    let played =
        acting().tool(&echo()).task(|task| task.interceptor(Arc::new(seen.clone()))).run_whole().await;
    let expected = [
        Point::AgentStartup,
        Point::Input,
        Point::PreModelCall,
        Point::PostModelCall,
        Point::PreToolCall,
        Point::PostToolCall,
        Point::PreModelCall,
        Point::PostModelCall,
        Point::Output,
        Point::AgentShutdown,
    ];
    assert_eq!(seen.points(), expected);
    let rows = rows(&played.journal);
    assert_eq!(rows.iter().map(|row| row.point).collect::<Vec<_>>(), expected);
    let numbers: Vec<u64> = rows.iter().map(|row| row.sequence).collect();
    assert_eq!(numbers, (0..10).collect::<Vec<_>>());
    assert!(
        rows.iter().all(|row| row.before == row.after && row.verdicts.len() == 1),
        "pass-throughs are rows"
    );
    assert!(
        rows.iter().all(|row| row.input_identity == row.enforced_identity && row.input_identity.is_some())
    );
    assert!(matches!(played.facts().last(), Some(Fact::Ended { .. })), "the end comes after the last point");
}

/// The lines of a record and what the model was sent.
fn trail(played: &crate::scene::Played) -> (Vec<Fact>, Vec<probity_testkit::Asked>) {
    (played.facts(), played.model.asked())
}

#[tokio::test]
async fn a_point_at_which_nobody_is_heard_is_not_there() {
    let bare = acting().tool(&echo()).run_whole().await;
    let nobody = hook("nobody", Points::NONE, |_| Ok(HookVerdict::deny("never heard")?));
    let settings = BoundarySettings::default();
    let heard_nowhere = acting().tool(&echo()).task(|task| task.boundary(settings).interceptor(nobody));
    let heard_nowhere = heard_nowhere.run_whole().await;
    let (bare, heard_nowhere) = (trail(&bare), trail(&heard_nowhere));
    assert_eq!(bare.1, heard_nowhere.1, "requests are the same");
    let kinds = |facts: &[Fact]| facts.iter().map(std::mem::discriminant).collect::<Vec<_>>();
    assert_eq!(kinds(&bare.0), kinds(&heard_nowhere.0));
}

#[tokio::test]
async fn a_deny_at_the_start_ends_the_run_before_anything_was_read() {
    let played =
        acting().task(|task| task.interceptor(refusing(Point::AgentStartup, "closed"))).run_whole().await;
    assert_eq!(played.finished.denied().unwrap().phase, Point::AgentStartup);
    assert!(played.model.asked().is_empty() && played.finished.machine().items().is_empty());
}

#[tokio::test]
async fn a_deny_at_the_end_changes_nothing() {
    let played = acting()
        .tool(&echo())
        .task(|task| task.interceptor(refusing(Point::AgentShutdown, "too late")))
        .run_whole()
        .await;
    assert_eq!((played.answer(), &played.finished.ending), (Some("done"), &Ending::Answered));
}

#[tokio::test]
async fn a_changed_window_is_the_window_from_then_on() {
    let played = acting()
        .tool(&echo())
        .task(|task| task.interceptor(scrubbing(Points::one(Point::PreModelCall), "do it", "do that")))
        .run_whole()
        .await;
    let asked = played.model.asked();
    assert!(asked.iter().all(|asked| asked.window[0].1 == "do that"), "{asked:?}");
    assert_eq!(asked[0].window[0].0, asked[1].window[0].0, "it was replaced once");
    assert!(played.facts().iter().any(|fact| matches!(fact, Fact::ItemReplaced { .. })));
    let memory: Vec<String> = played.finished.machine().items().iter().map(|item| item.flat_text()).collect();
    assert_eq!(memory[0], "do that");
}

#[tokio::test]
async fn a_window_that_is_denied_or_is_no_window_any_more_is_not_sent() {
    for says in [
        json!("nothing"),
        json!([]),
        json!([{"role": "system", "content": "do it"}]),
        json!([{"role": "user", "content": 7}]),
    ] {
        let breaks = hook("breaks", Points::one(Point::PreModelCall), move |_| {
            Ok(HookVerdict::replace("for fun", says.clone())?)
        });
        let played = acting().task(|task| task.interceptor(breaks)).run_whole().await;
        assert!(played.model.asked().is_empty());
        let reason = &played.finished.denied().unwrap().reason;
        assert_eq!(reason, "host_error:transform_invalid");
    }
    let played =
        acting().task(|task| task.interceptor(refusing(Point::PreModelCall, "no"))).run_whole().await;
    assert!(played.model.asked().is_empty());
    assert_eq!(played.finished.denied().unwrap().phase, Point::PreModelCall);
}

#[tokio::test]
async fn i17_a_changed_call_is_judged_and_run_as_changed() {
    let tool = echo();
    let policy = ScriptedPolicy::by("careful", |call, _| match call.arguments().as_str() {
        r#"{"text":"clean"}"# => Judges::allows(),
        _ => Judges::denies("only the clean one"),
    });
    let scrub = scrubbing(Points::one(Point::PreToolCall), "raw", "clean");
    let turns = [Turn::calls(&[("act", r#"{"text":"raw"}"#)]), Turn::text("done")];
    let played =
        scene(turns).tool(&tool).policy(&policy).task(|task| task.interceptor(scrub)).run_whole().await;
    assert_eq!(arguments(&tool), json!({"text": "clean"}));
    assert!(played.denials().is_empty());
    let row = rows(&played.journal).remove(0);
    assert_ne!(row.before, row.after);
    assert!(row.call.is_some());
    // The other way round: what a policy would have allowed is denied when it is changed.
    let worse = scrubbing(Points::one(Point::PreToolCall), "clean", "raw");
    let turns = [Turn::calls(&[("act", r#"{"text":"clean"}"#)]), Turn::text("done")];
    let played =
        scene(turns).tool(&echo()).policy(&policy).task(|task| task.interceptor(worse)).run_whole().await;
    assert_eq!(played.denials(), [DenialCode::Policy]);
}

#[tokio::test]
async fn i17_a_call_that_a_person_has_changed_is_looked_at_again_and_that_ends() {
    let seen = Seen::at(Points::one(Point::PreToolCall));
    let policy = ScriptedPolicy::new("careful", Judges::asks("is it fine?"));
    let approver = ScriptedApprover::new(|question| {
        let by = probity_testkit::principal("eve");
        let number = question.facts().number;
        Some(probity_contract::Answer::Edit { by, arguments: format!(r#"{{"text":"{number}"}}"#) })
    });
    let tool = echo();
    let played = scene([Turn::calls(&[("act", r#"{"text":"raw"}"#)]), Turn::text("done")])
        .tool(&tool)
        .policy(&policy)
        .approver(&approver)
        .task(|task| task.interceptor(Arc::new(seen.clone())))
        .run_whole()
        .await;
    assert_eq!(played.denials(), [DenialCode::EditRefused], "edits end");
    assert_eq!(tool.start_count(), 0);
    let seen = seen.occasions();
    assert_eq!(seen.len(), 1 + probity_contract::limits::EDITS_MAX as usize);
    assert_eq!(seen[1].target(), &json!({"text": "1"}));
}

#[tokio::test]
async fn i17_a_change_comes_before_those_who_looked_before_it_and_rounds_end() {
    let guard = || {
        hook("guard", Points::one(Point::PreToolCall), |occasion| {
            let bad = occasion.target()["text"] == "bad";
            Ok(if bad { HookVerdict::deny("nothing bad")? } else { HookVerdict::allow() })
        })
    };
    let played = |first: Arc<dyn probity_contract::Interceptor>, second, settings| async move {
        let tool = echo();
        let scene = acting().tool(&tool).task(|task| task.boundary(settings));
        let played = scene.task(|task| task.interceptor(first).interceptor(second)).run_whole().await;
        (played.denials(), tool.start_count(), rows(&played.journal).len())
    };
    let again = BoundarySettings::default;
    let once = || BoundarySettings { changed_calls: ChangedCalls::LookedAtOnce, ..again() };
    let worse = || scrubbing(Points::one(Point::PreToolCall), "raw", "bad");
    assert_eq!(played(guard(), worse(), again()).await, (vec![DenialCode::Intercepted], 0, 2));
    assert_eq!(played(guard(), worse(), once()).await, (vec![], 1, 1), "as the specification has it");
    let longer = |name: &'static str| {
        hook(name, Points::one(Point::PreToolCall), |occasion| {
            let text = occasion.target()["text"].as_str().unwrap_or_default().to_owned();
            Ok(HookVerdict::transform("longer", "$target.text", json!(format!("{text}+")))?)
        })
    };
    let rounds = 1 + probity_contract::limits::TRANSFORM_ROUNDS_MAX as usize;
    let ended = played(longer("one"), longer("two"), again()).await;
    assert_eq!(ended, (vec![DenialCode::Intercepted], 0, rounds));
}

#[tokio::test]
async fn a_changed_call_that_does_not_fit_the_schema_does_not_run() {
    let tool = echo().schema(json!({"type": "object", "properties": {"text": {"type": "string"}}}));
    let breaks = hook("breaks", Points::one(Point::PreToolCall), |_| {
        Ok(HookVerdict::transform("for fun", "$target.text", json!(7))?)
    });
    let played = acting().tool(&tool).task(|task| task.interceptor(breaks)).run_whole().await;
    assert_eq!((played.denials(), tool.start_count()), (vec![DenialCode::Intercepted], 0));
    assert!(played.result().0.contains("host_error:transform_invalid"), "{:?}", played.result());
}

#[tokio::test]
async fn a_refused_call_does_not_run_and_the_model_reads_why() {
    let (tool, policy) = (echo(), ScriptedPolicy::allowing());
    let played = scene([Turn::calls(&[("act", r#"{"text":"raw"}"#)]), Turn::text("done")])
        .tool(&tool)
        .policy(&policy)
        .task(|task| task.interceptor(refusing(Point::PreToolCall, "not in office hours")))
        .run_whole()
        .await;
    assert_eq!((tool.start_count(), policy.heard().len()), (0, 0), "nothing is judged and nothing runs");
    let (text, is_error) = played.result();
    assert!(is_error && text.contains("interceptor guard") && text.contains("not in office hours"), "{text}");
    assert_eq!(played.answer(), Some("done"));
}

#[tokio::test]
async fn a_result_is_changed_in_reverse_order_and_the_model_reads_the_changed_one() {
    let order: Arc<std::sync::Mutex<Vec<(&str, Point)>>> = Arc::default();
    let noted = |who: &'static str| {
        let order = Arc::clone(&order);
        hook(who, Points::one(Point::PreToolCall).and(Point::PostToolCall), move |occasion| {
            order.lock().unwrap().push((who, occasion.point()));
            Ok(HookVerdict::allow())
        })
    };
    let scrub = scrubbing(Points::one(Point::PostToolCall), "Wq7#Zk2!Xv9@", "clean");
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Returns(ToolOutput::text("it is Wq7#Zk2!Xv9@")));
    let played = acting()
        .tool(&tool)
        .task(|task| task.interceptor(noted("first")).interceptor(noted("second")).interceptor(scrub))
        .run_whole()
        .await;
    let (before, after) = (Point::PreToolCall, Point::PostToolCall);
    assert_eq!(
        *order.lock().unwrap(),
        [("first", before), ("second", before), ("second", after), ("first", after)]
    );
    assert_eq!(played.result(), ("it is clean".to_owned(), false));
    super::channels::Channels::of(&played.model, &played.watcher, &played.journal)
        .and("memory", serde_json::to_string(played.finished.machine()).unwrap())
        .hold_nothing_of("Wq7#Zk2!Xv9@");
}

#[tokio::test]
async fn v3_a_result_that_somebody_would_ask_about_after_the_tool_ran_is_withheld() {
    let asks = hook("asks", Points::one(Point::PostToolCall), |_| Ok(HookVerdict::ask("may it be read?")?));
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Returns(ToolOutput::text("Wq7#Zk2!Xv9@Jp4$")));
    let played = acting().tool(&tool).task(|task| task.interceptor(asks)).run_whole().await;
    assert_eq!(tool.start_count(), 1);
    let (text, is_error) = played.result();
    assert!(is_error && text.contains("withheld") && text.contains("interceptor asks"), "{text}");
    super::channels::Channels::of(&played.model, &played.watcher, &played.journal)
        .and("memory", serde_json::to_string(played.finished.machine()).unwrap())
        .hold_nothing_of("Wq7#Zk2!Xv9@Jp4$");
}

#[tokio::test]
async fn a_reply_is_changed_before_it_is_one() {
    let parts = vec![
        ReplyPart {
            kind: probity_contract::ReplyPartKind::Reasoning("think Wq7#Zk2!Xv9@".to_owned()),
            native: None,
        },
        ReplyPart::text("say Wq7#Zk2!Xv9@"),
        ReplyPart::call("p1", "act", r#"{"text":"raw"}"#),
        ReplyPart::call("p2", "act", r#"{"text":"other"}"#),
    ];
    let changes = hook("changes", Points::one(Point::PostModelCall), |occasion| {
        let mut target = occasion.target().clone();
        if target["tool_calls"].as_array().is_none_or(Vec::is_empty) {
            return Ok(HookVerdict::allow());
        }
        target["content"] = json!("say nothing");
        target["tool_calls"][0]["args"]["text"] = json!("clean");
        target["tool_calls"].as_array_mut().unwrap().truncate(1);
        Ok(HookVerdict::replace("tidied up", target)?)
    });
    let tool = echo();
    let played = scene([Turn::parts(parts, Stop::ToolCalls).streamed_by(4), Turn::text("done")])
        .allowing()
        .tool(&tool)
        .task(|task| task.interceptor(changes))
        .run_whole()
        .await;
    let starts = tool.starts();
    assert_eq!((starts.len(), arguments(&tool)), (1, json!({"text": "clean"})));
    super::channels::Channels::of(&played.model, &played.watcher, &played.journal)
        .and("memory", serde_json::to_string(played.finished.machine()).unwrap())
        .hold_nothing_of("Wq7#Zk2!Xv9@");
}

#[tokio::test]
async fn a_call_that_the_model_did_not_propose_cannot_be_put_into_its_reply() {
    let forges = hook("forges", Points::one(Point::PostModelCall), |occasion| {
        let mut target = occasion.target().clone();
        target["tool_calls"] = json!([{"id": "x", "name": "act", "args": {"text": "forged"}}]);
        Ok(HookVerdict::replace("for fun", target)?)
    });
    let tool = echo();
    let played = scene([Turn::text("done")])
        .allowing()
        .tool(&tool)
        .task(|task| task.interceptor(forges))
        .run_whole()
        .await;
    assert_eq!((tool.start_count(), played.finished.denied().unwrap().phase), (0, Point::PostModelCall));
}

#[tokio::test]
async fn every_call_has_one_result_whatever_interceptors_say_in_a_batch() {
    let calls = [("act", r#"{"text":"a"}"#), ("act", r#"{"text":"b"}"#), ("act", r#"{"text":"c"}"#)];
    let picky = hook("picky", Points::one(Point::PreToolCall).and(Point::PostToolCall), |occasion| {
        let text = occasion.target().to_string();
        match (occasion.point(), text.contains('a'), text.contains('b')) {
            (Point::PreToolCall, true, _) => Ok(HookVerdict::deny("no a")?),
            (Point::PostToolCall, _, true) => Ok(HookVerdict::deny("no b")?),
            _ => Ok(HookVerdict::allow()),
        }
    });
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let played = scene([Turn::calls(&calls), Turn::text("done")])
        .allowing()
        .tool(&tool)
        .task(|task| task.interceptor(picky))
        .run_whole()
        .await;
    let errors: Vec<bool> = played.results().into_iter().map(|(_, is_error)| is_error).collect();
    assert_eq!((errors, tool.start_count()), (vec![true, true, false], 2));
}

#[tokio::test]
async fn a_text_that_an_interceptor_sees_is_the_text_that_came() {
    let seen = Seen::at(Points::one(Point::Input).and(Point::Output));
    let played =
        scene([Turn::text("done")]).task(|task| task.interceptor(Arc::new(seen.clone()))).run_whole().await;
    let texts: Vec<String> = seen.occasions().iter().map(|o| content(o.target()).to_owned()).collect();
    assert_eq!(texts, ["do it", "done"]);
    assert!(
        matches!(&played.finished.machine().items()[0].content, Content::Person(text) if &**text == "do it")
    );
}
