//! What holds of all tasks below others, whoever judges and whatever is asked.

use std::sync::Arc;

use probity_contract::{
    Arguments, Asker, Bench, CallFacts, CallId, Digest, Epoch, FrozenCall, Judgement, Label, Level, Opinion,
    PendingCall, QuestionFacts, Roster, Ruling, Said, Seat, Verdict,
};
use probity_testkit::{policy_name, principal, run_id, tool_name};
use proptest::prelude::*;

/// What one task says of a call, by the verdict of its one policy; from the most permissive to the strictest.
fn said(choice: u8) -> (Said, u8) {
    let reason = "because".to_owned();
    match choice {
        0 => (Said::Verdict(Verdict::Allow { reason }), 0),
        1 => (Said::Verdict(Verdict::Ask { reason }), 1),
        2 => (Said::Verdict(Verdict::Deny { reason }), 2),
        3 => (Said::Verdict(Verdict::Abstain), 2),
        _ => (Said::Failed(reason), 2),
    }
}

/// The bench of a task below all these, made as tasks are started: from the top down, the last is the task itself.
fn below(tasks: &[u8]) -> Bench {
    let roster = || Roster::new(vec![policy_name("the policy")]).unwrap();
    tasks.iter().skip(1).fold(Bench::of(roster()), |bench, _| bench.for_child(roster()).unwrap())
}

/// How strict the call is ruled on.
fn ruled(tasks: &[u8]) -> u8 {
    let opinions: Vec<Opinion> = (0_u8..)
        .zip(tasks.iter().rev())
        .map(|(level, choice)| Opinion {
            level: Level(level),
            policy: policy_name("the policy"),
            epoch: None,
            said: said(*choice).0,
        })
        .collect();
    match below(tasks).rule(Seat::ExecuteRecheck, &opinions) {
        Ruling::Allow => 0,
        Ruling::Ask(_) => 1,
        Ruling::Deny(_) => 2,
    }
}

fn call(run: u8, who: u8, number: u32, text: u8) -> Arc<FrozenCall> {
    let facts = CallFacts {
        run: run_id(&format!("run{run}")),
        call: CallId(number),
        principal: principal(&format!("who{who}")),
        tool: tool_name("act"),
        tool_digest: Digest::of("test", &[b"act"]),
        arguments: Arguments::parse(&format!(r#"{{"text":{text}}}"#)).unwrap(),
        targets: Vec::new(),
        operands: Vec::new(),
        label: Label::person(),
        arguments_from: Vec::new(),
    };
    Arc::new(FrozenCall::freeze(facts).unwrap())
}

fn asking() -> (Vec<Asker>, Vec<Epoch>, Vec<Opinion>) {
    let (policy, epoch) = (policy_name("the policy"), Digest::of("test", &[b"rules"]));
    let reason = "sure?".to_owned();
    let asker = Asker { level: Level::OWN, policy: policy.clone(), reason: reason.clone() };
    let said = Said::Verdict(Verdict::Ask { reason });
    let opinion = Opinion { level: Level::OWN, policy: policy.clone(), epoch: Some(epoch), said };
    (vec![asker], vec![Epoch { level: Level::OWN, policy, epoch }], vec![opinion])
}

proptest! {
    /// The constraints of the tasks above compose as the strictest of them: their order, their grouping and one that stands
    /// there twice are nothing, and one more never allows more.
    #[test]
    fn i32_constraints_of_tasks_compose_as_a_meet(
        (tasks, shuffled) in proptest::collection::vec(0_u8..5, 1..=4)
            .prop_flat_map(|tasks| (Just(tasks.clone()), Just(tasks).prop_shuffle())),
        more in 0_u8..5,
        at in 0_usize..5,
    ) {
        let strictest = tasks.iter().map(|choice| said(*choice).1).max().unwrap();
        prop_assert_eq!(ruled(&tasks), strictest);
        prop_assert_eq!(ruled(&shuffled), strictest, "the order");
        let with = |choice: u8| {
            let mut tasks = tasks.clone();
            tasks.insert(at.min(tasks.len()), choice);
            ruled(&tasks)
        };
        prop_assert_eq!(with(tasks[0]), strictest, "the same once more");
        prop_assert!(with(more) >= strictest, "one more");
        // Ruled on in two groups, and then both together.
        let (one, other) = tasks.split_at(at.min(tasks.len()));
        let group = |tasks: &[u8]| if tasks.is_empty() { 0 } else { ruled(tasks) };
        prop_assert_eq!(group(one).max(group(other)), strictest, "the grouping");
    }

    /// However deep, and read back from what was written down: who is heard above is heard below, one level further away.
    #[test]
    fn i33_every_way_to_a_child_s_bench_keeps_all_levels(
        rosters in proptest::collection::vec(proptest::collection::btree_set(0_u8..6, 0..4), 1..=5),
        stored_at in 0_usize..5,
    ) {
        let roster = |names: &std::collections::BTreeSet<u8>| {
            Roster::new(names.iter().map(|name| policy_name(&format!("p{name}"))).collect()).unwrap()
        };
        let mut bench = Bench::of(roster(&rosters[0]));
        for (at, names) in rosters.iter().enumerate().skip(1) {
            if at == stored_at {
                bench = serde_json::from_str(&serde_json::to_string(&bench).unwrap()).unwrap();
            }
            let child = bench.for_child(roster(names)).unwrap();
            prop_assert_eq!(&child.levels()[1..], bench.levels());
            prop_assert_eq!(&child.levels()[0], &roster(names));
            bench = child;
        }
        if rosters.len() == 5 {
            prop_assert!(bench.for_child(roster(&rosters[0])).is_err(), "too deep");
        }
    }

    /// A person's approval is of one call of one task for one principal: in any other it answers nothing.
    #[test]
    fn i35_an_approval_of_one_task_answers_nothing_in_another(
        one in (0_u8..2, 0_u8..2, 1_u32..3, 0_u8..2),
        other in (0_u8..2, 0_u8..2, 1_u32..3, 0_u8..2),
    ) {
        let make = |(run, who, number, text)| call(run, who, number, text);
        let (askers, epochs, opinions) = asking();
        let question = PendingCall::put(QuestionFacts {
            call: make(one),
            seat: Seat::Adjudicate,
            askers,
            epochs,
            principals: vec![principal("scout"), principal("ada")],
            number: 1,
            not_before_ms: 0,
            expires_at_ms: 1_000,
        });
        let grant = question.approve(principal("eve"));
        let bench = Bench::of(Roster::new(vec![policy_name("the policy")]).unwrap());
        let mut hearing = Judgement::open(make(other), bench);
        let _asks = hearing.hear(Seat::Adjudicate, &opinions);
        let _asks = hearing.hear(Seat::ExecuteRecheck, &opinions);
        prop_assert_eq!(hearing.is_answered_by(&grant), one == other);
        // And remembered for more, it is one for the very same task and principal.
        let mut kept = question.remember(principal("eve"), 1);
        let asked = PendingCall::put(QuestionFacts { call: make(other), ..question.facts().clone() });
        let same = (one.0, one.1, one.3) == (other.0, other.1, other.3);
        prop_assert_eq!(kept.redeem(&asked, 5).is_some(), same);
        hearing.grant(grant);
        prop_assert!(hearing.permit(5).is_err(), "nobody has used it up");
    }
}
