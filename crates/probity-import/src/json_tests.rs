use serde_json::{Value, json};

use super::{canonical, nested, unix_ms, unpacked};

#[test]
fn times_of_every_unit_are_the_same_moment() {
    let moment = 1_700_000_000_123_u64;
    let same = [
        json!(1_700_000_000_123_u64),
        json!("1700000000123000000"),
        json!(1_700_000_000_123_456_u64),
        json!(1_700_000_000.123),
        json!([1_700_000_000, 123_000_000]),
        json!("2023-11-14T22:13:20.123Z"),
        json!("2023-11-14T23:13:20.123+01:00"),
        json!("2023-11-14 22:13:20.123"),
    ];
    for value in same {
        assert_eq!(unix_ms(&value), Some(moment), "{value}");
    }
    assert_eq!(unix_ms(&json!(1_700_000_000)), Some(1_700_000_000_000));
    for value in [json!("yesterday"), json!(null), json!({}), json!([1]), json!("1960-01-01T00:00:00Z")] {
        assert_eq!(unix_ms(&value), None, "{value}");
    }
}

#[test]
fn names_with_dots_become_lists_and_objects() {
    let flat = json!({"0.role": "user", "10.role": "tool", "2.parts.0.text": "x"});
    let members = flat.as_object().unwrap();
    let found = nested(members.iter().map(|(name, value)| (name.as_str(), value)));
    assert_eq!(found, json!([{"role": "user"}, {"parts": [{"text": "x"}]}, {"role": "tool"}]));
}

#[test]
fn equal_values_have_one_form_whatever_the_order_of_their_members() {
    let form = |text: &str| {
        let mut form = String::new();
        canonical(&serde_json::from_str::<Value>(text).unwrap(), &mut form);
        form
    };
    assert_eq!(form(r#"{"a": 1, "b": [2, {"c": 3}]}"#), form(r#"{"b":[2,{"c":3}],"a":1}"#));
    assert_ne!(form(r#"{"a": [1, 2]}"#), form(r#"{"a": [12]}"#));
}

#[test]
fn texts_that_hold_lists_or_objects_are_read_and_others_are_left() {
    let cases = [
        (r#"{"a": 1}"#, json!({"a": 1})),
        (
            "{'a': None, 'b': [True, 'it\\'s', 1.5], \"c\": (1, 2)}",
            json!({"a": null, "b": [true, "it's", 1.5], "c": [1, 2]}),
        ),
        ("{'a': open('x')}", json!("{'a': open('x')}")),
        ("[not json", json!("[not json")),
        ("12", json!("12")),
        ("\"text\"", json!("\"text\"")),
    ];
    for (text, expected) in cases {
        assert_eq!(unpacked(text.into()), expected, "{text}");
    }
}
