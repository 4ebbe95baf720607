use std::sync::Arc;

use probity_contract::{
    Body, Content, Emission, Entry, Fact, ItemId, ModelErrorClass, ModelReply, Part, Readers, ReplyPart,
    Stop, ToolName, Usage,
};
use probity_trace::{Noted, Record, atoms_of_text, encode_frame, encode_header};
use probity_why::{
    Asked, Fork, ForkChange, ForkEnd, ForkError, ForkStep, Kept, LIVE_READS_MAX, LiveRead, Recorded,
    TURNS_BEYOND_MAX, Target, text_of,
};

use crate::runs::{limit_in, paid, payer, window_text};

const NOTES: [(&str, &str); 3] = [
    ("vendors", "the vendor is ACME-9"),
    ("handbook", "since May limit=1200 EUR"),
    ("chat", "nothing of interest"),
];

pub(crate) fn reply(parts: Vec<ReplyPart>) -> ModelReply {
    let stop = Stop::EndTurn;
    ModelReply { parts, stop, usage: Usage::default(), model: None, response_id: None }
}

fn item_named(recorded: &Recorded<'_>, name: &str) -> ItemId {
    let is_it = |id: &ItemId| {
        let item = recorded.item(*id).unwrap();
        matches!(&item.content, Content::Context { name: own, .. } if own == name)
    };
    recorded.window(0).unwrap().into_iter().find(is_it).unwrap()
}

fn answer_kept() -> Kept {
    Kept::Atoms(atoms_of_text("1200 EUR"))
}

/// Runs a fork to its end with the model of the run.
fn run(fork: &mut Fork<'_>) -> ForkEnd {
    for _ in 0..100 {
        match fork.step() {
            ForkStep::Done(end) => return end,
            ForkStep::Read(call) => panic!("it may not read, and asks for `{}`", call.name),
            ForkStep::Ask(request) => {
                let parts = payer(&request);
                fork.heard(Ok(&reply(parts)));
            }
        }
    }
    panic!("it does not end");
}

fn out_of_sight(item: ItemId) -> ForkChange {
    ForkChange::StandIn(Target::Item(item))
}

#[tokio::test]
async fn a_fork_without_changes_asks_what_was_asked() {
    let (record, asked) = paid(&NOTES, payer).await;
    let recorded = Recorded::of(&record).unwrap();
    assert_eq!(recorded.model_calls(), asked.len());
    for (place, was) in asked.iter().enumerate() {
        let again = recorded.request(place).unwrap();
        assert_eq!(again.items, was.items);
        assert_eq!((&again.tools, &again.tool_choice), (&was.tools, &was.tool_choice));
        assert_eq!(again.params, was.params);
        let mut fork = Fork::begin(&recorded, place, &[], Asked::Reply(2), answer_kept()).unwrap();
        assert_eq!(run(&mut fork), ForkEnd::Came { is_kept: true });
        assert_eq!(fork.turns(), 3 - place);
    }
}

#[tokio::test]
async fn what_the_answer_hangs_on_changes_it_and_nothing_else_does() {
    let (record, _) = paid(&NOTES, payer).await;
    let recorded = Recorded::of(&record).unwrap();
    for (name, is_kept) in [("handbook", false), ("chat", true), ("vendors", true)] {
        let changes = [out_of_sight(item_named(&recorded, name))];
        let mut fork = Fork::begin(&recorded, 2, &changes, Asked::Reply(2), answer_kept()).unwrap();
        assert_eq!(run(&mut fork), ForkEnd::Came { is_kept }, "{name}");
        assert_eq!(fork.turns(), 1);
    }
}

#[tokio::test]
async fn an_effect_that_would_differ_ends_the_fork() {
    let (record, _) = paid(&NOTES, payer).await;
    let recorded = Recorded::of(&record).unwrap();
    let changes = [out_of_sight(item_named(&recorded, "vendors"))];
    let mut fork = Fork::begin(&recorded, 0, &changes, Asked::Reply(2), answer_kept()).unwrap();
    let end = run(&mut fork);
    assert!(
        matches!(&end, ForkEnd::Diverged { tool, arguments } if tool == "pay" && arguments.contains("nobody")),
        "{end:?}"
    );
    // Asked about the payment itself, the same fork has an answer: it is another one.
    let proposed = recorded_call(&record, "pay");
    let kept = Kept::call(&recorded, proposed).unwrap();
    let mut fork = Fork::begin(&recorded, 1, &changes, Asked::Proposal(1), kept).unwrap();
    assert_eq!(run(&mut fork), ForkEnd::Came { is_kept: false });
}

fn recorded_call(record: &Record, name: &str) -> probity_contract::CallId {
    let call = record.facts().find_map(|(_, fact)| match fact {
        Fact::CallProposed { call, tool, .. } if tool == name => Some(*call),
        _ => None,
    });
    call.unwrap()
}

