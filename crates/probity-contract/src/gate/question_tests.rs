use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::gate_tests::redeemed;
use super::*;
use crate::digest::Digest;
use crate::ids::{CallId, PolicyName, PrincipalId, RunId, ToolName};
use crate::json::Arguments;
use crate::label::Label;
use crate::tool::Target;

fn name(name: &str) -> PolicyName {
    PolicyName::new(name).unwrap()
}

fn principal(name: &str) -> PrincipalId {
    PrincipalId::new(name).unwrap()
}

fn epoch(level: u8, policy: &str, rules: &str) -> Epoch {
    Epoch { level: Level(level), policy: name(policy), epoch: Digest::of("test", &[rules.as_bytes()]) }
}

fn call_with(change: impl FnOnce(&mut CallFacts)) -> Arc<FrozenCall> {
    let mut facts = CallFacts {
        run: RunId::new("r1").unwrap(),
        call: CallId(1),
        principal: principal("ada"),
        tool: ToolName::new("pay").unwrap(),
        tool_digest: Digest::of("test", &[b"tool"]),
        arguments: Arguments::parse(r#"{"to":"Acme","amount":5}"#).unwrap(),
        targets: vec![Target::Other { what: "recipient".to_owned(), value: "Acme".to_owned() }],
        label: Label::system(),
        operands: Vec::new(),
        arguments_from: Vec::new(),
    };
    change(&mut facts);
    Arc::new(FrozenCall::freeze(facts).unwrap())
}

fn facts() -> QuestionFacts {
    QuestionFacts {
        call: call_with(|_| ()),
        seat: Seat::Adjudicate,
        askers: vec![Asker { level: Level::OWN, policy: name("careful"), reason: "money".to_owned() }],
        epochs: vec![epoch(0, "careful", "1"), epoch(1, "above", "1")],
        principals: vec![principal("ada"), principal("boss")],
        number: 1,
        not_before_ms: 10,
        expires_at_ms: 1_000,
    }
}

/// Questions that differ from `facts()` in one bound field each, every field at least once.
fn one_field_changed() -> Vec<QuestionFacts> {
    let changes: Vec<fn(&mut QuestionFacts)> = vec![
        |facts| facts.call = call_with(|call| call.run = RunId::new("r2").unwrap()),
        |facts| facts.call = call_with(|call| call.call = CallId(2)),
        |facts| facts.call = call_with(|call| call.principal = principal("bob")),
        |facts| facts.call = call_with(|call| call.tool = ToolName::new("refund").unwrap()),
        |facts| facts.call = call_with(|call| call.tool_digest = Digest::of("test", &[b"another"])),
        |facts| {
            facts.call =
                call_with(|call| call.arguments = Arguments::parse(r#"{"to":"Acme","amount":50}"#).unwrap())
        },
        |facts| facts.call = call_with(|call| call.targets.clear()),
        |facts| facts.call = call_with(|call| call.label = Label::untrusted()),
        |facts| facts.seat = Seat::EditRecheck,
        |facts| facts.askers.clear(),
        |facts| facts.askers[0].level = Level(1),
        |facts| facts.askers[0].policy = name("other"),
        |facts| facts.askers[0].reason.push('!'),
        |facts| facts.epochs[0] = epoch(0, "careful", "2"),
        |facts| facts.epochs[1] = epoch(2, "above", "1"),
        |facts| facts.epochs[1] = epoch(1, "beyond", "1"),
        |facts| drop(facts.epochs.pop()),
        |facts| facts.principals[1] = principal("eve"),
        |facts| drop(facts.principals.pop()),
        |facts| facts.principals.reverse(),
        |facts| facts.number = 2,
        |facts| facts.not_before_ms = 11,
        |facts| facts.expires_at_ms = 1_001,
    ];
    let changed = |change: fn(&mut QuestionFacts)| {
        let mut facts = facts();
        change(&mut facts);
        facts
    };
    changes.into_iter().map(changed).collect()
}

#[test]
fn i22_changing_anything_that_is_asked_or_shown_changes_the_binding() {
    let all: Vec<QuestionFacts> = std::iter::once(facts()).chain(one_field_changed()).collect();
    let bindings: BTreeSet<Digest> =
        all.iter().map(|facts| PendingCall::put(facts.clone()).binding()).collect();
    assert_eq!(bindings.len(), all.len());
}

/// A judgement in which one policy of each level asked, heard under the rules of `facts`.
fn asked(facts: &QuestionFacts) -> Judgement {
    let roster = |policy| Roster::new(vec![name(policy)]).unwrap();
    let bench = Bench::of(roster("careful")).for_child(roster("careful")).unwrap();
    let mut judgement = Judgement::open(Arc::clone(&facts.call), bench);
    let said = |level: u8, seat_level: &str, rules: &str| Opinion {
        level: Level(level),
        policy: name("careful"),
        epoch: Some(Digest::of("test", &[rules.as_bytes()])),
        said: Said::Verdict(if seat_level == "own" {
            crate::Verdict::Ask { reason: "money".to_owned() }
        } else {
            crate::Verdict::Allow { reason: "fine".to_owned() }
        }),
    };
    judgement.hear(Seat::Adjudicate, &[said(0, "own", "1")]);
    judgement.hear(Seat::Inherited, &[said(1, "above", "1")]);
    judgement.hear(Seat::ExecuteRecheck, &[said(0, "own", "1"), said(1, "above", "1")]);
    judgement
}

fn answered() -> QuestionFacts {
    QuestionFacts { epochs: vec![epoch(1, "careful", "1"), epoch(0, "careful", "1")], ..facts() }
}

#[test]
fn i22_a_grant_for_anything_else_gives_no_permit() {
    let permit = |grant: Grant, now_ms| {
        let mut judgement = asked(&answered());
        judgement.redeem(redeemed(&grant));
        judgement.grant(grant);
        judgement.permit(now_ms)
    };
    let question = PendingCall::put(answered());
    let permitted = permit(question.approve(principal("eve")), 10).unwrap();
    assert_eq!(permitted.redeems(), Some(question.binding()));
    // The order in which the rules are told is not part of what they are.
    let mut reversed = answered();
    reversed.epochs.reverse();
    assert!(permit(PendingCall::put(reversed).approve(principal("eve")), 10).is_ok());
    let other_call = QuestionFacts { call: call_with(|call| call.call = CallId(2)), ..answered() };
    let other_rules =
        QuestionFacts { epochs: vec![epoch(1, "careful", "1"), epoch(0, "careful", "2")], ..answered() };
    let fewer_rules = QuestionFacts { epochs: vec![epoch(0, "careful", "1")], ..answered() };
    let nobody = QuestionFacts { askers: Vec::new(), ..answered() };
    let other_level = QuestionFacts {
        askers: vec![Asker { level: Level(1), policy: name("careful"), reason: "money".to_owned() }],
        ..answered()
    };
    for facts in [other_call, other_rules, fewer_rules, nobody, other_level] {
        let denial = permit(PendingCall::put(facts).approve(principal("eve")), 10).unwrap_err();
        assert_eq!(denial.code, DenialCode::NobodyToAsk);
    }
    for (now_ms, code) in
        [(9, Some(DenialCode::Expired)), (10, None), (999, None), (1_000, Some(DenialCode::Expired))]
    {
        let permit = permit(question.approve(principal("eve")), now_ms);
        assert_eq!(permit.err().map(|denial| denial.code), code, "{now_ms}");
    }
}

#[test]
fn i28_a_stored_question_with_an_altered_byte_is_refused() {
    let stored = serde_json::to_string(&PendingCall::put(facts())).unwrap();
    assert_eq!(serde_json::from_str::<PendingCall>(&stored).unwrap(), PendingCall::put(facts()));
    let mut tried = 0;
    for at in 0..stored.len() {
        for byte in [b' ', b'0', b'1', b'a', b'"', b'}', b'\\'] {
            let mut altered = stored.clone().into_bytes();
            if altered[at] != byte {
                altered[at] = byte;
                tried += 1;
                assert!(
                    serde_json::from_slice::<PendingCall>(&altered).is_err(),
                    "{}",
                    String::from_utf8_lossy(&altered)
                );
            }
        }
    }
    assert!(tried > 1_000);
}

#[test]
fn i28_a_stored_question_with_a_part_of_another_is_refused() {
    let stored = serde_json::to_value(PendingCall::put(facts())).unwrap();
    for other in one_field_changed() {
        let other = serde_json::to_value(PendingCall::put(other)).unwrap();
        let mut spliced = stored.clone();
        spliced["facts"] = other["facts"].clone();
        assert!(serde_json::from_value::<PendingCall>(spliced).is_err());
        for (member, value) in other["facts"].as_object().unwrap() {
            let mut spliced = stored.clone();
            spliced["facts"][member] = value.clone();
            let whole = spliced == stored;
            assert_eq!(serde_json::from_value::<PendingCall>(spliced).is_ok(), whole, "{member}");
        }
    }
    let mut more = stored;
    more["facts"]["approved"] = Value::Bool(true);
    assert!(serde_json::from_value::<PendingCall>(more).is_err());
}

#[test]
fn i30_what_is_remembered_is_the_very_same_call_in_the_very_same_way() {
    let remembered = || PendingCall::put(facts()).remember(principal("eve"), 2);
    let again = |change: fn(&mut QuestionFacts)| {
        let mut facts = QuestionFacts { call: call_with(|call| call.call = CallId(7)), number: 1, ..facts() };
        change(&mut facts);
        PendingCall::put(facts)
    };
    let mut kept = remembered();
    let question = again(|_| ());
    let grant = kept.redeem(&question, 20).unwrap();
    assert_eq!((grant.binding(), grant.by(), kept.uses_left()), (question.binding(), &principal("eve"), 1));
    // Later questions do not make it last longer.
    let later = again(|facts| (facts.not_before_ms, facts.expires_at_ms) = (900, 5_000));
    assert!(kept.redeem(&later, 999).is_some());
    assert!(kept.redeem(&again(|_| ()), 20).is_none(), "it is used up");
    assert!(remembered().redeem(&later, 1_000).is_none(), "it is over");
    let others: [fn(&mut QuestionFacts); 9] = [
        |facts| facts.call = call_with(|call| call.run = RunId::new("r2").unwrap()),
        |facts| facts.call = call_with(|call| call.principal = principal("bob")),
        |facts| facts.call = call_with(|call| call.tool = ToolName::new("refund").unwrap()),
        |facts| facts.call = call_with(|call| call.tool_digest = Digest::of("test", &[b"another"])),
        |facts| facts.call = call_with(|call| call.arguments = Arguments::parse("{}").unwrap()),
        |facts| facts.call = call_with(|call| call.targets.clear()),
        |facts| facts.call = call_with(|call| call.label = Label::untrusted()),
        |facts| facts.epochs[0] = epoch(0, "careful", "2"),
        |facts| facts.askers[0].policy = name("other"),
    ];
    for other in others {
        let mut kept = remembered();
        assert!(kept.redeem(&again(other), 20).is_none());
        assert_eq!(kept.uses_left(), 2, "a use that is not given is not taken");
    }
}

fn some_text() -> impl Strategy<Value = String> {
    let letters =
        vec!["a", "b", " ", "\"", ",", "\\", "\u{202e}", "\u{200b}", "\n", "\u{1b}[31m", "é", "{", "u{"];
    proptest::collection::vec(proptest::sample::select(letters), 0..6).prop_map(|letters| letters.concat())
}

proptest! {
    /// I25: what a person sees tells any two calls apart, is one line a line, and holds nothing that cannot be seen.
    #[test]
    fn i25_two_different_calls_never_read_alike(a in some_text(), b in some_text(), to_target in any::<bool>()) {
        let call = |text: &str| call_with(|call| match to_target {
            true => call.targets = vec![Target::Other { what: "x".to_owned(), value: text.to_owned() }],
            false => call.arguments = Arguments::from_value(&json!({ "text": text })).unwrap(),
        });
        let (one, other) = (CallView::of(&call(&a), &[]), CallView::of(&call(&b), &[]));
        prop_assert_eq!(one == other, a == b);
        prop_assert_eq!(one.digest() == other.digest(), a == b);
        for line in one.lines().iter().chain(one.cut_arguments()) {
            let hidden = line.as_str().contains(|c: char| c.is_control() || matches!(c, '\u{202e}' | '\u{200b}'));
            prop_assert!(!hidden, "{line}");
        }
    }
}

#[test]
fn i25_what_is_cut_is_counted_and_can_be_had_whole() {
    let long = "word ".repeat(2_000);
    let view = CallView::of(
        &call_with(|call| call.arguments = Arguments::from_value(&json!({ "text": long })).unwrap()),
        &[],
    );
    let shown: String = view.lines().iter().map(|line| line.as_str()).collect();
    assert!(shown.contains("more characters are NOT shown"), "{shown}");
    assert!(view.cut_arguments()[0].as_str().contains(long.trim_end()));
    let hidden = call_with(|call| {
        call.arguments = Arguments::from_value(&json!({ "password": "hunter2-FAKE-hunter2" })).unwrap();
    });
    let view = CallView::of(&hidden, &[]);
    let shown: String = view.lines().iter().map(|line| line.as_str()).collect();
    assert!(
        view.hides_credential() && !shown.contains("hunter2") && shown.contains("cannot be shown"),
        "{shown}"
    );
}

/// Two payments that read alike on a screen do not in the view.
#[test]
fn i25_letters_that_look_like_others_are_written_out() {
    let shown = |to: &str| {
        let arguments = Arguments::from_value(&json!({"to": to})).unwrap();
        let call = call_with(|facts| facts.arguments = arguments.clone());
        let view = CallView::of(&call, &[]);
        view.lines().iter().map(|line| line.as_str().to_owned()).collect::<Vec<_>>().join("\n")
    };
    assert!(shown("ACME").contains("ACME"));
    assert!(shown("AC\u{41c}E").contains("AC\\u{41c}E"), "{}", shown("AC\u{41c}E"));
    assert!(shown("\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}").contains("\u{43f}\u{440}\u{438}"));
}
