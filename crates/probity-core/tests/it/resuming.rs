//! Runs that pause, break off, and are taken up again: by another process, later, under other rules.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use probity_contract::{
    Answer, AnswerKind, Approver, Cancel, Clock, DenialCode, Digest, Durability, Effect, Emission, Ending,
    Entry, Fact, Interceptor, Journal as _, JournalError, LimitKind, Limits, Policy, RedeemError, Redeemer,
    RunId, Tool, ToolErrorClass, ToolOutcomeKind,
};
use probity_core::{
    Host, Keeper, LeftBehind, MemoryRedeemer, Paused, ReplayError, ResumeError, Resumption, Run, Snapshot,
    StartError, Stopped, Task, replay, resume_task, start_task,
};
use probity_testkit::{
    Acts, FakeClock, Judges, MemoryChildren, MemoryJournal, ScriptedApprover, ScriptedModel, ScriptedPolicy,
    ScriptedTool, Turn, Watcher, principal, run_id,
};
use proptest::prelude::*;

use crate::record_check::{check_lines, check_whole, entries};
use crate::replays::check_broken;

/// What all processes share that go on with one run.
#[derive(Clone)]
pub(crate) struct Deployment {
    pub(crate) model: ScriptedModel,
    pub(crate) tools: Vec<ScriptedTool>,
    pub(crate) agents: Vec<Arc<dyn Tool>>,
    pub(crate) children: MemoryChildren,
    pub(crate) policies: Vec<ScriptedPolicy>,
    pub(crate) above: Vec<ScriptedPolicy>,
    pub(crate) limits: Limits,
    pub(crate) journal: MemoryJournal,
    pub(crate) redeemer: Arc<dyn Redeemer>,
    pub(crate) kept: Kept,
    pub(crate) approver: Option<ScriptedApprover>,
    pub(crate) watcher: Watcher,
    pub(crate) clock: FakeClock,
    pub(crate) principal: &'static str,
    pub(crate) prompt: String,
    pub(crate) interceptors: Vec<Arc<dyn Interceptor>>,
}

/// Every state that was kept, as it would be sealed.
#[derive(Clone, Default)]
pub(crate) struct Kept {
    pub(crate) states: Arc<Mutex<Vec<(String, Durability)>>>,
    pub(crate) fails_at: Option<usize>,
    pub(crate) panics: bool,
}

impl Keeper for Kept {
    fn keep(&mut self, state: &Snapshot, durability: Durability) -> Result<(), JournalError> {
        let mut states = self.states.lock().unwrap();
        states.push((String::from_utf8(state.json().to_vec()).unwrap(), durability));
        if self.fails_at == Some(states.len() - 1) {
            drop(states);
            assert!(!self.panics, "the keeper breaks");
            return Err(JournalError { message: "no space for a checkpoint".to_owned(), source: None });
        }
        Ok(())
    }
}

pub(crate) fn leaving_open() -> ScriptedApprover {
    ScriptedApprover::new(|_| Some(Answer::Later))
}

pub(crate) fn deployment(tools: &[&ScriptedTool], policy: &ScriptedPolicy, turns: Vec<Turn>) -> Deployment {
    Deployment {
        model: ScriptedModel::new(turns),
        tools: tools.iter().map(|tool| (*tool).clone()).collect(),
        agents: Vec::new(),
        children: MemoryChildren::new(),
        policies: vec![policy.clone()],
        above: Vec::new(),
        limits: Limits::default(),
        journal: MemoryJournal::new(),
        redeemer: Arc::new(MemoryRedeemer::new()),
        kept: Kept::default(),
        approver: Some(leaving_open()),
        watcher: Watcher::new(),
        clock: FakeClock::new(),
        principal: "ada",
        prompt: "do it".to_owned(),
        interceptors: Vec::new(),
    }
}

