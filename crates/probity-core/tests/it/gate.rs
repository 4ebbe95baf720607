//! No policy, a policy that fails: nothing runs, the model reads why, and the deployment hears it once.

use std::sync::Arc;

use probity_contract::{DenialCode, Effect, Fact, Said, Seat};
use probity_testkit::{Acts, Blocker, Judges, ScriptedPolicy, ScriptedTool, Turn, Watcher, fake_token};

use crate::scene::{Played, scene};

const CALL: &[(&str, &str)] = &[("act", r#"{"text":"x"}"#)];

fn act() -> ScriptedTool {
    ScriptedTool::new("act", Effect::Once, Acts::Echoes)
}

async fn one_call(tool: &ScriptedTool, policy: &ScriptedPolicy) -> Played {
    let turns = [Turn::calls(CALL), Turn::text("done")];
    scene(turns).tool(tool).policy(policy).limits(|limits| limits.judge_timeout_ms = 50).run_whole().await
}

#[tokio::test(start_paused = true)]
async fn i06_without_a_policy_nothing_runs_and_the_model_reads_why() {
    let tool = act();
    let played = scene([Turn::calls(CALL), Turn::text("done")]).tool(&tool).run_whole().await;
    assert_eq!(tool.start_count(), 0);
    assert_eq!(played.denials(), [DenialCode::NoPolicy]);
    let (text, is_error) = played.result();
    assert!(is_error && text.contains("no policy is set"), "{text}");
    assert!(played.model.asked()[1].text().contains("no policy is set"));
    assert_eq!(played.answer(), Some("done"));
}

#[tokio::test(start_paused = true)]
async fn i06_where_every_policy_abstains_nothing_runs() {
    let tool = act();
    let played = one_call(&tool, &ScriptedPolicy::new("silent", Judges::abstains())).await;
    assert_eq!(tool.start_count(), 0);
    assert_eq!(played.denials(), [DenialCode::NotCovered]);
}

#[tokio::test(start_paused = true)]
async fn i02_one_policy_that_denies_outweighs_all_that_allow() {
    let tool = act();
    let deny = ScriptedPolicy::new("strict", Judges::denies("not on a Monday"));
    let turns = [Turn::calls(CALL), Turn::text("done")];
    let played = scene(turns).tool(&tool).allowing().policy(&deny).run_whole().await;
    assert_eq!(tool.start_count(), 0);
    let (text, _) = played.result();
    assert!(text.contains("strict") && text.contains("not on a Monday"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn both_seats_hear_every_policy_and_the_tool_sees_the_judged_bytes() {
    let (tool, policy) = (act(), ScriptedPolicy::allowing());
    let turns = [Turn::calls(&[("act", r#"{ "b":2.0, "a":1 }"#)]), Turn::text("done")];
    scene(turns).tool(&tool).policy(&policy).run_whole().await;
    let seats: Vec<Seat> = policy.heard().into_iter().map(|(_, seat)| seat).collect();
    assert_eq!(seats, [Seat::Adjudicate, Seat::ExecuteRecheck]);
    let starts = tool.starts();
    assert_eq!(starts.len(), 1);
    assert_eq!(starts[0].call.arguments().as_str(), r#"{"a":1,"b":2}"#);
    assert_eq!(starts[0].context.idempotency_key, starts[0].call.digest().to_string());
}

/// What must hold wherever a policy fails: denied, one line without the secret, and one report.
fn check_failed(played: &Played, tool: &ScriptedTool, seat: Seat, class: &str, secret: &str) {
    assert_eq!(tool.start_count(), 0);
    assert_eq!(played.denials(), [DenialCode::PolicyFailed]);
    let (text, is_error) = played.result();
    assert!(is_error && text.contains("policy broken") && !text.contains('\n'), "{text}");
    assert!(!played.everything_that_left().contains(secret));
    let failures = played.watcher.failures();
    assert_eq!(failures.len(), 1, "{failures:?}");
    let failure = &failures[0];
    assert_eq!((failure.class, failure.phase, failure.seat), (class, "hook", Some(seat)));
    assert_eq!((failure.who.as_str(), failure.text.as_str().lines().count()), ("broken", 1));
    let reports = played.facts().into_iter().filter(|fact| matches!(fact, Fact::FailureReported { .. }));
    assert_eq!(reports.count(), 1);
    let failed = played.facts().into_iter().any(|fact| match fact {
        Fact::Judged { opinions, .. } => {
            opinions.iter().any(|opinion| matches!(opinion.said, Said::Failed(_)))
        }
        _ => false,
    });
    assert!(failed);
    assert_eq!(played.answer(), Some("done"));
}

fn words(secret: &str) -> String {
    format!("cannot reach the rules\n at line 2 with {secret}\u{2028}end")
}

#[tokio::test(start_paused = true)]
async fn v10_i09_a_policy_that_errs_denies_and_is_reported_once_without_its_secret() {
    let (tool, secret) = (act(), fake_token(1));
    let policy = ScriptedPolicy::new("broken", Judges::Fails(words(&secret)));
    let played = one_call(&tool, &policy).await;
    check_failed(&played, &tool, Seat::Adjudicate, "error", &secret);
    assert!(played.result().0.contains("cannot reach the rules at line 2 with"), "{:?}", played.result());
}

#[tokio::test(start_paused = true)]
async fn v6_i09_a_policy_that_panics_denies_and_is_reported_once_without_its_secret() {
    let (tool, secret) = (act(), fake_token(2));
    let played = one_call(&tool, &ScriptedPolicy::new("broken", Judges::Panics(words(&secret)))).await;
    check_failed(&played, &tool, Seat::Adjudicate, "panic", &secret);
}

#[tokio::test(start_paused = true)]
async fn v7_a_policy_that_hangs_denies_at_its_deadline_and_is_reported_once() {
    let tool = act();
    let policy = ScriptedPolicy::new("broken", Judges::Hangs);
    let started = tokio::time::Instant::now();
    let played = one_call(&tool, &policy).await;
    assert_eq!(started.elapsed().as_millis(), 50);
    check_failed(&played, &tool, Seat::Adjudicate, "timeout", "no secret here");
    assert_eq!(policy.judging().alive(), 0);
}

/// On real threads: nothing that awaits could end this wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v7_a_policy_that_blocks_its_thread_denies_at_its_deadline() {
    let (tool, blocker) = (act(), Blocker::new());
    let policy = ScriptedPolicy::new("broken", Judges::Blocks(blocker.clone()));
    let scene = scene([Turn::calls(CALL), Turn::text("done")]).tool(&tool).policy(&policy);
    // Long enough for a busy machine to do what does not block, and much shorter than the block.
    let played = scene.limits(|limits| limits.judge_timeout_ms = 1_000).run_whole().await;
    check_failed(&played, &tool, Seat::Adjudicate, "timeout", "no secret here");
    blocker.release();
}

#[tokio::test(start_paused = true)]
async fn a_policy_that_fails_only_just_before_the_effect_denies_too() {
    let (tool, secret) = (act(), fake_token(3));
    let text = words(&secret);
    let policy = ScriptedPolicy::by("broken", move |_, seat| match seat {
        Seat::ExecuteRecheck => Judges::Fails(text.clone()),
        Seat::Targets | Seat::Adjudicate | Seat::Inherited | Seat::EditRecheck => Judges::allows(),
    });
    let played = one_call(&tool, &policy).await;
    check_failed(&played, &tool, Seat::ExecuteRecheck, "error", &secret);
}

#[tokio::test(start_paused = true)]
async fn i10_a_failure_lane_that_panics_changes_nothing() {
    let (tool, watcher) = (act(), Watcher::panicking());
    let turns = [Turn::calls(CALL), Turn::text("done")];
    let policy = ScriptedPolicy::new("broken", Judges::Fails("x".to_owned()));
    let played = scene(turns).tool(&tool).policy(&policy).watcher(&watcher).run_whole().await;
    assert_eq!((tool.start_count(), watcher.failures().len()), (0, 1));
    assert_eq!(played.answer(), Some("done"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i10_a_failure_lane_that_hangs_holds_up_nothing() {
    struct Hanging(Blocker);
    impl probity_contract::FailureLane for Hanging {
        fn on_failure(&self, _failure: &probity_contract::Failure) {
            self.0.block();
        }
    }
    let (tool, blocker) = (act(), Blocker::new());
    let policy = ScriptedPolicy::new("broken", Judges::Fails("x".to_owned()));
    let scene = scene([Turn::calls(CALL), Turn::text("done")]).tool(&tool).policy(&policy);
    let host = probity_core::Host {
        journal: Box::new(scene.journal.clone()),
        clock: Arc::clone(&scene.clock),
        observer: None,
        failures: Some(Arc::new(Hanging(blocker.clone()))),
        approver: None,
        consultant: None,
        redeemer: None,
        children: None,
        keeper: None,
        cancel: scene.cancel.clone(),
    };
    let started = std::time::Instant::now();
    let finished = probity_core::run_task(scene.task, probity_testkit::run_id("r"), host).await.unwrap();
    // A blocked thread would hold the run up for ten seconds.
    assert!(started.elapsed().as_secs() < 8, "{:?}", started.elapsed());
    assert_eq!(finished.answer.unwrap().as_str(), "done");
    blocker.release();
}

/// A tool that errs has answered; one that breaks is a failure of the deployment, which hears it once.
#[tokio::test(start_paused = true)]
async fn a_tool_that_cannot_tell_its_targets_is_not_started() {
    let check = async |touches: Acts, class: Option<&str>| {
        let (secret, policy) = (fake_token(4), ScriptedPolicy::allowing());
        let tool = act().resolving(touches);
        let turns = [Turn::calls(CALL), Turn::text("done")];
        let played = scene(turns).tool(&tool).policy(&policy).run_whole().await;
        assert_eq!((tool.start_count(), policy.heard().len()), (0, 0));
        assert_eq!(played.denials(), [DenialCode::TargetsFailed]);
        assert!(!played.everything_that_left().contains(&secret));
        let failures = played.watcher.failures();
        let told: Vec<_> = failures.iter().map(|failure| (failure.class, failure.who.as_str())).collect();
        assert_eq!(told, class.map(|class| (class, "act")).into_iter().collect::<Vec<_>>());
        assert!(failures.iter().all(|failure| failure.seat == Some(Seat::Targets)));
        let recorded = played.facts().into_iter().filter(|fact| matches!(fact, Fact::FailureReported { .. }));
        assert_eq!(recorded.count(), told.len());
    };
    use probity_contract::ToolErrorClass::{Panicked, Refused};
    let error = |class| Acts::Fails(probity_contract::ToolError::new(class, words(&fake_token(4))));
    check(error(Refused), None).await;
    check(error(Panicked), None).await;
    check(Acts::Panics(words(&fake_token(4))), Some("panic")).await;
    check(Acts::Hangs, Some("timeout")).await;
}

/// I08: only the task's own signal is a cancellation; a tool cannot claim one.
#[tokio::test(start_paused = true)]
async fn i08_a_tool_that_says_it_was_cancelled_could_not_tell_its_targets() {
    let error = probity_contract::ToolError::new(probity_contract::ToolErrorClass::Cancelled, "never mind");
    let tool = act().resolving(Acts::Fails(error));
    let played = scene([Turn::calls(CALL), Turn::text("done")]).tool(&tool).allowing().run_whole().await;
    assert_eq!((tool.start_count(), played.denials()), (0, vec![DenialCode::TargetsFailed]));
    assert!(played.result().0.contains("never mind"), "{:?}", played.result());
}

#[tokio::test(start_paused = true)]
async fn two_policies_with_one_name_do_not_start() {
    let scene = scene([Turn::text("done")]).allowing().allowing();
    let host = probity_core::Host {
        journal: Box::new(scene.journal.clone()),
        clock: Arc::clone(&scene.clock),
        observer: None,
        failures: None,
        approver: None,
        consultant: None,
        redeemer: None,
        children: None,
        keeper: None,
        cancel: scene.cancel.clone(),
    };
    let error = probity_core::run_task(scene.task, probity_testkit::run_id("r"), host).await.unwrap_err();
    assert_eq!(error.to_string(), "build the roster: two policies are called `allow`");
    assert!(scene.journal.lines().is_empty());
}
