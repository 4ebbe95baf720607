use serde_json::json;

use super::*;

#[test]
fn malformed_arguments_are_replayed_with_their_text() {
    for text in ["", "null", "[1]", "{\"a\":", "\"x\"", "{} {}"] {
        let members = arguments_object(text);
        assert_eq!(members.get("malformed_arguments"), Some(&json!(text)), "{text}");
        assert_eq!(arguments_text(text), Value::Object(members).to_string());
    }
    assert_eq!(arguments_text("{ \"a\" : 1 }"), "{ \"a\" : 1 }");
    assert_eq!(arguments_text("{}"), "{}");
}

#[test]
fn strictness_is_asked_for_only_where_the_schema_allows_it() {
    let strict = json!({ "type": "object", "additionalProperties": false, "required": ["a"],
        "properties": { "a": { "type": "array", "items": { "type": "string" } } } });
    assert!(is_strict(&strict));
    assert!(!is_strict(&json!({ "type": "object" })));
    assert!(!is_strict(
        &json!({ "type": "object", "additionalProperties": false, "properties": { "a": {} } })
    ));
    assert!(!is_strict(&json!({ "type": "array", "items": { "type": "object", "properties": {} } })));
}
