//! The graph of small records by hand.

use probity_contract::{
    Body, CallId, Effect, Emission, Ending, Entry, Fact, Imported, ImportedEdges, ItemId, Label, ModelCallId,
    Origin, ParentCall, PartId, ReplyPart, RunId, Spending, Stop, ToolChoice, ToolOutcomeKind, Usage,
    WindowDelta,
};
use probity_trace::{Follow, Graph, NodeKind, Provenance, Record, RunAt, UnknownReason};

use crate::samples::Script;

pub(crate) fn read(script: &Script) -> Record {
    Record::read(&script.bytes()).unwrap().record
}

/// A person asks, the model calls a tool, and answers.
pub(crate) fn desk() -> Script {
    let mut script = Script::started();
    let text = script.part("what does it cost?");
    script.item(1, Origin::Principal, Body::Person { text });
    called(&mut script, 1, 0, &[1]);
    replied(&mut script, 1, 2, &ReplyPart::call("", "fs_read", "{}"));
    let (call, by) = (CallId(1), ModelCallId(1));
    let arguments = script.part("{}");
    script.fact(Fact::CallProposed {
        call,
        by,
        provider_id: String::new(),
        tool: "fs_read".into(),
        arguments,
    });
    frozen(&mut script, 1, "{}");
    script.fact(Fact::ToolStarted { call, effect: Effect::Pure, redeems: None });
    finished(&mut script, 1, "it costs 3");
    result(&mut script, 3, 1, "it costs 3");
    called(&mut script, 2, 1, &[2, 3]);
    replied(&mut script, 2, 4, &ReplyPart::text("3"));
    script.fact(Fact::Ended {
        ending: Ending::Answered,
        answer: Some(ItemId(4)),
        usage: Usage::default(),
        cost_usd: None,
    });
    script
}

pub(crate) fn called(script: &mut Script, call: u32, keep: u32, added: &[u32]) {
    script.fact(Fact::ModelCalled {
        call: ModelCallId(call),
        window: WindowDelta { keep, added: added.iter().copied().map(ItemId).collect() },
        tool_choice: ToolChoice::Auto,
        tools_offered: true,
        output_tokens_max: None,
    });
}

pub(crate) fn replied(script: &mut Script, call: u32, item: u32, part: &ReplyPart) {
    let parts = vec![script.part(&serde_json::to_string(part).unwrap())];
    let call = ModelCallId(call);
    script.item(item, Origin::Model(call), Body::Reply { parts });
    let (stop, usage) = (Stop::EndTurn, Usage::default());
    script.fact(Fact::ModelReplied { call, item: ItemId(item), stop, usage, model: None, response_id: None });
}

pub(crate) fn frozen(script: &mut Script, call: u32, arguments: &str) {
    let digest = probity_contract::Digest::of("test", &[b"call"]);
    let arguments = script.part(arguments);
    script.fact(Fact::CallFrozen {
        call: CallId(call),
        digest,
        tool_digest: digest,
        arguments,
        targets: Vec::new(),
        operands: Vec::new(),
        arguments_from: Vec::new(),
        label: Label::system(),
    });
}

pub(crate) fn finished(script: &mut Script, call: u32, output: &str) {
    let output = script.part(output);
    script.fact(Fact::ToolFinished {
        call: CallId(call),
        outcome: ToolOutcomeKind::Succeeded,
        output,
        output_bytes: 1,
        ran_ms: 1,
        readers: Default::default(),
        vouched: Vec::new(),
    });
}

pub(crate) fn result(script: &mut Script, item: u32, call: u32, text: &str) {
    let text = script.part(text);
    let (call, provider_id, tool) = (CallId(call), String::new(), "fs_read".to_owned());
    let body = Body::ToolResult { call, provider_id, tool, text, is_error: false };
    script.item(item, Origin::Tool(call), body);
}

#[test]
fn an_answer_hangs_on_the_question_the_call_and_its_result() {
    let record = read(&desk());
    let graph = Graph::of(&[&record]);
    let run = RunAt::FIRST;
    let slice = graph.backward(graph.answer(run), Follow::Data);
    let items: Vec<_> = slice.items().map(|(_, item)| item.0).collect();
    assert_eq!(items, [1, 2, 3, 4]);
    for node in
        [graph.proposal(run, CallId(1)), graph.execution(run, CallId(1)), graph.outcome(run, CallId(1))]
    {
        assert!(slice.contains(node.unwrap()));
    }
    let unknown: Vec<_> = slice.unknown().map(|unknown| (unknown.reason, unknown.seq)).collect();
    assert_eq!(unknown, [(UnknownReason::Outside, 7)]);
    // The call hangs on the question and on nothing that came later.
    let slice = graph.backward(graph.proposal(run, CallId(1)), Follow::DataAndControl);
    assert_eq!(slice.items().map(|(_, item)| item.0).collect::<Vec<_>>(), [1, 2]);
    let all = graph.forward(graph.item(run, ItemId(1)), Follow::Data);
    assert!(all.contains(graph.answer(run).unwrap()));
    assert!(!graph.forward(graph.answer(run), Follow::Data).contains(graph.item(run, ItemId(3)).unwrap()));
}

