//! Whatever breaks when a run is taken up with an approval in it: the tool does not run, and it is told of once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use probity_contract::{Effect, Ending, Redeemer as _, Seat};
use probity_core::MemoryRedeemer;
use probity_testkit::{Acts, Judges, MemoryJournal, ScriptedPolicy, ScriptedTool, Turn, Watcher, fake_token};

use crate::resuming::{Breaks, Deployment, Kept, answer, approve, deployment, ending, paused, read};

/// What breaks in the process that takes the run up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    PolicyErrs,
    PolicyPanics,
    PolicyHangs,
    PolicyIsRestless,
    RedeemerErrs,
    RedeemerPanics,
    /// Somebody else was first.
    ApprovalUsed,
    /// The record takes no more, from this append on.
    RecordFails(usize),
    /// No checkpoint can be kept, from the first durable one on.
    KeeperErrs,
    KeeperPanics,
}

const FAULTS: [Fault; 12] = [
    Fault::PolicyErrs,
    Fault::PolicyPanics,
    Fault::PolicyHangs,
    Fault::PolicyIsRestless,
    Fault::RedeemerErrs,
    Fault::RedeemerPanics,
    Fault::ApprovalUsed,
    Fault::RecordFails(1),
    Fault::RecordFails(2),
    Fault::RecordFails(3),
    Fault::KeeperErrs,
    Fault::KeeperPanics,
];
const EFFECTS: [Effect; 4] = [Effect::Pure, Effect::Idempotent, Effect::Reconcile, Effect::Once];

impl Fault {
    const fn is_of_a_policy(self) -> bool {
        matches!(self, Self::PolicyErrs | Self::PolicyPanics | Self::PolicyHangs | Self::PolicyIsRestless)
    }

    /// Whether the deployment hears of it on the failure lane: the record and the checkpoints end the run instead, and that
    /// somebody was first is nobody's failure.
    const fn is_reported(self) -> bool {
        self.is_of_a_policy() || matches!(self, Self::RedeemerErrs | Self::RedeemerPanics)
    }
}

/// A policy that allows as long as nothing is resumed, and then breaks.
fn breaking(fault: Fault, resumed: &Arc<AtomicU64>, secret: &str) -> ScriptedPolicy {
    let (resumed, secret) = (Arc::clone(resumed), secret.to_owned());
    let rules = Arc::new(AtomicU64::new(0));
    let own = Arc::clone(&rules);
    let policy = ScriptedPolicy::by("breaking", move |_, seat| {
        if resumed.load(Ordering::SeqCst) == 0 || seat != Seat::ExecuteRecheck {
            return Judges::allows();
        }
        match fault {
            Fault::PolicyErrs => Judges::Fails(format!("lost {secret}\nline two")),
            Fault::PolicyPanics => Judges::Panics(format!("lost {secret}\nline two")),
            Fault::PolicyHangs => Judges::Hangs,
            Fault::PolicyIsRestless => {
                own.fetch_add(1, Ordering::SeqCst);
                Judges::allows()
            }
            _ => Judges::allows(),
        }
    });
    policy.with_rules(rules)
}

fn broken(mut deployment: Deployment, fault: Fault, state: &str) -> Deployment {
    match fault {
        Fault::RedeemerErrs => deployment.redeemer = Arc::new(Breaks(false)),
        Fault::RedeemerPanics => deployment.redeemer = Arc::new(Breaks(true)),
        Fault::ApprovalUsed => {
            let used = MemoryRedeemer::new();
            let state: serde_json::Value = serde_json::from_str(state).unwrap();
            let binding = state["calls"]["1"]["grant"]["binding"].clone();
            let binding = serde_json::from_value(binding).expect("the call has a grant");
            used.redeem(read(&state.to_string()).id(), binding).unwrap();
            deployment.redeemer = Arc::new(used);
        }
        Fault::RecordFails(nth) => {
            let lines = deployment.journal.lines();
            deployment.journal = MemoryJournal::failing_from(nth + 1);
            probity_contract::Journal::append(
                &mut deployment.journal.clone(),
                &lines,
                probity_contract::Durability::Durable,
            )
            .unwrap();
        }
        Fault::KeeperErrs => deployment.kept = Kept { fails_at: Some(0), ..Kept::default() },
        Fault::KeeperPanics => deployment.kept = Kept { fails_at: Some(0), panics: true, ..Kept::default() },
        _ => {}
    }
    deployment
}

