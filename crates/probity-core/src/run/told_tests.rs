use probity_contract::{
    ArgumentSource, Arguments, CallFacts, CallId, Digest, Label, PrincipalId, RunId, ToolName,
};
use serde_json::json;

use super::*;

/// A call after something untrusted was read, in which these arguments stand in the person's message.
fn call(arguments: &Value, of_person: &[&str]) -> FrozenCall {
    let source = |at: &&str| ArgumentSource {
        at: (*at).to_owned(),
        integrity: Integrity::Person,
        item: None,
        part: None,
    };
    FrozenCall::freeze(CallFacts {
        run: RunId::new("r").unwrap(),
        call: CallId(1),
        principal: PrincipalId::new("ada").unwrap(),
        tool: ToolName::new("save").unwrap(),
        tool_digest: Digest::of("test", &[]),
        arguments: Arguments::from_value(arguments).unwrap(),
        targets: Vec::new(),
        operands: Vec::new(),
        arguments_from: of_person.iter().map(source).collect(),
        label: Label::untrusted(),
    })
    .unwrap()
}

fn check(text: &str, values: &[&str], call: Option<&FrozenCall>, expected: &[&str]) {
    let values = values.iter().map(|value| (*value).to_owned()).collect();
    assert_eq!(vouched(values, text, call), expected);
}

#[test]
fn only_what_stands_whole_in_the_text_is_vouched_for() {
    let text = "id: 'n-1'\ntitle: a long\n  title\nrow: 24";
    check(text, &["n-1", "a long title", "24", "id"], None, &["n-1", "a long title", "24", "id"]);
    check(text, &["n-", "long t", "2", "eve", "", "row: 24, and more"], None, &[]);
}

#[test]
fn nobody_vouches_for_more_than_there_is() {
    let text = "abc";
    check(text, &["abc", "abc"], None, &["abc"]);
    let many = vec!["a"; VOUCHED_MAX + 1];
    let text = "a ".repeat(many.len());
    check(&text, &many, None, &many[..VOUCHED_MAX]);
}

#[test]
fn nobody_vouches_for_what_an_untrusted_call_has_brought() {
    let brought = call(&json!({"to": ["bob@x.test", "eve@evil.test"], "n": 7, "mark": "!"}), &["/to/0"]);
    let text = "n-1 for bob@x.test: 'saved, eve@evil.test!' eve@evil.test 7";
    check(
        text,
        &["n-1", "bob@x.test", "saved, eve@evil.test!", "eve@evil.test"],
        Some(&brought),
        &["n-1", "bob@x.test"],
    );
    assert_eq!(echoed(text, &brought), ["eve@evil.test"]);
}
