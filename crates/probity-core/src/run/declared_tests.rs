use probity_contract::{Effect, ToolName};
use serde_json::json;

use super::*;

fn tool(schema: Value, endorses: &[&str]) -> ToolSpec {
    ToolSpec {
        name: ToolName::new("t").unwrap(),
        description: String::new(),
        input_schema: schema,
        effect: Effect::Once,
        server: None,
        sandbox: None,
        endorses: endorses.iter().map(|at| (*at).to_owned()).collect(),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "flag": {"type": "boolean"},
            "kind": {"anyOf": [{"$ref": "#/$defs/Kind"}, {"type": "null"}]},
            "kinds": {"type": "array", "items": {"$ref": "#/$defs/Kind"}},
            "text": {"type": "string"},
            "either": {"anyOf": [{"$ref": "#/$defs/Kind"}, {"type": "string"}]},
            "open": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "self": {"$ref": "#"},
        },
        "$defs": {"Kind": {"enum": ["a", "b"]}},
    })
}

#[test]
fn only_what_has_few_values_can_be_endorsed() {
    let wrong = |at: &str| wrongly_endorsed(&tool(schema(), &[at])).is_some();
    for at in ["/flag", "/kind", "/kinds/*", "/self/flag", "/self/self/kinds/*"] {
        assert!(!wrong(at), "{at}");
    }
    for at in
        ["/text", "/either", "/nothing", "/kinds", "/open", "/open/x", "/kinds/0", "", "flag", "/flag/x"]
    {
        assert!(wrong(at), "{at}");
    }
}

#[test]
fn a_value_is_endorsed_where_it_is_declared_and_listed() {
    let tool = tool(schema(), &["/flag", "/kind", "/kinds/*", "/either"]);
    let endorsed = |arguments: Value, at: &str| Declared::at(&tool, &arguments, at).endorsed;
    assert!(endorsed(json!({"flag": true}), "/flag"));
    assert!(endorsed(json!({"kind": "a"}), "/kind") && endorsed(json!({"kind": null}), "/kind"));
    assert!(endorsed(json!({"kinds": ["a", "b"]}), "/kinds/1"));
    assert!(!endorsed(json!({"either": "free"}), "/either"));
    assert!(!endorsed(json!({"text": "a"}), "/text"));
    // An index is not a name.
    assert!(!endorsed(json!({"kinds": {"*": "a"}}), "/kinds/*/x"));
}

#[test]
fn names_that_no_schema_has_are_chosen() {
    let tool = tool(schema(), &[]);
    let chosen = |arguments: Value, at: &str| Declared::at(&tool, &arguments, at).chosen_names;
    assert!(chosen(json!({"self": {"flag": true}}), "/self/flag").is_empty());
    assert_eq!(chosen(json!({"open": {"eve@evil": true}}), "/open/eve@evil"), ["eve@evil"]);
    assert_eq!(chosen(json!({"a/b": {"c": 1}}), "/a~1b/c"), ["a/b", "c"]);
}
