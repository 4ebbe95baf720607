//! Backward slices against an interpreter that carries along what everything was made of.

use std::collections::BTreeSet;

use probity_trace::{Follow, Graph, NodeId, NodeKind, Record, UnknownReason};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use crate::shadow::{Dice, Played, Tag, play};

fn records(played: &Played) -> Vec<Record> {
    played.bytes().iter().map(|bytes| Record::read(bytes).unwrap().record).collect()
}

fn tag(graph: &Graph<'_>, node: NodeId) -> Tag {
    let (run, line) = graph.place(node).unwrap();
    let run = graph.runs().position(|at| at == run).unwrap();
    (run, line.seq, graph.kind(node).unwrap())
}

fn check(played: &Played) {
    let records = records(played);
    let graph = Graph::of(&records.iter().collect::<Vec<_>>());
    let runs: Vec<_> = graph.runs().collect();
    for ((run, seq), taint) in &played.taints {
        let node = graph.entry(runs[*run], *seq).unwrap();
        for (follow, expected) in [(Follow::Data, &taint.data), (Follow::DataAndControl, &taint.all)] {
            let slice = graph.backward([node], follow);
            let found: BTreeSet<Tag> = slice.nodes().map(|node| tag(&graph, node)).collect();
            let more: Vec<_> = found.difference(expected).collect();
            let less: Vec<_> = expected.difference(&found).collect();
            assert!(
                more.is_empty() && less.is_empty(),
                "{:?} {follow:?} more {more:?} less {less:?}",
                tag(&graph, node)
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 200 } else { 4_000 }))]

    #[test]
    fn a_backward_slice_is_what_a_run_carried_along(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        check(&play(&mut Dice::new(bytes)));
    }

    #[test]
    fn forward_is_backward_from_the_other_side(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        picks in proptest::collection::vec(any::<prop::sample::Index>(), 4),
    ) {
        let played = play(&mut Dice::new(bytes));
        let records = records(&played);
        let graph = Graph::of(&records.iter().collect::<Vec<_>>());
        let nodes: Vec<NodeId> = graph.backward(graph.nodes(), Follow::Data).nodes().collect();
        prop_assert!(!nodes.is_empty());
        for follow in [Follow::Data, Follow::DataAndControl] {
            for pick in &picks {
                let node = nodes[pick.index(nodes.len())];
                let forward: BTreeSet<_> = graph.forward([node], follow).nodes().collect();
                let reached_from = |other: &&NodeId| graph.backward([**other], follow).contains(node);
                let backward: BTreeSet<_> = nodes.iter().filter(reached_from).copied().collect();
                prop_assert_eq!(forward, backward);
            }
        }
    }
}

/// What the interpreter plays has everything in it that an edge can come from.
#[test]
fn runs_by_chance_have_everything_in_them() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    let (mut deepest, mut entries) = (0, 0);
    for _ in 0..200 {
        let bytes = proptest::collection::vec(any::<u8>(), 400).new_tree(&mut runner).unwrap().current();
        let played = play(&mut Dice::new(bytes));
        deepest = deepest.max(played.records.len());
        entries += played.taints.len();
        seen.extend(played.taints.values().flat_map(|taint| taint.all.iter().map(|(.., kind)| *kind)));
    }
    use NodeKind::*;
    let expected = [
        Start,
        Item,
        ModelCall,
        Reply,
        RefusedReply,
        ModelFailure,
        Proposal,
        Rejection,
        Frozen,
        Judgement,
        Denial,
        Question,
        Answer,
        Execution,
        Outcome,
        ChildEnd,
        Reconciliation,
        Resumption,
        Interception,
        Replacement,
        Limit,
        MissedSchema,
        End,
        Unread,
        Tools,
        Tool,
    ];
    let missing: Vec<_> = expected.iter().filter(|kind| !seen.contains(kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    use UnknownReason::*;
    let reasons = [TextNotKept, TextMissing, Outside, Interceptor, Person, EarlierRun, RecordBrokeOff];
    let missing: Vec<_> = reasons.iter().filter(|reason| !seen.contains(&Unknown(**reason))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(deepest > 5 && entries > 8_000, "{deepest} runs, {entries} entries");
}

/// A result that a tool told when it was asked, refused by an interceptor, and then the run was taken up from before: found by the
/// drawn runs.
#[test]
fn what_was_made_of_a_result_is_on_record_with_it() {
    let bytes = vec![
        0, 104, 18, 86, 0, 12, 0, 128, 0, 65, 0, 12, 12, 0, 0, 0, 0, 1, 12, 66, 0, 12, 0, 0, 0, 0, 0, 0, 0,
        130, 0, 0, 0, 12, 0, 0, 0, 0, 0, 1, 40, 50, 45, 208, 165, 52, 225, 139, 238, 48, 26, 87, 90, 135,
        145, 4, 166, 87, 126, 172, 228, 176, 102, 80, 199, 30, 204, 223, 236, 11, 58, 230, 96, 179, 246, 61,
        17, 65, 65, 132, 147, 138, 254, 6, 201, 74, 12, 224, 183, 105, 202, 128, 82, 241, 27, 189, 32, 236,
        120, 207, 142, 225, 88, 7, 1, 182, 224, 38, 39, 41, 221, 113, 135, 102, 130, 1, 129, 124, 228, 42,
        50, 54, 249, 118, 254, 236, 68, 185, 241, 6, 131, 35, 159, 236, 82, 52, 197, 178, 100, 34, 80, 111,
        97, 61, 80, 0, 142, 82, 148, 195, 178, 121, 81, 128, 175, 179, 23, 252, 89, 7, 200, 230, 71, 176, 84,
        180, 230, 101, 187, 224, 44, 70, 214, 149, 241, 230, 152, 253, 47, 139, 229, 201, 53, 137, 66, 104,
        157, 40, 205, 212, 211, 171, 186, 80, 130, 15, 163, 91, 243, 18, 186, 157, 187, 162, 91, 238, 61, 38,
        131, 207, 102, 17, 111, 238, 234, 124, 82, 193, 188, 91, 255, 12, 253, 15, 56, 54, 76, 23, 199, 134,
        21,
    ];
    check(&play(&mut Dice::new(bytes)));
}

/// The same of one that was let pass: who let it pass is asked anew.
#[test]
fn who_let_a_result_pass_is_not_on_record_with_it() {
    let bytes = vec![
        0, 6, 48, 72, 0, 0, 0, 1, 0, 0, 3, 0, 12, 0, 0, 0, 0, 1, 0, 63, 0, 123, 11, 0, 0, 0, 0, 128, 0, 200,
        0, 0, 171, 17, 17, 0, 24,
    ];
    check(&play(&mut Dice::new(bytes)));
}