async fn check(fault: Fault, above: bool, effect: Effect, lane_breaks: bool) {
    let case = format!("{fault:?}, above: {above}, {effect}, lane breaks: {lane_breaks}");
    let secret = fake_token(11);
    let resumed = Arc::new(AtomicU64::new(0));
    let tool = ScriptedTool::new("act", effect, Acts::Echoes);
    let careful = ScriptedPolicy::new("careful", Judges::asks("sure?"));
    let turns = vec![Turn::calls(&[("act", r#"{"text":"x"}"#)]), Turn::text("done")];
    let mut deployment = deployment(&[&tool], &careful, turns);
    deployment.limits.judge_timeout_ms = 50;
    let policy = breaking(fault, &resumed, &secret);
    if above {
        deployment.above.push(policy);
    } else {
        deployment.policies.push(policy);
        deployment.above.push(ScriptedPolicy::allowing());
    }
    if lane_breaks {
        deployment.watcher = Watcher::panicking();
    }
    paused(deployment.start().await);
    let state = answer(&deployment, &deployment.last_state(), approve());
    let deployment = broken(deployment, fault, &state);
    resumed.store(1, Ordering::SeqCst);
    let stopped = ending(deployment.resume(&state).await.unwrap());
    assert_eq!(tool.start_count(), 0, "{case}");
    let failures = deployment.watcher.failures();
    assert_eq!(failures.len(), usize::from(fault.is_reported()), "{case}: {failures:?}");
    let stops = matches!(fault, Fault::RecordFails(_) | Fault::KeeperErrs | Fault::KeeperPanics);
    assert_eq!(matches!(stopped, Ending::RecordFailed { .. }), stops, "{case}: {stopped:?}");
    assert_eq!(stopped == Ending::Answered, !stops, "{case}: {stopped:?}");
    let said = format!("{failures:?} {:?} {stopped:?}", deployment.journal.lines());
    assert!(!said.contains(&secret), "{case}");
}

/// 192 combinations of fault, level, effect and failure lane.
#[tokio::test(start_paused = true)]
async fn i07_i09_i42_whatever_breaks_when_a_run_is_taken_up_runs_nothing_and_is_told_of_once() {
    let mut combinations = 0;
    for fault in FAULTS {
        for above in [false, true] {
            for effect in EFFECTS {
                for lane_breaks in [false, true] {
                    check(fault, above, effect, lane_breaks).await;
                    combinations += 1;
                }
            }
        }
    }
    assert_eq!(combinations, 192);
}

/// The control: with nothing broken the same run goes on.
#[tokio::test(start_paused = true)]
async fn with_nothing_broken_the_approved_call_runs() {
    for effect in EFFECTS {
        let tool = ScriptedTool::new("act", effect, Acts::Echoes);
        let careful = ScriptedPolicy::new("careful", Judges::asks("sure?"));
        let turns = vec![Turn::calls(&[("act", r#"{"text":"x"}"#)]), Turn::text("done")];
        let mut deployment = deployment(&[&tool], &careful, turns);
        deployment.above.push(ScriptedPolicy::allowing());
        paused(deployment.start().await);
        let state = answer(&deployment, &deployment.last_state(), approve());
        assert_eq!(ending(deployment.resume(&state).await.unwrap()), Ending::Answered);
        assert_eq!(tool.start_count(), 1, "{effect}");
    }
}
