//! A policy that cannot be evaluated denies.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use probity_contract::{
    Bench, BoxFuture, Cancel, DenialCode, Effect, FrozenCall, Judgement, Opinion, Policy, Roster,
    Said as Heard, Seat,
};
use serde_json::json;

use crate::scene::{Said, call, call_of, call_with, check, load, load_for, path, pay, said, tool, tools};

const PERMIT: &str = "permit(principal, action, resource);";
const OVERFLOWING: &str = r#"@id("overflows") forbid(principal, action == Probity::Action::"pay", resource)
    when { context.arguments.amount + 9223372036854775807 > 0 };"#;
const CALL: &str = r#"{"amount":5,"to":"acme"}"#;

#[test]
fn an_overflowing_forbid_denies() {
    let words = check(&format!("{PERMIT}{OVERFLOWING}"), &pay(CALL), Said::Error);
    assert!(words.contains("overflows"), "{words}");
}

#[test]
fn the_same_forbid_is_evaluated_where_nothing_overflows() {
    check(&format!("{PERMIT}{OVERFLOWING}"), &pay(r#"{"amount":-5,"to":"acme"}"#), Said::Deny);
}

#[test]
fn an_overflowing_permit_denies_beside_one_that_holds() {
    let overflowing = OVERFLOWING.replace("forbid", "permit");
    check(&format!("{PERMIT}{overflowing}"), &pay(CALL), Said::Error);
}

#[test]
fn an_error_denies_beside_a_forbid_and_a_question() {
    let others = "forbid(principal, action, resource); @ask(\"why\") permit(principal, action, resource);";
    check(&format!("{others}{OVERFLOWING}"), &pay(CALL), Said::Error);
}

#[test]
fn a_tool_that_the_policies_do_not_know_denies() {
    let policy = load(PERMIT).unwrap();
    let stranger = tool("stranger", Effect::Pure, json!({ "type": "object" }));
    let verdict = policy.verdict(&call_of(&stranger, "{}", Vec::new()), Seat::Adjudicate);
    assert_eq!(said(&verdict), Said::Error);
}

#[test]
fn a_tool_with_another_definition_denies() {
    let policy = load(PERMIT).unwrap();
    let mut pay = tools().remove(0);
    pay.description.push_str(" Now with more.");
    assert_eq!(said(&policy.verdict(&call_of(&pay, CALL, Vec::new()), Seat::Adjudicate)), Said::Error);
}

/// Hears one policy at both seats, as a driver does, and asks for the permit.
fn permitted(policy: &dyn Policy, call: &FrozenCall) -> Result<(), DenialCode> {
    let roster = Roster::new(vec![policy.name().clone()]).unwrap();
    let mut judgement = Judgement::open(Arc::new(call.clone()), Bench::of(roster));
    for seat in [Seat::Adjudicate, Seat::ExecuteRecheck] {
        let said = match now(policy.judge(call, seat, &Cancel::new())) {
            Ok(verdict) => Heard::Verdict(verdict),
            Err(error) => Heard::Failed(error.to_string()),
        };
        judgement.hear(seat, &[Opinion::own(policy.name().clone(), said)]);
    }
    match judgement.permit(0) {
        Ok(_permit) => Ok(()),
        Err(denial) => Err(denial.code),
    }
}

/// Waits for a judgement, and counts how often it let go.
fn waited<T>(future: BoxFuture<'_, T>) -> (T, usize) {
    let mut future = pin!(future);
    for pauses in 0..1_000 {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return (value, pauses);
        }
    }
    panic!("a judgement does not end")
}

fn now<T>(future: BoxFuture<'_, T>) -> T {
    waited(future).0
}

#[test]
fn a_judgement_can_be_given_up_after_each_resource() {
    let policy = load(PERMIT).unwrap();
    let targets: Vec<_> = (0..5).map(|n| path(&format!("f{n}"), &format!("f{n}"))).collect();
    let call = call("fs_read", "{}", targets);
    let cancel = Cancel::new();
    let (verdict, pauses) = waited(policy.judge(&call, Seat::Adjudicate, &cancel));
    assert_eq!((said(&verdict), pauses), (Said::Allow, 5));
    cancel.fire();
    let (verdict, pauses) = waited(policy.judge(&call, Seat::Adjudicate, &cancel));
    assert_eq!((said(&verdict), pauses), (Said::Error, 1));
}

#[test]
fn no_permit_is_made_over_an_error() {
    let failing = load(&format!("{PERMIT}{OVERFLOWING}")).unwrap();
    assert_eq!(permitted(&failing, &pay(CALL)), Err(DenialCode::PolicyFailed));
    let sound = load(PERMIT).unwrap();
    assert_eq!(permitted(&sound, &pay(CALL)), Ok(()));
    let silent = load("").unwrap();
    assert_eq!(permitted(&silent, &pay(CALL)), Err(DenialCode::NotCovered));
    let forbidding = load("forbid(principal, action, resource);").unwrap();
    assert_eq!(permitted(&forbidding, &pay(CALL)), Err(DenialCode::Policy));
    let asking = load("@ask(\"look\") permit(principal, action, resource);").unwrap();
    assert_eq!(permitted(&asking, &pay(CALL)), Err(DenialCode::NobodyToAsk));
}

#[test]
fn what_the_schema_cannot_hold_denies_and_says_why() {
    let cases = [
        // More places than four, and more digits than a decimal holds.
        (r#"{"amount":1,"to":"x","fee":0.00001}"#, "the argument `fee` cannot be judged exactly"),
        (r#"{"amount":1,"to":"x","fee":1000000000000000}"#, "the argument `fee` cannot be judged exactly"),
        // What schema checks have let pass by mistake.
        (r#"{"amount":1.5,"to":"x"}"#, "the argument `amount` is not an integer"),
        (r#"{"amount":"1","to":"x"}"#, "the argument `amount` is not of the type"),
        (r#"{"amount":1}"#, "the argument `to` is missing"),
        (r#"{"amount":1,"to":null}"#, "the argument `to` is not of the type"),
        (r#"{"amount":1,"to":"x","tags":[1]}"#, "the argument `tags` is not of the type"),
        (r#"{"amount":1,"to":"x","bcc":"y"}"#, "the argument `bcc` is not one that the tool declares"),
    ];
    for (arguments, words) in cases {
        let said = check(PERMIT, &pay(arguments), Said::Error);
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_tool_that_no_policy_speaks_of_is_abstained_from_whatever_its_arguments() {
    let text =
        "forbid(principal, action in [Probity::Action::\"note\", Probity::Action::\"shell\"], resource);";
    check(text, &pay(r#"{"amount":1,"to":"x","fee":0.00001}"#), Said::Abstain);
    check(text, &call("shell", "{}", Vec::new()), Said::Deny);
}

#[test]
fn integers_of_one_meaning_are_one_integer() {
    let text = r#"permit(principal, action == Probity::Action::"pay", resource) when { context.arguments.amount == 1 };"#;
    for arguments in [r#"{"amount":1,"to":"x"}"#, r#"{"amount":1.0,"to":"x"}"#, r#"{"amount":1e0,"to":"x"}"#]
    {
        check(text, &pay(arguments), Said::Allow);
    }
    let most = r#"permit(principal, action == Probity::Action::"pay", resource)
        when { context.arguments.amount == 9007199254740991 };"#;
    check(most, &pay(r#"{"amount":9007199254740991,"to":"x"}"#), Said::Allow);
    // 2^53 and 2^63 are refused before anything is frozen.
    for number in ["9007199254740992", "9223372036854775808", "1e300"] {
        let arguments = format!(r#"{{"amount":{number},"to":"x"}}"#);
        assert!(probity_contract::Arguments::parse(&arguments).is_err());
    }
}

#[test]
fn fractions_are_compared_as_written() {
    let text = |condition: &str| {
        format!(
            r#"permit(principal, action == Probity::Action::"pay", resource)
               when {{ context.arguments has fee && {condition} }};"#
        )
    };
    let fee = |fee: &str| pay(&format!(r#"{{"amount":1,"to":"x","fee":{fee}}}"#));
    let below = text(r#"context.arguments.fee.lessThan(decimal("0.3"))"#);
    check(&below, &fee("0.2999"), Said::Allow);
    check(&below, &fee("0.3"), Said::Abstain);
    check(&below, &fee("3e-1"), Said::Abstain);
    check(&below, &fee("-7"), Said::Allow);
    check(&text(r#"context.arguments.fee == decimal("10.0")"#), &fee("10"), Said::Allow);
    check(&text(r#"context.arguments.fee == decimal("-0.5")"#), &fee("-0.5"), Said::Allow);
    check(&below, &fee("0.30001"), Said::Error);
}

#[test]
fn null_is_absent_where_it_may_be() {
    let text = r#"permit(principal, action == Probity::Action::"pay", resource) when { context.arguments has memo };"#;
    check(text, &pay(r#"{"amount":1,"to":"x","memo":"m"}"#), Said::Allow);
    check(text, &pay(r#"{"amount":1,"to":"x","memo":null}"#), Said::Abstain);
    check(text, &pay(r#"{"amount":1,"to":"x"}"#), Said::Abstain);
}

#[test]
fn a_call_of_another_tool_with_the_same_name_is_not_judged_by_the_wrong_shape() {
    let one =
        tool("t", Effect::Pure, json!({ "type": "object", "properties": { "x": { "type": "string" } } }));
    let two =
        tool("t", Effect::Pure, json!({ "type": "object", "properties": { "x": { "type": "integer" } } }));
    let policy = load_for(PERMIT, &[one]).unwrap();
    let call = call_with(&two, r#"{"x":1}"#, Vec::new(), |_| {});
    assert_eq!(said(&policy.verdict(&call, Seat::Adjudicate)), Said::Error);
}
