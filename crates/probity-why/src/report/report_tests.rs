#![expect(clippy::string_slice, reason = "tests")]

use std::sync::Arc;

use probity_contract::{
    Body, CallId, ContentSetting, Emission, Ending, Entry, Fact, Kept, Label, Limits, ModelName, ModelParams,
    Origin, Part, PartId, PrincipalId, RECORD_VERSION, ReplyPart, RunId, RunStarted, Stop, ToolChoice, Usage,
    WindowDelta,
};
use probity_trace::{Record, encode_frame, encode_header};

use super::*;
use crate::report::ask::{AskError, Asking};

/// A run that is written down item by item.
struct Script {
    bytes: Vec<u8>,
    seq: u64,
    items: u32,
    sent: u32,
    models: u32,
}

impl Script {
    fn new() -> Self {
        let mut script = Self { bytes: Vec::new(), seq: 0, items: 0, sent: 0, models: 0 };
        encode_header(&mut script.bytes);
        script.fact(Fact::RunStarted(Box::new(RunStarted {
            version: RECORD_VERSION,
            run: RunId::new("run-1").unwrap(),
            title: "bill".into(),
            principal: PrincipalId::new("ada").unwrap(),
            parent: None,
            imported: None,
            model: ModelName::new("rules/m").unwrap(),
            prices: None,
            params: ModelParams::default(),
            tools: Vec::new(),
            policies: Vec::new(),
            inherited: Vec::new(),
            limits: Limits::default(),
            content: ContentSetting::Full,
            output_schema: None,
            started_at_unix_ms: 0,
        })));
        script
    }

    fn fact(&mut self, fact: Fact) {
        let entry = Entry { seq: self.seq, at_ms: self.seq, fact };
        encode_frame(&Emission::Entry(entry), &mut self.bytes).unwrap();
        self.seq += 1;
    }

    fn part(&mut self, text: &str) -> PartId {
        let part = Part { id: PartId::of(text), kept: Kept::Full(Arc::from(text)) };
        let id = part.id;
        encode_frame(&Emission::Part(part), &mut self.bytes).unwrap();
        id
    }

    fn item(&mut self, origin: Origin, body: impl FnOnce(&mut Self) -> Body) -> ItemId {
        let body = body(self);
        self.items += 1;
        let item = ItemId(self.items);
        self.fact(Fact::ItemAdded { item, origin, label: Label::untrusted(), body });
        item
    }

    fn context(&mut self, name: &str, text: &str) -> ItemId {
        let name = name.to_owned();
        self.item(Origin::Task, |script| Body::Context { name, text: script.part(text) })
    }

    /// A model call that sees all items so far, and its reply.
    fn reply(&mut self, parts: &[ReplyPart]) -> ItemId {
        self.models += 1;
        let call = ModelCallId(self.models);
        let added = (self.sent + 1..=self.items).map(ItemId).collect();
        let window = WindowDelta { keep: self.sent, added };
        self.sent = self.items;
        self.fact(Fact::ModelCalled {
            call,
            window,
            tool_choice: ToolChoice::Auto,
            tools_offered: true,
            output_tokens_max: None,
        });
        let item = self.item(Origin::Model(call), |script| {
            let parts = parts.iter().map(|part| script.part(&serde_json::to_string(part).unwrap())).collect();
            Body::Reply { parts }
        });
        self.fact(Fact::ModelReplied {
            call,
            item,
            stop: Stop::EndTurn,
            usage: Usage::default(),
            model: None,
            response_id: None,
        });
        item
    }

    fn call(&mut self, call: u32, arguments: &str) {
        let (by, arguments) = (ModelCallId(self.models), self.part(arguments));
        self.fact(Fact::CallProposed {
            call: CallId(call),
            by,
            provider_id: format!("call-{call}"),
            tool: "pay".into(),
            arguments,
        });
    }

    fn answered(mut self, answer: ItemId) -> Record {
        let (usage, answer) = (Usage::default(), Some(answer));
        self.fact(Fact::Ended { ending: Ending::Answered, answer, usage, cost_usd: None });
        Record::read(&self.bytes).unwrap().record
    }
}

fn why(record: &Record, asking: &Asking) -> Result<Why, AskError> {
    Why::of(&Graph::of(&[record]), asking)
}

fn of_item(place: Place) -> u32 {
    place.item().unwrap().0
}

