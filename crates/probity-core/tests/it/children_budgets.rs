//! What tasks that a call starts may spend, and what of it counts for the task above.

use std::sync::{Arc, Mutex};

use probity_contract::{
    Allowance, BoxFuture, DenialCode, Effect, Ending, Fact, LimitKind, Limits, Permit, Prices, Spending,
    Tool, ToolContext, ToolError, ToolOutput, ToolSpec, Usage,
};
use probity_core::{Ceiling, ChildError, ChildProfile, SubAgent};
use probity_testkit::{Acts, ScriptedModel, ScriptedTool, Turn, principal, tool_name};
use proptest::prelude::*;

use crate::children::{ASKS_SCOUT, agent, delegating, profile};
use crate::scene::{Played, scene, scene_of};

fn spent(played: &Played) -> Vec<(Option<Ending>, Spending)> {
    let facts = played.facts().into_iter();
    let spent = facts.filter_map(|fact| match fact {
        Fact::ChildEnded { ending, spent, .. } => Some((ending, spent)),
        _ => None,
    });
    spent.collect()
}

/// The limits of each child, as its record tells them.
fn limits(played: &Played) -> Vec<Limits> {
    let begun = played.children.begun().into_iter();
    let limits = begun.map(|(_, _, journal)| match journal.facts().remove(0) {
        Fact::RunStarted(started) => started.limits,
        other => panic!("{other:?}"),
    });
    limits.collect()
}

fn acts(n: usize) -> Vec<Turn> {
    let calls = std::iter::repeat_n(Turn::calls(&[("act", "{}")]), n);
    calls.chain([Turn::text("found")]).collect()
}

fn act() -> (ScriptedTool, Arc<dyn Tool>) {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    (tool.clone(), Arc::new(tool))
}

/// Each turn reads 10 tokens and writes 5.
#[tokio::test(start_paused = true)]
async fn what_a_child_spends_counts_for_the_task_above() {
    let (tool, shared) = act();
    let played = delegating(profile(acts(2)).tool(shared)).allowing().run_whole().await;
    assert_eq!(tool.start_count(), 2);
    let [(ending, spent)] = &spent(&played)[..] else { panic!("one child") };
    assert_eq!((ending, spent.turns, spent.tool_calls), (&Some(Ending::Answered), 3, 2));
    assert_eq!(spent.usage, Usage { input: Some(30), output: Some(15), ..Usage::default() });
    // Two turns of its own, and three of the child.
    assert_eq!(played.finished.usage, Usage { input: Some(50), output: Some(25), ..Usage::default() });
    let told = played.facts().into_iter().find_map(|fact| match fact {
        Fact::Ended { usage, .. } => Some(usage),
        _ => None,
    });
    assert_eq!(told, Some(played.finished.usage));
    let spending = played.finished.machine().spending();
    assert_eq!((spending.turns, spending.tool_calls), (5, 3));
}

/// A model that costs other than the parent's: dollars are added, not tokens priced anew.
#[tokio::test(start_paused = true)]
async fn dollars_of_a_child_are_those_of_its_own_model() {
    let prices = |usd: f64| Prices { input_usd: usd, cached_input_usd: None, output_usd: usd };
    let child = profile([Turn::text("found")]).prices(prices(1_000_000.0));
    let turns = || [Turn::calls(&[ASKS_SCOUT]), Turn::text("done")];
    let parent = ScriptedModel::new(turns()).priced(prices(2_000_000.0));
    let scene = scene_of(parent).task(|task| task.tool(agent(child)));
    let played = scene.limits(|limits| limits.cost_usd_max = Some(1e6)).allowing().run_whole().await;
    // 30 tokens at two dollars and 15 at one.
    assert_eq!(played.finished.cost_usd, Some(75.0));
    // Nobody knows what a token of this child costs, so below a limit of cost it is not started.
    let unpriced = profile([Turn::text("found")]);
    let parent = ScriptedModel::new(turns()).priced(prices(2.0));
    let scene = scene_of(parent).task(|task| task.tool(agent(unpriced)));
    let played = scene.limits(|limits| limits.cost_usd_max = Some(1e6)).allowing().run_whole().await;
    let (text, is_error) = played.result();
    assert!(is_error && text.contains("needs the model's prices"), "{text}");
    assert!(played.children.begun().is_empty());
}

