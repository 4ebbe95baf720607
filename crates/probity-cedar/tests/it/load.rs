//! What is refused when policies are loaded, and in which words.

use probity_cedar::{CedarPolicy, CedarSource};
use probity_contract::Effect;
use probity_testkit::policy_name;
use serde_json::json;

use crate::scene::{load, load_for, refused, tool, tools};

#[test]
fn a_text_that_does_not_parse() {
    refused("permit(principal, action, resource)", &["a.cedar:1:36: unexpected end of input", "expected"]);
    refused(
        "// one\n\npermit(principal, action\n  resource);",
        &["a.cedar:4:3: unexpected token `resource`"],
    );
    refused("allow(principal, action, resource);", &["a.cedar:1:1: invalid policy effect: allow"]);
    refused("permit(principal, action, resource) when { \"open };", &["a.cedar:1:"]);
}

#[test]
fn a_tool_that_is_not_there() {
    refused(
        "\npermit(principal, action == Probity::Action::\"pya\", resource);",
        &[
            "a.cedar:2:29:",
            "`a.cedar#1`",
            "Probity::Action::\"pya\"",
            "did you mean `Probity::Action::\"pay\"`?",
        ],
    );
}

#[test]
fn an_attribute_that_is_not_there() {
    refused(
        "@id(\"limit\")\nforbid(principal, action == Probity::Action::\"pay\", resource)\n  when { context.arguments.amuont > 5 };",
        &["a.cedar:3:10:", "`limit`", "amuont", "did you mean `amount`"],
    );
}

#[test]
fn a_type_that_is_not_there() {
    refused("permit(principal, action, resource is Probity::Pth);", &["a.cedar:1:39:", "Probity::Pth"]);
    refused("permit(principal is User, action, resource);", &["User"]);
}

#[test]
fn a_word_that_is_not_in_its_vocabulary() {
    let when = |condition: &str| format!("forbid(principal, action, resource) when {{ {condition} }};");
    refused(&when("context.labels.integrity == Probity::Integrity::\"untrused\""), &["untrused"]);
    refused(&when("context.tool.effect == Probity::Effect::\"Pure\""), &["Pure"]);
    refused(&when("context.seat == Probity::Seat::\"targets\""), &["targets"]);
    refused(
        &when("resource is Probity::Path && resource.access == Probity::Access::\"delete\""),
        &["delete"],
    );
}

#[test]
fn an_optional_member_without_has() {
    let text = "forbid(principal, action == Probity::Action::\"pay\", resource) when { context.arguments.memo == \"x\" };";
    refused(text, &["a.cedar:1:70:", "memo", "optional", "has"]);
    load(&text.replace("{ context", "{ context.arguments has memo && context")).unwrap();
}

#[test]
fn a_member_of_another_tool() {
    refused("forbid(principal, action, resource) when { context.arguments.amount > 5 };", &["amount"]);
    load("forbid(principal, action, resource) when { context.arguments has amount && context.arguments.amount > 5 };")
        .unwrap();
}

#[test]
fn a_mistaken_type() {
    let when = |condition: &str| {
        format!("forbid(principal, action == Probity::Action::\"pay\", resource) when {{ {condition} }};")
    };
    refused(&when("context.arguments.amount > \"5\""), &["expected Long", "String"]);
    refused(&when("context.arguments.to == 5"), &["the types"]);
    refused(&when("context.arguments has fee && context.arguments.fee > 5"), &["decimal"]);
    // A text that stands for a value of any type is not taken for a string.
    refused(&when("context.arguments has any && context.arguments.any == \"x\""), &["the types"]);
    load(&when("context.arguments has any && context.arguments.any.json == \"\\\"x\\\"\"")).unwrap();
    // A value from a call cannot become an entity or an extension value.
    refused(
        &when("ip(context.arguments.to).isLoopback()"),
        &["extension constructors may not be called with non-literal"],
    );
}

#[test]
fn a_policy_that_can_never_apply() {
    let impossible = "policy is impossible";
    refused("@id(\"never\") permit(principal, action, resource) when { false };", &["`never`", impossible]);
    refused(
        "permit(principal, action, resource) when { resource is Probity::Path && resource is Probity::Url };",
        &[impossible],
    );
    refused("permit(principal, action, resource) when { context.arguments has amuont };", &[impossible]);
    refused(
        "permit(principal, action, resource is Probity::Seat);",
        &["unable to find an applicable action"],
    );
}

