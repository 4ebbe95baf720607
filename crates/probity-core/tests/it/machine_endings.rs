//! However a run ends, no call is left without its result and nothing starts afterwards.

use std::collections::BTreeMap;

use probity_contract::{CallId, Content, Ending, LimitKind, Limits, ReplyPartKind};
use proptest::prelude::*;

use crate::record_check::check_whole;
use crate::simulator::{Ends, Plan, Played, Schedule, Script, Trouble, play};

/// A run that goes through every stage that a call can be in.
fn rich() -> Script {
    let runs = Plan::Runs(Ends::Well);
    let mut script = Script::new(vec![
        vec![runs, Plan::Approved(Ends::Well), Plan::Denied, Plan::Malformed],
        vec![Plan::DeniedLater, runs, runs, Plan::Refused],
    ]);
    script.limits.tool_calls_parallel_max = 2;
    script
}

/// Every call of every reply has exactly one result, in order, straight after the reply.
fn check_items(played: &Played) {
    let mut next = CallId(1);
    let mut open: Vec<CallId> = Vec::new();
    for item in played.items() {
        match &item.content {
            Content::Reply(parts) => {
                assert!(open.is_empty(), "open at the next reply: {open:?}");
                for part in parts.iter() {
                    if matches!(part.kind, ReplyPartKind::Call(_)) {
                        open.push(next);
                        next.0 += 1;
                    }
                }
            }
            Content::ToolResult { call, .. } => {
                assert!(!open.is_empty() && open.remove(0) == *call, "{call} out of order");
            }
            _ => assert!(open.is_empty(), "open at another item: {open:?}"),
        }
    }
    assert!(open.is_empty(), "without a result: {open:?}");
}

const ORDERS: [&[u16]; 3] = [&[], &[1, 2, 3, 2, 1, 3, 3, 2, 1, 2, 1, 2, 3, 1, 2], &[7; 40]];

#[test]
fn s2_a_run_cancelled_at_any_step_leaves_no_call_id_dangling() {
    for order in ORDERS {
        let whole = play(&rich(), Schedule::picking(order), Trouble::None);
        check_items(&whole);
        assert!(whole.steps > 50, "{}", whole.steps);
        let mut too_late = 0;
        for step in 1..=whole.steps {
            let played = play(&rich(), Schedule::picking(order), Trouble::CancelledAfter(step));
            if played.ending != Ending::Cancelled {
                assert_eq!(played.ending, whole.ending);
                too_late += 1;
            }
            check_items(&played);
            check_whole(&played.lines);
        }
        // The last steps are the record and the notices of an end that has come already.
        assert!(too_late < 5, "{too_late}");
    }
}

#[test]
fn s2_a_run_whose_record_fails_at_any_step_stops_at_once_and_leaves_no_call_id_dangling() {
    for order in ORDERS {
        let whole = play(&rich(), Schedule::picking(order), Trouble::None);
        for record in 0..whole.records {
            let played = play(&rich(), Schedule::picking(order), Trouble::RecordFailsAt(record));
            assert_eq!(played.ending, Ending::RecordFailed { error: "the disk is full".to_owned() });
            assert_eq!(played.answer(), None);
            assert_eq!(played.records_after_failure, 0, "a record goes on after a gap");
            check_items(&played);
            assert!(played.started.len() <= whole.started.len());
        }
    }
}

#[test]
fn a_run_paused_once_at_any_point_ends_the_same_and_runs_each_permitted_call_once() {
    for order in ORDERS {
        let whole = play(&rich(), Schedule::picking(order), Trouble::None);
        let sorted = |played: &Played| {
            let mut started = played.started.clone();
            started.sort();
            started
        };
        assert_eq!(sorted(&whole), [1, 2, 6, 7].map(CallId));
        for feed in 0..40 {
            let paused = play(&rich(), Schedule::picking(order), Trouble::StoredAfter(1 << feed));
            check_whole(&paused.lines);
            assert_eq!((&paused.ending, paused.items()), (&whole.ending, whole.items()), "after {feed}");
            assert_eq!(sorted(&paused), sorted(&whole), "after {feed}");
        }
    }
}

fn some_script() -> impl Strategy<Value = Script> {
    let plan = proptest::sample::select(Plan::ALL.to_vec());
    let turns = proptest::collection::vec(proptest::collection::vec(plan, 0..5), 1..4);
    (turns, 1_u32..4).prop_map(|(turns, tool_calls_parallel_max)| {
        let limits = Limits { tool_calls_parallel_max, ..Limits::default() };
        Script { limits, ..Script::new(turns) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn s2_every_proposed_call_has_one_result_on_every_ending(
        script in some_script(),
        picks in proptest::collection::vec(any::<u16>(), 0..60),
        at in 1_usize..60,
    ) {
        for trouble in [Trouble::None, Trouble::CancelledAfter(at), Trouble::RecordFailsAt(at / 3)] {
            check_items(&play(&script, Schedule::picking(&picks), trouble));
        }
    }
}

#[test]
fn turns_that_run_out_end_in_a_last_answer_without_tools() {
    let mut script = rich();
    script.limits.turns_max = 1;
    let played = play(&script, Schedule::oldest_first(), Trouble::None);
    assert_eq!(played.ending, Ending::WrappedUp { limit: LimitKind::Turns });
    assert_eq!(played.answer().as_deref(), Some("the answer"));
    assert_eq!(played.started, [CallId(1), CallId(2)]);
    check_items(&played);
}

/// A second seat that denies gives its place under the limit back: nothing was started with it.
#[test]
fn s5_a_call_denied_at_the_last_moment_does_not_count_as_run() {
    let mut script =
        Script::new(vec![vec![Plan::DeniedLater, Plan::DeniedLater], vec![Plan::Runs(Ends::Well)]]);
    script.limits.tool_calls_max = 2;
    let played = play(&script, Schedule::oldest_first(), Trouble::None);
    assert_eq!(played.started, [CallId(3)]);
    assert_eq!(played.counted_tool_calls(), 1);
    assert_eq!(played.ending, Ending::Answered);
}

/// Which calls of a batch a scarce limit lets run depends on their order in the reply, not on who was judged first.
#[test]
fn a_scarce_limit_goes_to_the_first_calls_of_the_reply_in_any_order_of_outcomes() {
    let runs = Plan::Runs(Ends::Well);
    let mut script = Script::new(vec![vec![Plan::Approved(Ends::Well), Plan::Denied, runs, runs]]);
    script.limits.tool_calls_max = 2;
    let mut seen = BTreeMap::new();
    for seed in 0..200_u16 {
        let picks: Vec<u16> = (0..40).map(|at| seed.wrapping_mul(31).wrapping_add(at * at)).collect();
        let mut started = play(&script, Schedule::picking(&picks), Trouble::None).started;
        started.sort();
        *seen.entry(started).or_insert(0) += 1;
    }
    assert_eq!(seen.keys().collect::<Vec<_>>(), [&vec![CallId(1), CallId(3)]]);
}
