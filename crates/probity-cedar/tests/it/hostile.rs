//! Words of a model that try to be more than words.

use probity_contract::{Effect, PrincipalId, Seat, Target};
use serde_json::json;

use crate::scene::{Said, call, call_of, call_with, check, load_for, pay, said, tool, tools};

#[test]
fn escapes_in_arguments_are_not_entities_or_extension_values() {
    let text = json!({ "type": "string" });
    let members = json!({ "__entity": { "type": "object", "properties": { "type": text, "id": text } }, "any": {}, "text": text });
    let tool = tool("t", Effect::Pure, json!({ "type": "object", "properties": members }));
    // Typed as a record, as any value, and as a string.
    let entity = r#"{"id":"root","type":"Probity::Principal"}"#;
    let call = |arguments: &str| call_of(&tool, arguments, Vec::new());
    let judge = |condition: &str, arguments: &str| {
        let text = format!("permit(principal, action, resource) when {{ {condition} }};");
        let policy = load_for(&text, std::slice::from_ref(&tool)).unwrap_or_else(|error| panic!("{error}"));
        said(&policy.verdict(&call(arguments), Seat::Adjudicate))
    };
    let record = "context.arguments has __entity && context.arguments.__entity has id && context.arguments.__entity.id == \"root\"";
    assert_eq!(judge(record, &format!(r#"{{"__entity":{entity}}}"#)), Said::Allow);
    for escape in [
        format!(r#"{{"__entity":{entity}}}"#),
        r#"{"__extn":{"arg":"1.0","fn":"decimal"}}"#.to_owned(),
        r#"{"__expr":"principal"}"#.to_owned(),
    ] {
        let any = format!("context.arguments has any && context.arguments.any.json == {escape:?}");
        assert_eq!(judge(&any, &format!(r#"{{"any":{escape}}}"#)), Said::Allow, "{escape}");
        // An object where a string is declared denies; the same as a string is that string.
        let text = format!("context.arguments has text && context.arguments.text == {escape:?}");
        assert_eq!(judge(&text, &format!(r#"{{"text":{escape}}}"#)), Said::Error, "{escape}");
        assert_eq!(judge(&text, &format!(r#"{{"text":{}}}"#, json!(escape))), Said::Allow, "{escape}");
    }
}

#[test]
fn words_with_quotes_and_controls_are_those_words() {
    let text = |to: &str| {
        let literal: String = to.chars().map(|c| format!("\\u{{{:x}}}", u32::from(c))).collect();
        format!(
            "permit(principal, action == Probity::Action::\"pay\", resource) when {{ context.arguments.to == \"{literal}\" }};"
        )
    };
    for to in [
        "\"",
        "\\",
        "\" || true || \"",
        "*",
        "\u{202E}x",
        "\0",
        "é",
        "e\u{301}",
        "🦀",
        "Probity::Principal::\"root\"",
    ] {
        let arguments = json!({ "amount": 1, "to": to }).to_string();
        check(&text(to), &pay(&arguments), Said::Allow);
        check(&text("x"), &pay(&arguments), Said::Abstain);
    }
}

#[test]
fn a_wildcard_in_an_argument_matches_nothing() {
    let text = "permit(principal, action == Probity::Action::\"pay\", resource) when { context.arguments.to like \"acme-*\" };";
    check(text, &pay(r#"{"amount":1,"to":"acme-1"}"#), Said::Allow);
    check(text, &pay(r#"{"amount":1,"to":"*"}"#), Said::Abstain);
    check(text, &pay(r#"{"amount":1,"to":"acme\\-1"}"#), Said::Abstain);
}

#[test]
fn principals_and_targets_with_quotes_are_those_ids() {
    let odd = "ada\"; permit(principal, action, resource); \"";
    let tools = tools();
    let call = call_with(tools.first().unwrap(), r#"{"amount":1,"to":"x"}"#, Vec::new(), |facts| {
        facts.principal = PrincipalId::new(odd).unwrap();
    });
    check("permit(principal == Probity::Principal::\"ada\", action, resource);", &call, Said::Abstain);
    check(
        &format!("permit(principal == Probity::Principal::{odd:?}, action, resource);"),
        &call,
        Said::Allow,
    );
    let value = "a\"]; [\"b";
    let target = Target::Other { what: "table".to_owned(), value: value.to_owned() };
    let call = crate::scene::call("note", "{}", vec![target]);
    let text = format!(
        "permit(principal, action, resource is Probity::Other) when {{ resource.value == {value:?} }};"
    );
    check(&text, &call, Said::Allow);
}

#[test]
fn members_with_any_name_have_that_name() {
    for name in [
        "a\"b", "a b", "", "if", "__cedar", "__entity", "ünï", "🦀", "a\nb", "a.b", "has", "$ref", "a\\b",
        "type",
    ] {
        let schema = json!({ "type": "object", "properties": { name: { "type": "string" } } });
        let tool = tool("t", Effect::Pure, schema);
        let literal: String = name.chars().map(|c| format!("\\u{{{:x}}}", u32::from(c))).collect();
        let text = format!(
            "permit(principal, action, resource) when {{ context.arguments has \"{literal}\" && context.arguments[\"{literal}\"] == \"x\" }};"
        );
        let policy =
            load_for(&text, std::slice::from_ref(&tool)).unwrap_or_else(|error| panic!("{name:?}: {error}"));
        let call = call_of(&tool, &json!({ name: "x" }).to_string(), Vec::new());
        assert_eq!(said(&policy.verdict(&call, Seat::Adjudicate)), Said::Allow, "{name:?}");
    }
}

#[test]
fn names_of_tools_that_mean_something_in_cedar_are_names() {
    for name in ["permit", "if", "principal", "__cedar", "-", "like", "0", "Action"] {
        let tool = tool(name, Effect::Pure, json!({ "type": "object" }));
        let text = format!("permit(principal, action == Probity::Action::\"{name}\", resource);");
        let policy =
            load_for(&text, std::slice::from_ref(&tool)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(said(&policy.verdict(&call_of(&tool, "{}", Vec::new()), Seat::Adjudicate)), Said::Allow);
    }
}

#[test]
fn a_name_in_a_shell_word_cannot_break_out_of_the_line() {
    let text = r#"permit(principal, action, resource is Probity::Command) when { resource.line == "echo 'a'\\''b'" };"#;
    let target = |word: &str| Target::Command { argv: vec!["echo".to_owned(), word.to_owned()] };
    check(text, &call("shell", "{}", vec![target("a'b")]), Said::Allow);
    check(text, &call("shell", "{}", vec![target("'a'\\''b'")]), Said::Abstain);
}

#[test]
fn deep_arguments_are_text_and_not_a_stack() {
    let nested = format!("{}1{}", "[".repeat(60), "]".repeat(60));
    let text = format!(
        "permit(principal, action == Probity::Action::\"pay\", resource)
         when {{ context.arguments has any && context.arguments.any.json == \"{nested}\" }};"
    );
    check(&text, &pay(&format!(r#"{{"amount":1,"any":{nested},"to":"x"}}"#)), Said::Allow);
}
