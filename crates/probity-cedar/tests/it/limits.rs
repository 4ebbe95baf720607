//! Every limit, just below and just above.

use probity_cedar::limits::{
    ARGUMENT_DEPTH_MAX, ARGUMENT_TYPES_MAX, ARGUMENT_VALUES_MAX, POLICIES_MAX, POLICY_NESTING_MAX,
    POLICY_OPERATORS_MAX, RESOURCES_MAX, SOURCES_BYTES_MAX,
};
use probity_contract::{Effect, Seat};
use serde_json::{Value, json};

use crate::scene::{Said, call, call_of, check, load, load_for, path, pay, refused, said, tool};

const PERMIT: &str = "permit(principal, action, resource);\n";
const CALL: &str = r#"{"amount":5,"to":"acme"}"#;

fn when(condition: &str) -> String {
    format!("permit(principal, action == Probity::Action::\"pay\", resource) when {{ {condition} }};")
}

#[test]
fn bytes_of_all_sources() {
    let fill = |bytes: usize| {
        format!("{PERMIT}//{}", "x".repeat(bytes - PERMIT.len() - "//".len() - "a.cedar".len()))
    };
    check(&fill(SOURCES_BYTES_MAX), &pay(CALL), Said::Allow);
    refused(&fill(SOURCES_BYTES_MAX + 1), &["1048577 bytes; at most 1048576 are read"]);
}

#[test]
fn policies() {
    // A policy that names its action is validated for one tool only, which keeps the test short.
    let many =
        |count: usize| "forbid(principal, action == Probity::Action::\"note\", resource);".repeat(count);
    check(&many(POLICIES_MAX), &pay(CALL), Said::Abstain);
    refused(&many(POLICIES_MAX + 1), &["more than 1000 policies"]);
}

#[test]
fn nesting_of_a_policy() {
    let nested = |levels: usize| {
        when(&format!("{}context.arguments.amount > 0{}", "(".repeat(levels), ")".repeat(levels)))
    };
    // The condition's own braces are one level.
    check(&nested(POLICY_NESTING_MAX - 1), &pay(CALL), Said::Allow);
    refused(&nested(POLICY_NESTING_MAX), &["a.cedar:1:", "more than 32 brackets inside each other"]);
    refused(&nested(100_000), &["more than 32 brackets inside each other"]);
}

#[test]
fn a_fault_behind_as_many_brackets_as_may_be_is_found() {
    let levels = POLICY_NESTING_MAX - 1;
    let faulty = format!("{}context.arguments.amuont > 0{}", "(".repeat(levels), ")".repeat(levels));
    refused(&when(&faulty), &["amuont", "not found"]);
    let set = format!("{}1{} == 1", "[".repeat(levels), "]".repeat(levels));
    refused(&when(&set), &["Set<Long>"]);
}

#[test]
fn operators_of_a_policy() {
    // Two dots a term and one `&&` between terms.
    let terms = (POLICY_OPERATORS_MAX + 1) / 3;
    let chain = |terms: usize, last: &str| {
        let mut all = vec!["context.arguments.amount > 0"; terms - 1];
        all.push(last);
        when(&all.join(" && "))
    };
    check(&chain(terms, "context.arguments.amount > 0"), &pay(CALL), Said::Allow);
    check(&chain(terms, "context.arguments.amount > 9"), &pay(CALL), Said::Abstain);
    refused(&chain(terms, "context.arguments.amuont > 0"), &["amuont", "not found"]);
    refused(&chain(terms + 2, "true"), &["more than 256 operators in one policy"]);
    let sum = format!("context.arguments.amount + {} > 0", vec!["1"; POLICY_OPERATORS_MAX - 2].join(" + "));
    check(&when(&sum), &pay(CALL), Said::Allow);
    let faulty = format!("\"x\" + {} > 0", vec!["1"; POLICY_OPERATORS_MAX].join(" + "));
    refused(&when(&faulty), &["expected Long but saw String"]);
    let choices =
        format!("{}true", "if context.arguments.amount > 0 then true else ".repeat(POLICY_OPERATORS_MAX / 3));
    check(&when(&choices), &pay(CALL), Said::Allow);
}

