use probity_contract::{
    AnswerKind, Body, CallId, Denial, DenialCode, Digest, Effect, Emission, Ending, Fact, ItemId, Kept,
    Label, Level, ModelCallId, Origin, Part, PartId, ReplyPart, ReplyPartKind, Seat, Stop, ToolChoice,
    ToolErrorClass, ToolOutcomeKind, Usage, WindowDelta,
};
use probity_trace::{Fidelity, Record, WindowError};
use proptest::prelude::*;

use crate::samples::{Script, bytes_of, policy};

fn read(script: &Script) -> Record {
    Record::read(&script.bytes()).unwrap().record
}

fn called(call: u32, keep: u32, added: &[u32]) -> Fact {
    Fact::ModelCalled {
        call: ModelCallId(call),
        window: WindowDelta { keep, added: added.iter().copied().map(ItemId).collect() },
        tool_choice: ToolChoice::Auto,
        tools_offered: true,
        output_tokens_max: None,
    }
}

fn replied(call: u32, item: u32, input: u64, output: u64) -> Fact {
    Fact::ModelReplied {
        call: ModelCallId(call),
        item: ItemId(item),
        stop: Stop::EndTurn,
        usage: Usage { input: Some(input), output: Some(output), ..Usage::default() },
        model: None,
        response_id: None,
    }
}

fn ids(items: &[u32]) -> Vec<ItemId> {
    items.iter().copied().map(ItemId).collect()
}

fn reply_part(script: &mut Script, part: &ReplyPart) -> PartId {
    script.part(&serde_json::to_string(part).unwrap())
}

/// A run with one call that ran, one that was denied, and an answer.
fn desk() -> Script {
    let mut script = Script::started();
    let question = script.part("may I?");
    script.item(1, Origin::Principal, Body::Person { text: question }).fact(called(1, 0, &[1]));
    let call = reply_part(&mut script, &ReplyPart::call("p1", "fs_read", "{\"path\":\"a\"}"));
    let text = reply_part(&mut script, &ReplyPart::text("Let me see."));
    script.item(2, Origin::Model(ModelCallId(1)), Body::Reply { parts: vec![text, call] });
    script.fact(replied(1, 2, 1000, 10));
    let arguments = script.part("{\"path\":\"a\"}");
    for number in [1, 2] {
        script.fact(Fact::CallProposed {
            call: CallId(number),
            by: ModelCallId(1),
            provider_id: "p1".into(),
            tool: "fs_read".into(),
            arguments,
        });
    }
    let digest = Digest::of("t", &[]);
    let frozen = |call| Fact::CallFrozen {
        call,
        digest,
        tool_digest: digest,
        arguments,
        targets: vec![],
        operands: Vec::new(),
        arguments_from: Vec::new(),
        label: Label::system(),
    };
    script.fact(frozen(CallId(1)));
    script.fact(Fact::Asked {
        call: CallId(1),
        digest,
        binding: None,
        askers: vec![policy()],
        expires_at_ms: 99,
    });
    script.fact(Fact::Answered { call: CallId(1), digest, answer: AnswerKind::Approved, by: None });
    script.fact(Fact::ToolStarted { call: CallId(1), effect: Effect::Once, redeems: None });
    let result = script.part("a file");
    script.fact(Fact::ToolFinished {
        call: CallId(1),
        outcome: ToolOutcomeKind::Succeeded,
        output: result,
        output_bytes: 6,
        ran_ms: 4,
        readers: Default::default(),
        vouched: Vec::new(),
    });
    let denial = Denial {
        code: DenialCode::Policy,
        seat: Seat::Adjudicate,
        by: None,
        level: Level::OWN,
        reason: "not that".into(),
    };
    script.fact(Fact::Denied { call: CallId(2), denial });
    let body = Body::ToolResult {
        call: CallId(1),
        provider_id: "p1".into(),
        tool: "fs_read".into(),
        text: result,
        is_error: false,
    };
    script.item(3, Origin::Tool(CallId(1)), body).fact(called(2, 1, &[2, 3]));
    let (first, second) = (ReplyPart::text("You "), ReplyPart::text("may."));
    let thought = ReplyPart { kind: ReplyPartKind::Reasoning("hm".into()), native: None };
    let parts = [&first, &thought, &second].map(|part| reply_part(&mut script, part)).to_vec();
    script.item(4, Origin::Model(ModelCallId(2)), Body::Reply { parts }).fact(replied(2, 4, 2000, 20));
    script
}

fn ended(answer: Option<u32>) -> Fact {
    let usage = Usage { input: Some(5), ..Usage::default() };
    Fact::Ended { ending: Ending::Answered, answer: answer.map(ItemId), usage, cost_usd: Some(0.5) }
}

