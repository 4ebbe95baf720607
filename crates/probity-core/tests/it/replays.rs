//! A recorded run that is played again writes the same record, byte for byte.

use std::sync::{Arc, Mutex};

use probity_contract::{Answer, Effect, Emission, Limits, ToolOutput};
use probity_core::{Host, ReplayError, Task, replay, run_task};
use probity_testkit::{
    Acts, Judges, MemoryJournal, ScriptedApprover, ScriptedModel, ScriptedPolicy, ScriptedTool, Turn,
    principal, run_id,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::simulator::{Plan, Schedule, Script, Trouble, play};

fn bytes(lines: &[Emission]) -> String {
    lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
}

/// The lines again, or where they first differ.
fn check(lines: &[Emission]) -> Result<(), String> {
    match replay(lines) {
        Ok(again) if bytes(&again) == bytes(lines) => Ok(()),
        Ok(_) => Err("it gave other lines".to_owned()),
        Err(ReplayError::Differs { seq }) => {
            let before = usize::try_from(seq).unwrap_or(0).saturating_sub(4);
            let entries = lines.iter().filter_map(|line| match line {
                Emission::Entry(entry) => Some(format!("{entry:?}")),
                Emission::Part(_) => None,
            });
            let near: Vec<String> =
                entries.skip(before).take(7).map(|line| line.chars().take(180).collect()).collect();
            Err(format!("it differs at {seq}:\n{}", near.join("\n")))
        }
        Err(error) => Err(error.to_string()),
    }
}

fn scripts() -> impl Strategy<Value = (Script, Vec<u16>, Trouble)> {
    let turn = prop::collection::vec(prop::sample::select(Plan::ALL.to_vec()), 1..4);
    let effect =
        prop::sample::select(vec![Effect::Pure, Effect::Idempotent, Effect::Reconcile, Effect::Once]);
    let trouble = prop_oneof![
        4 => Just(Trouble::None),
        1 => (0_usize..60).prop_map(Trouble::CancelledAfter),
        1 => Just(Trouble::EverythingTwice),
    ];
    let limits = prop_oneof![Just(50_u32), 1_u32..3];
    (prop::collection::vec(turn, 0..4), effect, limits, prop::collection::vec(any::<u16>(), 0..40), trouble)
        .prop_map(|(turns, effect, turns_max, picks, trouble)| {
            let limits = Limits { turns_max, ..Limits::default() };
            (Script { limits, effect, ..Script::new(turns) }, picks, trouble)
        })
}

#[test]
fn a_thousand_seeded_runs_are_the_same_byte_for_byte_when_they_are_played_again() {
    let config = Config { cases: 1_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    runner
        .run(&scripts(), |(script, picks, trouble)| {
            let played = play(&script, Schedule::picking(&picks), trouble);
            prop_assert_eq!(check(&played.lines), Ok(()));
            Ok(())
        })
        .unwrap();
}

#[tokio::test]
async fn runs_of_the_real_driver_are_played_again_too() {
    let asks = || Arc::new(ScriptedPolicy::new("asks", Judges::asks("a person shall look")));
    let answers = [
        Answer::Approve { by: principal("eve"), more: 0 },
        Answer::Refuse { by: principal("eve"), reason: "not\nnow".into(), for_good: false },
        Answer::Edit { by: principal("eve"), arguments: r#"{"text":"other"}"#.into() },
        Answer::Nobody,
    ];
    for answer in answers {
        let journal = MemoryJournal::new();
        let turns = [Turn::calls(&[("act", r#"{"text":"x"}"#)]), Turn::text("done")];
        let tool = ScriptedTool::new("act", Effect::Once, Acts::Returns(ToolOutput::text("a result")));
        let task = Task::new(Arc::new(ScriptedModel::new(turns)), principal("ada"), "do it")
            .instructions("You act.")
            .tool(Arc::new(tool))
            .policy(asks());
        let answers = Mutex::new(vec![Answer::Approve { by: principal("eve"), more: 0 }, answer.clone()]);
        let approver = Arc::new(ScriptedApprover::new(move |_| answers.lock().unwrap().pop()));
        let host = Host { approver: Some(approver), ..Host::new(Box::new(journal.clone())) };
        run_task(task, run_id("replayed"), host).await.unwrap();
        assert_eq!(check(&journal.lines()), Ok(()), "{answer:?}");
    }
}

#[test]
fn a_record_that_was_changed_or_cut_does_not_pass_for_itself() {
    let script = Script::new(vec![vec![Plan::Runs(crate::simulator::Ends::Well)]]);
    let lines = play(&script, Schedule::oldest_first(), Trouble::None).lines;
    assert_eq!(check(&lines), Ok(()));
    // A record that broke off is the beginning of one.
    for cut in 1..lines.len() {
        let again = replay(&lines[..cut]);
        assert!(again.is_ok() || cut < 3 || matches!(again, Err(ReplayError::Differs { .. })), "{again:?}");
    }
    let text = bytes(&lines);
    for (was, is) in
        [("\"ran_ms\":1", "\"ran_ms\":2"), ("\"input\":10", "\"input\":11"), ("\"allow\"", "\"deny\"")]
    {
        assert!(text.contains(was), "{was}");
        let changed: Result<Vec<Emission>, _> =
            text.replace(was, is).lines().map(serde_json::from_str).collect();
        // What came from outside may be anything; what follows from it may not.
        if let Ok(changed) = changed {
            let verdict = replay(&changed);
            assert!(verdict.as_ref().is_err() || verdict.is_ok_and(|again| again == changed), "{is}");
        }
    }
}
