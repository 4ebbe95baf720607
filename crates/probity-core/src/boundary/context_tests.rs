use serde_json::json;

use super::super::testing::envelope;
use super::*;

fn transform(scene: Scene<'_>, path: &str, value: Value) -> Result<Value, HostError> {
    with_transform(&scene.stage(envelope()).occasion, path, &value).map(|occasion| occasion.context().clone())
}

fn stage(scene: Scene<'_>) -> Value {
    scene.stage(envelope()).occasion.context().clone()
}

#[test]
fn every_context_has_the_members_of_its_point_and_repeats_its_target() {
    let calls = vec![SceneCall { id: "tc-1", name: "add", arguments: r#"{"a":1}"# }];
    let scenes = [
        (Scene::AgentStartup { tools: vec!["add"] }, "/agent_init"),
        (Scene::Input { content: "hi", role: "user" }, "/input"),
        (
            Scene::PreModelCall { model: "m", messages: vec![json!({"role": "user", "content": "hi"})] },
            "/messages",
        ),
        (Scene::PostModelCall { model: "m", content: None, calls, finish_reason: "tool_calls" }, "/response"),
        (Scene::PreToolCall { id: "tc-1", name: "add", arguments: json!({"a": 1}) }, "/tool_call/args"),
        (
            Scene::PostToolCall {
                id: "tc-1",
                name: "add",
                arguments: json!({}),
                result: "2",
                is_error: false,
            },
            "/tool_result/value",
        ),
        (Scene::Output { content: "2" }, "/output"),
        (Scene::AgentShutdown { reason: "completed" }, "/summary"),
    ];
    for (scene, repeated) in scenes {
        let point = scene.point();
        let context = stage(scene);
        assert_eq!(context.pointer(repeated), context.get("target"), "{point}");
        assert!(context.pointer(repeated).is_some(), "{point}");
        assert_eq!(context["interception_point"], json!(point.name()));
        assert_eq!(context["timestamp"], json!("2023-11-14T22:13:20.123Z"));
        assert_eq!((&context["spec"], &context["sequence"]), (&json!("agent-hooks/0.1"), &json!(7)));
        super::super::identity::check(point, &context).unwrap();
    }
}

#[test]
fn a_tools_result_is_a_value_where_all_readers_agree_on_it() {
    for (text, expected) in [
        ("4", json!("4")),
        ("null", json!("null")),
        ("words", json!("words")),
        (r#"{"status":200}"#, json!({"status": 200})),
        (" [1, 2]\n", json!([1, 2])),
        (r#"{"a":1,"a":2}"#, json!(r#"{"a":1,"a":2}"#)),
        (r#"{"id":9007199254740993}"#, json!(r#"{"id":9007199254740993}"#)),
        ("{", json!("{")),
    ] {
        let scene =
            Scene::PostToolCall { id: "i", name: "n", arguments: json!({}), result: text, is_error: false };
        assert_eq!(stage(scene)["tool_result"]["value"], expected, "{text}");
    }
}

#[test]
fn arguments_that_are_no_json_are_shown_as_the_text_that_they_are() {
    for (text, expected, is_interoperable) in [
        (r#"{"a":1}"#, json!({"a": 1}), true),
        ("{\"a\":", json!("{\"a\":"), true),
        (r#"{"a":"secret","a":1}"#, json!(r#"{"a":"secret","a":1}"#), true),
        (r#"{"id":9007199254740992}"#, json!(r#"{"id":9007199254740992}"#), false),
        (r#"{"id":18446744073709551616}"#, json!(r#"{"id":18446744073709551616}"#), false),
    ] {
        let calls = vec![SceneCall { id: "tc-1", name: "add", arguments: text }];
        let staged = Scene::PostModelCall { model: "m", content: None, calls, finish_reason: "stop" }
            .stage(envelope());
        assert_eq!(staged.occasion.target()["tool_calls"][0]["args"], expected, "{text}");
        assert_eq!(staged.is_interoperable, is_interoperable, "{text}");
    }
}

#[test]
fn a_transform_is_repeated_in_the_member_and_keeps_the_shape() {
    let output = || Scene::Output { content: "secret" };
    let changed = transform(output(), "$target.content", json!("public")).unwrap();
    assert_eq!(
        (&changed["target"], &changed["output"]),
        (&json!({"content": "public"}), &json!({"content": "public"}))
    );
    for value in
        [json!("public"), json!(null), json!({}), json!({"content": 7}), json!({"content": "x", "more": 1})]
    {
        assert_eq!(transform(output(), "$target", value), Err(HostError::TransformInvalid));
    }
    let input = || Scene::Input { content: "hi", role: "user" };
    transform(input(), "$target", json!({"content": "ho", "role": "user"})).unwrap();
    assert_eq!(transform(input(), "$target.role", json!("system")), Err(HostError::TransformInvalid));
    let messages = vec![json!({"role": "system", "content": "be"}), json!({"role": "user", "content": "hi"})];
    let window = || Scene::PreModelCall { model: "m", messages: messages.clone() };
    let changed = transform(window(), "$target[1].content", json!("ho")).unwrap();
    assert_eq!(changed["messages"][1]["content"], json!("ho"));
    for (path, value) in [
        ("$target[0].role", json!("user")),
        ("$target", json!([])),
        ("$target[0]", json!({"role": "system", "content": ["be"]})),
        ("$target[1]", json!({"role": "user", "content": "hi", "name": "x"})),
    ] {
        assert_eq!(transform(window(), path, value), Err(HostError::TransformInvalid), "{path}");
    }
    let call = || Scene::PreToolCall { id: "tc-1", name: "add", arguments: json!({"a": 1}) };
    assert_eq!(transform(call(), "$target", json!({"b": 2})).unwrap()["tool_call"]["args"], json!({"b": 2}));
    assert_eq!(transform(call(), "$target", json!([])), Err(HostError::TransformInvalid));
    let deep = (0..130).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(transform(call(), "$target.a", deep), Err(HostError::TransformInvalid));
    let startup = Scene::AgentStartup { tools: vec![] };
    assert_eq!(
        transform(startup, "$target.tools_registered", json!([])),
        Err(HostError::TransformTargetForbidden)
    );
}

#[test]
fn what_approvers_may_not_see_is_taken_out_twice() {
    let call = Scene::PreToolCall { id: "tc-1", name: "pay", arguments: json!({"iban": "DE00", "sum": 7}) };
    let occasion = call.stage(envelope()).occasion;
    let paths = ["$target.iban".to_owned(), "$target.not.there".to_owned(), "nonsense".to_owned()];
    let shown = redacted(&occasion, &paths);
    assert_eq!(shown.target(), &json!({"iban": "[redacted]", "sum": 7}));
    assert!(!shown.context().to_string().contains("DE00"));
    assert!(occasion.context().to_string().contains("DE00"));
}
