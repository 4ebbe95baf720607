//! Where a leading peer fails: what a run that is taken up may still do, and what a long run costs.

use std::collections::BTreeSet;
use std::sync::Arc;

use probity_contract::{
    Answer, Effect, Emission, Ending, Fact, Item, LimitKind, ModelCallId, Opinion, ReplyPart, Said, ToolSpec,
    Usage, Verdict,
};
use probity_core::{Run, Step};
use probity_testkit::{policy_name, principal};
use stats_alloc::Region;

use crate::desk::{Desk, Owed, answered, finished, judged, not_known, replied, spec, told, tool};

fn act(effect: Effect) -> ToolSpec {
    tool("act", effect)
}

fn asks() -> Vec<Opinion> {
    vec![Opinion::own(policy_name("careful"), Said::Verdict(Verdict::Ask { reason: "sure?".to_owned() }))]
}

pub(crate) fn allows() -> Vec<Opinion> {
    vec![Opinion::own(policy_name("careful"), Said::Verdict(Verdict::Allow { reason: "yes".to_owned() }))]
}

/// What a run has come to.
#[derive(Debug, PartialEq)]
struct Came {
    ending: Ending,
    usage: Usage,
    /// Calls whose tool was started, each once.
    started: Vec<u32>,
    /// Questions that were put to a person.
    questions: usize,
    tool_calls: u64,
    turns: u64,
}