#[test]
fn as_many_operators_as_may_be_are_evaluated_on_a_small_stack() {
    let sum = format!("context.arguments.amount + {} > 0", vec!["1"; POLICY_OPERATORS_MAX - 2].join(" + "));
    let policy = load(&when(&sum)).unwrap();
    let judge = move || said(&policy.verdict(&pay(CALL), Seat::Adjudicate));
    let thread = std::thread::Builder::new().stack_size(512 * 1024).spawn(judge).unwrap();
    assert_eq!(thread.join().unwrap(), Said::Allow);
}

fn nested_schema(levels: usize) -> Value {
    (1..levels).fold(
        json!({ "type": "string" }),
        |inner, _| json!({ "type": "object", "required": ["a"], "properties": { "a": inner } }),
    )
}

#[test]
fn depth_of_arguments() {
    let text = |condition: &str| {
        format!("permit(principal, action, resource) when {{ context.arguments{condition} }};")
    };
    // One level for the arguments, one for each record in them; the string inside is a level of none.
    for levels in [ARGUMENT_DEPTH_MAX + 1, ARGUMENT_DEPTH_MAX + 2] {
        let deep = tool("deep", Effect::Pure, nested_schema(levels));
        let arguments = format!("{}\"x\"{}", "{\"a\":".repeat(levels - 1), "}".repeat(levels - 1));
        let call = call_of(&deep, &arguments, Vec::new());
        let typed = levels == ARGUMENT_DEPTH_MAX + 1;
        let way = ".a".repeat(ARGUMENT_DEPTH_MAX);
        let condition = match typed {
            true => format!("{way} == \"x\""),
            // What lies deeper is there as a text.
            false => format!("{way}.json == \"{{\\\"a\\\":\\\"x\\\"}}\""),
        };
        let policy = load_for(&text(&condition), &[deep]).unwrap();
        assert_eq!(said(&policy.verdict(&call, Seat::Adjudicate)), Said::Allow, "{levels}");
    }
}

#[test]
fn types_of_arguments() {
    let properties = |count: usize| -> Value {
        let names = (0..count).map(|number| (format!("n{number:05}"), json!({ "type": "integer" })));
        json!({ "type": "object", "properties": Value::Object(names.collect()) })
    };
    // The record is one of the types.
    let fits = tool("wide", Effect::Pure, properties(ARGUMENT_TYPES_MAX - 1));
    let over = tool("wide", Effect::Pure, properties(ARGUMENT_TYPES_MAX));
    let json_members = |tool| load_for("", &[tool]).unwrap().schema_text().matches(": Json").count();
    assert_eq!((json_members(fits), json_members(over)), (0, 1));
}

#[test]
fn references_that_double_with_each_level_stay_bounded() {
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        definitions.insert(
            format!("d{level}"),
            json!({ "type": "object", "properties": { "a": next, "b": next, "c": next } }),
        );
    }
    definitions.insert("d40".to_owned(), json!({ "type": "string" }));
    let schema = json!({ "$ref": "#/$defs/d0", "$defs": definitions });
    let policy = load_for(PERMIT, &[tool("t", Effect::Pure, schema)]).unwrap();
    assert!(policy.schema_text().len() < 200_000, "{}", policy.schema_text().len());
}

#[test]
fn values_of_arguments() {
    let tags = |count: usize| {
        let tags = vec!["\"t\""; count].join(",");
        pay(&format!(r#"{{"amount":1,"tags":[{tags}],"to":"x"}}"#))
    };
    // The arguments, `amount`, `tags` and `to` are values as well.
    check(PERMIT, &tags(ARGUMENT_VALUES_MAX - 4), Said::Allow);
    let words = check(PERMIT, &tags(ARGUMENT_VALUES_MAX - 3), Said::Error);
    assert!(words.contains("more than 10000 values"), "{words}");
}

#[test]
fn resources_of_a_call() {
    let read = |count: usize| {
        let targets = (0..count).map(|number| path(&format!("f{number}"), &format!("f{number}")));
        call("fs_read", "{}", targets.collect())
    };
    check(PERMIT, &read(RESOURCES_MAX), Said::Allow);
    let words = check(PERMIT, &read(RESOURCES_MAX + 1), Said::Error);
    assert!(words.contains("more than 256 things"), "{words}");
}
