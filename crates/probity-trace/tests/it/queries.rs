//! What is asked of records beside slices: who wrote, what was seen, what was executed, where two runs part.

use probity_contract::{
    AnswerKind, Body, CallId, Composition, Digest, Effect, Emission, Enforcement, Fact, HookVerdict,
    Intercepted, InterceptorName, ItemId, Kept, ModelCallId, Opinion, Origin, Part, PartId, Point,
    PrincipalId, ReplyPart, Said, Seat, Verdict, VerdictRow,
};
use probity_trace::{
    Author, Difference, Differs, Fidelity, FormStage, Graph, LetIn, NodeKind, Record, RunAt, first_divergence,
};
use proptest::prelude::*;
use serde_json::json;

use crate::graph::{called, desk, finished, frozen, read, replied, result};
use crate::samples::{Script, policy};
use crate::shadow::{Dice, play};

fn name(name: &str) -> InterceptorName {
    InterceptorName::new(name).unwrap()
}

fn row(point: Point, call: u32, before: &str, after: PartId) -> Fact {
    let changes = PartId::of(before) != after;
    let verdict = if changes { HookVerdict::replace("so", json!(1)).unwrap() } else { HookVerdict::allow() };
    let decision = if changes { "transform" } else { "allow" };
    Fact::Intercepted(Box::new(Intercepted {
        point,
        sequence: 0,
        call: Some(CallId(call)),
        model_call: None,
        item: None,
        mode: Enforcement::Enforce,
        composition: Composition::default(),
        verdict: verdict.without_content(),
        decided_by: None,
        verdicts: vec![VerdictRow {
            index: 0,
            interceptor: name("scrubber"),
            decision: decision.into(),
            reason: None,
        }],
        truncated: None,
        resolved_by: None,
        registered: 1,
        before: PartId::of(before),
        after,
        input_identity: None,
        enforced_identity: None,
        identity_provider: None,
    }))
}

