use super::*;
use crate::rules::tests::{context, person, request, result};

/// Whether the condition holds in a window, the items it met, and the values of `v`.
fn check(condition: &str, expected: (bool, &[u32], &str)) {
    #[derive(Deserialize)]
    struct Only {
        only: Spanned<RawCondition>,
    }
    let only: Only = toml::from_str(&format!("only = {{ {condition} }}")).unwrap();
    let contents = [
        context("handbook", "limit 500"),
        context("note", "limit 5,000 (was limit 500)"),
        person("limit?"),
        result("look", true, "timeout"),
        result("look", false, "limit 7"),
    ];
    let request = request(&contents);
    let found = Condition::compile(&only.only).unwrap().find(&Window::new(&request));
    let values = match found.captured.get("v").map(|bound| &bound.value) {
        None => String::new(),
        Some(Value::One(text)) => text.clone(),
        Some(Value::Many { values, join }) => values.join(join),
        Some(Value::Computed(number)) => number.plain(),
    };
    let matched: Vec<u32> = found.matched.iter().map(|item| item.0).collect();
    assert_eq!((found.holds, &matched[..], values.as_str()), expected, "{condition}");
}

#[test]
fn items_are_selected_by_kind_name_tool_and_outcome() {
    check(r#"kind = "any""#, (true, &[1, 2, 3, 4, 5], ""));
    check(r#"kind = "context""#, (true, &[1, 2], ""));
    check(r#"kind = "context", name = "note""#, (true, &[2], ""));
    check(r#"kind = "context", name = "not""#, (false, &[], ""));
    check(r#"kind = "tool_result", tool = "look""#, (true, &[4, 5], ""));
    check(r#"kind = "tool_result", is_error = false"#, (true, &[5], ""));
    check(r#"kind = "tool_result", tool = "pay""#, (false, &[], ""));
}

#[test]
fn patterns_capture_the_occurrence_that_is_asked_for() {
    let pattern = r"match = 'limit (?<v>[\d,]+)'";
    check(&format!(r#"kind = "any", {pattern}"#), (true, &[1, 2, 5], "7"));
    check(&format!(r#"kind = "any", {pattern}, take = "first""#), (true, &[1, 2, 5], "500"));
    check(&format!(r#"kind = "context", {pattern}"#), (true, &[1, 2], "500"));
    check(&format!(r#"kind = "context", {pattern}, take = "all""#), (true, &[1, 2], "500, 5,000, 500"));
    check(r#"kind = "person", match = 'limit(?<v>\d)?'"#, (true, &[3], ""));
}

#[test]
fn counts_are_of_items_and_the_boundary_has_a_say() {
    check(r#"kind = "context", match = 'limit', at_least = 3"#, (false, &[1, 2], ""));
    check(r#"kind = "tool_result", since = "person", at_least = 2"#, (true, &[3, 4, 5], ""));
    check(r#"kind = "context", since = "person", at_most = 0"#, (true, &[3], ""));
    check(r#"kind = "context", since = "notice""#, (true, &[1, 2], ""));
}
