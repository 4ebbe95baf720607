//! Records that no run would write: facts in any order, twice, about things that are not there, and in circles.

use std::collections::BTreeSet;

use probity_contract::{
    AnswerKind, Body, CallId, Composition, Emission, Ending, Enforcement, Fact, HookVerdict, Intercepted,
    ItemId, Label, LimitKind, ModelCallId, Origin, ParentCall, PartId, Point, ReconciledKind, RunId,
    Spending, ToolChoice, Usage, WindowDelta,
};
use probity_trace::{EdgeKind, Follow, Graph, NodeId, NodeKind, Record, RunAt, UnknownReason};
use proptest::prelude::*;
use serde_json::json;

use crate::samples::{Script, emissions, run_started};

fn item() -> impl Strategy<Value = ItemId> {
    (0_u32..6).prop_map(ItemId)
}

fn call() -> impl Strategy<Value = CallId> {
    (0_u32..4).prop_map(CallId)
}

fn model() -> impl Strategy<Value = ModelCallId> {
    (0_u32..4).prop_map(ModelCallId)
}

fn run() -> impl Strategy<Value = RunId> {
    "[a-c]".prop_map(|name| RunId::new(name).unwrap())
}

fn started(run: RunId, parent: Option<ParentCall>) -> Fact {
    let Fact::RunStarted(mut started) = run_started() else { panic!("it is a start") };
    (started.run, started.parent) = (run, parent);
    Fact::RunStarted(started)
}

fn fact() -> impl Strategy<Value = Fact> {
    let text = PartId::of("text");
    let origin = prop_oneof![
        Just(Origin::Task),
        Just(Origin::Principal),
        Just(Origin::Engine),
        model().prop_map(Origin::Model),
        call().prop_map(Origin::Tool)
    ];
    let body = prop_oneof![
        Just(Body::Person { text }),
        Just(Body::Reply { parts: vec![text; 3] }),
        call().prop_map(move |call| Body::ToolResult {
            call,
            provider_id: String::new(),
            tool: "t".into(),
            text,
            is_error: true
        })
    ];
    let row = (
        0_usize..8,
        any::<bool>(),
        any::<bool>(),
        proptest::option::of(call()),
        proptest::option::of(model()),
    )
        .prop_map(|(point, denies, changes, call, model_call)| {
            let verdict = if denies {
                HookVerdict::deny("no").unwrap()
            } else {
                HookVerdict::replace("so", json!(1)).unwrap()
            };
            Fact::Intercepted(Box::new(Intercepted {
                point: Point::ALL[point],
                sequence: 0,
                call,
                model_call,
                item: None,
                mode: Enforcement::Enforce,
                composition: Composition::default(),
                verdict,
                decided_by: None,
                verdicts: Vec::new(),
                truncated: None,
                resolved_by: None,
                registered: 1,
                before: PartId::of("a"),
                after: PartId::of(if changes { "b" } else { "a" }),
                input_identity: None,
                enforced_identity: None,
                identity_provider: None,
            }))
        });
    prop_oneof![
        (item(), origin, body).prop_map(|(item, origin, body)| Fact::ItemAdded {
            item,
            origin,
            label: Label::system(),
            body
        }),
        (model(), 0_u32..6, proptest::collection::vec(item(), 0..4), any::<bool>()).prop_map(
            |(call, keep, added, tools_offered)| Fact::ModelCalled {
                call,
                window: WindowDelta { keep, added },
                tool_choice: ToolChoice::Auto,
                tools_offered,
                output_tokens_max: None,
            }
        ),
        row,
        (item(), item()).prop_map(|(item, by)| Fact::ItemReplaced { item, by }),
        (any::<u64>(), 0_u64..9, any::<bool>()).prop_map(|(checkpoint, behind, all)| {
            let left_behind = if all { checkpoint } else { behind };
            Fact::Resumed { checkpoint, left_behind, tools: Vec::new() }
        }),
        (call(), run()).prop_map(|(call, run)| Fact::ChildEnded {
            call,
            run,
            ending: None,
            label: Label::system(),
            spent: Spending::default()
        }),
        (run(), run(), call())
            .prop_map(|(run, above, call)| started(run, Some(ParentCall { run: above, call }))),
        call().prop_map(|call| Fact::Reconciled { call, found: ReconciledKind::Unknown }),
        call().prop_map(|call| Fact::Answered {
            call,
            digest: probity_contract::Digest::of("t", &[]),
            answer: AnswerKind::Edited,
            by: None
        }),
        Just(Fact::LimitHit { limit: LimitKind::Cost }),
        item().prop_map(|item| Fact::Ended {
            ending: Ending::OutputInvalid,
            answer: Some(item),
            usage: Usage::default(),
            cost_usd: None
        }),
    ]
}