#[tokio::test]
async fn an_effect_is_served_as_often_as_it_was_made_and_a_look_as_often_as_one_likes() {
    let (record, _) = paid(&NOTES, payer).await;
    let recorded = Recorded::of(&record).unwrap();
    let proposes = |name: &str, arguments: &str| reply(vec![ReplyPart::call("x", name, arguments)]);
    let begin = |from| Fork::begin(&recorded, from, &[], Asked::Reply(2), answer_kept()).unwrap();
    let mut fork = begin(0);
    for _ in 0..4 {
        fork.heard(Ok(&proposes("look", r#"{ "what": "limits" }"#)));
    }
    fork.heard(Ok(&proposes("pay", r#"{"to":"ACME-9","amount":1}"#)));
    assert!(matches!(fork.step(), ForkStep::Ask(_)));
    let last = fork.window().last().unwrap();
    assert_eq!(text_of(last), "paid as P-17");
    fork.heard(Ok(&proposes("pay", r#"{"to":"ACME-9","amount":1}"#)));
    assert!(matches!(fork.step(), ForkStep::Done(ForkEnd::Diverged { .. })));
    // The payment before the fork counts.
    let mut fork = begin(2);
    fork.heard(Ok(&proposes("pay", r#"{"to":"ACME-9","amount":1}"#)));
    assert!(
        matches!(fork.step(), ForkStep::Done(ForkEnd::Came { is_kept: false })),
        "its own reply was asked about"
    );
}

#[tokio::test]
async fn tools_sentences_replacements_and_what_is_put_back() {
    let notes =
        [("vendors", "the vendor is ACME-9"), ("handbook", "Old times. since May limit=1200 EUR. More.")];
    let (record, _) = paid(&notes, payer).await;
    let recorded = Recorded::of(&record).unwrap();
    let handbook = item_named(&recorded, "handbook");
    let shown = |change: ForkChange| {
        let fork = Fork::begin(&recorded, 2, &[change], Asked::Reply(2), answer_kept()).unwrap();
        match fork.step() {
            ForkStep::Ask(request) => request,
            ForkStep::Done(_) | ForkStep::Read(_) => panic!("it does not ask"),
        }
    };
    let passage = shown(ForkChange::StandIn(Target::Passage { item: handbook, start: 11, end: 36 }));
    assert!(window_text(&passage).contains("Old times. ") && limit_in(&window_text(&passage)).is_none());
    let replaced = shown(ForkChange::Replace(handbook, Arc::from("limit=7 EUR")));
    assert_eq!(limit_in(&window_text(&replaced)), Some("7"));
    let hushed = shown(ForkChange::StandIn(Target::Tool(ToolName::new("pay").unwrap())));
    let tool = hushed.tools.iter().find(|tool| tool.name.as_str() == "pay").unwrap();
    assert_ne!(tool.description, recorded.tools()[1].description);
    let missing = ForkChange::StandIn(Target::Tool(ToolName::new("none").unwrap()));
    let refused = Fork::begin(&recorded, 2, &[missing], Asked::Reply(2), answer_kept()).unwrap_err();
    assert!(matches!(refused, ForkError::NoSuchTarget(_)));
    let refused = Fork::begin(&recorded, 2, &[out_of_sight(ItemId(999))], Asked::Reply(2), answer_kept());
    assert_eq!(refused.unwrap_err(), ForkError::TextNotKept(ItemId(999)));
    let late = Fork::begin(&recorded, 2, &[], Asked::Reply(1), answer_kept());
    assert!(late.is_err(), "a fork behind what was asked");
}

#[tokio::test]
async fn a_model_that_fails_or_never_ends_ends_the_fork() {
    let (record, _) = paid(&NOTES, payer).await;
    let recorded = Recorded::of(&record).unwrap();
    let begin = || Fork::begin(&recorded, 0, &[], Asked::Reply(2), answer_kept()).unwrap();
    let mut fork = begin();
    fork.heard(Err(ModelErrorClass::ServerError));
    assert!(matches!(fork.step(), ForkStep::Done(ForkEnd::Failed(ModelErrorClass::ServerError))));
    fork.heard(Ok(&reply(vec![ReplyPart::text("1200 EUR")])));
    assert!(matches!(fork.step(), ForkStep::Done(ForkEnd::Failed(_))), "an end is an end");
    let mut fork = begin();
    let mut turns = 0;
    while let ForkStep::Ask(_) = fork.step() {
        fork.heard(Ok(&reply(vec![ReplyPart::call("x", "look", r#"{"what":"limits"}"#)])));
        turns += 1;
    }
    assert!(matches!(fork.step(), ForkStep::Done(ForkEnd::TurnsOver)));
    assert_eq!(turns, 3 + TURNS_BEYOND_MAX);
}

#[tokio::test]
async fn a_read_that_was_never_made_is_asked_for_once_and_only_where_it_may_be() {
    let (record, _) = paid(&NOTES, payer).await;
    let recorded = Recorded::of(&record).unwrap();
    let tools = ["look", "pay", "gone"].map(|name| ToolName::new(name).unwrap());
    let begin = || Fork::begin(&recorded, 0, &[], Asked::Reply(2), answer_kept()).unwrap();
    let other = |id: &str| ReplyPart::call(id, "look", r#"{"what":"the weather"}"#);
    let ada = Readers::Only(["ada".to_owned()].into());
    let read = LiveRead { text: "it rains".into(), is_error: false, readers: ada.clone() };

    let mut fork = begin();
    fork.heard(Ok(&reply(vec![other("x")])));
    assert!(matches!(fork.step(), ForkStep::Done(ForkEnd::Diverged { .. })), "nobody told it that it may");

    // A recorded call, the same read twice, and a recorded call: only the read is asked for, and once.
    let mut fork = begin().with_live_reads(tools.clone());
    let look = |id: &str| ReplyPart::call(id, "look", r#"{"what":"limits"}"#);
    fork.heard(Ok(&reply(vec![look("a"), other("b"), other("c"), look("d")])));
    let ForkStep::Read(call) = fork.step() else { panic!("{:?}", fork.step()) };
    assert_eq!((call.name.as_str(), call.arguments.as_str()), ("look", r#"{"what":"the weather"}"#));
    fork.heard(Ok(&reply(vec![ReplyPart::text("not now")])));
    assert!(matches!(fork.step(), ForkStep::Read(_)), "it waits for the read");
    fork.heard_read(Some(read.clone()));
    let ForkStep::Ask(request) = fork.step() else { panic!("{:?}", fork.step()) };
    let results: Vec<String> = request.items.iter().rev().take(4).map(|item| text_of(item)).collect();
    assert_eq!(results, ["limits are in the notes", "it rains", "it rains", "limits are in the notes"]);
    // Who may read it goes on to what is made of it.
    let readers: Vec<Readers> =
        request.items.iter().rev().take(5).map(|item| item.label.readers.clone()).collect();
    assert_eq!(
        readers,
        [&Readers::Everyone, &ada, &ada, &Readers::Everyone, &Readers::Everyone].map(Clone::clone)
    );
    assert_eq!(fork.live_reads(), 1);
    fork.heard_read(Some(read.clone()));
    assert!(matches!(fork.step(), ForkStep::Ask(_)), "it did not ask for that");

    fork.heard(Ok(&reply(vec![look("f")])));
    let reply_items = fork.window().iter().rev().take(2).map(|item| item.label.readers.clone());
    assert_eq!(
        reply_items.collect::<Vec<_>>(),
        [Readers::Everyone, ada],
        "a reply may hold whatever stood in its window"
    );

    // What is not made, what has an effect by the record, and what the record does not know.
    fork.heard(Ok(&reply(vec![ReplyPart::call("e", "look", r#"{"what":"else"}"#)])));
    fork.heard_read(None);
    assert!(matches!(fork.step(), ForkStep::Done(ForkEnd::Diverged { .. })));
    fork.heard_read(Some(read.clone()));
    assert!(matches!(fork.step(), ForkStep::Done(ForkEnd::Diverged { .. })), "an end is an end");
    for (tool, arguments) in [("pay", r#"{"amount":2,"to":"ACME-9"}"#), ("gone", "{}"), ("Look", "{}")] {
        let mut fork = begin().with_live_reads(tools.clone());
        fork.heard(Ok(&reply(vec![ReplyPart::call("x", tool, arguments)])));
        assert!(matches!(fork.step(), ForkStep::Done(ForkEnd::Diverged { .. })), "{tool}");
    }

    // And not without end.
    let mut fork = begin().with_live_reads(tools);
    for number in 0..=LIVE_READS_MAX {
        let arguments = format!(r#"{{"what":"{number}"}}"#);
        fork.heard(Ok(&reply((0..4).map(|_| ReplyPart::call("x", "look", arguments.clone())).collect())));
        if matches!(fork.step(), ForkStep::Read(_)) {
            fork.heard_read(Some(read.clone()));
        }
    }
    assert!(fork.live_reads() <= LIVE_READS_MAX && matches!(fork.step(), ForkStep::Done(_)));
}

#[tokio::test]
async fn a_served_result_may_be_read_by_whom_the_recorded_one_may() {
    let (record, _) = paid(&NOTES, payer).await;
    let ada = Readers::Only(["ada".to_owned()].into());
    let mut bytes = Vec::new();
    encode_header(&mut bytes);
    for (id, kept) in record.parts() {
        encode_frame(&Emission::Part(Part { id, kept: kept.clone() }), &mut bytes).unwrap();
    }
    for line in record.lines() {
        let Noted::Known(mut fact) = line.fact.clone() else { panic!("all is known") };
        if let Fact::ItemAdded { label, body: Body::ToolResult { .. }, .. } = &mut fact {
            label.readers = ada.clone();
        }
        encode_frame(&Emission::Entry(Entry { seq: line.seq, at_ms: line.at_ms, fact }), &mut bytes).unwrap();
    }
    let record = Record::read(&bytes).unwrap().record;
    let recorded = Recorded::of(&record).unwrap();
    let mut fork = Fork::begin(&recorded, 0, &[], Asked::Reply(2), answer_kept()).unwrap();
    fork.heard(Ok(&reply(vec![ReplyPart::call("a", "look", r#"{"what":"limits"}"#)])));
    assert_eq!(fork.window().last().unwrap().label.readers, ada);
}