#[test]
fn the_summary_tells_the_run() {
    let mut script = desk();
    script.fact(ended(Some(4)));
    let summary = read(&script).summary().unwrap();
    assert_eq!(summary.run.as_str(), "run-1");
    assert_eq!((summary.ended, summary.ending), (true, Some(Ending::Answered)));
    assert_eq!((summary.usage.input, summary.cost_usd), (Some(5), Some(0.5)));
    assert_eq!(summary.answer.as_deref(), Some("You may."));
    assert_eq!(summary.model_calls, 2);
    let calls = summary.tool_calls;
    assert_eq!((calls.proposed, calls.run, calls.denied, calls.rejected), (2, 1, 1, 0));
    assert_eq!((calls.failed, calls.unknown), (0, 0));
    assert_eq!(summary.took_ms, (read(&script).lines().len() as u64 - 1) * 10);
}

#[test]
fn a_run_that_broke_off_sums_what_it_has() {
    let summary = read(&desk()).summary().unwrap();
    assert_eq!((summary.ended, summary.ending, summary.answer), (false, None, None));
    assert_eq!((summary.usage.input, summary.usage.output), (Some(3000), Some(30)));
    assert_eq!(summary.cost_usd, Some((3000.0 * 0.1) / 1e6 + (30.0 * 0.3) / 1e6));
}

#[test]
fn a_story_follows_one_call() {
    let record = read(&desk());
    let stories = record.calls();
    assert_eq!(stories.iter().map(|story| story.call).collect::<Vec<_>>(), [CallId(1), CallId(2)]);
    let ran = &stories[0];
    assert_eq!(ran.proposed.as_ref().unwrap().tool, "fs_read");
    assert_eq!((ran.asked.len(), ran.answered.len(), ran.attempts.len()), (1, 1, 1));
    assert_eq!(
        (ran.outcome(), ran.result, ran.in_doubt),
        (Some(ToolOutcomeKind::Succeeded), Some(ItemId(3)), false)
    );
    let denied = &stories[1];
    assert_eq!(denied.denied.as_ref().unwrap().reason, "not that");
    assert!(denied.attempts.is_empty() && !denied.in_doubt);
    assert_eq!(record.call(CallId(3)), None);
}

/// Starts and ends of one call, and whether an effect is in doubt after them.
fn doubt(steps: &[Result<Effect, ToolOutcomeKind>]) -> (bool, u32) {
    let mut script = Script::started();
    let output = script.part("an output");
    for step in steps {
        let call = CallId(1);
        script.fact(match *step {
            Ok(effect) => Fact::ToolStarted { call, effect, redeems: None },
            Err(outcome) => Fact::ToolFinished {
                call,
                outcome,
                output,
                output_bytes: 0,
                ran_ms: 0,
                readers: Default::default(),
                vouched: Vec::new(),
            },
        });
    }
    let record = read(&script);
    (record.call(CallId(1)).unwrap().in_doubt, record.summary().unwrap().tool_calls.unknown)
}

#[test]
fn a_start_without_an_end_is_in_doubt_until_a_harmless_repetition_ends() {
    let done = Err(ToolOutcomeKind::Succeeded);
    let unknown = Err(ToolOutcomeKind::Unknown(ToolErrorClass::TimedOut));
    assert_eq!(doubt(&[Ok(Effect::Once)]), (true, 1));
    assert_eq!(doubt(&[Ok(Effect::Once), done]), (false, 0));
    assert_eq!(doubt(&[Ok(Effect::Once), unknown]), (false, 1));
    assert_eq!(doubt(&[Ok(Effect::Pure), Ok(Effect::Pure), done]), (false, 0));
    assert_eq!(doubt(&[Ok(Effect::Idempotent), Ok(Effect::Idempotent)]), (true, 1));
    assert_eq!(doubt(&[Ok(Effect::Once), Ok(Effect::Once), done]), (true, 1));
    assert_eq!(doubt(&[done]), (false, 0));
}

#[test]
fn windows_are_rebuilt_in_order() {
    let record = read(&desk());
    assert_eq!(record.window(ModelCallId(1)), Ok(ids(&[1])));
    assert_eq!(record.window(ModelCallId(2)), Ok(ids(&[1, 2, 3])));
    assert_eq!(record.window(ModelCallId(3)), Err(WindowError(ModelCallId(3))));
}

#[test]
fn a_window_that_builds_on_nothing_is_unknown_and_so_is_what_builds_on_it() {
    let mut script = Script::started();
    script.fact(called(1, 2, &[7])).fact(called(2, 1, &[8])).fact(called(3, 0, &[9])).fact(called(4, 1, &[]));
    let record = read(&script);
    assert!(record.window(ModelCallId(1)).is_err() && record.window(ModelCallId(2)).is_err());
    assert_eq!(record.window(ModelCallId(4)), Ok(ids(&[9])));
    let all: Vec<_> = record.windows_all().map(|(_, window)| window.is_ok()).collect();
    assert_eq!(all, [false, false, true, true]);
}

