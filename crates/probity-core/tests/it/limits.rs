//! Limits: reserved before they are spent, and said when they are reached.

use std::time::Duration;

use probity_contract::{
    DenialCode, Effect, Ending, Event, Fact, LimitKind, ModelReply, Prices, ReplyPart, Stop, Usage,
};
use probity_testkit::{Acts, Judges, ScriptedApprover, ScriptedModel, ScriptedPolicy, ScriptedTool, Turn};

use crate::scene::{Played, scene, scene_of};

const CALL: &[(&str, &str)] = &[("echo", r#"{"text":"x"}"#)];

fn hits(played: &Played) -> Vec<LimitKind> {
    let facts = played.facts().into_iter().filter_map(|fact| match fact {
        Fact::LimitHit { limit } => Some(limit),
        _ => None,
    });
    let facts: Vec<LimitKind> = facts.collect();
    let events = played.watcher.events().into_iter().filter_map(|event| match event {
        Event::LimitHit { limit } => Some(limit),
        _ => None,
    });
    assert_eq!(events.collect::<Vec<_>>(), facts);
    facts
}

/// A model that calls a tool as long as it may.
fn restless() -> ScriptedModel {
    ScriptedModel::by(|request| match request.tools.is_empty() {
        true => Turn::text("so far"),
        false => Turn::calls(CALL),
    })
}

#[tokio::test(start_paused = true)]
async fn when_turns_run_out_the_model_is_asked_once_more_without_tools() {
    let tool = ScriptedTool::echo();
    let scene = scene_of(restless()).tool(&tool).allowing().limits(|limits| limits.turns_max = 3);
    let played = scene.run_whole().await;
    assert_eq!(played.finished.ending, Ending::WrappedUp { limit: LimitKind::Turns });
    assert_eq!(played.answer(), Some("so far"));
    assert_eq!(hits(&played), [LimitKind::Turns]);
    let asked = played.model.asked();
    assert_eq!((asked.len(), tool.start_count()), (4, 3));
    assert!(asked[3].tools.is_empty() && asked[3].text().contains("The limit of turns is reached."));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_calls_tools_in_its_last_answer_gets_none_and_no_answer_counts() {
    let tool = ScriptedTool::echo();
    let turns = [Turn::calls(CALL), Turn::calls(CALL)];
    let played = scene(turns).tool(&tool).allowing().limits(|limits| limits.turns_max = 1).run_whole().await;
    assert_eq!(played.finished.ending, Ending::LimitReached { limit: LimitKind::Turns });
    assert_eq!((played.answer(), tool.start_count()), (None, 1));
    assert!(played.results()[1].0.contains("no tool can be called any more"));
}

#[tokio::test(start_paused = true)]
async fn tool_calls_stop_at_their_limit_and_the_model_wraps_up() {
    let tool = ScriptedTool::echo();
    let five = Turn::calls(&[CALL, CALL, CALL, CALL, CALL].concat());
    let scene = scene([five, Turn::text("so far")]).tool(&tool).allowing();
    let played = scene.limits(|limits| limits.tool_calls_max = 3).run_whole().await;
    assert_eq!(played.finished.ending, Ending::WrappedUp { limit: LimitKind::ToolCalls });
    assert_eq!((tool.start_count(), hits(&played)), (3, vec![LimitKind::ToolCalls]));
    let errors: Vec<bool> = played.results().into_iter().map(|(_, is_error)| is_error).collect();
    assert_eq!(errors, [false, false, false, true, true]);
    assert!(played.model.asked()[1].text().contains("the limit of tool calls is reached"));
}

fn costly(input: u64, output: u64) -> Turn {
    let usage = Usage { input: Some(input), output: Some(output), ..Usage::default() };
    let parts = vec![ReplyPart::call("p1", "echo", r#"{"text":"x"}"#)];
    Turn::reply(ModelReply { parts, stop: Stop::ToolCalls, usage, model: None, response_id: None })
}

#[tokio::test(start_paused = true)]
async fn tokens_are_reserved_before_they_are_spent() {
    let check = async |tokens_max: u64, calls: usize| {
        let scene = scene_of(ScriptedModel::by(|_| costly(90, 10))).tool(&ScriptedTool::echo()).allowing();
        let played = scene.limits(|limits| limits.tokens_max = Some(tokens_max)).run_whole().await;
        assert_eq!(played.finished.ending, Ending::LimitReached { limit: LimitKind::Tokens });
        assert_eq!(
            (played.model.asked().len(), hits(&played)),
            (calls, vec![LimitKind::Tokens]),
            "{tokens_max}"
        );
    };
    check(0, 0).await;
    check(50, 1).await;
    // After one call 100 tokens are spent; the next would cost at least what stands in the window.
    check(100, 1).await;
    check(200, 2).await;
}

/// A model that writes `output` tokens, or as many as it may, for 10 tokens read.
fn writing(output: u64) -> ScriptedModel {
    ScriptedModel::by(move |request| {
        let may = request.params.output_tokens_max.unwrap_or(u64::MAX);
        let stop = if output > may { Stop::MaxTokens } else { Stop::EndTurn };
        let usage = Usage { input: Some(10), output: Some(output.min(may)), ..Usage::default() };
        let parts = vec![ReplyPart::text("some words")];
        Turn::reply(ModelReply { parts, stop, usage, model: None, response_id: None })
    })
}

fn output_told(played: &Played) -> Option<u64> {
    played.facts().into_iter().find_map(|fact| match fact {
        Fact::ModelCalled { output_tokens_max, .. } => Some(output_tokens_max),
        _ => None,
    })?
}

#[tokio::test(start_paused = true)]
async fn a_model_may_write_only_what_the_limit_of_tokens_leaves() {
    let check = async |tokens_max: Option<u64>, asked_for: Option<u64>, sent: Option<u64>, ending: Ending| {
        let scene = scene_of(writing(2_500)).limits(|limits| limits.tokens_max = tokens_max);
        let params = probity_contract::ModelParams { output_tokens_max: asked_for, ..Default::default() };
        let played = scene.task(|task| task.params(params)).run_whole().await;
        assert_eq!(played.model.asked()[0].output_tokens_max, sent);
        assert_eq!(output_told(&played), sent);
        assert_eq!((&played.finished.ending, played.answer()), (&ending, Some("some words")));
        let by_limit = sent.is_some() && sent != asked_for;
        assert_eq!(hits(&played), if by_limit { vec![LimitKind::Tokens] } else { Vec::new() });
    };
    // The window, "do it", is taken for one token.
    check(Some(50), None, Some(49), Ending::Incomplete).await;
    check(Some(50), Some(2_000), Some(49), Ending::Incomplete).await;
    check(Some(5_000), Some(2_000), Some(2_000), Ending::Incomplete).await;
    check(None, Some(2_500), Some(2_500), Ending::Answered).await;
    check(None, None, None, Ending::Answered).await;
}

#[tokio::test(start_paused = true)]
async fn a_model_may_write_only_what_the_limit_of_dollars_leaves() {
    let prices = Prices { input_usd: 1_000.0, cached_input_usd: None, output_usd: 10_000.0 };
    let scene = scene_of(writing(2_500).priced(prices)).limits(|limits| limits.cost_usd_max = Some(0.5005));
    let played = scene.run_whole().await;
    // One token read is a tenth of a cent; what is left buys 49 whole tokens of one cent.
    assert_eq!(played.model.asked()[0].output_tokens_max, Some(49));
    assert_eq!((&played.finished.ending, hits(&played)), (&Ending::Incomplete, vec![LimitKind::Cost]));
}

/// A provider that does not keep to what it was asked has given its answer, and the limit is said to be reached.
#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_its_limit_does_not_end_as_if_nothing_had_happened() {
    let usage = Usage { input: Some(10), output: Some(2_500), ..Usage::default() };
    let parts = vec![ReplyPart::text("long")];
    let reply = ModelReply { parts, stop: Stop::EndTurn, usage, model: None, response_id: None };
    let played = scene([Turn::reply(reply)]).limits(|limits| limits.tokens_max = Some(50)).run_whole().await;
    assert_eq!(played.finished.ending, Ending::WrappedUp { limit: LimitKind::Tokens });
    assert_eq!((played.answer(), hits(&played)), (Some("long"), vec![LimitKind::Tokens]));
}

/// Silence is not free: a provider that counts nothing is charged by what was sent and what came.
#[tokio::test(start_paused = true)]
async fn a_provider_that_reports_no_usage_is_charged_the_estimate() {
    let model = ScriptedModel::by(|_| {
        let arguments = format!(r#"{{"text":"{}"}}"#, "x".repeat(400));
        let parts = vec![ReplyPart::call("p1", "echo", arguments)];
        let usage = Usage::default();
        Turn::reply(ModelReply { parts, stop: Stop::ToolCalls, usage, model: None, response_id: None })
    });
    let scene = scene_of(model).tool(&ScriptedTool::echo()).allowing();
    let played = scene.limits(|limits| limits.tokens_max = Some(1_000)).run_whole().await;
    assert_eq!(played.finished.ending, Ending::LimitReached { limit: LimitKind::Tokens });
    // About 104 tokens a reply, and 205 more to read each time: 1 + 104, 205 + 104, and 410 are more than is left.
    assert_eq!((played.model.asked().len(), played.finished.usage), (3, Usage::default()));
}

/// What the limit allows has been used, and nothing was withheld: that is no limit reached.
#[tokio::test(start_paused = true)]
async fn a_run_that_uses_exactly_its_tool_calls_has_answered() {
    let tool = ScriptedTool::echo();
    let turns = [Turn::calls(&[CALL, CALL].concat()), Turn::text("done")];
    let scene = scene(turns).tool(&tool).allowing().limits(|limits| limits.tool_calls_max = 2);
    let played = scene.run_whole().await;
    assert_eq!((&played.finished.ending, played.answer()), (&Ending::Answered, Some("done")));
    assert_eq!((tool.start_count(), hits(&played)), (2, Vec::new()));
    let asked = played.model.asked();
    assert!(!asked[0].tools.is_empty() && asked[1].tools.is_empty());
}

#[tokio::test(start_paused = true)]
async fn dollars_stop_at_their_limit() {
    let prices = Prices { input_usd: 1_000.0, cached_input_usd: None, output_usd: 10_000.0 };
    // 90 * 0.001 + 10 * 0.01 = 0.19 dollars a call.
    let model = ScriptedModel::by(|_| costly(90, 10)).priced(prices);
    let scene = scene_of(model).tool(&ScriptedTool::echo()).allowing();
    let played = scene.limits(|limits| limits.cost_usd_max = Some(0.5)).run_whole().await;
    assert_eq!(played.finished.ending, Ending::LimitReached { limit: LimitKind::Cost });
    // What a call will cost is known in full only afterwards: the last one may go over, and then no other begins.
    assert_eq!(played.model.asked().len(), 3);
    let cost = played.finished.cost_usd.unwrap();
    assert!((cost - 3.0 * 0.19).abs() < 1e-9, "{cost}");
}

#[tokio::test(start_paused = true)]
async fn wall_time_bounds_model_and_tools() {
    let started = tokio::time::Instant::now();
    let hangs = scene([Turn::hangs()]).limits(|limits| limits.wall_ms_max = Some(3_000));
    let played = hangs.run_whole().await;
    assert_eq!(started.elapsed().as_millis(), 3_000);
    assert_eq!(played.finished.ending, Ending::LimitReached { limit: LimitKind::WallTime });
    assert_eq!(hits(&played), [LimitKind::WallTime]);

    let started = tokio::time::Instant::now();
    let tool = ScriptedTool::new("echo", Effect::Pure, Acts::Hangs);
    let hangs =
        scene([Turn::calls(CALL)]).tool(&tool).allowing().limits(|limits| limits.wall_ms_max = Some(3_000));
    let played = hangs.run_whole().await;
    assert_eq!(started.elapsed().as_millis(), 3_000);
    assert_eq!(played.finished.ending, Ending::LimitReached { limit: LimitKind::WallTime });
}

/// A call that waits for a place when the time is over must not start with no time at all, nor may one whose second
/// judgement takes what was left.
#[tokio::test(start_paused = true)]
async fn no_tool_starts_after_the_time_is_up() {
    let tool = ScriptedTool::new("echo", Effect::Once, Acts::Hangs);
    let two = Turn::calls(&[CALL, CALL].concat());
    let queued = scene([two]).tool(&tool).allowing().limits(|limits| {
        limits.wall_ms_max = Some(3_000);
        limits.tool_calls_parallel_max = 1;
    });
    let played = queued.run_whole().await;
    assert_eq!((tool.start_count(), played.denials()), (1, vec![DenialCode::Limit]));
    assert!(played.results()[1].0.contains("the limit of time is reached"), "{:?}", played.results());
    assert_eq!(played.finished.ending, Ending::LimitReached { limit: LimitKind::WallTime });

    let (tool, clock) = (ScriptedTool::echo(), probity_testkit::FakeClock::new());
    let ticking = clock.clone();
    let slow = ScriptedPolicy::by("slow", move |_, seat| {
        if seat == probity_contract::Seat::ExecuteRecheck {
            ticking.advance_ms(3_000);
        }
        Judges::allows()
    });
    let mut scene = scene([Turn::calls(CALL)]).tool(&tool).policy(&slow);
    scene.clock = std::sync::Arc::new(clock);
    let played = scene.limits(|limits| limits.wall_ms_max = Some(3_000)).run_whole().await;
    assert_eq!((tool.start_count(), played.denials()), (0, vec![DenialCode::Limit]));
    assert_eq!(played.finished.ending, Ending::LimitReached { limit: LimitKind::WallTime });
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_person_is_no_work() {
    let tool = ScriptedTool::echo();
    let policy = ScriptedPolicy::new("careful", Judges::asks("sure?"));
    let scene = scene([Turn::calls(CALL), Turn::text("done")]).tool(&tool).policy(&policy);
    let mut scene = scene.limits(|limits| limits.wall_ms_max = Some(3_000));
    scene.approver = Some(std::sync::Arc::new(Slow(ScriptedApprover::approving("eve"))));
    let played = scene.run_whole().await;
    assert_eq!((played.answer(), tool.start_count()), (Some("done"), 1));
}

/// A person who takes an hour.
struct Slow(ScriptedApprover);

impl probity_contract::Approver for Slow {
    fn ask<'a>(
        &'a self,
        question: &'a probity_contract::PendingCall,
    ) -> probity_contract::BoxFuture<'a, probity_contract::Answer> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_secs(3_600)).await;
            self.0.ask(question).await
        })
    }
}
