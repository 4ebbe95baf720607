//! The schema as people see it.

use probity_contract::Effect;
use serde_json::json;

use crate::scene::{load, load_for, tool};

#[test]
fn it_shows_what_policies_can_read() {
    let policy = load("").unwrap();
    let text = policy.schema_text();
    for part in [
        "namespace Probity {",
        "entity Access enum [\"read\", \"write\"];",
        "amount: Long",
        "fee?: decimal",
        "memo?: String",
        "tags?: Set<String>",
        "any?: Json",
        "action \"pay\" appliesTo {",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn it_reads_back_as_the_schema_that_policies_are_checked_against() {
    let odd = json!({ "type": "object", "properties": {
        "a\"b": { "type": "string" }, "ünï ": { "type": "integer" }, "type": {}, "namespace": { "type": "object",
        "properties": { "}; entity X;": { "type": "array", "items": { "type": "number" } } } },
    } });
    let policy =
        load_for("", &[tool("odd-name", Effect::Pure, odd), tool("if", Effect::Once, json!({}))]).unwrap();
    let (_, warnings) = cedar_policy::Schema::from_cedarschema_str(policy.schema_text()).unwrap();
    assert_eq!(warnings.count(), 0);
}
