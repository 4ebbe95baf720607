//! Any order of outcomes, any pause: the same run.

use std::collections::BTreeMap;

use probity_contract::{AnswerKind, CallId, Effect, Fact, Limits};
use proptest::prelude::*;

use crate::record_check::{canonical, check_whole, entries};
use crate::simulator::{Plan, Schedule, Script, Trouble, play};

fn some_script() -> impl Strategy<Value = Script> {
    let plan = proptest::sample::select(Plan::ALL.to_vec());
    let turns = proptest::collection::vec(proptest::collection::vec(plan, 0..5), 1..4);
    let effect =
        proptest::sample::select(vec![Effect::Pure, Effect::Idempotent, Effect::Reconcile, Effect::Once]);
    let tool_calls_max = prop_oneof![Just(200_u32), 0_u32..6];
    (turns, effect, 1_u32..5, tool_calls_max, 1_u32..5).prop_map(
        |(turns, effect, tool_calls_parallel_max, tool_calls_max, turns_max)| {
            let limits = Limits { tool_calls_parallel_max, tool_calls_max, turns_max, ..Limits::default() };
            Script { turns, limits, effect }
        },
    )
}

fn some_picks() -> impl Strategy<Value = Vec<u16>> {
    proptest::collection::vec(any::<u16>(), 0..80)
}

