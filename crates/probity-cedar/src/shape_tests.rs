use serde_json::json;

use super::*;

/// The shape in few characters: `?` behind a member that may be missing, `!` behind one that may be null.
fn short(shape: &Shape) -> String {
    match shape {
        Shape::Text => "text".to_owned(),
        Shape::Whole => "whole".to_owned(),
        Shape::Number => "number".to_owned(),
        Shape::Truth => "truth".to_owned(),
        Shape::Json => "json".to_owned(),
        Shape::Set(element) => format!("[{}]", short(element)),
        Shape::Record(members) => {
            let member = |(name, member): (&String, &Member)| {
                let missing = if member.required { "" } else { "?" };
                let null = if member.nullable { "!" } else { "" };
                format!("{name}{missing}{null}:{}", short(&member.shape))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(" "))
        }
    }
}

/// Checks the shape of a member `a` with this schema.
#[track_caller]
fn check(schema: Value, expected: &str) {
    let arguments = json!({ "type": "object", "required": ["a"], "properties": { "a": schema }, "$defs": {
        "text": { "type": "string" },
        "pair": { "type": "object", "properties": { "x": { "$ref": "#/$defs/text" }, "y": { "$ref": "#/$defs/text" } } },
        "self": { "type": "object", "properties": { "next": { "$ref": "#/$defs/self" } } },
    } });
    assert_eq!(short(&Shape::of_arguments(&arguments)), format!("{{{expected}}}"));
}

#[test]
fn plain_types() {
    check(json!({ "type": "string" }), "a:text");
    check(json!({ "type": "string", "enum": ["x"], "format": "uri" }), "a:text");
    check(json!({ "type": "integer", "minimum": 0 }), "a:whole");
    check(json!({ "type": "number" }), "a:number");
    check(json!({ "type": ["integer", "number"] }), "a:number");
    check(json!({ "type": "boolean" }), "a:truth");
    check(json!({ "type": "null" }), "a:json");
}

#[test]
fn what_may_be_null() {
    check(json!({ "type": ["string", "null"] }), "a!:text");
    check(json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }], "default": null }), "a!:whole");
    check(json!({ "oneOf": [{ "type": "null" }, { "$ref": "#/$defs/text" }] }), "a!:text");
    check(json!({ "anyOf": [{ "type": ["string", "null"] }, { "type": "string" }] }), "a!:text");
    check(json!({ "enum": ["x", null] }), "a!:text");
    // Null is one of the texts of JSON.
    check(json!({ "type": ["object", "null"] }), "a:json");
    check(json!({ "type": "array", "items": { "type": ["string", "null"] } }), "a:[json]");
}

#[test]
fn unions_of_different_types_are_json() {
    check(json!({ "type": ["string", "integer"] }), "a:json");
    check(json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }), "a:json");
    check(json!({ "anyOf": [{ "type": "string" }, {}] }), "a:json");
    check(json!({ "enum": ["x", 1] }), "a:json");
    check(json!({ "enum": [] }), "a:json");
    check(json!({ "anyOf": [] }), "a:json");
    check(json!({ "allOf": [{ "type": "string" }, { "minLength": 1 }] }), "a:json");
    check(json!({ "anyOf": [{ "type": "string" }], "allOf": [{ "type": "string" }] }), "a:json");
    check(json!({ "not": { "type": "string" } }), "a:json");
}

#[test]
fn unions_of_one_type_are_that_type() {
    check(json!({ "oneOf": [{ "const": "x" }, { "const": "y" }] }), "a:text");
    check(json!({ "enum": ["x", "y"] }), "a:text");
    check(json!({ "enum": [1, 2] }), "a:whole");
    check(json!({ "const": 1.5 }), "a:number");
    check(json!({ "enum": [true] }), "a:truth");
    check(json!({ "allOf": [{ "$ref": "#/$defs/text" }], "default": "x" }), "a:text");
}

#[test]
fn anything_is_json() {
    for schema in
        [json!(true), json!(false), json!({}), json!({ "type": 5 }), json!({ "type": "odd" }), json!("x")]
    {
        check(schema, "a:json");
    }
}

#[test]
fn arrays() {
    check(json!({ "type": "array", "items": { "type": "number" } }), "a:[number]");
    check(
        json!({ "type": "array", "items": { "type": "array", "items": { "$ref": "#/$defs/text" } } }),
        "a:[[text]]",
    );
    check(json!({ "type": "array" }), "a:json");
    check(json!({ "type": "array", "items": {} }), "a:[json]");
    check(json!({ "type": "array", "items": true }), "a:json");
    check(json!({ "type": "array", "items": [{ "type": "string" }] }), "a:json");
    check(json!({ "type": "array", "items": { "type": "string" }, "prefixItems": [{}] }), "a:json");
}

#[test]
fn objects() {
    let members = json!({ "x": { "type": "string" }, "y": {} });
    check(json!({ "type": "object", "properties": members, "required": ["x"] }), "a:{x:text y?:json}");
    check(json!({ "properties": members }), "a:{x?:text y?:json}");
    check(
        json!({ "type": "object", "properties": members, "required": ["z"] }),
        "a:{x?:text y?:json z:json}",
    );
    check(json!({ "type": "object" }), "a:json");
    check(json!({ "type": "object", "additionalProperties": { "type": "string" } }), "a:json");
    check(json!({ "type": "object", "additionalProperties": false }), "a:{}");
}

#[test]
fn references() {
    check(json!({ "$ref": "#/$defs/text" }), "a:text");
    // The same twice beside each other is no circle.
    check(json!({ "$ref": "#/$defs/pair" }), "a:{x?:text y?:text}");
    check(json!({ "$ref": "#/$defs/self" }), "a:{next?:json}");
    check(json!({ "$ref": "#/$defs/nothing" }), "a:json");
    check(json!({ "$ref": "https://example.org/schema" }), "a:json");
    check(json!({ "$ref": "#" }), "a:{a:json}");
}

#[test]
fn arguments_without_members_are_json() {
    assert_eq!(Shape::of_arguments(&json!({ "type": "object" })), Shape::Json);
    assert_eq!(Shape::of_arguments(&json!({})), Shape::Json);
    let closed = json!({ "type": "object", "additionalProperties": false });
    assert_eq!(Shape::of_arguments(&closed), Shape::Record(BTreeMap::new()));
}