#[test]
fn a_window_after_one_that_is_not_understood_is_unknown_unless_it_stands_alone() {
    let mut script = Script::started();
    script.fact(called(1, 0, &[1, 2]));
    let strange =
        serde_json::json!({"seq": 2, "at_ms": 20, "fact": {"kind": "model_called", "window": "new"}});
    let mut bytes = script.bytes();
    bytes.extend(crate::samples::raw_frame(2, strange.to_string().as_bytes()));
    let mut rest = Script::default();
    (0..3).for_each(|_| {
        rest.fact(called(9, 0, &[]));
    });
    rest.emissions.clear();
    rest.fact(called(2, 1, &[3])).fact(called(3, 0, &[4])).fact(called(4, 1, &[5]));
    bytes.extend(&bytes_of(&rest.emissions)[16..]);
    let record = Record::read(&bytes).unwrap().record;
    assert_eq!(record.window(ModelCallId(1)), Ok(ids(&[1, 2])));
    assert!(record.window(ModelCallId(2)).is_err());
    assert_eq!(record.window(ModelCallId(4)), Ok(ids(&[4, 5])));
}

proptest! {
    #[test]
    fn windows_equal_those_of_the_plain_way(deltas in proptest::collection::vec((0_usize..20, proptest::collection::vec(0_u32..99, 0..6)), 1..30)) {
        let mut script = Script::started();
        let (mut window, mut expected) = (Vec::new(), Vec::new());
        for (number, (keep, added)) in (1..).zip(&deltas) {
            let keep = *keep.min(&window.len());
            window.truncate(keep);
            window.extend(added.iter().copied().map(ItemId));
            script.fact(called(number, u32::try_from(keep).unwrap(), added));
            expected.push((ModelCallId(number), Ok(window.clone())));
        }
        let record = read(&script);
        let one_by_one = record.model_calls().map(|call| (call, record.window(call)));
        prop_assert_eq!(one_by_one.collect::<Vec<_>>(), expected.clone());
        prop_assert_eq!(record.windows_all().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn texts_say_how_much_of_them_is_kept() {
    let record = read(&desk());
    let text = |item| record.item_text(ItemId(item)).map(|text| (text.text, text.fidelity));
    assert_eq!(text(1), Some(("may I?".into(), Fidelity::Full)));
    assert_eq!(text(2), Some(("Let me see.\nfs_read({\"path\":\"a\"})".into(), Fidelity::Full)));
    assert_eq!(text(9), None);
    assert_eq!(record.answer_text(ItemId(1)), None);

    let cases = [
        (Some(Kept::Redacted("r".into())), "r", Fidelity::Redacted),
        (Some(Kept::Length(4)), "", Fidelity::Withheld),
        (None, "", Fidelity::Unknown),
    ];
    for (kept, expected, fidelity) in cases {
        let mut script = Script::started();
        let id = PartId::of("text");
        script.emissions.extend(kept.map(|kept| Emission::Part(Part { id, kept })));
        script.item(1, Origin::Task, Body::Notice { text: id });
        let record = read(&script);
        let text = record.item_text(ItemId(1)).unwrap();
        assert_eq!((text.text.as_str(), text.fidelity), (expected, fidelity));
        let dangling = usize::from(fidelity == Fidelity::Unknown);
        assert_eq!(record.dangling().len(), dangling, "a missing text is a notice, not an error");
    }
}

/// A small record can name one long text many times; no view works through that.
#[test]
fn a_reply_that_repeats_a_long_part_is_given_up() {
    let mut script = Script::started();
    let long = reply_part(&mut script, &ReplyPart::text("x".repeat(1024 * 1024)));
    script.item(1, Origin::Model(ModelCallId(1)), Body::Reply { parts: vec![long; 100] });
    script.fact(ended(Some(1)));
    let record = read(&script);
    let text = record.item_text(ItemId(1)).unwrap();
    assert!(text.fidelity == Fidelity::Unknown && text.text.len() < 64 * 1024 * 1024);
    assert_eq!(record.summary().unwrap().answer, None);
}

#[test]
fn a_reply_whose_parts_are_not_kept_has_no_answer() {
    let mut script = Script::started();
    let id = PartId::of("gone");
    script.emissions.push(Emission::Part(Part { id, kept: Kept::Length(4) }));
    script.item(1, Origin::Model(ModelCallId(1)), Body::Reply { parts: vec![id] }).fact(ended(Some(1)));
    let summary = read(&script).summary().unwrap();
    assert_eq!((summary.answer_item, summary.answer), (Some(ItemId(1)), None));
}

#[test]
fn the_timeline_names_facts_as_the_record_does_on_one_bounded_line() {
    let mut script = desk();
    let long = script.part(&format!("first\nsecond\u{2028}third\u{1b}[2J{}", "x".repeat(500)));
    script.item(5, Origin::Engine, Body::Notice { text: long }).fact(ended(Some(4)));
    let record = read(&script);
    let timeline = record.timeline();
    for (moment, (line, fact)) in timeline.iter().zip(record.facts()) {
        assert_eq!(moment.kind, serde_json::to_value(fact).unwrap()["kind"]);
        assert_eq!((moment.seq, moment.at_ms), (line.seq, line.at_ms));
        assert!(moment.words.chars().count() <= 200 && !moment.words.contains(char::is_control));
    }
    let words: Vec<_> = timeline.iter().map(|moment| moment.words.as_str()).collect();
    assert!(words[words.len() - 2].starts_with("first second third [2Jxx"));
    assert_eq!(words.last(), Some(&"answered"));
    assert!(words.contains(&"succeeded after 4 ms") && words.contains(&"approved"), "{words:?}");
}