fn sorted(mut calls: Vec<CallId>) -> Vec<CallId> {
    calls.sort();
    calls
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_order_of_outcomes_gives_the_same_record(script in some_script(), picks in some_picks()) {
        let one = play(&script, Schedule::oldest_first(), Trouble::None);
        let other = play(&script, Schedule::picking(&picks), Trouble::None);
        check_whole(&one.lines);
        check_whole(&other.lines);
        prop_assert_eq!(canonical(&other.lines), canonical(&one.lines));
        prop_assert_eq!(&other.ending, &one.ending);
        prop_assert_eq!(other.answer(), one.answer());
        prop_assert_eq!(other.items(), one.items());
        prop_assert_eq!(sorted(other.started), sorted(one.started));
    }

    /// What is decided of a call, and how often each is judged, does not hang on when the calls beside it are.
    #[test]
    fn i45_what_is_decided_of_a_call_does_not_hang_on_the_timing_of_others(
        script in some_script(),
        picks in some_picks(),
    ) {
        // With room for all: which calls come too late for a limit does hang on who is first.
        let mut script = script;
        script.limits.tool_calls_max = 200;
        let decisions = |schedule| {
            let lines = play(&script, schedule, Trouble::None).lines;
            let mut of_calls: BTreeMap<CallId, Vec<String>> = BTreeMap::new();
            for fact in entries(&lines).into_iter().map(|entry| entry.fact) {
                let decision = match &fact {
                    Fact::Judged { call, seat, opinions } => (*call, format!("{seat} {opinions:?}")),
                    Fact::Denied { call, denial } => (*call, format!("{denial:?}")),
                    Fact::ToolStarted { call, .. } => (*call, "starts".to_owned()),
                    _ => continue,
                };
                of_calls.entry(decision.0).or_default().push(decision.1);
            }
            of_calls
        };
        prop_assert_eq!(decisions(Schedule::picking(&picks)), decisions(Schedule::oldest_first()));
    }

    #[test]
    fn one_order_gives_one_record_to_the_byte(script in some_script(), picks in some_picks()) {
        let play = || play(&script, Schedule::picking(&picks), Trouble::None).lines;
        prop_assert_eq!(serde_json::to_string(&play()).unwrap(), serde_json::to_string(&play()).unwrap());
    }

    #[test]
    fn a_run_stored_and_read_back_at_any_points_ends_the_same(
        script in some_script(),
        picks in some_picks(),
        // Not after every outcome for ever: a permit that is lost each time before it could be handed out runs nothing.
        pauses in any::<u64>(),
    ) {
        let whole = play(&script, Schedule::picking(&picks), Trouble::None);
        let paused = play(&script, Schedule::picking(&picks), Trouble::StoredAfter(pauses >> 1));
        check_whole(&paused.lines);
        prop_assert_eq!(&paused.ending, &whole.ending);
        prop_assert_eq!(paused.answer(), whole.answer());
        prop_assert_eq!(paused.items(), whole.items());
        prop_assert_eq!(sorted(paused.started), sorted(whole.started));
    }

    /// Whoever takes a run over finishes it: nothing that must not be repeated is, and nothing is lost silently.
    #[test]
    fn a_run_taken_over_at_any_points_ends_and_repeats_no_effect(
        script in some_script(),
        picks in some_picks(),
        // Not at every point for ever: a run that is always taken over before its model answers never ends.
        points in any::<u32>(),
    ) {
        let whole = play(&script, Schedule::picking(&picks), Trouble::None);
        let taken_over = play(&script, Schedule::picking(&picks), Trouble::AbandonedAt(points.into()));
        check_whole(&taken_over.lines);
        prop_assert_eq!(&taken_over.ending, &whole.ending);
        prop_assert_eq!(taken_over.items().len(), whole.items().len());
        let mut starts = sorted(taken_over.started.clone());
        starts.dedup();
        prop_assert_eq!(starts.len() as u64, taken_over.counted_tool_calls());
        prop_assert!(starts.len() <= script.limits.tool_calls_max as usize);
        match script.effect {
            Effect::Pure | Effect::Idempotent => {
                prop_assert_eq!(taken_over.items(), whole.items());
                prop_assert_eq!(starts, sorted(whole.started));
            }
            Effect::Reconcile | Effect::Once => prop_assert_eq!(starts, sorted(taken_over.started)),
        }
    }

    #[test]
    fn i29_late_repeated_and_foreign_outcomes_change_nothing(script in some_script(), picks in some_picks()) {
        let plain = play(&script, Schedule::picking(&picks), Trouble::None);
        let troubled = play(&script, Schedule::picking(&picks), Trouble::EverythingTwice);
        // But for answers that came twice: those are told, and move nothing.
        let told = entries(&troubled.lines).into_iter().map(|entry| entry.fact);
        let told: Vec<Fact> =
            told.filter(|fact| !matches!(fact, Fact::Answered { answer: AnswerKind::Void, .. })).collect();
        let expected: Vec<Fact> = entries(&plain.lines).into_iter().map(|entry| entry.fact).collect();
        prop_assert_eq!(told, expected);
        prop_assert_eq!(troubled.ending, plain.ending);
    }

    #[test]
    fn i43_and_s5_tool_calls_are_counted_by_their_permits(script in some_script(), picks in some_picks()) {
        let played = play(&script, Schedule::picking(&picks), Trouble::None);
        prop_assert_eq!(played.counted_tool_calls(), played.started.len() as u64);
        prop_assert!(played.started.len() <= script.limits.tool_calls_max as usize);
        prop_assert!(played.most_at_once <= script.limits.tool_calls_parallel_max as usize);
        let mut once = sorted(played.started.clone());
        once.dedup();
        prop_assert_eq!(once.len(), played.started.len());
    }

    #[test]
    fn every_permitted_call_runs_where_no_limit_stands_in_the_way(
        mut script in some_script(),
        picks in some_picks(),
    ) {
        script.limits.tool_calls_max = 200;
        script.limits.turns_max = 50;
        let played = play(&script, Schedule::picking(&picks), Trouble::None);
        // A reply without a call is the answer; what would follow it never happens.
        let reached: Vec<Plan> = script.turns.iter().take_while(|turn| !turn.is_empty()).flatten().copied().collect();
        let expected: Vec<CallId> = (1..).zip(&reached).filter(|(_, plan)| plan.starts()).map(|(id, _)| CallId(id)).collect();
        prop_assert_eq!(sorted(played.started), expected);
    }
}