/// A limit above holds for all below: what one child has spent the next does not have.
#[tokio::test(start_paused = true)]
async fn what_is_not_used_goes_back_and_what_is_used_is_gone() {
    let (tool, shared) = act();
    // Three children one after the other; the model of each would act ten times.
    let agents = ["one", "two", "three"].map(|name| {
        let shared = Arc::clone(&shared);
        let turns = if name == "one" { acts(1) } else { acts(10) };
        Arc::new(SubAgent::new(tool_name(name), "Acts.", profile(turns).tool(shared))) as Arc<dyn Tool>
    });
    let turns = ["one", "two", "three"].map(|name| Turn::calls(&[(name, r#"{"task":"act"}"#)]));
    let scene = scene(turns.into_iter().chain([Turn::text("done")]));
    let scene = agents.into_iter().fold(scene, |scene, agent| scene.task(|task| task.tool(agent)));
    let played = scene.limits(|limits| limits.tool_calls_max = 20).allowing().run_whole().await;
    // 20: one for the call, and of 19 a half. Of these 1 was used, so 18 are left: again one, and of 17 a half.
    let had: Vec<u32> = limits(&played).iter().map(|limits| limits.tool_calls_max).collect();
    assert_eq!(had, [9, 8, 4]);
    let used: Vec<u32> = spent(&played).iter().map(|(_, spent)| spent.tool_calls).collect();
    assert_eq!((used, tool.start_count()), (vec![1, 8, 4], 13));
    assert_eq!(played.finished.machine().spending().tool_calls, 16);
}

/// Children of one reply have equal shares, whoever starts first.
#[tokio::test(start_paused = true)]
async fn parallel_children_have_equal_shares_and_the_task_keeps_one() {
    for wanted in [None, Some(200)] {
        let agents = ["one", "two", "three"].map(|name| {
            let limits = Limits { tokens_max: wanted.filter(|_| name == "one"), ..Limits::default() };
            let profile = profile([Turn::text("found")]).limits(limits);
            Arc::new(SubAgent::new(tool_name(name), "Looks.", profile)) as Arc<dyn Tool>
        });
        let ask = r#"{"task":"look"}"#;
        let scene = scene([Turn::calls(&[("one", ask), ("two", ask), ("three", ask)]), Turn::text("done")]);
        let scene = agents.into_iter().fold(scene, |scene, agent| scene.task(|task| task.tool(agent)));
        let played = scene.limits(|limits| limits.tokens_max = Some(4_015)).allowing().run_whole().await;
        let mut had: Vec<Option<u64>> = limits(&played).iter().map(|limits| limits.tokens_max).collect();
        had.sort_unstable();
        // 15 are spent; of the rest everybody has a quarter.
        let first = wanted.unwrap_or(1_000);
        assert_eq!(had, [Some(first), Some(1_000), Some(1_000)]);
        assert_eq!((played.results().len(), played.answer()), (3, Some("done")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_for_which_nothing_is_left_is_denied() {
    // Nothing is left of the model calls but the wrap-up.
    let played = delegating(profile([Turn::text("found")]))
        .limits(|limits| limits.turns_max = 1)
        .allowing()
        .run_whole()
        .await;
    assert_eq!(played.denials(), [DenialCode::Limit]);
    assert!(played.children.begun().is_empty());
    assert_eq!(played.finished.ending, Ending::WrappedUp { limit: LimitKind::Turns });
}

/// A limit of time above is one for all below, and the time of a child is none of a tool's.
#[tokio::test(start_paused = true)]
async fn a_child_has_the_time_that_is_left_and_not_that_of_a_tool() {
    let slow = || profile([Turn::hangs()]).limits(Limits { wall_ms_max: Some(90_000), ..Limits::default() });
    let played = delegating(slow()).limits(|limits| limits.tool_timeout_ms = 5).allowing().run_whole().await;
    let (text, is_error) = played.result();
    assert!(is_error && text.contains("at its limit of time without an answer"), "{text}");
    assert_eq!(limits(&played)[0].wall_ms_max, Some(90_000));
    let played =
        delegating(slow()).limits(|limits| limits.wall_ms_max = Some(700)).allowing().run_whole().await;
    assert_eq!(limits(&played)[0].wall_ms_max, Some(700));
    assert_eq!(played.finished.ending, Ending::LimitReached { limit: LimitKind::WallTime });
}

/// How a task ended and what it spent, or why it did not come back.
type Had = Result<(Ending, Spending), String>;

/// A tool of its own that starts several tasks in one call, and what came of them.
pub(crate) struct Foreman {
    spec: ToolSpec,
    wants: Allowance,
    profiles: Vec<ChildProfile>,
    pub(crate) ceilings: Arc<Mutex<Vec<Arc<Ceiling>>>>,
    pub(crate) had: Arc<Mutex<Vec<Had>>>,
    leaves: Option<probity_contract::Cancel>,
}

impl Foreman {
    pub(crate) fn new(wants: Allowance, profiles: Vec<ChildProfile>) -> Self {
        let spec = ScriptedTool::new("foreman", Effect::Once, Acts::Echoes).spec().clone();
        Self { spec, wants, profiles, ceilings: Arc::default(), had: Arc::default(), leaves: None }
    }

    /// Comes back at this signal, whatever its tasks are doing.
    pub(crate) fn not_waiting(mut self, signal: probity_contract::Cancel) -> Self {
        self.leaves = Some(signal);
        self
    }
}

impl Tool for Foreman {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn targets<'a>(
        &'a self,
        _arguments: &'a probity_contract::Arguments,
    ) -> BoxFuture<'a, Result<Vec<probity_contract::Target>, ToolError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn delegates(&self) -> Option<Allowance> {
        Some(self.wants.clone())
    }

    fn run<'a>(&'a self, _permit: Permit, cx: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let ceiling = Ceiling::of(&cx).unwrap();
            self.ceilings.lock().unwrap().push(Arc::clone(&ceiling));
            let starts = self.profiles.iter().map(|profile| ceiling.start(profile, "work"));
            let ended = futures_util::future::join_all(starts);
            let ended = match &self.leaves {
                None => ended.await,
                Some(signal) => tokio::select! {
                    ended = ended => ended,
                    () = signal.fired() => Vec::new(),
                },
            };
            let told = ended.into_iter().map(|ended| match ended {
                Ok(report) => Ok((report.ending, report.spent)),
                Err(error) => Err(error.to_string()),
            });
            self.had.lock().unwrap().extend(told);
            Ok(ToolOutput { text: "worked".to_owned(), trusted: true, ..ToolOutput::default() })
        })
    }
}

pub(crate) const NO_END: Allowance =
    Allowance { turns: 50, tool_calls: 50, tokens: None, cost_usd: None, wall_ms: None };

#[tokio::test(start_paused = true)]
async fn the_tasks_of_one_call_share_what_is_kept_for_it() {
    let (tool, shared) = act();
    let profiles = [3, 3, 3].map(|n| profile(acts(n)).tool(Arc::clone(&shared)).limits(few(n)));
    let foreman = Foreman::new(Allowance { tool_calls: 7, ..NO_END }, profiles.to_vec());
    let had = Arc::clone(&foreman.had);
    let scene = scene([Turn::calls(&[("foreman", "{}")]), Turn::text("done")]);
    let played = scene.task(|task| task.tool(Arc::new(foreman))).allowing().run_whole().await;
    let mut given: Vec<u32> = limits(&played).iter().map(|limits| limits.tool_calls_max).collect();
    given.sort_unstable();
    assert_eq!((given, tool.start_count(), had.lock().unwrap().len()), (vec![1, 3, 3], 7, 3));
    assert_eq!(spent(&played).len(), 3);
    assert_eq!(played.finished.machine().spending().tool_calls, 8);
    // The tool vouches for its text, but not for what its tasks have read.
    let labels = played.finished.machine().items().iter().filter_map(|item| match item.origin {
        probity_contract::Origin::Tool(_) => Some(item.label.integrity),
        _ => None,
    });
    assert_eq!(labels.collect::<Vec<_>>(), [probity_contract::Integrity::Untrusted]);
}

fn few(n: usize) -> Limits {
    Limits { tool_calls_max: u32::try_from(n).unwrap(), turns_max: 10, ..Limits::default() }
}

/// The place to start tasks from is gone with the call.
#[tokio::test(start_paused = true)]
async fn i33_nothing_is_started_from_a_call_that_is_over() {
    let foreman = Foreman::new(NO_END, Vec::new());
    let ceilings = Arc::clone(&foreman.ceilings);
    let scene = scene([Turn::calls(&[("foreman", "{}")]), Turn::text("done")]);
    let played = scene.task(|task| task.tool(Arc::new(foreman))).allowing().run_whole().await;
    let ceiling = ceilings.lock().unwrap().remove(0);
    let model = ScriptedModel::new([Turn::text("found")]);
    let late = ChildProfile::new(principal("late"), Arc::new(model.clone()));
    assert!(matches!(ceiling.start(&late, "work").await, Err(ChildError::CallIsOver)));
    assert!(model.asked().is_empty() && played.children.begun().is_empty());
}

/// A tool that has not said that it starts tasks gets no place to start any from.
#[tokio::test(start_paused = true)]
async fn i33_a_tool_that_starts_no_tasks_has_no_ceiling() {
    let tool = ScriptedTool::echo();
    let scene = scene([Turn::calls(&[("echo", r#"{"text":"x"}"#)]), Turn::text("done")]).tool(&tool);
    let _played = scene.allowing().run_whole().await;
    assert!(Ceiling::of(&tool.starts()[0].context).is_none());
}

fn allowance() -> impl Strategy<Value = Allowance> {
    let usd = prop_oneof![Just(None), (0_u32..1_000).prop_map(|cents| Some(f64::from(cents)))];
    (0_u32..40, 0_u32..40, proptest::option::of(0_u64..10_000), usd, proptest::option::of(0_u64..10_000))
        .prop_map(|(turns, tool_calls, tokens, cost_usd, wall_ms)| Allowance {
            turns,
            tool_calls,
            tokens,
            cost_usd,
            wall_ms,
        })
}

fn is_within(one: &Allowance, other: &Allowance) -> bool {
    fn less<T: PartialOrd>(one: Option<T>, other: Option<T>) -> bool {
        other.is_none_or(|other| one.is_some_and(|one| one <= other))
    }
    one.turns <= other.turns
        && one.tool_calls <= other.tool_calls
        && less(one.tokens, other.tokens)
        && less(one.cost_usd, other.cost_usd)
        && less(one.wall_ms, other.wall_ms)
}

proptest! {
    /// What a child may spend is the meet of all that anybody above allows: the order, the grouping and repetitions are
    /// nothing, and no more of them ever makes it more.
    #[test]
    fn i32_limits_compose_as_a_meet(one in allowance(), other in allowance(), third in allowance()) {
        prop_assert_eq!(one.least(&other), other.least(&one));
        prop_assert_eq!(one.least(&other).least(&third), one.least(&other.least(&third)));
        prop_assert_eq!(one.least(&one), one.clone());
        prop_assert!(is_within(&one.least(&other), &one) && is_within(&one.least(&other), &other));
        prop_assert!(is_within(&one.least(&other).least(&third), &one.least(&other)));
    }

    /// Whatever was spent is missing, and never more than what was there.
    #[test]
    fn what_is_left_and_what_was_spent_is_what_there_was(all in allowance(), wanted in allowance()) {
        let taken = all.least(&wanted);
        let left = all.without(&taken.all_spent());
        prop_assert!(is_within(&left, &all));
        prop_assert_eq!(left.turns + taken.turns, all.turns);
        prop_assert_eq!(left.tool_calls + taken.tool_calls, all.tool_calls);
        if let (Some(left), Some(taken), Some(all)) = (left.tokens, taken.tokens, all.tokens) {
            prop_assert_eq!(left + taken, all);
        }
    }
}
