//! What permits, forbids and questions come to.

use probity_contract::{ArgumentSource, CallFacts, Integrity, Label, Policy as _, Readers, Seat, Verdict};
use probity_testkit::principal;

use crate::scene::{Said, call_with, check, load, pay, said, tools};

const PERMIT: &str = "@id(\"all\") permit(principal, action, resource);";
const SMALL: &str = r#"{"amount":5,"to":"acme"}"#;
const LARGE: &str = r#"{"amount":500,"to":"acme"}"#;

const LIMITS: &str = r#"
    @id("small") permit(principal, action == Probity::Action::"pay", resource)
        when { context.arguments.amount < 100 };
    @id("large") @ask("over the limit of 100") permit(principal, action == Probity::Action::"pay", resource)
        when { context.arguments.amount >= 100 };
    @id("blocked") @reason("mallory is no vendor of ours") @advice("ask for the vendor's number")
    forbid(principal, action == Probity::Action::"pay", resource) when { context.arguments.to == "mallory" };
"#;

#[test]
fn a_permit_allows_and_is_named() {
    let reason = check(LIMITS, &pay(SMALL), Said::Allow);
    assert_eq!(reason, "the policy `small` permits it");
}

#[test]
fn a_permit_with_ask_asks_and_says_why() {
    let reason = check(LIMITS, &pay(LARGE), Said::Ask);
    assert_eq!(reason, "the policy `large` asks: over the limit of 100");
}