/// A call that an interceptor and a person have changed.
fn changed() -> Script {
    let mut script = Script::started();
    let text = script.part("pay it");
    script.item(1, Origin::Principal, Body::Person { text });
    called(&mut script, 1, 0, &[1]);
    let proposed = r#"{"to": "bob", "usd": 10.0, "why": ["a"]}"#;
    replied(&mut script, 1, 2, &ReplyPart::call("", "pay", proposed));
    let (call, by, tool) = (CallId(1), ModelCallId(1), "pay".to_owned());
    let arguments = script.part(proposed);
    script.fact(Fact::CallProposed { call, by, provider_id: String::new(), tool, arguments });
    let after = script.part(r#"{"to":"eve","usd":10,"why":["a"]}"#);
    script.fact(row(Point::PreToolCall, 1, proposed, after));
    frozen(&mut script, 1, r#"{"to":"eve","usd":10,"why":["a"]}"#);
    let said = Said::Verdict(Verdict::Ask { reason: "much".into() });
    let opinions = vec![Opinion::own(policy(), said)];
    script.fact(Fact::Judged { call, seat: Seat::Adjudicate, opinions });
    let (digest, askers) = (Digest::of("test", &[b"call"]), vec![policy()]);
    script.fact(Fact::Asked { call, digest, binding: None, askers, expires_at_ms: 9 });
    let by = PrincipalId::new("ada").ok();
    script.fact(Fact::Answered { call, digest, answer: AnswerKind::Edited, by });
    frozen(&mut script, 1, r#"{"to":"eve","usd":7,"why":["a","b"]}"#);
    let said = Said::Verdict(Verdict::Allow { reason: "small".into() });
    let opinions = vec![Opinion::own(policy(), said)];
    script.fact(Fact::Judged { call, seat: Seat::EditRecheck, opinions });
    script.fact(Fact::ToolStarted { call, effect: Effect::Once, redeems: None });
    finished(&mut script, 1, "paid");
    result(&mut script, 3, 1, "paid");
    script
}

#[test]
fn proposed_against_executed_names_each_form_and_what_differs() {
    let record = read(&changed());
    let calls = record.compared_calls();
    assert_eq!(calls.len(), 1);
    let call = &calls[0];
    let stages: Vec<_> = call.forms.iter().map(|form| form.stage.clone()).collect();
    let edited = FormStage::Edited(PrincipalId::new("ada").ok());
    let expected =
        [FormStage::Proposed, FormStage::Intercepted(vec![name("scrubber")]), FormStage::Frozen, edited];
    assert_eq!(stages, expected);
    let at = |pointers: &[&str]| Difference::At {
        pointers: pointers.iter().map(|pointer| (*pointer).to_owned()).collect(),
        is_cut: false,
    };
    assert_eq!(call.changes, [at(&["/to"]), Difference::None, at(&["/usd", "/why/1"])]);
    assert_eq!(call.executed, Some(3));
    assert_eq!(call.proposed_against_executed, Some(at(&["/to", "/usd", "/why/1"])));
    assert_eq!(record.compared_call(CallId(1)).as_ref(), Some(call));
    assert_eq!(record.compared_call(CallId(2)), None);
}

#[test]
fn who_wrote_leads_from_a_result_to_the_model_over_all_who_changed_the_call() {
    let record = read(&changed());
    let graph = Graph::of(&[&record]);
    let authorship = graph.who_wrote(graph.item(RunAt::FIRST, ItemId(3)).unwrap());
    let kinds: Vec<_> = authorship.steps.iter().map(|step| step.kind).collect();
    use NodeKind::*;
    let expected =
        [Item, Outcome, Execution, Frozen, Answer, Question, Frozen, Interception, Proposal, Item, ModelCall];
    assert_eq!(kinds, expected);
    let by: Vec<_> = authorship.steps.iter().filter_map(|step| step.by.clone()).collect();
    let model = record.start().map(|start| start.model.clone());
    let expected = [
        Author::Tool { call: CallId(1) },
        Author::Person(PrincipalId::new("ada").ok()),
        Author::Interceptors(vec![name("scrubber")]),
        Author::Model { call: ModelCallId(1), model },
    ];
    assert_eq!(by, expected);
    let execution = &authorship.steps[2];
    assert!(matches!(&execution.let_in[0], LetIn::Policies { allowed, .. } if *allowed == [policy()]));
    assert!(matches!(&execution.let_in[1], LetIn::Person { by: Some(_), .. }));
    assert!(!authorship.is_cut);
    assert_eq!(
        graph.author_of(RunAt::FIRST, ItemId(1)),
        Some(Author::Principal(PrincipalId::new("ada").unwrap()))
    );
    assert!(matches!(graph.author_of(RunAt::FIRST, ItemId(2)), Some(Author::Model { .. })));
}

#[test]
fn a_window_is_told_with_the_bytes_of_each_item() {
    let mut script = desk();
    let gone = PartId::of("gone");
    script.emissions.push(Emission::Part(Part { id: gone, kept: Kept::Length(4) }));
    script.item(5, Origin::Task, Body::Notice { text: gone });
    called(&mut script, 3, 3, &[5, 9, 1]);
    let record = read(&script);
    let seen = record.seen(ModelCallId(2)).unwrap();
    assert_eq!(seen.text, "what does it cost?\nfs_read({})\nit costs 3");
    let texts: Vec<_> = seen.items.iter().map(|item| seen.text_of(item).unwrap()).collect();
    assert_eq!(texts, ["what does it cost?", "fs_read({})", "it costs 3"]);
    assert_eq!(seen.item_at(19).map(|item| item.item), Some(ItemId(2)));
    assert_eq!(seen.item_at(18), None);
    assert_eq!(seen.items[2].origin, Some(Origin::Tool(CallId(1))));
    let seen = record.seen(ModelCallId(3)).unwrap();
    let fidelity: Vec<_> = seen.items.iter().skip(3).map(|item| item.fidelity.unwrap()).collect();
    assert_eq!(fidelity, [Fidelity::Withheld, Fidelity::Unknown, Fidelity::Full]);
    assert!(record.seen(ModelCallId(9)).is_err());
}

/// One long text in many items is not worked through.
#[test]
fn a_window_that_repeats_a_long_item_is_cut() {
    let mut script = Script::started();
    let part = serde_json::to_string(&ReplyPart {
        kind: probity_contract::ReplyPartKind::Reasoning("x".repeat(1 << 20)),
        native: None,
    });
    let long = script.part(&part.unwrap());
    for item in 1..400 {
        script.item(item, Origin::Model(ModelCallId(1)), Body::Reply { parts: vec![long] });
    }
    called(&mut script, 1, 0, &(1..400).collect::<Vec<_>>());
    let seen = read(&script).seen(ModelCallId(1)).unwrap();
    assert_eq!((seen.items[0].fidelity, seen.items[398].fidelity), (Some(Fidelity::Full), None));
}

fn with(change: impl Fn(&mut Fact)) -> Record {
    let mut script = changed();
    for emission in &mut script.emissions {
        if let Emission::Entry(entry) = emission {
            entry.at_ms *= 3;
            change(&mut entry.fact);
        }
    }
    read(&script)
}

#[test]
fn two_runs_part_at_the_first_fact_that_differs() {
    let record = read(&changed());
    let check = |change: &dyn Fn(&mut Fact), expected: Option<(u64, Differs)>| {
        let found = first_divergence(&record, &with(change));
        assert_eq!(found.map(|found| (found.a.unwrap(), found.what)), expected);
    };
    check(&|_| {}, None);
    let started = |fact: &mut Fact| {
        if let Fact::RunStarted(started) = fact {
            started.started_at_unix_ms += 1;
            started.params.temperature = None;
        }
    };
    check(&started, Some((0, Differs::Given(vec!["params".into()]))));
    let said = |fact: &mut Fact| {
        if let Fact::ItemAdded { item: ItemId(1), body: Body::Person { text }, .. } = fact {
            *text = PartId::of("{}");
        }
    };
    check(&said, Some((1, Differs::Item { a: ItemId(1), b: ItemId(1) })));
    let window = |fact: &mut Fact| {
        if let Fact::ModelCalled { window, .. } = fact {
            window.added.push(ItemId(1));
        }
    };
    check(&window, Some((2, Differs::Window { position: 1, a: None, b: Some(ItemId(1)) })));
    let proposed = |fact: &mut Fact| {
        if let Fact::CallProposed { arguments, .. } = fact {
            *arguments = PartId::of(r#"{"to":"eve","usd":10,"why":["a"]}"#);
        }
    };
    let at = Difference::At { pointers: vec!["/to".into()], is_cut: false };
    check(&proposed, Some((5, Differs::Arguments(at))));
    let judged = |fact: &mut Fact| {
        if let Fact::Judged { opinions, .. } = fact {
            opinions.clear();
        }
    };
    check(&judged, Some((8, Differs::Verdict)));
    let result = |fact: &mut Fact| {
        if let Fact::ToolFinished { output, .. } = fact {
            *output = PartId::of("pay it");
        }
    };
    check(&result, Some((14, Differs::Result)));
    // One goes on where the other has ended.
    let mut longer = changed();
    called(&mut longer, 2, 0, &[1]);
    let found = first_divergence(&record, &read(&longer)).unwrap();
    assert_eq!((found.a, found.b), (None, Some(16)));
    assert_eq!(found.what, Differs::Happened { a: None, b: Some("model_called".into()) });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_run_differs_from_itself(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for bytes in play(&mut Dice::new(bytes)).bytes() {
            let record = Record::read(&bytes).unwrap().record;
            prop_assert_eq!(first_divergence(&record, &record), None);
            for call in record.model_calls() {
                let seen = record.seen(call).unwrap();
                let items: Vec<_> = seen.items.iter().map(|item| item.item).collect();
                prop_assert_eq!(items, record.window(call).unwrap());
                prop_assert!(seen.items.iter().all(|item| seen.text_of(item).is_some()));
            }
            let graph = Graph::of(&[&record]);
            for node in graph.nodes() {
                prop_assert!(!graph.who_wrote(node).is_cut);
            }
            prop_assert_eq!(record.compared_calls().len(), record.calls().len());
        }
    }

    #[test]
    fn calls_that_ran_side_by_side_are_compared_one_by_one(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        // The other order of two entries of different calls that stand side by side is no difference.
        let played = play(&mut Dice::new(bytes));
        let mut script = played.records.into_iter().next().unwrap();
        let record = read(&script);
        let call_of = |emission: &Emission| match emission {
            Emission::Entry(entry) => match &entry.fact {
                Fact::Judged { call, .. } | Fact::ToolStarted { call, .. } | Fact::Denied { call, .. } => Some(call.0),
                _ => None,
            },
            Emission::Part(_) => None,
        };
        for at in 1..script.emissions.len() {
            let pair = (call_of(&script.emissions[at - 1]), call_of(&script.emissions[at]));
            if let (Some(one), Some(other)) = pair && one != other {
                script.emissions.swap(at - 1, at);
                if let [Emission::Entry(one), Emission::Entry(other)] = &mut script.emissions[at - 1..=at] {
                    std::mem::swap(&mut one.seq, &mut other.seq);
                    std::mem::swap(&mut one.at_ms, &mut other.at_ms);
                }
            }
        }
        prop_assert_eq!(first_divergence(&record, &read(&script)), None);
    }
}
