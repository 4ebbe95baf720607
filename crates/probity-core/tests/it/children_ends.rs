//! How tasks end that a call has started: by themselves, with what is above them, or never.

use std::sync::Arc;

use probity_contract::{
    Cancel, Effect, Ending, Fact, LimitKind, Limits, ModelErrorClass, ModelParams, Stop, ToolErrorClass,
    ToolOutcomeKind,
};
use probity_core::{ChildProfile, Stopped, SubAgent};
use probity_testkit::{
    Acts, ScriptedModel, ScriptedPolicy, ScriptedTool, Turn, fake_token, principal, tool_name,
};
use serde_json::json;

use crate::children::{ASKS_SCOUT, agent, delegating, profile};
use crate::children_budgets::{Foreman, NO_END};
use crate::resuming::deployment;
use crate::scene::{Played, scene};

fn outcomes(played: &Played) -> Vec<ToolOutcomeKind> {
    let facts = played.facts().into_iter();
    let outcomes = facts.filter_map(|fact| match fact {
        Fact::ToolFinished { outcome, .. } => Some(outcome),
        _ => None,
    });
    outcomes.collect()
}

fn ending_of(journal: &probity_testkit::MemoryJournal) -> Option<Ending> {
    journal.facts().into_iter().find_map(|fact| match fact {
        Fact::Ended { ending, .. } => Some(ending),
        _ => None,
    })
}

/// However a child ends, its call has a result that the model can act on, and the task goes on.
#[tokio::test(start_paused = true)]
async fn every_way_that_a_child_ends_is_an_outcome_of_its_call() {
    let secret = fake_token(6);
    let call = || Turn::calls(&[("no", "{}")]);
    let limits = |turns_max| Limits { turns_max, ..Limits::default() };
    let schema = ModelParams { output_schema: Some(json!({"type": "object"})), ..ModelParams::default() };
    let failed = ToolErrorClass::Failed;
    let cases: Vec<(ChildProfile, Option<ToolErrorClass>, &str)> = vec![
        (profile([Turn::text("found")]), None, "it answered"),
        (
            profile([call(), Turn::text("found")]).limits(limits(1)),
            None,
            "it ended early, at its limit of turns",
        ),
        (
            profile([call(), call()]).limits(limits(1)),
            Some(failed),
            "at its limit of turns without an answer",
        ),
        (
            profile([Turn::parts(vec![probity_contract::ReplyPart::text("found it in")], Stop::MaxTokens)]),
            None,
            "its answer was cut off",
        ),
        (profile([Turn::parts(Vec::new(), Stop::Refused)]), Some(failed), "its model refused"),
        (
            profile([Turn::text("x"), Turn::text("x"), Turn::text("x")]).params(schema),
            Some(failed),
            "missing the form",
        ),
        (
            profile([Turn::fails(ModelErrorClass::Auth, &format!("no key {secret}"))]),
            Some(failed),
            "its model failed: no key [REDACTED",
        ),
        (profile([Turn::panics("boom")]), Some(failed), "its model failed"),
    ];
    for (profile, class, words) in cases {
        let played = delegating(profile).allowing().run_whole().await;
        let (text, is_error) = played.result();
        assert!(text.contains(words) && !text.contains(&secret), "{text}");
        let outcome = class.map_or(ToolOutcomeKind::Succeeded, ToolOutcomeKind::Failed);
        assert_eq!((is_error, outcomes(&played)), (class.is_some(), vec![outcome]));
        assert_eq!(played.answer(), Some("done"));
    }
}