/// A model that proposes the same call for ever; a person who approves it for two more times; and a limit of tool calls.
/// With `interrupted` another driver takes the run up at every wait.
fn play(interrupted: bool) -> Came {
    let mut spec = spec(vec![act(Effect::Once)]);
    spec.limits.tool_calls_max = 7;
    let mut desk = Desk::new(Run::new(spec).unwrap());
    let mut questions = BTreeSet::new();
    while desk.ending.is_none() {
        if interrupted {
            let running: Vec<_> =
                desk.open.iter().filter(|owed| matches!(owed, Owed::Tool(_))).cloned().collect();
            if running.is_empty() {
                desk = desk.taken_up(&desk.stored()).unwrap();
            }
        }
        match desk.open[0].clone() {
            Owed::Model(call) => {
                let part = ReplyPart::call("p1", "act", r#"{"text":"again"}"#);
                let is_last = desk.ending.is_none() && call > ModelCallId(8);
                let parts = if is_last { vec![ReplyPart::text("done")] } else { vec![part] };
                desk.feed(replied(call, parts)).unwrap();
            }
            Owed::Targets(call, _) => desk.feed(told(call, Vec::new())).unwrap(),
            Owed::Opinions(call, seat) => desk.feed(judged(&call, seat, asks())).unwrap(),
            Owed::Answer(question) => {
                questions.insert(question.binding());
                let answer = Answer::Approve { by: principal("eve"), more: 2 };
                desk.feed(answered(&question, answer)).unwrap();
            }
            Owed::Reconcile(call) => desk.feed(not_known(call)).unwrap(),
            Owed::Tool(call) => desk.feed(finished(call.id(), "done")).unwrap(),
        }
    }
    let state = serde_json::to_value(&desk.run).unwrap();
    Came {
        ending: desk.ending.clone().unwrap(),
        usage: desk.run.usage(),
        started: desk.started.iter().map(|call| call.id().0).collect(),
        questions: questions.len(),
        tool_calls: state["spent"]["tool_calls"].as_u64().unwrap(),
        turns: state["spent"]["turns"].as_u64().unwrap(),
    }
}

/// S6: a run that is taken up goes on with its counts, its budgets and what people approved; nothing runs a second time.
#[test]
fn s6_a_run_that_is_taken_up_goes_on_with_budgets_counts_effects_and_grants() {
    let whole = play(false);
    assert_eq!(whole.ending, Ending::WrappedUp { limit: LimitKind::ToolCalls });
    assert_eq!((whole.started.len(), whole.tool_calls), (7, 7));
    // The first alone, for the model has read nothing then; after that one question for three calls, twice; and one more for
    // a call that the limit stops.
    assert_eq!(whole.questions, 4, "{whole:?}");
    assert_eq!(play(true), whole);
}

/// S6: an effect that a run has had when it is stored is not had again, whatever it is.
#[test]
fn s6_what_ran_before_the_pause_does_not_run_again() {
    for effect in [Effect::Pure, Effect::Idempotent, Effect::Reconcile, Effect::Once] {
        let mut desk = Desk::new(Run::new(spec(vec![act(effect)])).unwrap());
        let calls = ["1", "2", "3"].map(|n| ReplyPart::call(n, "act", format!(r#"{{"text":"{n}"}}"#)));
        desk.feed(replied(ModelCallId(1), calls.to_vec())).unwrap();
        let mut results = 0;
        while desk.ending.is_none() {
            match desk.open[0].clone() {
                Owed::Model(call) => desk.feed(replied(call, vec![ReplyPart::text("done")])).unwrap(),
                Owed::Targets(call, _) => desk.feed(told(call, Vec::new())).unwrap(),
                Owed::Opinions(call, seat) => desk.feed(judged(&call, seat, allows())).unwrap(),
                Owed::Answer(question) => panic!("{question:?}"),
                Owed::Reconcile(call) => desk.feed(not_known(call)).unwrap(),
                Owed::Tool(call) => {
                    desk.feed(finished(call.id(), "done")).unwrap();
                    results += 1;
                    // A whole result is there; the others are on their way.
                    let others = desk.open.iter().filter(|owed| matches!(owed, Owed::Tool(_))).count();
                    if results == 1 {
                        desk = desk.taken_up(&desk.stored()).unwrap();
                        assert!(others <= 2);
                    }
                }
            }
        }
        let first = desk.started[0].id();
        let again = desk.started.iter().filter(|call| call.id() == first).count();
        assert_eq!(again, 1, "{effect}: what had ended is not started again");
    }
}

const CALLS: usize = 200;

/// What one turn costs.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    steps: usize,
    record_bytes: usize,
    allocated_bytes: usize,
}

/// R4: 200 tool calls, and the last costs what the first did: in the record, in steps, in memory that is asked for.
#[test]
fn r4_a_turn_costs_the_same_after_200_tool_calls() {
    let mut spec = spec(vec![act(Effect::Once)]);
    (spec.limits.turns_max, spec.limits.tool_calls_max) = (500, 500);
    let mut run = Run::new(spec).unwrap();
    let mut costs: Vec<Cost> = vec![Cost::default()];
    let mut windows: Vec<Arc<Item>> = Vec::new();
    let mut outcome = None;
    while costs.len() <= CALLS {
        let region = Region::new(crate::ALLOCATOR);
        if let Some(outcome) = outcome.take() {
            run.feed(0, outcome).unwrap();
        }
        let mut seen = Vec::new();
        while let Some(step) = run.next() {
            seen.push(step);
        }
        let allocated = region.change().bytes_allocated;
        let now = costs.len() - 1;
        costs[now].allocated_bytes += allocated;
        costs[now].steps += seen.len();
        for step in seen {
            match step {
                Step::Record { lines, .. } => {
                    costs[now].record_bytes +=
                        lines.iter().map(|line| serde_json::to_vec(line).unwrap().len()).sum::<usize>();
                    let whole = |line: &Emission| match line {
                        Emission::Entry(entry) => matches!(entry.fact, Fact::ModelCalled { .. }),
                        Emission::Part(_) => false,
                    };
                    assert!(lines.iter().filter(|line| whole(line)).count() <= 1);
                }
                Step::CallModel { call, request, .. } => {
                    // The window is the one of the turn before and what came since: no item was copied.
                    assert!(
                        windows.iter().zip(request.items.iter()).all(|(one, other)| Arc::ptr_eq(one, other))
                    );
                    windows = request.items.to_vec();
                    costs.push(Cost::default());
                    let part = ReplyPart::call("p", "act", r#"{"text":"the same in every turn"}"#);
                    outcome = Some(replied(call, vec![part]));
                }
                Step::Resolve { call, .. } => outcome = Some(told(call, Vec::new())),
                Step::Judge { call, seat } => outcome = Some(judged(&call, seat, allows())),
                Step::RunTool { permit, .. } => {
                    outcome = Some(finished(permit.call().id(), "the same result"))
                }
                _ => {}
            }
        }
    }
    let (early, late) = (&costs[11..21], &costs[CALLS - 10..CALLS]);
    let sum = |costs: &[Cost], of: fn(&Cost) -> usize| costs.iter().map(of).sum::<usize>();
    assert_eq!(sum(early, |cost| cost.steps), sum(late, |cost| cost.steps), "steps");
    // Numbers grow by a digit or two.
    let (before, after) = (sum(early, |cost| cost.record_bytes), sum(late, |cost| cost.record_bytes));
    assert!(
        before > 1_000 && after <= before + before / 20,
        "record: {before} bytes for ten turns, then {after}"
    );
    // Other tests of the same process would ask for memory meanwhile.
    if std::env::var_os("NEXTEST").is_some() {
        let (before, after) =
            (sum(early, |cost| cost.allocated_bytes), sum(late, |cost| cost.allocated_bytes));
        assert!(
            before > 1_000 && after <= before + before / 2,
            "memory: {before} bytes for ten turns, then {after}"
        );
    }
}
