use proptest::prelude::*;

use super::*;

fn check(text: &str, canonical: Option<&str>) {
    let parsed = Arguments::parse(text).ok();
    assert_eq!(parsed.as_ref().map(Arguments::as_str), canonical, "{text}");
}

#[test]
fn equal_meanings_have_equal_bytes() {
    check(r#" { "b" : 1.0, "a" : [ true , null ] } "#, Some(r#"{"a":[true,null],"b":1}"#));
    check(r#"{"a":[true,null],"b":1}"#, Some(r#"{"a":[true,null],"b":1}"#));
    check(r#"{"\u0061":"\u00e9"}"#, Some(r#"{"a":"é"}"#));
    check(r#"{"n":1e2,"z":-0.0}"#, Some(r#"{"n":100,"z":0}"#));
}

#[test]
fn what_two_readers_could_understand_differently_is_refused() {
    for bad in [
        "",
        " ",
        "{",
        r#"{"a":1"#,
        r#"{"a":1}{"#,
        r#"{"a":1} x"#,
        r#"{"a":1,"a":2}"#,
        r#"{"x":{"a":1,"\u0061":2}}"#,
        r#"{"n":9007199254740993}"#,
        r#"{"n":-9007199254740993}"#,
        r#"{"n":18446744073709551617}"#,
        r#"{"n":1000000000000000000000}"#,
        r#"{"n":-123456789012345678901234567890}"#,
        r#"{"n":1e21}"#,
        r#"{"n":1e300}"#,
        r#"{"n":9007199254740992.0}"#,
        r#"{"n":1e999}"#,
        r#"{"s":"\ud800"}"#,
        "[]",
        "null",
        "\"{}\"",
        "{'a':1}",
        "{\"a\":NaN}",
    ] {
        check(bad, None);
    }
}

#[test]
fn a_number_that_loses_digits_is_refused_on_both_doors() {
    for bad in [1e21, -1e300, 9_007_199_254_740_992.0] {
        assert!(Arguments::from_value(&serde_json::json!({ "n": bad })).is_err(), "{bad}");
    }
    check(r#"{"n":9007199254740991.0,"x":1.5e-300}"#, Some(r#"{"n":9007199254740991,"x":1.5e-300}"#));
}

#[test]
fn depth_and_size_have_a_limit_on_both_doors() {
    let nested = |depth: usize| format!("{}{{}}{}", "{\"a\":".repeat(depth - 1), "}".repeat(depth - 1));
    assert!(Arguments::parse(&nested(JSON_DEPTH_MAX)).is_ok());
    assert!(Arguments::parse(&nested(JSON_DEPTH_MAX + 1)).is_err());
    assert!(Arguments::parse(&"{\"a\":".repeat(100_000)).is_err());
    let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(ARGS_BYTES_MAX));
    assert!(matches!(Arguments::parse(&long), Err(ArgumentsError::TooLong(_))));
    let value: Value = serde_json::from_str(&nested(JSON_DEPTH_MAX + 1)).unwrap();
    assert!(Arguments::from_value(&value).is_err());
}

#[test]
fn no_text_cut_short_is_ever_accepted() {
    let whole = r#"{"path":"a/b.txt","n":[1,2,{"deep":"x"}]}"#;
    for end in 0..whole.len() {
        check(whole.get(..end).unwrap(), None);
    }
}

fn values() -> impl Strategy<Value = Value> {
    let words = || "[\\x00-\\x7f\u{e9}\u{7ff}\u{2028}\u{fffd}\u{1f600}\u{10ffff}]{0,6}";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        words().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-20_i64..20).prop_map(|near| Value::from(9_007_199_254_740_991 + near)),
        (-20_i64..20).prop_map(|near| Value::from(-9_007_199_254_740_991 + near)),
        prop::num::f64::NORMAL.prop_map(Value::from),
        prop_oneof![Just(-0.0), Just(1e21), Just(1e-7), Just(100.0), Just(0.1 + 0.2)].prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((words(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn both_ways_to_canonical_bytes_agree(value in values()) {
        let mut bytes = Vec::new();
        write_canonical(&value, &mut bytes).unwrap();
        prop_assert_eq!(bytes, canonical_bytes(&value).unwrap());
    }
}
