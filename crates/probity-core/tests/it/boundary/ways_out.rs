//! Ways out that somebody who looked for them has found, each closed.

use std::sync::Arc;

use super::channels::Channels;
use super::{hook, name, refusing, rows};
use crate::resuming::{Deployment, deployment};
use crate::scene::scene;
use probity_contract::{
    BoxFuture, Cancel, Effect, HookVerdict, Interceptor, InterceptorName, Occasion, Point, Points,
    PolicyError, ProposedCall, ReplyPart, ReplyPartKind, Stop, ToolError, ToolErrorClass, Window,
};
use probity_core::Stopped;
use probity_testkit::{Acts, Judges, MemoryJournal, ScriptedPolicy, ScriptedTool, Turn};
use serde_json::json;

const SECRET: &str = "Wq7#Zk2!Xv9@Jp4$Gh6%Rt1";

#[tokio::test]
async fn a_part_of_an_answer_that_pauses_is_looked_at_as_one() {
    let turns = [Turn::parts(vec![ReplyPart::text(SECRET)], Stop::Paused), Turn::text("fine")];
    let played = scene(turns)
        .task(|t| {
            t.interceptor(hook("g", Points::one(Point::Output), |o| {
                Ok(if o.target().to_string().contains(SECRET) {
                    HookVerdict::deny("no")?
                } else {
                    HookVerdict::allow()
                })
            }))
        })
        .run_whole()
        .await;
    assert!(!played.watcher.text().contains(SECRET));
}

#[tokio::test]
async fn the_words_of_a_tool_of_which_nothing_is_known_are_not_read_unseen() {
    let tool = ScriptedTool::new(
        "act",
        Effect::Once,
        Acts::Fails(ToolError::new(ToolErrorClass::TimedOut, format!("partial output: {SECRET}"))),
    );
    let turns = [Turn::calls(&[("act", "{}")]), Turn::text("fine")];
    let played = scene(turns)
        .allowing()
        .tool(&tool)
        .task(|t| t.interceptor(refusing(Point::PostToolCall, "withheld")))
        .run_whole()
        .await;
    assert!(!played.model.asked()[1].text().contains(SECRET), "{}", played.model.asked()[1].text());
}

#[tokio::test]
async fn i14_an_interceptor_that_fails_quotes_nothing_of_what_it_saw() {
    let played = scene([Turn::text(SECRET)])
        .task(|t| {
            t.interceptor(hook("g", Points::one(Point::Output), |o| {
                Err(format!("cannot parse {}", o.target()).into())
            }))
        })
        .run_whole()
        .await;
    assert!(played.finished.denied().is_some());
    Channels::of(&played.model, &played.watcher, &played.journal).hold_nothing_of(SECRET);
}

#[tokio::test]
async fn i14_a_quote_over_several_lines_is_none_on_one() {
    let text = "the pin is 12 34 56 78 90 of ada lovelace";
    let played = scene([Turn::text(text)])
        .task(|t| {
            t.interceptor(hook("g", Points::one(Point::Output), |o| {
                let said = o.target()["content"].as_str().unwrap().replace(' ', "\n");
                Ok(HookVerdict::deny(said)?)
            }))
        })
        .run_whole()
        .await;
    assert!(!played.finished.denied().unwrap().reason.contains("12 34 56 78"));
}

#[tokio::test]
async fn what_was_taken_out_of_a_call_stands_in_no_reasoning_beside_it() {
    let call = ReplyPart {
        kind: ReplyPartKind::Call(ProposedCall {
            provider_id: "a".into(),
            name: "act".into(),
            arguments: json!({"text": SECRET}).to_string(),
        }),
        native: None,
    };
    let why = ReplyPart { kind: ReplyPartKind::Reasoning(format!("I call act with {SECRET}")), native: None };
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let turns = [Turn::parts(vec![why, call], Stop::ToolCalls), Turn::text("fine")];
    let played = scene(turns)
        .allowing()
        .tool(&tool)
        .task(|t| t.interceptor(super::scrubbing(Points::one(Point::PostModelCall), SECRET, "x")))
        .run_whole()
        .await;
    let memory = serde_json::to_string(played.finished.machine().items()).unwrap();
    assert!(!memory.contains(SECRET), "{memory}");
}

