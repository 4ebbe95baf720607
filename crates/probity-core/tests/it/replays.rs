//! A recorded run that is played again writes the same record, byte for byte.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use probity_contract::{
    Answer, Clock, Effect, Emission, FrozenCall, Limits, ToolError, ToolErrorClass, ToolOutput,
};
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
    played_again(lines, |again| bytes(again) == bytes(lines))
}

/// As [`check`], of a run that broke off: a text may stand in its record that no entry came to name.
pub(crate) fn check_broken(lines: &[Emission]) -> Result<(), String> {
    played_again(lines, |again| {
        let (entries, texts): (Vec<_>, Vec<_>) =
            again.iter().partition(|line| matches!(line, Emission::Entry(_)));
        let told: Vec<_> = lines.iter().filter(|line| matches!(line, Emission::Entry(_))).collect();
        entries == told && texts.iter().all(|text| lines.contains(text))
    })
}

fn played_again(lines: &[Emission], is_same: impl Fn(&[Emission]) -> bool) -> Result<(), String> {
    match replay(lines) {
        Ok(again) if is_same(&again) => Ok(()),
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

/// A clock that has moved whenever it is read: no two readings are in one millisecond.
#[derive(Default)]
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn unix_ms(&self) -> u64 {
        1_767_225_600_000 + self.monotonic_ms()
    }

    fn monotonic_ms(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

/// What becomes of a call with this argument.
const KINDS: [&str; 8] = ["runs", "fails", "breaks", "denied", "asked", "refused", "edited", "nobody"];

/// The record of a task of the real driver, whose replies propose calls of these kinds.
async fn driven(turns: &[Vec<&'static str>], effect: Effect) -> Vec<Emission> {
    let text =
        |call: &FrozenCall| call.arguments().to_value()["text"].as_str().unwrap_or_default().to_owned();
    let proposes = |kinds: &Vec<&'static str>| {
        let arguments: Vec<String> = kinds.iter().map(|kind| format!(r#"{{"text":"{kind}"}}"#)).collect();
        Turn::calls(&arguments.iter().map(|one| ("act", one.as_str())).collect::<Vec<_>>())
    };
    let turns: Vec<Turn> = turns.iter().map(proposes).chain([Turn::text("done")]).collect();
    let tool = ScriptedTool::by("act", effect, move |call| match text(call).as_str() {
        "fails" => Acts::Fails(ToolError::new(ToolErrorClass::Failed, "it did not work")),
        "breaks" => Acts::Panics("it broke".into()),
        _ => Acts::Returns(ToolOutput::text("a result")),
    });
    let policy = ScriptedPolicy::by("judge", move |call, _| match text(call).as_str() {
        "denied" => Judges::denies("no"),
        "asked" | "refused" | "edited" | "nobody" => Judges::asks("a person shall look"),
        _ => Judges::allows(),
    });
    let approver = ScriptedApprover::new(move |question| {
        let by = principal("eve");
        Some(match text(question.call()).as_str() {
            "refused" => Answer::Refuse { by, reason: "not\nnow".into(), for_good: false },
            "edited" => Answer::Edit { by, arguments: r#"{"text":"asked"}"#.into() },
            "nobody" => Answer::Nobody,
            _ => Answer::Approve { by, more: 0 },
        })
    });
    let journal = MemoryJournal::new();
    let task = Task::new(Arc::new(ScriptedModel::new(turns)), principal("ada"), "do it")
        .instructions("You act.")
        .tool(Arc::new(tool))
        .policy(Arc::new(policy));
    let host = Host {
        approver: Some(Arc::new(approver)),
        clock: Arc::new(Ticking::default()),
        ..Host::new(Box::new(journal.clone()))
    };
    run_task(task, run_id("replayed"), host).await.unwrap();
    journal.lines()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_of_the_real_driver_are_played_again_too() {
    for kind in KINDS {
        assert_eq!(check(&driven(&[vec![kind]], Effect::Once).await), Ok(()), "{kind}");
    }
    // Calls side by side, whose outcomes come in any order.
    for number in 0..300_usize {
        let kind = |at: usize| KINDS[(number * 7 + at * at * 3 + number / 8 * at) % KINDS.len()];
        let turns = [vec![kind(0), kind(1), kind(2)], vec![kind(3), kind(4)]];
        let effect = [Effect::Once, Effect::Pure, Effect::Reconcile, Effect::Idempotent][number % 4];
        assert_eq!(check(&driven(&turns, effect).await), Ok(()), "{number} {turns:?} {effect:?}");
    }
}

#[test]
fn a_record_that_was_changed_or_cut_does_not_pass_for_itself() {
    let script = Script::new(vec![vec![Plan::Runs(crate::simulator::Ends::Well)]]);
    let lines = play(&script, Schedule::oldest_first(), Trouble::None).lines;
    assert_eq!(check(&lines), Ok(()));
    // A record that broke off is the beginning of one, but for entries of one hand-over whose last is missing: they do not say all
    // that came.
    let ends = (1..=lines.len()).filter(|end| matches!(lines[end - 1], Emission::Entry(_)));
    let mut whole = 0;
    for (entries, end) in (1_u64..).zip(ends).skip(2) {
        match replay(&lines[..end]) {
            Ok(again) => whole += u32::from(again == lines[..end]),
            Err(ReplayError::Differs { seq }) => assert!(entries - seq <= 3, "cut behind {entries}: {seq}"),
            Err(error) => panic!("cut behind {entries}: {error}"),
        }
    }
    assert!(whole > 5, "{whole}");
    let text = bytes(&lines);
    // What came from outside may be anything; what follows from it may not.
    for (was, is, follows) in [
        ("\"ran_ms\":1", "\"ran_ms\":2", false),
        ("\"input\":10", "\"input\":11", true),
        ("\"allow\"", "\"deny\"", true),
        ("\"seat\":\"execute-recheck\"", "\"seat\":\"inherited\"", true),
    ] {
        let changed = text.replacen(was, is, 1);
        assert_ne!(changed, text, "{was}");
        let changed: Vec<Emission> =
            changed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(replay(&changed).is_err(), follows, "{is}");
    }
}