#[test]
fn a_forbid_denies_and_says_why_and_what_to_do() {
    let reason = check(LIMITS, &pay(r#"{"amount":5,"to":"mallory"}"#), Said::Deny);
    assert_eq!(
        reason,
        "the policy `blocked` forbids it: mallory is no vendor of ours; ask for the vendor's number"
    );
}

#[test]
fn a_forbid_beats_a_question_too() {
    check(LIMITS, &pay(r#"{"amount":500,"to":"mallory"}"#), Said::Deny);
}

#[test]
fn a_question_beats_a_permit_in_either_order() {
    let ask = "@ask(\"look\") permit(principal, action, resource);";
    check(&format!("{PERMIT}{ask}"), &pay(SMALL), Said::Ask);
    check(&format!("{ask}{PERMIT}"), &pay(SMALL), Said::Ask);
}

#[test]
fn what_no_policy_speaks_of_is_abstained_from() {
    check("permit(principal, action == Probity::Action::\"note\", resource);", &pay(SMALL), Said::Abstain);
}

#[test]
fn without_any_policy_it_abstains() {
    check("", &pay(SMALL), Said::Abstain);
    check("// nothing yet\n", &pay(SMALL), Said::Abstain);
}

#[test]
fn an_allow_names_every_permit_that_held_in_the_order_of_the_text() {
    let text = format!(
        "@id(\"z\") permit(principal, action, resource); {PERMIT} \
         @id(\"not\") permit(principal, action, resource) when {{ context.tool.name like \"x*\" || context.arguments has foo }};"
    );
    // `context.tool.name like "x*"` keeps the third policy from being impossible.
    let reason = check(&text, &pay(SMALL), Said::Allow);
    assert_eq!(reason, "the policy `z` permits it; the policy `all` permits it");
}

#[test]
fn many_policies_are_counted_and_not_listed() {
    let text = "permit(principal, action, resource);\n".repeat(6);
    let reason = check(&text, &pay(SMALL), Said::Allow);
    assert!(reason.starts_with("the policy `a.cedar#1` permits it; "), "{reason}");
    assert!(reason.ends_with("`a.cedar#3` permits it; and 3 more"), "{reason}");
}

#[test]
fn the_context_tells_principal_labels_seat_tool_and_targets() {
    let tools = tools();
    let call =
        |label: Label| call_with(tools.first().unwrap(), SMALL, Vec::new(), |facts| facts.label = label);
    let only_bob = Readers::Only(["bob".to_owned()].into());
    let labelled = |integrity, readers| call(Label { integrity, readers });
    let check = |condition: &str, call, expected: bool| {
        let text = format!("permit(principal, action, resource) when {{ {condition} }};");
        let expected = if expected { Said::Allow } else { Said::Abstain };
        check(&text, &call, expected);
    };
    check("principal.id == \"ada\"", pay(SMALL), true);
    check("principal == Probity::Principal::\"ada\"", pay(SMALL), true);
    check("principal.id like \"svc-*\"", pay(SMALL), false);
    let untrusted = "context.labels.integrity == Probity::Integrity::\"untrusted\"";
    check(untrusted, labelled(Integrity::Untrusted, Readers::Everyone), true);
    check(untrusted, labelled(Integrity::System, Readers::Everyone), false);
    let bob = "context.labels has readers && context.labels.readers.contains(\"bob\")";
    check(bob, labelled(Integrity::System, only_bob), true);
    check(bob, labelled(Integrity::System, Readers::Everyone), false);
    let nobody = "context.labels has readers && context.labels.readers.isEmpty()";
    check(nobody, labelled(Integrity::System, Readers::Only([].into())), true);
    check("context.seat == Probity::Seat::\"adjudicate\"", pay(SMALL), true);
    check("context.tool.effect == Probity::Effect::\"once\"", pay(SMALL), true);
    check("context.tool.effect == Probity::Effect::\"pure\"", pay(SMALL), false);
    check("resource is Probity::Tool && resource.name == \"pay\"", pay(SMALL), true);
    check("context.targets.hosts.isEmpty()", pay(SMALL), true);
}

#[test]
fn the_context_tells_how_far_each_argument_may_be_believed() {
    let tools = tools();
    let sources = |facts: &mut CallFacts| {
        facts.label = Label::untrusted();
        let source = |at: &str| ArgumentSource {
            at: at.to_owned(),
            integrity: Integrity::Person,
            item: None,
            part: None,
        };
        facts.arguments_from = vec![source("/to"), source("/tags/0")];
    };
    let arguments = r#"{"amount":20,"to":"acme-7","tags":["a","b"]}"#;
    let call = call_with(tools.first().unwrap(), arguments, Vec::new(), sources);
    let check = |condition: &str, expected: bool| {
        let text = format!(
            "permit(principal, action == Probity::Action::\"pay\", resource) when {{ {condition} }};"
        );
        check(&text, &call, if expected { Said::Allow } else { Said::Abstain });
    };
    let is = |name: &str, level: &str| {
        format!(
            "context.arguments_integrity has {name} && context.arguments_integrity.{name} == \
             Probity::Integrity::\"{level}\""
        )
    };
    check(&is("to", "person"), true);
    check(&is("amount", "untrusted"), true);
    check(&is("tags", "untrusted"), true);
    check(&is("tags", "person"), false);
    check("context.arguments_integrity has memo", false);
}

#[test]
fn the_seat_is_the_one_that_is_judged_at() {
    let policy = load(
        "permit(principal, action, resource) when { context.seat == Probity::Seat::\"execute-recheck\" };",
    )
    .unwrap();
    assert_eq!(said(&policy.verdict(&pay(SMALL), Seat::Adjudicate)), Said::Abstain);
    assert_eq!(said(&policy.verdict(&pay(SMALL), Seat::ExecuteRecheck)), Said::Allow);
    assert_eq!(said(&policy.verdict(&pay(SMALL), Seat::Targets)), Said::Error, "no policy judges there");
}

#[test]
fn principals_differ() {
    let tools = tools();
    let call =
        call_with(tools.first().unwrap(), SMALL, Vec::new(), |facts| facts.principal = principal("eve"));
    check("permit(principal == Probity::Principal::\"ada\", action, resource);", &call, Said::Abstain);
}

#[test]
fn the_epoch_is_that_of_the_texts_their_names_and_the_tools() {
    use probity_cedar::{CedarPolicy, CedarSource};
    use probity_testkit::policy_name;
    let epoch = |sources: &[(&str, &str)], tools: &[_]| {
        let source =
            |&(name, text): &(&str, &str)| CedarSource { name: name.to_owned(), text: text.to_owned() };
        let sources: Vec<CedarSource> = sources.iter().map(source).collect();
        CedarPolicy::new(policy_name("cedar"), &sources, tools).unwrap().epoch()
    };
    let tools = tools();
    let first = epoch(&[("a", PERMIT)], &tools);
    assert_eq!(first, epoch(&[("a", PERMIT)], &tools));
    let fewer: Vec<_> = tools.iter().skip(1).cloned().collect();
    let mut other_effect = tools.clone();
    other_effect.first_mut().unwrap().effect = probity_contract::Effect::Pure;
    let others = [
        epoch(&[("b", PERMIT)], &tools),
        epoch(&[("a", PERMIT), ("b", "")], &tools),
        epoch(&[("a", &format!("{PERMIT} "))], &tools),
        epoch(&[("a", "")], &tools),
        epoch(&[], &tools),
        epoch(&[("a", PERMIT)], &fewer),
        epoch(&[("a", PERMIT)], &other_effect),
    ];
    for (index, other) in others.iter().enumerate() {
        assert_ne!(&first, other, "{index}");
        assert!(!others.iter().skip(index + 1).any(|later| later == other), "{index}");
    }
}

#[test]
fn the_words_of_a_verdict_are_the_same_each_time() {
    let policy = load(&"permit(principal, action, resource);\n".repeat(50)).unwrap();
    let verdict = || match policy.verdict(&pay(SMALL), Seat::Adjudicate) {
        Ok(Verdict::Allow { reason }) => reason,
        other => panic!("{other:?}"),
    };
    let first = verdict();
    assert!((0..20).all(|_| verdict() == first));
}
