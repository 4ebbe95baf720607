use serde_json::json;

use super::listed;

#[test]
fn arguments_with_a_list_of_values_need_nobody() {
    let rights = json!({"enum": ["r", "rw"]});
    let schema = json!({
        "properties": {
            "direct": rights,
            "named": {"$ref": "#/$defs/Rights"},
            "perhaps": {"anyOf": [{"$ref": "#/$defs/Rights"}, {"type": "null"}]},
            "urgent": {"type": "boolean"},
            "to": {"type": "string"},
            "cc": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "unknown": {"$ref": "#/$defs/None"},
        },
        "$defs": {"Rights": rights},
    });
    let mut found = listed(&schema);
    found.sort_unstable();
    assert_eq!(found, ["/direct", "/named", "/perhaps", "/urgent"]);
}