/// One tool that costs something, and a policy that asks about it.
pub(crate) fn asking() -> (Deployment, ScriptedTool) {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let policy = ScriptedPolicy::new("careful", Judges::asks("it costs money"));
    let turns = vec![Turn::calls(&[("act", r#"{"text":"x"}"#)]), Turn::text("done")];
    (deployment(&[&tool], &policy, turns), tool)
}

impl Deployment {
    fn task(&self) -> Task {
        let mut task =
            Task::new(Arc::new(self.model.clone()), principal(self.principal), self.prompt.as_str());
        for interceptor in &self.interceptors {
            task = task.interceptor(Arc::clone(interceptor));
        }
        for tool in &self.tools {
            task = task.tool(Arc::new(tool.clone()) as Arc<dyn Tool>);
        }
        for agent in &self.agents {
            task = task.tool(Arc::clone(agent));
        }
        for policy in &self.policies {
            task = task.policy(Arc::new(policy.clone()) as Arc<dyn Policy>);
        }
        if !self.above.is_empty() {
            let above = self.above.iter().map(|policy| Arc::new(policy.clone()) as Arc<dyn Policy>);
            task = task.started_by(principal("boss"), above.collect());
        }
        task.limits(self.limits.clone())
    }

    fn host(&self) -> Host {
        Host {
            clock: Arc::new(self.clock.clone()) as Arc<dyn Clock>,
            observer: Some(Arc::new(self.watcher.clone())),
            failures: Some(Arc::new(self.watcher.clone())),
            approver: self.approver.clone().map(|approver| Arc::new(approver) as Arc<dyn Approver>),
            redeemer: Some(Arc::clone(&self.redeemer)),
            children: Some(Arc::new(self.children.clone())),
            keeper: Some(Box::new(self.kept.clone())),
            cancel: Cancel::new(),
            ..Host::new(Box::new(self.journal.clone()))
        }
    }

    pub(crate) async fn start(&self) -> Stopped {
        start_task(self.task(), run_id("run"), self.host()).await.unwrap()
    }

    /// Starts the task, and stops at once when `at` says so, as a process that is killed.
    pub(crate) async fn start_killed(&self, at: Cancel) -> Option<Stopped> {
        let run = start_task(self.task(), run_id("run"), self.host());
        tokio::select! {
            biased;
            stopped = run => Some(stopped.unwrap()),
            () = at.fired() => None,
        }
    }

    pub(crate) fn last_state(&self) -> String {
        self.kept.states.lock().unwrap().last().unwrap().0.clone()
    }

    pub(crate) async fn resume(&self, state: &str) -> Result<Stopped, StartError> {
        let machine = read(state);
        let resumption = Resumption {
            checkpoint: 1,
            now_ms: self.clock.monotonic_ms(),
            left_behind: behind(&self.journal, machine.entries()),
        };
        resume_task(self.task(), machine, resumption, self.host()).await
    }

    /// As [`Deployment::resume`], of a task that is the one that the run began with: its record can be played again.
    pub(crate) async fn resume_same(&self, state: &str) -> Result<Stopped, StartError> {
        let stopped = self.resume(state).await?;
        assert_eq!(check_broken(&self.journal.lines()), Ok(()), "it is played again");
        Ok(stopped)
    }

    pub(crate) fn facts(&self) -> Vec<Fact> {
        self.journal.facts()
    }

    pub(crate) fn denials(&self) -> Vec<DenialCode> {
        let denied = self.facts().into_iter().filter_map(|fact| match fact {
            Fact::Denied { denial, .. } => Some(denial.code),
            _ => None,
        });
        denied.collect()
    }
}

pub(crate) fn read(state: &str) -> Run {
    serde_json::from_str(state).unwrap()
}

fn behind(journal: &MemoryJournal, entries: u64) -> LeftBehind {
    let mut behind = LeftBehind::default();
    for entry in journal.entries().iter().filter(|entry| entry.seq >= entries) {
        behind.take(entry.seq, entry.at_ms, Some(&entry.fact), |part| journal.text(part).map(Arc::from));
    }
    behind
}

pub(crate) fn paused(stopped: Stopped) -> Paused {
    match stopped {
        Stopped::Paused(paused) => *paused,
        Stopped::Finished(finished) => panic!("it does not pause: {:?}", finished.ending),
    }
}

pub(crate) fn ending(stopped: Stopped) -> Ending {
    match stopped {
        Stopped::Finished(finished) => finished.ending,
        Stopped::Paused(paused) => panic!("it pauses: {paused:?}"),
    }
}

/// Answers the only question of a run at rest, puts what the record must hear of it there, and gives the state.
pub(crate) fn answer(deployment: &Deployment, state: &str, answer: Answer) -> String {
    let mut machine = read(state);
    let binding = machine.questions().next().unwrap().binding();
    let lines = machine.answer_at_rest(deployment.clock.monotonic_ms(), binding, answer).unwrap();
    deployment.journal.clone().append(&lines, Durability::Durable).unwrap();
    serde_json::to_string(&machine).unwrap()
}

pub(crate) fn approve() -> Answer {
    Answer::Approve { by: principal("eve"), more: 0 }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_for_a_person_goes_on_in_another_process() {
    let (deployment, tool) = asking();
    let pause = paused(deployment.start().await);
    assert_eq!(pause.machine().questions().count(), 1);
    // What was kept last is the pause.
    assert_eq!(serde_json::to_string(pause.machine()).unwrap(), deployment.last_state());
    let answered = answer(&deployment, &deployment.last_state(), approve());
    assert_eq!(tool.start_count(), 0);
    assert_eq!(ending(deployment.resume_same(&answered).await.unwrap()), Ending::Answered);
    assert_eq!(tool.start_count(), 1);
    check_whole(&deployment.journal.lines());
    let resumed = deployment.facts().into_iter().find(|fact| matches!(fact, Fact::Resumed { .. }));
    assert_eq!(resumed, Some(Fact::Resumed { checkpoint: 1, left_behind: 0, tools: Vec::new() }));
}

/// A record that tells of a great many checkpoints, all of them before things that did not follow from them.
#[tokio::test(start_paused = true)]
async fn a_record_of_many_checkpoints_is_refused_where_it_differs() {
    const MANY: u64 = 500;
    let (deployment, _tool) = asking();
    paused(deployment.start().await);
    let mut lines = deployment.journal.lines();
    let next = entries(&lines).last().unwrap().seq + 1;
    for at in 0..MANY {
        let left_behind = if at % 2 == 0 { 0 } else { at.min(next) };
        let fact = Fact::Resumed { checkpoint: at + 1, left_behind, tools: Vec::new() };
        lines.push(Emission::Entry(Entry { seq: next + at, at_ms: 0, fact }));
    }
    let fact = Fact::LimitHit { limit: LimitKind::ToolCalls };
    lines.push(Emission::Entry(Entry { seq: next + MANY, at_ms: 0, fact }));
    assert!(matches!(replay(&lines), Err(ReplayError::Differs { .. })));
}

/// S3 over processes: two questions, one answered, the other still open after the resumption.
#[tokio::test(start_paused = true)]
async fn s3_partial_answers_are_kept_and_the_rest_goes_on() {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let policy = ScriptedPolicy::new("careful", Judges::asks("it costs money"));
    let calls = [("act", r#"{"text":"x"}"#), ("act", r#"{"text":"y"}"#)];
    let deployment = deployment(&[&tool], &policy, vec![Turn::calls(&calls), Turn::text("done")]);
    paused(deployment.start().await);
    let one = answer(&deployment, &deployment.last_state(), approve());
    let pause = paused(deployment.resume_same(&one).await.unwrap());
    assert_eq!((tool.start_count(), pause.machine().questions().count()), (1, 1));
    let refuse = Answer::Refuse { by: principal("eve"), reason: "one is enough".to_owned(), for_good: false };
    let both = answer(&deployment, &deployment.last_state(), refuse);
    assert_eq!(ending(deployment.resume_same(&both).await.unwrap()), Ending::Answered);
    assert_eq!(tool.start_count(), 1);
    check_whole(&deployment.journal.lines());
}

/// AB-06: an approval does not outrank a newer denial, whoever says it.
#[tokio::test(start_paused = true)]
async fn ab06_i15_policies_are_asked_again_and_an_approval_does_not_outrank_a_denial() {
    let refusing = ScriptedPolicy::new("strict", Judges::denies("not any more"));
    let (mut deployment, tool) = asking();
    paused(deployment.start().await);
    let answered = answer(&deployment, &deployment.last_state(), approve());
    // A policy that has come is heard as well.
    deployment.policies.push(refusing);
    assert_eq!(ending(deployment.resume(&answered).await.unwrap()), Ending::Answered);
    assert_eq!((tool.start_count(), deployment.denials()), (0, vec![DenialCode::Policy]));
    check_whole(&deployment.journal.lines());
}

#[tokio::test(start_paused = true)]
async fn i15_an_approval_under_rules_that_have_changed_meanwhile_is_asked_for_again() {
    let (deployment, tool) = asking();
    paused(deployment.start().await);
    let answered = answer(&deployment, &deployment.last_state(), approve());
    deployment.policies[0].rules().fetch_add(1, Ordering::Relaxed);
    let pause = paused(deployment.resume_same(&answered).await.unwrap());
    assert_eq!((tool.start_count(), pause.machine().questions().count()), (0, 1));
    let again = answer(&deployment, &deployment.last_state(), approve());
    assert_eq!(ending(deployment.resume_same(&again).await.unwrap()), Ending::Answered);
    assert_eq!(tool.start_count(), 1);
    check_whole(&deployment.journal.lines());
}

/// Two processes that go on with one stored run, one after the other or at once, share the count of used approvals.
#[tokio::test(start_paused = true)]
async fn i20_two_processes_with_one_approval_start_the_tool_once() {
    let (deployment, tool) = asking();
    paused(deployment.start().await);
    let answered = answer(&deployment, &deployment.last_state(), approve());
    let mut deployment = deployment;
    deployment.model = ScriptedModel::by(|_| Turn::text("done"));
    let mut other = deployment.clone();
    // A copy of the record: each has its own, as on two machines.
    other.journal = MemoryJournal::new();
    other.journal.clone().append(&deployment.journal.lines(), Durability::Durable).unwrap();
    let (one, two) = tokio::join!(deployment.resume_same(&answered), other.resume_same(&answered));
    assert_eq!((ending(one.unwrap()), ending(two.unwrap())), (Ending::Answered, Ending::Answered));
    assert_eq!(tool.start_count(), 1);
    let denials = [deployment.denials(), other.denials()].concat();
    assert_eq!(denials, [DenialCode::Redeemed]);
    check_whole(&deployment.journal.lines());
    check_whole(&other.journal.lines());
}

pub(crate) struct Breaks(pub(crate) bool);

impl Redeemer for Breaks {
    fn redeem(&self, _run: &RunId, _binding: Digest) -> Result<(), RedeemError> {
        assert!(!self.0, "the count is broken");
        Err(RedeemError::Failed("the count cannot be written".to_owned()))
    }
}

#[tokio::test(start_paused = true)]
async fn i07_an_approval_that_cannot_be_counted_runs_nothing_and_is_reported_once() {
    for panics in [false, true] {
        let (mut deployment, tool) = asking();
        deployment.approver = Some(ScriptedApprover::approving("eve"));
        deployment.redeemer = Arc::new(Breaks(panics));
        assert_eq!(ending(deployment.start().await), Ending::Answered);
        assert_eq!((tool.start_count(), deployment.denials()), (0, vec![DenialCode::Redeemed]));
        let failures = deployment.watcher.failures();
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert_eq!(failures[0].who.as_str(), "redeemer");
        check_whole(&deployment.journal.lines());
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_person_refused_stays_refused_though_the_checkpoint_does_not_know_of_it() {
    let (mut deployment, tool) = asking();
    deployment.approver = Some(ScriptedApprover::refusing("eve", "no"));
    deployment.model = ScriptedModel::new([Turn::calls(&[("act", r#"{"text":"x"}"#)]), Turn::hangs()]);
    let kill = Cancel::new();
    let stop = kill.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.fire();
    });
    assert!(deployment.start_killed(kill).await.is_none());
    // The state in which the question was open.
    let states = deployment.kept.states.lock().unwrap().clone();
    let open = states.iter().rev().find(|(state, _)| read(state).questions().count() == 1).unwrap().0.clone();
    deployment.approver = Some(ScriptedApprover::approving("eve"));
    deployment.model = ScriptedModel::new([Turn::text("done")]);
    assert_eq!(ending(deployment.resume_same(&open).await.unwrap()), Ending::Answered);
    assert_eq!(tool.start_count(), 0);
    check_lines(&deployment.journal.lines());
}

/// AB-19 and I44: the process is killed while the tool is at work, and whatever the tool does with a repetition decides.
#[tokio::test(start_paused = true)]
async fn ab19_i44_after_a_crash_an_effect_is_known_repeated_where_it_may_be_or_in_doubt() {
    for (effect, starts, in_doubt) in [
        (Effect::Pure, 2, false),
        (Effect::Idempotent, 2, false),
        (Effect::Reconcile, 1, true),
        (Effect::Once, 1, true),
    ] {
        let kill = Cancel::new();
        let (tries, at_work) = (Arc::new(AtomicUsize::new(0)), kill.clone());
        let tool = ScriptedTool::by("act", effect, move |_| {
            if tries.fetch_add(1, Ordering::Relaxed) == 0 {
                at_work.fire();
                Acts::Hangs
            } else {
                Acts::Echoes
            }
        });
        let turns = vec![Turn::calls(&[("act", r#"{"text":"x"}"#)]), Turn::text("done")];
        let deployment = deployment(&[&tool], &ScriptedPolicy::allowing(), turns);
        assert!(deployment.start_killed(kill).await.is_none());
        let resumed = deployment.resume_same(&deployment.last_state()).await.unwrap();
        let Stopped::Finished(finished) = resumed else { panic!("it pauses") };
        assert_eq!((&finished.ending, tool.start_count()), (&Ending::Answered, starts), "{effect}");
        let unknown = deployment.facts().into_iter().any(|fact| match fact {
            Fact::ToolFinished { outcome, .. } => {
                outcome == ToolOutcomeKind::Unknown(ToolErrorClass::Cancelled)
            }
            _ => false,
        });
        assert_eq!(unknown, in_doubt || effect == Effect::Idempotent, "{effect}");
        let keys: Vec<String> =
            tool.starts().iter().map(|start| start.context.idempotency_key.clone()).collect();
        assert!(keys.iter().all(|key| *key == keys[0]), "another key for another try");
        check_whole(&deployment.journal.lines());
    }
}

/// An approval is for one start: a call that may be repeated after a crash is repeated when a person says so once more.
#[tokio::test(start_paused = true)]
async fn i20_a_call_that_runs_again_after_a_crash_is_asked_about_again() {
    let kill = Cancel::new();
    let (tries, at_work) = (Arc::new(AtomicUsize::new(0)), kill.clone());
    let tool = ScriptedTool::by("act", Effect::Idempotent, move |_| {
        if tries.fetch_add(1, Ordering::Relaxed) == 0 {
            at_work.fire();
            Acts::Hangs
        } else {
            Acts::Echoes
        }
    });
    let policy = ScriptedPolicy::new("careful", Judges::asks("it costs money"));
    let turns = vec![Turn::calls(&[("act", r#"{"text":"x"}"#)]), Turn::text("done")];
    let mut deployment = deployment(&[&tool], &policy, turns);
    deployment.approver = Some(ScriptedApprover::approving("eve"));
    assert!(deployment.start_killed(kill).await.is_none());
    deployment.approver = Some(leaving_open());
    paused(deployment.resume_same(&deployment.last_state()).await.unwrap());
    assert_eq!((tool.start_count(), deployment.denials()), (1, Vec::new()));
    let answered = answer(&deployment, &deployment.last_state(), approve());
    assert_eq!(ending(deployment.resume_same(&answered).await.unwrap()), Ending::Answered);
    let keys: Vec<String> = tool.starts().iter().map(|start| start.context.idempotency_key.clone()).collect();
    assert!(keys.len() == 2 && keys[0] == keys[1], "{keys:?}");
    check_whole(&deployment.journal.lines());
}

#[tokio::test(start_paused = true)]
async fn i44_what_the_record_tells_of_an_effect_is_known_though_the_checkpoint_is_older() {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let turns = vec![Turn::calls(&[("act", r#"{"text":"what it did"}"#)]), Turn::text("done")];
    let deployment = deployment(&[&tool], &ScriptedPolicy::allowing(), turns);
    assert_eq!(ending(deployment.start().await), Ending::Answered);
    // The last state that was on the medium, and the record up to the tool's return.
    let states = deployment.kept.states.lock().unwrap().clone();
    let durable = states.iter().rev().find(|(_, durability)| *durability == Durability::Durable).unwrap();
    let finished = |line: &Emission| match line {
        Emission::Entry(entry) => matches!(entry.fact, Fact::ToolFinished { .. }),
        Emission::Part(_) => false,
    };
    let lines = deployment.journal.lines();
    let upto = lines.iter().position(finished).unwrap();
    let mut later = deployment.clone();
    later.journal = MemoryJournal::new();
    later.journal.clone().append(&lines[..=upto], Durability::Durable).unwrap();
    later.model = ScriptedModel::new([Turn::text("done")]);
    assert_eq!(ending(later.resume_same(&durable.0).await.unwrap()), Ending::Answered);
    assert_eq!(tool.start_count(), 1);
    assert!(later.model.asked()[0].text().contains("what it did"));
    check_whole(&later.journal.lines());
}

#[tokio::test(start_paused = true)]
async fn i28_a_checkpoint_from_before_an_effect_is_refused() {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let turns = vec![Turn::calls(&[("act", r#"{"text":"x"}"#)]), Turn::text("done")];
    let mut deployment = deployment(&[&tool], &ScriptedPolicy::allowing(), turns);
    assert_eq!(ending(deployment.start().await), Ending::Answered);
    let first = deployment.kept.states.lock().unwrap()[0].0.clone();
    deployment.model = ScriptedModel::new([Turn::text("done")]);
    let refused = deployment.resume(&first).await.unwrap_err();
    assert!(matches!(refused, StartError::Resume(ResumeError::Older(_))), "{refused}");
    assert_eq!(tool.start_count(), 1);
}

/// S6: what was spent stays spent, over the pause and what the checkpoint does not know of.
#[tokio::test(start_paused = true)]
async fn s6_budgets_counts_and_effects_go_on() {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let policy = ScriptedPolicy::by("careful", |call, _| {
        if call.arguments().as_str().contains("ask") { Judges::asks("why") } else { Judges::allows() }
    });
    let turns = vec![
        Turn::calls(&[("act", r#"{"text":"1"}"#)]),
        Turn::calls(&[("act", r#"{"text":"ask"}"#)]),
        Turn::calls(&[("act", r#"{"text":"3"}"#)]),
        Turn::text("done"),
    ];
    let mut deployment = deployment(&[&tool], &policy, turns);
    deployment.limits = Limits { tool_calls_max: 2, ..Limits::default() };
    let before = paused(deployment.start().await);
    assert_eq!(tool.start_count(), 1);
    let answered = answer(&deployment, &deployment.last_state(), approve());
    let Stopped::Finished(finished) = deployment.resume_same(&answered).await.unwrap() else {
        panic!("it pauses")
    };
    // The third call is over the limit of both processes together.
    assert_eq!(tool.start_count(), 2);
    assert!(finished.usage.input > before.machine().usage().input);
    check_whole(&deployment.journal.lines());
}

#[tokio::test(start_paused = true)]
async fn limits_only_fall_and_the_time_at_rest_does_not_count() {
    let (mut deployment, tool) = asking();
    deployment.limits = Limits { wall_ms_max: Some(60_000), ..Limits::default() };
    paused(deployment.start().await);
    let answered = answer(&deployment, &deployment.last_state(), approve());
    deployment.clock.advance_ms(3_600_000);
    deployment.limits = Limits { tool_calls_max: 0, wall_ms_max: None, ..Limits::default() };
    let ending = ending(deployment.resume(&answered).await.unwrap());
    assert!(matches!(ending, Ending::WrappedUp { .. }), "{ending:?}");
    assert_eq!((tool.start_count(), deployment.denials()), (0, vec![DenialCode::Limit]));
}

#[tokio::test(start_paused = true)]
async fn i21_a_question_that_expired_at_rest_is_closed() {
    const DAY_MS: u64 = 86_400_000;
    for (wait_ms, answered_late) in [(DAY_MS, true), (DAY_MS, false), (DAY_MS - 1, true)] {
        let (deployment, tool) = asking();
        paused(deployment.start().await);
        deployment.clock.advance_ms(wait_ms);
        let state = deployment.last_state();
        let state = if answered_late { answer(&deployment, &state, approve()) } else { state };
        // Redeemed at the earliest a moment later; the last moment before the expiry is still good.
        assert_eq!(ending(deployment.resume_same(&state).await.unwrap()), Ending::Answered);
        let expired = wait_ms == DAY_MS;
        assert_eq!(tool.start_count(), usize::from(!expired));
        assert_eq!(deployment.denials(), if expired { vec![DenialCode::Expired] } else { Vec::new() });
        check_whole(&deployment.journal.lines());
    }
}

/// What makes a task another one, and what the run says to it.
#[tokio::test(start_paused = true)]
async fn i35_a_run_is_taken_up_by_its_own_task_only() {
    let (deployment, tool) = asking();
    paused(deployment.start().await);
    let answered = answer(&deployment, &deployment.last_state(), approve());
    type Change = fn(&mut Deployment);
    type Expected = fn(&ResumeError) -> bool;
    let changes: [(Change, Expected); 4] = [
        (|it| it.principal = "mallory", |error| matches!(error, ResumeError::OtherPrincipal { .. })),
        (|it| it.policies.clear(), |error| matches!(error, ResumeError::PolicyGone(_))),
        (
            |it| it.above.push(ScriptedPolicy::allowing()),
            |error| matches!(error, ResumeError::OtherAncestors),
        ),
        (
            |it| it.policies = vec![ScriptedPolicy::new("other", Judges::allows())],
            |error| matches!(error, ResumeError::PolicyGone(_)),
        ),
    ];
    for (change, is_expected) in changes {
        let mut other = deployment.clone();
        change(&mut other);
        let refused = other.resume(&answered).await.unwrap_err();
        let StartError::Resume(error) = &refused else { panic!("{refused}") };
        assert!(is_expected(error), "{error}");
        assert!(!error.hint().is_empty());
    }
    let mut machine = read(&answered);
    let other_run = deployment.task().spec(run_id("other"), 0).unwrap();
    let refused = machine.resume(&other_run, &Resumption::default()).unwrap_err();
    assert!(matches!(refused, ResumeError::OtherRun { .. }));
    assert_eq!(tool.start_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_for_a_tool_that_is_gone_or_another_now_is_denied() {
    let gone: fn(&mut Deployment) = |it| it.tools.clear();
    let described: fn(&mut Deployment) = |it| {
        let schema = serde_json::json!({"type": "object", "description": "now it does more"});
        it.tools = vec![it.tools[0].clone().schema(schema)];
    };
    for change in [gone, described] {
        let (mut deployment, tool) = asking();
        paused(deployment.start().await);
        let answered = answer(&deployment, &deployment.last_state(), approve());
        change(&mut deployment);
        assert_eq!(ending(deployment.resume(&answered).await.unwrap()), Ending::Answered);
        // A record does not tell that a tool is gone.
        assert_eq!(check_broken(&deployment.journal.lines()).is_ok(), !deployment.tools.is_empty());
        assert_eq!((tool.start_count(), deployment.denials()), (0, vec![DenialCode::ToolChanged]));
        check_whole(&deployment.journal.lines());
    }
}

#[tokio::test(start_paused = true)]
async fn i42_where_no_checkpoint_can_be_kept_before_an_effect_nothing_runs() {
    for panics in [false, true] {
        // Whichever it is, an effect does not come without the one before it.
        for fails_at in 0..4 {
            let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
            let turns = vec![Turn::calls(&[("act", r#"{"text":"x"}"#)]), Turn::text("done")];
            let mut deployment = deployment(&[&tool], &ScriptedPolicy::allowing(), turns);
            deployment.kept = Kept { fails_at: Some(fails_at), panics, ..Kept::default() };
            let stopped = ending(deployment.start().await);
            let kept = deployment.kept.states.lock().unwrap().clone();
            let durable = kept.iter().position(|(_, durability)| *durability == Durability::Durable);
            let reached = durable.is_some_and(|at| at < fails_at);
            assert_eq!(tool.start_count(), usize::from(reached), "checkpoint {fails_at}");
            assert!(matches!(stopped, Ending::RecordFailed { .. }), "{stopped:?}");
        }
    }
}

/// An answer to a run at rest that is late, doubled or for another question.
#[tokio::test(start_paused = true)]
async fn i29_an_answer_to_a_run_at_rest_is_for_an_open_question() {
    let (deployment, _) = asking();
    paused(deployment.start().await);
    let mut machine = read(&deployment.last_state());
    let binding = machine.questions().next().unwrap().binding();
    let foreign = Digest::of("test", &[b"another question"]);
    assert!(machine.answer_at_rest(0, foreign, approve()).is_err());
    assert_eq!(machine.questions().count(), 1);
    let lines = machine.answer_at_rest(0, binding, approve()).unwrap();
    let answered = entries(&lines).into_iter().any(|entry| {
        matches!(entry.fact, Fact::Answered { answer: AnswerKind::Approved, digest, .. } if digest == binding)
    });
    assert!(answered);
    assert!(machine.answer_at_rest(0, binding, approve()).is_err());
}

/// A call of each effect, and a place in the record where the process ends.
#[derive(Debug, Clone)]
struct Crash {
    effects: Vec<Effect>,
    state: prop::sample::Index,
    lost_lines: prop::sample::Index,
    times: u32,
}

fn crashes() -> impl Strategy<Value = Crash> {
    let effect =
        prop::sample::select(vec![Effect::Pure, Effect::Idempotent, Effect::Reconcile, Effect::Once]);
    let effects = prop::collection::vec(effect, 1..4);
    (effects, any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1..4_u32)
        .prop_map(|(effects, state, lost_lines, times)| Crash { effects, state, lost_lines, times })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// A process may end behind any checkpoint, with any part of what was written after it on the medium, also while it goes
    /// on after a crash. A tool that must not be repeated starts at most once all in all, every call has its result, and the
    /// record is one.
    #[test]
    fn i44_i43_no_effect_is_repeated_wherever_the_process_ends(crash in crashes()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(crashed(&crash));
    }
}

async fn crashed(crash: &Crash) {
    let tools: Vec<ScriptedTool> = crash
        .effects
        .iter()
        .enumerate()
        .map(|(at, effect)| ScriptedTool::new(&format!("tool_{at}"), *effect, Acts::Echoes))
        .collect();
    let names: Vec<String> = (0..tools.len()).map(|at| format!("tool_{at}")).collect();
    let calls: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), r#"{"text":"x"}"#)).collect();
    let answers = calls.iter().map(|call| Turn::calls(&[*call])).collect::<Vec<_>>();
    let model = ScriptedModel::by(move |request| {
        // The script goes by what the window tells, as a model does: one call after the other.
        let results = request
            .items
            .iter()
            .filter(|item| matches!(item.content, probity_contract::Content::ToolResult { .. }));
        answers.get(results.count()).cloned().unwrap_or_else(|| Turn::text("done"))
    });
    let all: Vec<&ScriptedTool> = tools.iter().collect();
    let mut deployment = deployment(&all, &ScriptedPolicy::allowing(), Vec::new());
    deployment.model = model;
    assert_eq!(ending(deployment.start().await), Ending::Answered);
    for _ in 0..crash.times {
        let states = deployment.kept.states.lock().unwrap().clone();
        let (state, _) = states.get(crash.state.index(states.len())).unwrap();
        let entries = read(state).entries();
        let lines = deployment.journal.lines();
        let at = |line: &Emission| matches!(line, Emission::Entry(entry) if entry.seq >= entries);
        let first_lost = lines.iter().position(at).unwrap_or(lines.len());
        let kept = first_lost + crash.lost_lines.index(lines.len() - first_lost + 1);
        // What is on the medium after the crash. The effects that were had beside it are real.
        let mut later = deployment.clone();
        later.journal = MemoryJournal::new();
        later.journal.clone().append(&lines[..kept], Durability::Durable).unwrap();
        later.kept = Kept::default();
        let began = |lines: &[Emission]| {
            crate::record_check::entries(lines)
                .iter()
                .filter(|entry| {
                    matches!(entry.fact, Fact::ToolStarted { effect: Effect::Once | Effect::Reconcile, .. })
                })
                .count()
        };
        let told = began(&lines[..kept]);
        let starts = |tools: &[ScriptedTool]| -> usize {
            let once = tools
                .iter()
                .zip(&crash.effects)
                .filter(|(_, effect)| matches!(effect, Effect::Once | Effect::Reconcile));
            once.map(|(tool, _)| tool.start_count()).sum()
        };
        let before = starts(&tools);
        match later.resume_same(state).await {
            Ok(stopped) => {
                assert_eq!(ending(stopped), Ending::Answered);
                check_whole_or_left_behind(&later.journal.lines());
                // Whatever had begun, as far as the medium tells, was not begun again.
                let once = crash
                    .effects
                    .iter()
                    .filter(|effect| matches!(effect, Effect::Once | Effect::Reconcile))
                    .count();
                assert!(told + (starts(&tools) - before) <= once, "an effect was had twice");
                deployment = later;
            }
            // There is a later checkpoint, and the record says so; or the run had ended.
            Err(StartError::Resume(ResumeError::Older(_) | ResumeError::Ended)) => return,
            Err(other) => panic!("{other}"),
        }
    }
}

/// As [`check_whole`], but for what a crash leaves open: calls and ends that stand behind the checkpoint.
fn check_whole_or_left_behind(lines: &[Emission]) {
    check_lines(lines);
    assert!(matches!(entries(lines).last().unwrap().fact, Fact::Ended { .. }));
}
