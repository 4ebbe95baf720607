//! Whatever a model proposes in a fork: no effect is served more often than it was made.

use std::collections::{HashMap, HashSet};

use probity_contract::{Content, Readers, ReplyPart, ToolName};
use probity_trace::atoms_of_text;
use probity_why::{Asked, CallKey, Fork, ForkChange, ForkStep, Kept, LiveRead, Recorded, Target};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::forks::reply;
use crate::runs::{paid, payer};

/// Calls that a model may propose: recorded ones in several spellings, near misses, nonsense.
fn proposals() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop::sample::select(vec![
        ("pay", r#"{"amount":1,"to":"ACME-9"}"#),
        ("pay", r#"{ "to":"ACME-9", "amount":1.0 }"#),
        ("pay", r#"{"amount":1,"to":"ACME-8"}"#),
        ("pay", r#"{"amount":1,"to":"ACME-9","#),
        ("look", r#"{"what":"limits"}"#),
        ("look", "{}"),
        ("Pay", r#"{"amount":1,"to":"ACME-9"}"#),
        ("", ""),
    ])
}

#[tokio::test]
async fn a_hundred_thousand_forks_repeat_no_effect_and_no_read() {
    let notes = [("vendors", "the vendor is ACME-9"), ("handbook", "limit=1200 EUR")];
    let (record, _) = paid(&notes, payer).await;
    let recorded = Recorded::of(&record).unwrap();
    let items = recorded.window(0).unwrap();
    let kept = Kept::Atoms(atoms_of_text("1200 EUR"));
    let turns = prop::collection::vec(prop::collection::vec(proposals(), 0..4), 1..8);
    let reads = prop::collection::vec(any::<bool>(), 0..3);
    let drawn = (0_usize..3, prop::collection::vec(0..items.len(), 0..3), turns, reads);
    let tools = ["look", "pay"].map(|name| ToolName::new(name).unwrap());
    let mut runner =
        TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100_000) });
    runner
        .run(&drawn, |(from, without, turns, reads)| {
            let changes: Vec<ForkChange> =
                without.into_iter().map(|at| ForkChange::StandIn(Target::Item(items[at]))).collect();
            let mut fork = Fork::begin(&recorded, from, &changes, Asked::Reply(2), kept.clone()).unwrap();
            if !reads.is_empty() {
                fork = fork.with_live_reads(tools.clone());
            }
            let (mut reads, mut made) = (reads.into_iter(), HashSet::new());
            for calls in turns {
                let parts = calls.into_iter().map(|(tool, arguments)| ReplyPart::call("x", tool, arguments));
                fork.heard(Ok(&reply(parts.collect())));
                while let ForkStep::Read(call) = fork.step() {
                    prop_assert_eq!(&call.name, "look", "only a tool that reads");
                    let key = CallKey::of(&call.name, &call.arguments);
                    prop_assert!(made.insert(key), "each read once");
                    let read = LiveRead { text: "read".into(), is_error: false, readers: Readers::Everyone };
                    fork.heard_read(reads.next().unwrap_or(false).then_some(read));
                }
                if let ForkStep::Done(_) = fork.step() {
                    break;
                }
            }
            // Payments in the window: those before the fork, and those that it served.
            let mut results: HashMap<&str, usize> = HashMap::new();
            for item in fork.window() {
                if let Content::ToolResult { tool, .. } = &item.content {
                    *results.entry(tool.as_str()).or_insert(0) += 1;
                }
            }
            prop_assert!(results.get("pay").copied().unwrap_or(0) <= 1, "one payment was made");
            prop_assert!(results.keys().all(|tool| ["pay", "look"].contains(tool)));
            Ok(())
        })
        .unwrap();
}
