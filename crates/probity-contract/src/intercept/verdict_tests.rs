use serde_json::json;

use super::{HookDecision, HookReasons, HookVerdict, HostError, Point, Points};

fn read(text: &str) -> Result<HookVerdict, String> {
    HookVerdict::from_json(text, HookReasons::Required).map_err(|error| error.to_string())
}

#[test]
fn v1_what_is_no_verdict_is_told_by_its_shape_and_never_by_its_words() {
    let malformed = [
        "{}",
        "null",
        "true",
        "7",
        "\"allow\"",
        "\"sk-secret-words\"",
        "[]",
        "nonsense secret-words",
        r#"{"decision":"alow"}"#,
        r#"{"decision":"secret-words"}"#,
        r#"{"decision":"deny","reason":""}"#,
        r#"{"decision":"deny"}"#,
        r#"{"decision":"deny","reason":"  "}"#,
        r#"{"decision":"deny","reason":7}"#,
        r#"{"decision":"transform","reason":"secret-words"}"#,
        r#"{"decision":"transform","reason":"r","transform":{"path":"$target"}}"#,
        r#"{"decision":"transform","reason":"r","transform":{"path":"$target","value":1,"more":"secret-words"}}"#,
        r#"{"decision":"allow","transform":{"path":"$target","value":1}}"#,
        r#"{"decision":"allow","approval":{}}"#,
        r#"{"decision":"allow","result":"secret-words"}"#,
        r#"{"decision":"allow","decision":"deny","reason":"r"}"#,
        r#"{"decision":"deny","reason":"host_error:secret-words"}"#,
        r#"{"decision":"allow","warnings":[{"reason":"host_error:x"}]}"#,
        r#"{"decision":"allow","warnings":"secret-words"}"#,
        r#"{"decision":"allow","result_labels":[7]}"#,
        r#"{"decision":"allow","evidence":{"secret-words":1}}"#,
        r#"{"verdict":{"decision":"allow"},"more":1}"#,
        r#"{"verdict":{"verdict":{"decision":"allow"}}}"#,
        r#"{"verdict":"allow"}"#,
    ];
    for text in malformed {
        let words = read(text).unwrap_err();
        assert!(words.starts_with("it answered with "), "{text}: {words}");
        assert!(!words.contains("secret-words"), "{text}: {words}");
    }
}

#[test]
fn verdicts_are_read_bare_and_in_an_envelope() {
    let allow = read(r#"{"decision":"allow"}"#).unwrap();
    assert!(allow.permits() && allow.severity() == 0);
    let held = read(r#"{"verdict":{"decision":"deny","reason":"r"},"extensions":{"x":1}}"#).unwrap();
    assert!(!held.permits() && !held.is_approvable() && held.reason() == Some("r"));
    let ask = read(r#"{"decision":"deny","reason":"r","approval":{}}"#).unwrap();
    assert!(ask.is_approvable() && ask.severity() == 2);
    let text = r#"{"decision":"transform","reason":"r","transform":{"path":"$target.a","value":null}}"#;
    let transform = read(text).unwrap();
    assert_eq!(
        transform.decision(),
        &HookDecision::Transform { path: "$target.a".into(), value: json!(null) }
    );
    let lenient = HookVerdict::from_json(r#"{"decision":"deny"}"#, HookReasons::Optional).unwrap();
    assert_eq!(lenient.severity(), 3);
}

#[test]
fn v8_a_deny_or_a_transform_without_a_reason_is_refused_at_construction() {
    for reason in ["", "  ", "\n"] {
        HookVerdict::deny(reason).unwrap_err();
        HookVerdict::ask(reason).unwrap_err();
        HookVerdict::replace(reason, json!("x")).unwrap_err();
    }
    HookVerdict::deny("host_error:no_interceptor").unwrap_err();
    assert!(HookVerdict::host_error(HostError::NoInterceptor).reason().unwrap().starts_with("host_error:"));
}

#[test]
fn evidence_has_its_limit() {
    let with = |bytes: usize| json!({"decision": "allow", "evidence": {"artefact": "a".repeat(bytes)}});
    HookVerdict::from_value(&with(10_000), HookReasons::Required).unwrap();
    HookVerdict::from_value(&with(10_240), HookReasons::Required).unwrap_err();
}

#[test]
fn a_stored_verdict_names_no_content() {
    let verdict =
        HookVerdict::replace("scrubbed", json!("secret-words")).unwrap().with_message("secret-words");
    let stored = serde_json::to_string(&verdict.without_content()).unwrap();
    assert!(!stored.contains("secret-words"), "{stored}");
    assert!(stored.contains("scrubbed"), "{stored}");
    assert!(!format!("{verdict:?}").contains("secret-words"));
}

#[test]
fn sets_of_points_are_lists_in_the_order_of_a_runs_life() {
    let points: Points = [Point::Output, Point::Input].into_iter().collect();
    assert_eq!(points, Points::MESSAGES);
    assert_eq!(serde_json::to_value(points).unwrap(), json!(["input", "output"]));
    assert_eq!(serde_json::from_value::<Points>(json!(["output", "input"])).unwrap(), points);
    assert_eq!(Points::ALL.iter().count(), 8);
    assert!(!Points::NONE.contains(Point::Input));
}
