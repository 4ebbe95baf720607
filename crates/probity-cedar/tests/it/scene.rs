//! A task's tools, and calls of them.

use probity_cedar::{CedarError, CedarPolicy, CedarSource};
use probity_contract::{
    Access, Arguments, CallFacts, CallId, Effect, FrozenCall, Label, PolicyError, Seat, Target, ToolSpec,
    Verdict,
};
use probity_testkit::{policy_name, principal, run_id, tool_name};
use serde_json::{Value, json};

pub(crate) fn tool(name: &str, effect: Effect, input_schema: Value) -> ToolSpec {
    ToolSpec {
        name: tool_name(name),
        description: "A tool.".to_owned(),
        input_schema,
        effect,
        server: None,
        sandbox: None,
        endorses: Vec::new(),
    }
}

/// `pay`, `note`, `fs_read` and `shell`.
pub(crate) fn tools() -> Vec<ToolSpec> {
    let text = json!({ "type": "string" });
    vec![
        tool(
            "pay",
            Effect::Once,
            json!({ "type": "object", "required": ["amount", "to"], "properties": {
                "amount": { "type": "integer" },
                "to": text,
                "fee": { "type": "number" },
                "memo": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
                "tags": { "type": "array", "items": text },
                "any": {},
            }}),
        ),
        tool("note", Effect::Pure, json!({ "type": "object", "properties": { "text": text } })),
        tool("fs_read", Effect::Pure, json!({ "type": "object", "properties": { "path": text } })),
        tool(
            "shell",
            Effect::Once,
            json!({ "type": "object", "properties": {
                "argv": { "type": "array", "items": text }
            }}),
        ),
    ]
}

pub(crate) fn load(text: &str) -> Result<CedarPolicy, CedarError> {
    load_for(text, &tools())
}

pub(crate) fn load_for(text: &str, tools: &[ToolSpec]) -> Result<CedarPolicy, CedarError> {
    let source = CedarSource { name: "a.cedar".to_owned(), text: text.to_owned() };
    CedarPolicy::new(policy_name("cedar"), &[source], tools)
}

pub(crate) fn call_of(tool: &ToolSpec, arguments: &str, targets: Vec<Target>) -> FrozenCall {
    call_with(tool, arguments, targets, |_| {})
}

pub(crate) fn call_with(
    tool: &ToolSpec,
    arguments: &str,
    targets: Vec<Target>,
    change: impl FnOnce(&mut CallFacts),
) -> FrozenCall {
    let mut facts = CallFacts {
        run: run_id("r"),
        call: CallId(1),
        principal: principal("ada"),
        tool: tool.name.clone(),
        tool_digest: tool.digest(),
        arguments: Arguments::parse(arguments).unwrap(),
        targets,
        label: Label::system(),
        operands: Vec::new(),
        arguments_from: Vec::new(),
    };
    change(&mut facts);
    FrozenCall::freeze(facts).unwrap()
}

/// A call of one of [`tools`].
pub(crate) fn call(name: &str, arguments: &str, targets: Vec<Target>) -> FrozenCall {
    let tools = tools();
    call_of(tools.iter().find(|tool| tool.name.as_str() == name).unwrap(), arguments, targets)
}

pub(crate) fn pay(arguments: &str) -> FrozenCall {
    call("pay", arguments, Vec::new())
}

pub(crate) fn path(path: &str, resolved: &str) -> Target {
    Target::Path {
        root: "work".to_owned(),
        path: path.to_owned(),
        resolved: resolved.to_owned(),
        access: Access::Read,
        recursive: false,
    }
}

pub(crate) fn tree(path: &str) -> Target {
    Target::Path {
        root: "work".to_owned(),
        path: path.to_owned(),
        resolved: path.to_owned(),
        access: Access::Read,
        recursive: true,
    }
}

pub(crate) fn command(argv: &[&str]) -> Target {
    Target::Command { argv: argv.iter().map(|word| (*word).to_owned()).collect() }
}

/// What a policy can say, without the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Said {
    Abstain,
    Allow,
    Ask,
    Deny,
    Error,
}

pub(crate) fn said(verdict: &Result<Verdict, PolicyError>) -> Said {
    match verdict {
        Ok(Verdict::Abstain) => Said::Abstain,
        Ok(Verdict::Allow { .. }) => Said::Allow,
        Ok(Verdict::Ask { .. }) => Said::Ask,
        Ok(Verdict::Deny { .. }) => Said::Deny,
        Err(_) => Said::Error,
    }
}

/// Loads `text` and checks what it says of `call`. The words are given back.
#[track_caller]
pub(crate) fn check(text: &str, call: &FrozenCall, expected: Said) -> String {
    let policy = load(text).unwrap_or_else(|error| panic!("{error}"));
    let verdict = policy.verdict(call, Seat::Adjudicate);
    assert_eq!(said(&verdict), expected, "{text}: {verdict:?}");
    match verdict {
        Ok(Verdict::Abstain) => String::new(),
        Ok(Verdict::Allow { reason } | Verdict::Ask { reason } | Verdict::Deny { reason }) => reason,
        Err(error) => error.to_string(),
    }
}

/// Checks that `text` does not load, and that the error says all of `parts`.
#[track_caller]
pub(crate) fn refused(text: &str, parts: &[&str]) {
    let error = load(text).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}
