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
