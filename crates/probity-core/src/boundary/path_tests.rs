use proptest::prelude::*;
use serde_json::json;

use super::*;

fn put(path: &str, target: Value, value: Value) -> Result<Value, HostError> {
    let mut target = target;
    let result = TargetPath::parse(path).and_then(|path| path.put(&mut target, value));
    result.map(|()| target)
}

#[test]
fn members_and_indices_are_found_and_nothing_is_made_up() {
    let target = json!({"a": {"b": [10, {"c-d": 20}]}, "x": null});
    let at = |path: &str| put(path, target.clone(), json!("new"));
    assert_eq!(at("$target").unwrap(), json!("new"));
    assert_eq!(at("$policy_target").unwrap(), json!("new"));
    assert_eq!(at("$target.a.b[0]").unwrap(), json!({"a": {"b": ["new", {"c-d": 20}]}, "x": null}));
    assert_eq!(at("$target.a.b[1].c-d").unwrap()["a"]["b"][1], json!({"c-d": "new"}));
    assert_eq!(at("$target[\"a\"][\"b\"]").unwrap()["a"]["b"], json!("new"));
    assert_eq!(at("$target.x").unwrap()["x"], json!("new"));
    for path in ["$target.y", "$target.x.y", "$target.a[0]", "$target.a.b.c", "$target.a.b[2]"] {
        assert_eq!(at(path), Err(HostError::TransformInvalid), "{path}");
    }
}

#[test]
fn what_is_no_path_is_refused() {
    for path in ["", "target", "$", "$snapshot.x", "$context.target", " $target", "$TARGET"] {
        assert_eq!(TargetPath::parse(path), Err(HostError::TransformTargetForbidden), "{path}");
    }
    for path in [
        "$target.",
        "$targets",
        "$target..a",
        "$target[",
        "$target[]",
        "$target[-1]",
        "$target[+1]",
        "$target[1",
        "$target[99999999999999999999999]",
        "$target[\"\"]",
        "$target[\"a]",
        "$target[\"a\"",
        "$target[\"a b\"]",
        "$target.ä",
        "$target.a ",
        "$target*",
    ] {
        assert_eq!(TargetPath::parse(path), Err(HostError::TransformInvalid), "{path}");
    }
}

proptest! {
    #[test]
    fn any_text_is_a_path_or_refused(tail in "[.\\[\\]\"a-c0-9ä]{0,24}", target in super::super::testing::json(3)) {
        // Neither a panic nor a change of a target that is refused.
        let mut changed = target.clone();
        if let Ok(path) = TargetPath::parse(&format!("$target{tail}")) {
            let before = changed.clone();
            if path.put(&mut changed, json!("new")).is_err() {
                prop_assert_eq!(changed, before);
            }
        }
    }
}