#[test]
fn each_atom_is_copied_computed_repeated_or_from_nowhere() {
    let mut script = Script::new();
    script.context("bill", "Bill B-7731: net 2,058.82 EUR and VAT 391.18 EUR.");
    script.context("other", "Somebody else's text, in which there is nothing.");
    script.reply(&[ReplyPart::text("I think of the number 8861.")]);
    script.context("copy", "Again: B-7731.");
    let answer = script.reply(&[ReplyPart::text("B-7731 comes to 2,450.00 EUR, see 8861 and ZX-5512.")]);
    let record = script.answered(answer);
    let why = why(&record, &Asking::Answer).unwrap();
    let of = |text: &str| why.atoms.iter().find(|atom| atom.atom.text == text).unwrap();
    let AtomSource::Copied { holders, .. } = &of("B-7731").source else {
        panic!("{:?}", of("B-7731"));
    };
    let items: Vec<u32> = holders.iter().map(|holder| of_item(holder.source)).collect();
    assert_eq!(items, [1, 4], "the oldest first");
    let text = holders[0].source.text(&Graph::of(&[&record])).unwrap().text;
    assert_eq!(&text[holders[0].range.clone()], "B-7731");
    assert!(matches!(of("8861").source, AtomSource::Repeated { .. }), "{:?}", of("8861"));
    assert!(matches!(of("ZX-5512").source, AtomSource::None), "{:?}", of("ZX-5512"));
    let sum = of("2,450.00");
    let computation = sum.computation().unwrap();
    assert_eq!(computation.operation, probity_trace::Operation::Sum);
    assert_eq!(sum.places().map(of_item).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn a_chain_leads_from_the_answer_over_calls_to_the_source() {
    let mut script = Script::new();
    let source = script.context("bill", "Bill B-7731.");
    script.reply(&[ReplyPart::text("Let me see.")]);
    let answer = script.reply(&[ReplyPart::text("It is B-7731.")]);
    let record = script.answered(answer);
    let why = why(&record, &Asking::Answer).unwrap();
    let chain = &why.chains[0];
    assert_eq!(chain.place.item(), Some(source));
    let kinds: Vec<NodeKind> = chain.links.iter().map(|link| link.kind).collect();
    assert_eq!(kinds, [NodeKind::Item, NodeKind::ModelCall, NodeKind::Item]);
    assert!(chain.links.iter().all(|link| link.provenance == Provenance::Exact));
    assert_eq!(chain.wrote.as_ref().unwrap().steps[0].by, Some(probity_trace::Author::Task));
    assert_eq!(why.leads[0].place.item(), Some(source), "what holds the atom is the first lead");
    assert_eq!(why.leads[0].first_seen, Some(ModelCallId(1)));
}

#[test]
fn an_item_that_no_window_held_is_no_source() {
    let mut script = Script::new();
    script.context("bill", "Nothing of interest.");
    let answer = script.reply(&[ReplyPart::text("It is B-7731.")]);
    script.context("late", "B-7731");
    let record = script.answered(answer);
    let why = why(&record, &Asking::Answer).unwrap();
    assert!(matches!(why.atoms[0].source, AtomSource::None));
    assert_eq!((why.counts.items, why.counts.items_reached), (3, 2));
}

#[test]
fn a_call_is_asked_about_by_its_arguments_and_by_one_value() {
    let mut script = Script::new();
    script.context("bill", "Pay 77.10 to DE-4417-92 or DE-9999-01.");
    let arguments = r#"{"to": "DE-4417-92", "amount": 77.10, "lines": [{"no": "DE-9999-01"}]}"#;
    let reply = script.reply(&[ReplyPart::call("call-1", "pay", arguments)]);
    script.call(1, arguments);
    let record = script.answered(reply);
    let atoms = |asking: &Asking| -> Vec<String> {
        why(&record, asking).unwrap().atoms.into_iter().map(|atom| atom.atom.text).collect()
    };
    assert_eq!(atoms(&Asking::Call(CallId(1))), ["DE-4417-92", "77.10", "DE-9999-01"]);
    let pointer = |pointer: &str| Asking::CallPointer(CallId(1), pointer.into());
    assert_eq!(atoms(&pointer("/amount")), ["77.10"]);
    assert_eq!(atoms(&pointer("/lines/0/no")), ["DE-9999-01"]);
    assert_eq!(atoms(&pointer("/lines")), ["DE-9999-01"]);
    let refused = why(&record, &pointer("/lines/01")).unwrap_err();
    assert_eq!(refused, AskError::NoValue);
    // The reply that proposed it holds the same words and is no source of them.
    let why = why(&record, &Asking::Call(CallId(1))).unwrap();
    assert!(why.atoms.iter().flat_map(AskedAtom::places).all(|place| of_item(place) == 1));
    assert_eq!(why.asked, AskedPart::Call(CallId(1)));
}

#[test]
fn words_are_looked_for_in_the_answer_and_then_in_the_last_reply_that_says_them() {
    let mut script = Script::new();
    script.context("bill", "Bill B-7731 of 12 May 2024.");
    let first = script.reply(&[ReplyPart::text("B-7731 is of 12 May 2024.")]);
    let answer = script.reply(&[ReplyPart::text("It is B-7731.")]);
    let record = script.answered(answer);
    let asked = |text: &str| why(&record, &Asking::Text(text.into())).map(|why| (why.asked, why.atoms.len()));
    assert_eq!(asked("B-7731"), Ok((AskedPart::Answer(answer), 1)));
    assert_eq!(asked("12 May 2024"), Ok((AskedPart::Reply(first), 1)));
    assert_eq!(asked("nobody said so"), Err(AskError::NotSaid));
    assert_eq!(asked("  "), Err(AskError::NotSaid));
}

#[test]
fn windows_are_summed_by_kind() {
    let mut script = Script::new();
    script.context("a", "12345");
    script.context("b", "1234567");
    let answer = script.reply(&[ReplyPart::text("It is 12345.")]);
    let record = script.answered(answer);
    let why = why(&record, &Asking::Answer).unwrap();
    let window = &why.windows[0];
    assert_eq!((window.items, window.bytes, window.is_in_slice), (2, 12, true));
    assert_eq!(window.shares.len(), 1);
    assert_eq!((window.shares[0].items, window.shares[0].holders), (2, 1));
}

#[test]
fn a_run_without_an_answer_says_so() {
    let script = Script::new();
    let record = Record::read(&script.bytes).unwrap().record;
    assert_eq!(why(&record, &Asking::Answer).unwrap_err(), AskError::NoAnswer);
    assert_eq!(why(&Record::default(), &Asking::Answer).unwrap_err(), AskError::Empty);
    assert_eq!(why(&record, &Asking::Call(CallId(3))).unwrap_err(), AskError::NoCall(CallId(3)));
}

#[test]
fn a_pointer_finds_what_a_parser_finds() {
    let json = r#" {"a": [1, "two", {"b/c": null, "~": [true]}], "d": {"e": -1.5e3}, "a2": "x\"y"} "#;
    let value: serde_json::Value = serde_json::from_str(json).unwrap();
    for pointer in [
        "",
        "/a",
        "/a/0",
        "/a/1",
        "/a/2",
        "/a/2/b~1c",
        "/a/2/~0/0",
        "/d/e",
        "/a2",
        "/a/3",
        "/x",
        "/d/e/0",
        "a",
    ] {
        let found = pointer::locate(json, pointer).map(|range| &json[range]);
        let found: Option<serde_json::Value> = found.map(|text| serde_json::from_str(text).unwrap());
        assert_eq!(found.as_ref(), value.pointer(pointer), "{pointer}");
    }
    for odd in ["", "{", "[1", "{\"a\" 1}", "{\"a\":}", "nul", "[1,]", &"[".repeat(10_000)] {
        let _found = pointer::locate(odd, "/a/0");
        let _found = pointer::locate(odd, "/0/0");
    }
}

#[test]
fn two_runs_that_say_the_same_are_equal() {
    let run = |name: &str| {
        let mut script = Script::new();
        script.context(name, "Bill B-7731.");
        let answer = script.reply(&[ReplyPart::text("It is B-7731.")]);
        script.answered(answer)
    };
    let two = TwoRuns::of(&run("bill"), &run("bill"));
    assert!(two.is_equal() && two.windows.is_empty() && two.calls.is_empty() && two.is_same_answer);
}

#[test]
fn two_runs_differ_in_an_item_a_call_and_the_answer() {
    let run = |text: &str, pays: &str| {
        let mut script = Script::new();
        script.context("terms", "Pay what is due.");
        script.context("bill", text);
        let arguments = format!("{{\"amount\": {pays}}}");
        script.reply(&[ReplyPart::call("x", "pay", arguments.clone())]);
        script.call(1, &arguments);
        let answer = script.reply(&[ReplyPart::text(format!("Paid {pays}."))]);
        script.answered(answer)
    };
    let (a, b) = (run("Due: 100.", "100"), run("Due: 900.", "900"));
    let two = TwoRuns::of(&a, &b);
    assert!(!two.is_equal() && !two.is_same_answer && two.windows_are_all);
    let first = &two.windows[0];
    assert_eq!((first.common, &first.only), (1, &[vec![ItemId(2)], vec![ItemId(2)]]));
    assert_eq!(two.windows.len(), 2, "both model calls saw the bill");
    let call = &two.calls[0];
    assert!(
        call.is_other_arguments && !call.is_other_tool && !call.is_other_verdict && !call.is_other_result
    );
    let shorter = {
        let mut script = Script::new();
        script.context("terms", "Pay what is due.");
        let answer = script.reply(&[ReplyPart::text("Nothing is due.")]);
        script.answered(answer)
    };
    let two = TwoRuns::of(&a, &shorter);
    assert_eq!(two.windows.last().unwrap().calls, [Some(ModelCallId(2)), None]);
    assert_eq!(two.calls[0].calls, [Some(CallId(1)), None]);
}