/// Of several children some break, and every call is answered, each by its own.
#[tokio::test(start_paused = true)]
async fn parallel_children_do_not_harm_each_other() {
    let turns: [(&str, Turn); 4] = [
        ("one", Turn::text("found")),
        ("two", Turn::panics("boom")),
        ("three", Turn::fails(ModelErrorClass::ServerError, "down")),
        ("four", Turn::text("found too")),
    ];
    let calls: Vec<(&str, &str)> = turns.iter().map(|(name, _)| (*name, r#"{"task":"look"}"#)).collect();
    let scene = scene([Turn::calls(&calls), Turn::text("done")]);
    let scene = turns.into_iter().fold(scene, |scene, (name, turn)| {
        let agent = Arc::new(SubAgent::new(tool_name(name), "Looks.", profile([turn])));
        scene.task(|task| task.tool(agent))
    });
    let played = scene.allowing().run_whole().await;
    let errors: Vec<bool> = played.results().into_iter().map(|(_, is_error)| is_error).collect();
    assert_eq!((errors, played.answer()), (vec![false, true, true, false], Some("done")));
    assert!(played.results()[3].0.contains("found too"));
}

/// The signal of the task at the top stops all below, whose records say so; nothing of them works any more.
#[tokio::test(start_paused = true)]
async fn i08_no_child_outlives_the_cancellation_of_the_task_above() {
    for depth in 1..=3 {
        let begun = Cancel::new();
        let signal = begun.clone();
        let tool = ScriptedTool::by("act", Effect::Once, move |_| {
            signal.fire();
            Acts::Hangs
        });
        let innermost = profile([Turn::calls(&[("act", "{}")]), Turn::text("found")]);
        let innermost = innermost.tool(Arc::new(tool.clone()));
        let nested = (1..depth).fold(innermost, |inner, _| {
            profile([Turn::calls(&[ASKS_SCOUT]), Turn::text("found")]).tool(agent(inner))
        });
        let scene = delegating(nested).allowing();
        let cancel = scene.cancel.clone();
        let stops = tokio::spawn(async move {
            begun.fired().await;
            cancel.fire();
        });
        let played = scene.run_whole().await;
        stops.await.unwrap();
        assert_eq!(played.finished.ending, Ending::Cancelled);
        assert_eq!((tool.start_count(), tool.running().alive()), (1, 0));
        let begun = played.children.begun();
        assert_eq!(begun.len(), depth);
        for (_, _, journal) in begun {
            assert_eq!(ending_of(&journal), Some(Ending::Cancelled));
            crate::record_check::check_whole(&journal.lines());
        }
    }
}

/// Whoever drops the run's future stops its children too.
#[tokio::test(start_paused = true)]
async fn no_child_outlives_a_run_that_is_dropped() {
    let begun = Cancel::new();
    let signal = begun.clone();
    let tool = ScriptedTool::by("act", Effect::Once, move |_| {
        signal.fire();
        Acts::Hangs
    });
    let turns = [Turn::calls(&[("act", "{}")]), Turn::calls(&[("act", "{}")]), Turn::text("found")];
    let scene = delegating(profile(turns).tool(Arc::new(tool.clone()))).allowing();
    let children = scene.children.clone();
    let running = tokio::spawn(scene.run());
    begun.fired().await;
    running.abort();
    assert!(running.await.is_err());
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert_eq!((tool.start_count(), tool.running().alive()), (1, 0));
    assert_eq!(ending_of(&children.begun()[0].2), Some(Ending::Cancelled));
}

/// A tool that does not wait for its tasks leaves none behind, and what they spent is told before its result.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_over_leaves_no_task_behind() {
    let begun = Cancel::new();
    let signal = begun.clone();
    let act = ScriptedTool::by("act", Effect::Once, move |_| {
        signal.fire();
        Acts::Hangs
    });
    let child = profile([Turn::calls(&[("act", "{}")]), Turn::text("found")]).tool(Arc::new(act.clone()));
    let foreman = Foreman::new(NO_END, vec![child]).not_waiting(begun);
    let scene = scene([Turn::calls(&[("foreman", "{}")]), Turn::text("done")]);
    let played = scene.task(|task| task.tool(Arc::new(foreman))).allowing().run_whole().await;
    assert_eq!((act.running().alive(), played.answer()), (0, Some("done")));
    let order: Vec<&str> = played
        .facts()
        .iter()
        .filter_map(|fact| match fact {
            Fact::ChildEnded { ending, .. } => {
                assert_eq!(ending, &Some(Ending::Cancelled));
                Some("child ended")
            }
            Fact::ToolFinished { .. } => Some("finished"),
            _ => None,
        })
        .collect();
    assert_eq!(order, ["child ended", "finished"]);
}

/// A record that cannot be written ends the child, and its call says so.
#[tokio::test(start_paused = true)]
async fn i42_a_child_whose_record_breaks_ends_and_does_nothing_more() {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let child = profile([Turn::calls(&[("act", "{}")]), Turn::text("found")]).tool(Arc::new(tool.clone()));
    let mut scene = delegating(child).allowing();
    scene.children = probity_testkit::MemoryChildren::breaking_at(2);
    let played = scene.run_whole().await;
    let (text, is_error) = played.result();
    assert!(is_error && text.contains("its record could not be written"), "{text}");
    assert_eq!((tool.start_count(), played.answer()), (0, Some("done")));
}

/// A limit of the task above that is hit by what its child spent.
#[tokio::test(start_paused = true)]
async fn a_limit_above_is_hit_by_what_children_have_spent() {
    let child = ChildProfile::new(principal("scout"), Arc::new(ScriptedModel::new([Turn::text("found")])));
    let played = delegating(child).limits(|limits| limits.tokens_max = Some(60)).allowing().run_whole().await;
    // 15 by the first turn and 15 by the child; the report fills what is left.
    assert_eq!(played.finished.ending, Ending::LimitReached { limit: LimitKind::Tokens });
}

/// A process that ends while a child is at work takes the child with it. What the child did is not known, so the call is told
/// as unknown, all that was kept for it counts as spent, and it is started again only where nothing of it could have changed
/// anything.
#[tokio::test(start_paused = true)]
async fn i44_a_child_that_was_cut_off_is_told_as_unknown_and_not_repeated() {
    for (effect, begun, words) in
        [(Effect::Once, 1, "whether it had an effect is unknown"), (Effect::Pure, 2, "it answered")]
    {
        let kill = Cancel::new();
        let at_work = kill.clone();
        let tool = ScriptedTool::by("act", effect, move |_| {
            at_work.fire();
            Acts::Hangs
        });
        let of_child = [Turn::calls(&[("act", "{}")]), Turn::text("found")];
        let turns = vec![Turn::calls(&[ASKS_SCOUT]), Turn::text("done")];
        let mut deployment = deployment(&[], &ScriptedPolicy::allowing(), turns);
        deployment.limits.tool_calls_max = 10;
        deployment.agents = vec![agent(profile(of_child).tool(Arc::new(tool.clone())))];
        assert!(deployment.start_killed(kill).await.is_none());
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        let resumed = deployment.resume(&deployment.last_state()).await.unwrap();
        let Stopped::Finished(finished) = resumed else { panic!("it pauses") };
        assert_eq!((&finished.ending, deployment.children.begun().len()), (&Ending::Answered, begun));
        assert_eq!(tool.start_count(), 1, "the second child was answered by what was left of the script");
        let result = finished.machine().items().iter().find_map(|item| match &item.content {
            probity_contract::Content::ToolResult { text, .. } => Some(text.as_ref().to_owned()),
            _ => None,
        });
        assert!(result.unwrap().contains(words));
        // Of 10 calls one is for the child, and of 9 the half was kept for it.
        let lost = 4;
        assert_eq!(finished.machine().spending().tool_calls, 1 + lost);
        let runs: std::collections::BTreeSet<_> =
            deployment.children.begun().into_iter().map(|(run, ..)| run.as_str().to_owned()).collect();
        assert_eq!(runs.len(), begun, "each try is a run of its own");
        crate::record_check::check_whole(&deployment.journal.lines());
    }
}
