use proptest::prelude::*;
use serde_json::json;

use super::super::context::Scene;
use super::super::testing::{self, call, envelope};
use super::*;

fn name(point: Point, context: &Value) -> Result<String, HostError> {
    jcs_sha256(point, context)
}

#[test]
fn a_name_stands_for_what_is_listed_and_for_nothing_else() {
    let staged = call(json!({"url": "https://x", "n": 1.5, "ä": ["\u{1f600}", null]}));
    let context = staged.occasion.context().clone();
    let own = name(Point::PreToolCall, &context).unwrap();
    assert_eq!(own, format!("sha256:{}", own.strip_prefix("sha256:").unwrap()));
    let with = |change: &dyn Fn(&mut Value)| {
        let mut context = context.clone();
        change(&mut context);
        name(Point::PreToolCall, &context).unwrap()
    };
    // What a host adds changes nothing, at the top and within.
    assert_eq!(with(&|c| c["trace"] = json!({"trace_id": "x"})), own);
    assert_eq!(with(&|c| c["tool_call"]["duration_ms"] = json!(18_446_744_073_709_551_615_u64)), own);
    assert_eq!(with(&|c| c["session"]["tenant"] = json!("t")), own);
    // What is listed changes it.
    for pointer in
        ["/target/url", "/tool_call/id", "/tool_call/args/url", "/agent/id", "/session/id", "/timestamp"]
    {
        assert_ne!(with(&|c| *c.pointer_mut(pointer).unwrap() = json!("other")), own, "{pointer}");
    }
}

#[test]
fn what_readers_could_understand_differently_has_no_name() {
    let of = |arguments: Value| name(Point::PreToolCall, call(arguments).occasion.context());
    for arguments in [
        json!({"id": 9_007_199_254_740_992_u64}),
        json!({"id": -9_007_199_254_740_992_i64}),
        json!({"id": 18_446_744_073_709_551_615_u64}),
        // As a reader hands over what has more digits than it can hold.
        serde_json::from_str(r#"{"id": 18446744073709551616}"#).unwrap(),
        json!({"a": [{"b": 1e300}]}),
        (0..200).fold(json!(1), |inner, _| json!([inner])),
    ] {
        assert_eq!(of(arguments), Err(HostError::ContextInvalid));
    }
    for arguments in [
        json!({"id": 9_007_199_254_740_991_u64}),
        json!({"id": -9_007_199_254_740_991_i64}),
        json!({"x": 0.1}),
    ] {
        of(arguments).unwrap();
    }
}

#[test]
fn a_context_that_misses_a_member_has_no_name() {
    let whole = Scene::PostModelCall { model: "m", content: None, calls: vec![], finish_reason: "stop" };
    let whole = whole.stage(envelope()).occasion.context().clone();
    name(Point::PostModelCall, &whole).unwrap();
    let names: Vec<String> = whole.as_object().unwrap().keys().cloned().collect();
    for missing in &names {
        let mut context = whole.clone();
        context.as_object_mut().unwrap().remove(missing);
        assert_eq!(name(Point::PostModelCall, &context), Err(HostError::ContextInvalid), "{missing}");
    }
    for (pointer, value) in [
        ("/sequence", json!(-1)),
        ("/sequence", json!("0")),
        ("/agent/id", json!("")),
        ("/session", json!("run-1")),
        ("/response", json!({"content": null})),
        ("/interception_point", json!("input")),
        ("/timestamp", json!(7)),
    ] {
        let mut context = whole.clone();
        *context.pointer_mut(pointer).unwrap() = value;
        assert_eq!(name(Point::PostModelCall, &context), Err(HostError::ContextInvalid), "{pointer}");
    }
    assert_eq!(name(Point::Output, &whole), Err(HostError::ContextInvalid));
    assert_eq!(name(Point::PostModelCall, &json!(null)), Err(HostError::ContextInvalid));
}

proptest! {
    /// The same names as the reference implementation gives, wherever it gives one at all.
    #[test]
    fn names_are_those_of_the_reference_implementation(arguments in testing::json(4), result in testing::json(3)) {
        let text = result.to_string();
        let scenes = [
            Scene::PreToolCall { id: "tc", name: "send", arguments: arguments.clone() },
            Scene::PostToolCall { id: "tc", name: "send", arguments, result: &text, is_error: false },
            Scene::Output { content: &text },
            Scene::Input { content: &text, role: "user" },
            Scene::AgentStartup { tools: vec![&text] },
        ];
        for scene in scenes {
            let point = scene.point();
            let context = scene.stage(envelope()).occasion.context().clone();
            let theirs = agent_hooks::context_identity(context.as_object().unwrap()).map_err(|_| ());
            match name(point, &context) {
                Ok(ours) => prop_assert_eq!(Ok(ours), theirs),
                // A number of more than 2^53 that stands as a double is none to us.
                Err(_) => prop_assert!(theirs.is_err() || has_large_double(&context)),
            }
        }
    }

    #[test]
    fn anything_is_named_or_refused(context in testing::json(5)) {
        for point in Point::ALL {
            name(point, &context).unwrap_err();
        }
    }
}

fn has_large_double(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64() && number.as_f64().is_some_and(|float| float.abs() > 9e15),
        Value::Array(values) => values.iter().any(has_large_double),
        Value::Object(members) => members.values().any(has_large_double),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}