struct Hangs;
impl Interceptor for Hangs {
    fn name(&self) -> &InterceptorName {
        static N: std::sync::OnceLock<InterceptorName> = std::sync::OnceLock::new();
        N.get_or_init(|| name("hangs"))
    }
    fn points(&self) -> Points {
        Points::one(Point::AgentShutdown)
    }
    fn intercept<'a>(
        &'a self,
        _o: Occasion,
        _c: &'a Cancel,
    ) -> BoxFuture<'a, Result<HookVerdict, PolicyError>> {
        SHUT.fire();
        Box::pin(std::future::pending())
    }
}
static SHUT: std::sync::LazyLock<Cancel> = std::sync::LazyLock::new(Cancel::new);

#[tokio::test]
async fn a_refusal_that_a_process_could_not_tell_any_more_is_told_by_the_next() {
    let policy = ScriptedPolicy::new("p", Judges::asks("?"));
    let d = deployment(&[], &policy, vec![Turn::text(SECRET), Turn::text("something else")]);
    let guard = hook("g", Points::one(Point::Output), |o| {
        Ok(if o.target().to_string().contains(SECRET) {
            HookVerdict::deny("no")?
        } else {
            HookVerdict::allow()
        })
    });
    let d = Deployment { interceptors: vec![guard, Arc::new(Hangs)], ..d };
    assert!(d.start_killed(SHUT.clone()).await.is_none());
    let res =
        tokio::time::timeout(std::time::Duration::from_secs(60), d.resume(&d.last_state())).await.unwrap();
    let sequence: Vec<u64> = rows(&d.journal).iter().map(|row| row.sequence).collect();
    assert!(sequence.is_sorted_by(|one, other| one < other), "{sequence:?}");
    match res.unwrap() {
        Stopped::Finished(f) => assert!(f.denied().is_some(), "{:?} {:?}", f.ending, f.answer),
        Stopped::Paused(_) => panic!(),
    }
}

#[tokio::test]
async fn what_a_held_answer_cost_is_counted_when_the_run_is_cancelled() {
    let s = scene([Turn::text("a long answer")]);
    let c = s.cancel.clone();
    let played = s
        .task(|t| {
            t.interceptor(hook("g", Points::one(Point::Output), move |_| {
                c.fire();
                Ok(HookVerdict::allow())
            }))
        })
        .run_whole()
        .await;
    assert!(played.finished.usage.input.is_some() || played.finished.usage.output.is_some());
}

#[tokio::test]
async fn a_call_that_may_have_had_its_effect_is_not_told_as_one_that_did_not_run() {
    let killed = Cancel::new();
    let k = killed.clone();
    let tool = ScriptedTool::by("act", Effect::Reconcile, move |_| {
        k.fire();
        Acts::Hangs
    });
    let policy = ScriptedPolicy::new("p", Judges::allows());
    let d = deployment(&[&tool], &policy, vec![Turn::calls(&[("act", "{}")]), Turn::text("done")]);
    assert!(d.start_killed(killed).await.is_none());
    let changed = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let next = Deployment { tools: vec![changed], ..d.clone() };
    let _ = next.resume(&d.last_state()).await.unwrap();
    let asked = d.model.asked();
    assert!(!asked.last().unwrap().text().contains("did not run"));
}

#[tokio::test]
async fn an_answer_that_is_not_on_record_stays_in() {
    let turns = [Turn::text("an answer that is not on record")];
    let played = scene(turns)
        .journal(&MemoryJournal::failing_from(2))
        .task(|t| t.interceptor(hook("g", Points::one(Point::Output), |_| Ok(HookVerdict::allow()))))
        .run()
        .await;
    assert_eq!(played.watcher.text(), "");
}

#[tokio::test]
async fn what_a_reply_cost_is_counted_where_a_piece_of_it_was_denied() {
    let text = "Bad sentence one here. Then comes the other one.";
    let played = scene([Turn::text(text).streamed_by(5)])
        .task(|t| {
            t.interceptor(super::windowed("g", Points::one(Point::Output), Window::Sentence, |_| {
                Ok(HookVerdict::deny("no")?)
            }))
        })
        .run_whole()
        .await;
    assert!(played.finished.usage.input.is_some());
}
