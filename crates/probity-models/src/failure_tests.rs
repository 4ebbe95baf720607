use serde_json::json;

use super::*;

fn check(status: u16, body: &str, class: ModelErrorClass, message: &str) {
    let error = refusal(status, body);
    assert_eq!((error.class, error.message.as_str()), (class, message));
    assert!(error.hint.is_some(), "{body}");
}

#[test]
fn a_refusal_says_status_words_and_advice() {
    use ModelErrorClass::{Auth, BadRequest, NotFound, RateLimited, ServerError};
    check(401, r#"{"error":{"message":"no such key"}}"#, Auth, "the provider answered 401: no such key");
    check(
        404,
        r#"{"error":"model \"x\" not found"}"#,
        NotFound,
        "the provider answered 404: model \"x\" not found",
    );
    check(422, r#"{"detail":"bad field"}"#, BadRequest, "the provider answered 422: bad field");
    check(429, r#"[{"error":{"message":"slow down"}}]"#, RateLimited, "the provider answered 429: slow down");
    check(503, "", ServerError, "the provider answered 503: (an empty body)");
    check(502, "<html>", ServerError, "the provider answered 502: (an HTML or XML page instead of JSON)");
    check(302, "moved", NotFound, "the provider answered 302: moved");
    let body =
        r#"{"error":{"code":400,"message":"API key not valid","details":[{"reason":"API_KEY_INVALID"}]}}"#;
    check(400, body, Auth, "the provider answered 400: API key not valid");
}

#[test]
fn words_are_bounded_and_on_one_line() {
    let body = json!({ "error": { "message": format!("a\n\u{1b}[31m{}", "x".repeat(9_000)) } }).to_string();
    let message = refusal(400, &body).message;
    assert!(message.chars().count() <= PROVIDER_MESSAGE_CHARS_MAX + 40);
    assert!(!message.contains(['\n', '\u{1b}']) && message.ends_with('…'));
}

#[test]
fn an_error_in_a_reply_has_the_class_of_its_code_or_words() {
    let class = |value: Value| reported(&value).class;
    assert_eq!(class(json!({ "code": 429, "message": "m" })), ModelErrorClass::RateLimited);
    assert_eq!(class(json!({ "type": "overloaded_error", "message": "m" })), ModelErrorClass::ServerError);
    assert_eq!(class(json!({ "type": "invalid_request_error" })), ModelErrorClass::BadRequest);
    assert_eq!(class(json!({ "type": "authentication_error" })), ModelErrorClass::Auth);
    assert_eq!(class(json!("plain words")), ModelErrorClass::ServerError);
}

#[test]
fn the_key_is_taken_out() {
    assert_eq!(without_key("wrong key: k-123!", Some("k-123")), "wrong key: [key]!");
    assert_eq!(without_key("wrong", None), "wrong");
}