/// Facts of the samples, which know the gate, and of these, which know the rest.
fn record() -> impl Strategy<Value = Record> {
    let facts = proptest::collection::vec(fact(), 0..30);
    (run(), proptest::option::of((run(), call())), facts, emissions()).prop_map(
        |(run, parent, facts, more)| {
            let mut script = Script::default();
            script.fact(started(run, parent.map(|(run, call)| ParentCall { run, call })));
            let mut more = more.into_iter().skip(1);
            for fact in facts {
                script.fact(fact);
                match more.next() {
                    Some(Emission::Entry(entry)) => {
                        script.fact(entry.fact);
                    }
                    Some(part) => script.emissions.push(part),
                    None => {}
                }
            }
            Record::read(&script.bytes()).unwrap().record
        },
    )
}

fn data_of(graph: &Graph<'_>, node: NodeId, kind: NodeKind) -> Vec<NodeId> {
    let edges = graph.edges(node).filter(|edge| edge.kind == EdgeKind::Data).map(|edge| edge.to);
    edges.filter(|to| graph.kind(*to) == Some(kind)).collect()
}

/// The items of a window, as the fronts lead to them.
fn window(graph: &Graph<'_>, model_call: NodeId) -> (BTreeSet<ItemId>, bool) {
    let (mut items, mut is_untold) = (BTreeSet::new(), false);
    let mut open = data_of(graph, model_call, NodeKind::Front);
    let untold = NodeKind::Unknown(UnknownReason::WindowNotTold);
    is_untold |= !data_of(graph, model_call, untold).is_empty();
    while let Some(front) = open.pop() {
        items.extend(
            data_of(graph, front, NodeKind::Item)
                .iter()
                .filter_map(|node| graph.item_of(*node))
                .map(|of| of.1),
        );
        open.extend(data_of(graph, front, NodeKind::Front));
        is_untold |= !data_of(graph, front, untold).is_empty();
    }
    (items, is_untold)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn odd_records_have_a_graph_too(records in proptest::collection::vec(record(), 1..4)) {
        let records: Vec<&Record> = records.iter().collect();
        let graph = Graph::of(&records);
        for node in graph.nodes() {
            prop_assert!(graph.place(node).is_some() && graph.kind(node).is_some());
            prop_assert!(graph.edges(node).all(|edge| edge.to != node && graph.kind(edge.to).is_some()));
            let slice = graph.backward([node], Follow::DataAndControl);
            prop_assert!(slice.contains(node) && slice.len() <= graph.len());
        }
        let forward = graph.forward(graph.nodes(), Follow::Data);
        prop_assert_eq!(forward.len(), graph.len());
    }

    #[test]
    fn windows_of_the_graph_are_those_of_the_record(record in record()) {
        let graph = Graph::of(&[&record]);
        for call in record.model_calls() {
            let node = graph.model_call(RunAt::FIRST, call).unwrap();
            let (items, is_untold) = window(&graph, node);
            match record.window(call) {
                Ok(window) => {
                    prop_assert!(!is_untold);
                    let there = window.into_iter().filter(|item| record.item(*item).is_some());
                    prop_assert_eq!(items, there.collect());
                }
                Err(_) => prop_assert!(is_untold),
            }
        }
    }
}

/// What would be square if it were linked one by one: starts with all judgements before them, and tools that are offered anew.
#[test]
fn edges_grow_with_the_record_and_not_faster() {
    const ROUNDS: u32 = 2_000;
    let mut script = Script::default();
    let Fact::RunStarted(mut start) = run_started() else { panic!("it is a start") };
    let tool = start.tools[0].clone();
    start.tools = (0..ROUNDS)
        .map(|at| {
            let mut tool = tool.clone();
            tool.name = probity_contract::ToolName::new(format!("tool{at}")).unwrap();
            tool
        })
        .collect();
    script.fact(Fact::RunStarted(start));
    for round in 1..=ROUNDS {
        let call = CallId(1);
        script.fact(Fact::Judged { call, seat: probity_contract::Seat::Adjudicate, opinions: Vec::new() });
        let effect = probity_contract::Effect::Pure;
        script.fact(Fact::ToolStarted { call, effect, redeems: None });
        let (run, label, spent) = (RunId::new("a").unwrap(), Label::system(), Spending::default());
        script.fact(Fact::ChildEnded { call, run, ending: None, label, spent });
        script.fact(Fact::Resumed { checkpoint: 1, left_behind: u64::MAX, tools: vec![tool.clone()] });
        let body = Body::Person { text: PartId::of("text") };
        script.item(round, Origin::Principal, body);
        script.fact(Fact::ModelCalled {
            call: ModelCallId(round),
            window: WindowDelta { keep: round - 1, added: vec![ItemId(round)] },
            tool_choice: ToolChoice::Auto,
            tools_offered: true,
            output_tokens_max: None,
        });
    }
    let record = Record::read(&script.bytes()).unwrap().record;
    let graph = Graph::of(&[&record]);
    let entries = record.lines().len();
    assert!(graph.len() < 4 * entries, "{} nodes", graph.len());
    assert!(graph.edge_count() < 20 * entries, "{} edges", graph.edge_count());
}
