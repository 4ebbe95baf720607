use std::fmt::{Debug, Display};
use std::sync::Arc;

use crate::model::ModelErrorClass;
use crate::tool::{Access, ToolErrorClass};

use super::*;

/// A made-up token in the shape of a known one, put together here so that nothing in the source looks like one.
fn token() -> String {
    "ghp_".chars().chain((0..36_u32).filter_map(|n| char::from_digit(n * 7 % 36, 36))).collect()
}

fn check(printed: &str) {
    let token = token();
    assert!(!printed.contains(token.get(4..16).unwrap()), "{printed}");
    assert!(printed.contains("[REDACTED:"), "nothing stood where the token was: {printed}");
}

fn check_debug(value: &impl Debug) {
    check(&format!("{value:?}"));
    check(&format!("{value:#?}"));
}

fn check_error(error: &(impl Display + Debug)) {
    check_debug(error);
    check(&error.to_string());
}

#[test]
fn errors_of_the_ports_print_without_a_credential() {
    let words = || format!("refused {} today", token());
    check_error(&ToolError::new(ToolErrorClass::Failed, words()));
    check_error(&ModelError::new(ModelErrorClass::Auth, words()));
    check_error(&ModelError::new(ModelErrorClass::Auth, words()).with_hint(words()));
    check_error(&PolicyError::new(words()));
    let source: Box<dyn Error + Send + Sync> = words().into();
    check_error(&JournalError { message: words(), source: Some(source) });
}

#[test]
fn content_prints_without_a_credential() {
    let words = || format!("keep {} safe", token());
    let call = || ProposedCall { provider_id: "1".to_owned(), name: words(), arguments: words() };
    check_debug(&ToolOutput::text(words()));
    check_debug(&Content::Person(words().into()));
    check_debug(&Content::Reply(Arc::new([crate::item::ReplyPart::text(words())])));
    check_debug(&ReplyPartKind::Reasoning(words()));
    check_debug(&call());
    check_debug(&NativePart { codec: "x".to_owned(), value: serde_json::json!({ "note": words() }) });
    check_debug(&Kept::Full(words().into()));
    check_debug(&Stop::Other(words()));
    let policy = crate::ids::PolicyName::new("rules").unwrap();
    check_debug(&Asker { level: crate::gate::Level::OWN, policy, reason: words() });
    check_debug(&Verdict::Deny { reason: words() });
    check_debug(&ModelEvent::CallArguments { part: 0, delta: words() });
    let by = crate::ids::PrincipalId::new("ada").unwrap();
    check_debug(&Answer::Refuse { by, reason: words(), for_good: false });
    let (root, path, resolved) = ("work".to_owned(), token(), token());
    check_debug(&Target::Path { root, path, resolved, access: Access::Read, recursive: false });
}

#[test]
fn a_field_still_holds_what_was_said() {
    assert!(ToolError::new(ToolErrorClass::Failed, token()).message.contains(&token()));
}