#[test]
fn what_was_not_sent_did_not_reach_the_answer() {
    let mut script = desk();
    let text = PartId::of("gone");
    script.item(5, Origin::Task, Body::Context { name: "x".into(), text });
    let record = read(&script);
    let graph = Graph::of(&[&record]);
    let item = graph.item(RunAt::FIRST, ItemId(5)).unwrap();
    assert_eq!(graph.kind(item), Some(NodeKind::Item));
    let answer = graph.item(RunAt::FIRST, ItemId(4)).unwrap();
    assert!(!graph.backward([answer], Follow::DataAndControl).contains(item));
    let unknown: Vec<_> = graph.backward([item], Follow::Data).unknown().map(|node| node.reason).collect();
    assert_eq!(unknown, [UnknownReason::TextMissing]);
}

#[test]
fn edges_of_an_imported_record_are_inferred() {
    let mut script = desk();
    if let Emission::Entry(Entry { fact: Fact::RunStarted(started), .. }) = &mut script.emissions[0] {
        let (format, file) = ("chat".to_owned(), probity_contract::Digest::of("test", &[b"file"]));
        started.imported =
            Some(Imported { format, file, place: String::new(), edges: ImportedEdges::Inferred });
        started.run = RunId::new("imported").unwrap();
    }
    let (imported, written) = (read(&script), read(&desk()));
    let graph = Graph::of(&[&written, &imported]);
    let runs: Vec<RunAt> = graph.runs().collect();
    for (run, provenance) in runs.into_iter().zip([Provenance::Exact, Provenance::Inferred]) {
        let answer = graph.answer(run).unwrap();
        assert!(graph.edges(answer).all(|edge| edge.provenance == provenance));
        assert_eq!(graph.backward([answer], Follow::Data).provenance(), provenance);
    }
}

/// An imported record tells of calls and results, and not of what stood between them.
#[test]
fn an_imported_result_hangs_on_its_call_and_on_the_world() {
    let mut script = Script::started();
    let text = script.part("what does it cost?");
    script.item(1, Origin::Principal, Body::Person { text });
    called(&mut script, 1, 0, &[1]);
    replied(&mut script, 1, 2, &ReplyPart::call("", "scout", "{}"));
    let (call, by, provider_id, tool) = (CallId(1), ModelCallId(1), String::new(), "scout".to_owned());
    let arguments = script.part("{}");
    script.fact(Fact::CallProposed { call, by, provider_id, tool, arguments });
    let (run, label, spent) = (RunId::new("scout").unwrap(), Label::system(), Spending::default());
    script.fact(Fact::ChildEnded { call, run: run.clone(), ending: None, label, spent });
    finished(&mut script, 1, "it costs 3");
    result(&mut script, 3, 1, "it costs 3");
    let mut child = desk();
    if let Emission::Entry(Entry { fact: Fact::RunStarted(started), .. }) = &mut child.emissions[0] {
        started.parent = Some(ParentCall { run: RunId::new("run-1").unwrap(), call });
        started.run = run;
    }
    let (record, child) = (read(&script), read(&child));
    let graph = Graph::of(&[&record, &child]);
    let runs: Vec<RunAt> = graph.runs().collect();
    let slice = graph.backward(graph.outcome(runs[0], call), Follow::Data);
    let expected = [graph.proposal(runs[0], call), graph.answer(runs[1]), graph.item(runs[1], ItemId(1))];
    assert!(expected.iter().all(|node| slice.contains(node.unwrap())));
    let outside: Vec<_> =
        slice.unknown().filter(|node| node.run == runs[0]).map(|node| node.reason).collect();
    assert_eq!(outside, [UnknownReason::Outside]);
    let question = graph.backward(graph.item(runs[1], ItemId(1)), Follow::Data);
    assert!(question.contains(graph.proposal(runs[0], call).unwrap()));
}
