use super::*;

#[test]
fn a_verdict_from_outside_is_read() {
    let check =
        |text: &str, expected: Verdict| assert_eq!(Verdict::from_json(text).unwrap(), expected, "{text}");
    let reason = || "because".to_owned();
    check(r#"{"verdict":"allow","reason":"because"}"#, Verdict::Allow { reason: reason() });
    check(r#" {"reason":"because","verdict":"ask"} "#, Verdict::Ask { reason: reason() });
    check(r#"{"verdict":"deny","reason":"because"}"#, Verdict::Deny { reason: reason() });
    check(r#"{"verdict":"abstain"}"#, Verdict::Abstain);
}

/// V1, V4, V8: whatever is not a verdict is none, and its words are told to nobody.
#[test]
fn i07_v1_v8_what_is_no_verdict_is_malformed_and_only_its_shape_is_told() {
    for (text, shape) in [
        ("", "no JSON"),
        ("hunter2", "no JSON"),
        ("null", "null"),
        ("true", "true or false"),
        ("7", "a number"),
        (r#""allow hunter2""#, "a text"),
        (r#"["allow"]"#, "a list"),
        ("{}", "without the member `verdict`"),
        (r#"{"verdict":"alow","reason":"hunter2"}"#, "an unknown verdict"),
        (r#"{"verdict":"ALLOW","reason":"hunter2"}"#, "an unknown verdict"),
        (r#"{"decision":"allow","reason":"hunter2"}"#, "an unknown member"),
        (r#"{"verdict":"allow","reason":"x","hunter2":1}"#, "an unknown member"),
        (r#"{"verdict":"allow","reason":"x","result":"hunter2"}"#, "an unknown member"),
        (r#"{"verdict":"allow"}"#, "without a reason"),
        (r#"{"verdict":"deny","reason":" "}"#, "without a reason"),
        (r#"{"verdict":"deny","reason":null}"#, "no text"),
        (r#"{"verdict":"abstain","reason":"hunter2"}"#, "an abstention"),
        (r#"{"verdict":"allow","reason":"x"} hunter2"#, "no JSON"),
        (r#"{"verdict":"deny","reason":"x","verdict":"allow"}"#, "understand differently"),
        (r#"{"verdict":"result","reason":"hunter2"}"#, "an unknown verdict"),
    ] {
        let error = Verdict::from_json(text).unwrap_err();
        assert!(error.is_malformed() && error.to_string().contains(shape), "{text}: {error}");
        assert!(
            !error.to_string().contains("hunter2") && !format!("{error:?}").contains("hunter2"),
            "{error}"
        );
    }
    assert!(!PolicyError::new("it broke").is_malformed());
}