#[test]
fn a_policy_that_reads_otherwise_than_it_is() {
    let id = |id: &str| format!("permit(principal, action, resource) when {{ principal.id == \"{id}\" }};");
    refused(&id("a\u{202E}b"), &["a.cedar:1:62: a character that changes the order"]);
    refused("// x\n//\u{2066}\npermit(principal, action, resource);", &["a.cedar:2:3: a character"]);
    load(&id("a\\u{202E}b")).unwrap();
    // Names in several scripts are somebody's language.
    load(&id("Ольга O'Neil")).unwrap();
}

#[test]
fn a_template() {
    refused("permit(principal == ?principal, action, resource);", &["is a template"]);
}

#[test]
fn annotations_that_would_do_nothing() {
    let all = "(principal, action, resource);";
    refused(&format!("@aks(\"why\") permit{all}"), &["`a.cedar#1`", "`@aks` that means nothing"]);
    refused(&format!("@ask(\"why\") forbid{all}"), &["forbids and asks"]);
    refused(&format!("@ask permit{all}"), &["empty `@ask`"]);
    refused(&format!("@ask(\" \") permit{all}"), &["empty `@ask`"]);
    refused(&format!("@id(\"\") permit{all}"), &["empty `@id`"]);
    refused(&format!("@ask(\"a\") @ask(\"b\") permit{all}"), &["duplicate annotation"]);
}

#[test]
fn ids_and_names_that_are_not_unique() {
    let all = "(principal, action, resource);";
    refused(&format!("@id(\"x\") permit{all} @id(\"x\") forbid{all}"), &["a second policy has the id `x`"]);
    let two = |first: (&str, &str), second: (&str, &str)| {
        let sources =
            [first, second].map(|(name, text)| CedarSource { name: name.into(), text: text.into() });
        CedarPolicy::new(policy_name("cedar"), &sources, &tools()).map_err(|error| error.to_string())
    };
    let permit = format!("permit{all}");
    let named = format!("@id(\"x\") permit{all}");
    let error = two(("a", &named), ("b", &named)).unwrap_err();
    assert_eq!(error, "load the Cedar policies: b: a second policy has the id `x`");
    let error = two(("a", &permit), ("a", "")).unwrap_err();
    assert_eq!(error, "load the Cedar policies: a: the sources 1 and 2 have the same name");
    two(("a", &permit), ("b", &permit)).unwrap();
}

#[test]
fn a_fault_in_the_second_source_is_placed_there() {
    let sources = [
        ("a", "permit(principal, action, resource);"),
        ("b", "\n\nforbid(principal, action, resource) when { 1 };"),
    ]
    .map(|(name, text)| CedarSource { name: name.into(), text: text.into() });
    let error = CedarPolicy::new(policy_name("cedar"), &sources, &tools()).unwrap_err();
    let words = error.to_string();
    assert!(words.starts_with("load the Cedar policies: b:3:44: for policy `b#1`"), "{words}");
    assert!(error.hint().contains("schema"), "{}", error.hint());
}

#[test]
fn every_fault_is_told_once() {
    let text = "permit(principal, action, resource) when { context.nothing };\npermit(principal, action, resource) when { 1 };";
    let words = load(text).unwrap_err().to_string();
    assert!(words.contains("a.cedar:1:44: ") && words.contains("\na.cedar:2:44: "), "{words}");
    let lines: Vec<&str> = words.lines().collect();
    let mut once = lines.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), lines.len(), "{words}");
}

#[test]
fn two_tools_of_one_name() {
    let twice = [tool("t", Effect::Pure, json!({})), tool("t", Effect::Once, json!({}))];
    assert!(load_for("", &twice).unwrap_err().to_string().ends_with("two tools are called `t`"));
}

#[test]
fn a_task_without_tools_can_have_no_policy() {
    load_for("", &[]).unwrap();
    refused_without_tools("permit(principal, action, resource);");
}

#[track_caller]
fn refused_without_tools(text: &str) {
    assert!(load_for(text, &[]).is_err());
}
