//! What the documents show is so.

use probity_contract::{Effect, Seat, Verdict};
use serde_json::json;

use crate::scene::{call_of, load_for, tool};

const GUIDE: &str = include_str!("../../../../docs/cedar.md");

/// The verdict as the guide words it.
fn words(verdict: Verdict) -> String {
    match verdict {
        Verdict::Abstain => "nothing; if no other policy allows it, it is denied".to_owned(),
        Verdict::Allow { reason } => format!("allow: {reason}"),
        Verdict::Ask { reason } => format!("ask: {reason}"),
        Verdict::Deny { reason } => format!("deny: {reason}"),
    }
}

#[test]
fn the_worked_example_says_what_its_table_says() {
    let text = json!({ "type": "string" });
    let tools = [
        tool(
            "pay",
            Effect::Once,
            json!({ "type": "object", "required": ["amount", "to"], "properties": {
            "amount": { "type": "integer" }, "to": text, "memo": text
        } }),
        ),
        tool("note", Effect::Pure, json!({ "type": "object", "properties": { "text": text } })),
    ];
    let (_, after) = GUIDE.split_once("```cedar\n").unwrap();
    let (policies, rest) = after.split_once("```").unwrap();
    let policy = load_for(policies, &tools).unwrap();
    let rows: Vec<&str> =
        rest.lines().take_while(|line| *line != "In Rust:").filter(|line| line.starts_with("| `")).collect();
    assert_eq!(rows.len(), 4);
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [call, expected] = cells.as_slice() else { panic!("{row}") };
        let (name, arguments) = call.trim_matches('`').split_once(' ').unwrap();
        let tool = tools.iter().find(|tool| tool.name.as_str() == name).unwrap();
        let verdict = policy.verdict(&call_of(tool, arguments, Vec::new()), Seat::Adjudicate).unwrap();
        assert_eq!(&words(verdict), expected);
    }
}

#[test]
fn the_error_that_is_shown_is_the_one_that_comes() {
    let pay = tool(
        "pay",
        Effect::Once,
        json!({ "type": "object", "required": ["amount"], "properties": {
        "amount": { "type": "integer" }
    } }),
    );
    let text = "@id(\"small\")\npermit (principal, action == Probity::Action::\"pay\", resource)\nwhen { context.arguments.amuont < 100 };";
    let error = load_for(text, &[pay]).unwrap_err().to_string().replace("a.cedar", "payments.cedar");
    let shown = GUIDE.replace('\n', " ");
    assert!(shown.contains(&error), "{error}");
}
