//! Failures in one vocabulary: what a status, a provider's words or a broken reply mean to a run.
//!
//! A message names the status and the provider's own words, cut to [`PROVIDER_MESSAGE_CHARS_MAX`]; advice is the hint.
//! Neither ever holds the key: it is taken out of a provider's words before they are kept, since some providers quote it.

use probity_contract::{ModelError, ModelErrorClass};
use probity_egress::{SamePrincipal, bounded_summary, egress_text};
use serde_json::Value;

use crate::limits::PROVIDER_MESSAGE_CHARS_MAX;

/// The error that a provider's refusal is: a status outside 2xx and the body that came with it.
///
/// The words of the body have gone through the credential pass and were then cut to [`PROVIDER_MESSAGE_CHARS_MAX`]
/// characters.
#[must_use]
pub fn refusal(status: u16, body: &str) -> ModelError {
    let words = words_of(body);
    // Gemini answers a wrong key with 400.
    let is_wrong_key = status == 400 && body.contains("API_KEY_INVALID");
    let class = if is_wrong_key { ModelErrorClass::Auth } else { class_of_status(status) };
    let error = ModelError::new(class, format!("the provider answered {status}: {words}"));
    with_advice(error, status)
}

/// The error that stands inside a reply: an `error` member in a body or a stream that began with 2xx.
pub(crate) fn reported(error: &Value) -> ModelError {
    let code = ["code", "status", "type"]
        .iter()
        .filter_map(|key| error.get(key))
        .find_map(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
    let status = code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code));
    let class = match status {
        Some(status) => class_of_status(status),
        None => class_of_words(error),
    };
    let words = bounded(&message_of(error).unwrap_or_else(|| error.to_string()));
    let error = ModelError::new(class, format!("the provider reported an error in its reply: {words}"));
    with_advice(error, status.unwrap_or(0))
}

/// The reply broke off.
pub(crate) fn truncated(what: &str) -> ModelError {
    ModelError::new(ModelErrorClass::Truncated, format!("the reply broke off: {what}"))
        .with_hint("nothing of the reply was executed; try again")
}

/// The reply is not what the provider's format says.
pub(crate) fn malformed(what: impl std::fmt::Display) -> ModelError {
    ModelError::new(ModelErrorClass::Malformed, format!("the reply is not in the provider's format: {what}"))
        .with_hint("check that the base URL belongs to this provider's API")
}

/// The request cannot be put into the provider's format.
pub(crate) fn unsendable(what: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorClass::BadRequest, what)
}

/// A text with the key taken out.
pub(crate) fn without_key(text: &str, key: Option<&str>) -> String {
    match key {
        Some(key) if !key.is_empty() => text.replace(key, "[key]"),
        _ => text.to_owned(),
    }
}

/// A text on one line, without control characters, cut to [`PROVIDER_MESSAGE_CHARS_MAX`].
///
/// Passed before it is changed and cut: no later pass would know half a credential.
pub(crate) fn bounded(text: &str) -> String {
    let passed = egress_text::<SamePrincipal>(text);
    let clean: String = passed.as_str().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    bounded_summary(&egress_text::<SamePrincipal>(&clean), PROVIDER_MESSAGE_CHARS_MAX).as_str().to_owned()
}

/// Whether a refusal says that no repetition helps: the account has no credit left.
pub(crate) fn is_out_of_credit(body: &str) -> bool {
    body.contains("insufficient_quota") || body.contains("billing_hard_limit")
}

fn class_of_status(status: u16) -> ModelErrorClass {
    match status {
        401 | 403 => ModelErrorClass::Auth,
        404 | 410 | 300..=399 => ModelErrorClass::NotFound,
        402 | 429 => ModelErrorClass::RateLimited,
        408 | 409 | 425 | 500..=599 => ModelErrorClass::ServerError,
        _ => ModelErrorClass::BadRequest,
    }
}

fn class_of_words(error: &Value) -> ModelErrorClass {
    let words: String = ["type", "code", "status", "message"]
        .iter()
        .filter_map(|key| error.get(key).and_then(Value::as_str))
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase();
    let has = |needles: &[&str]| needles.iter().any(|needle| words.contains(needle));
    if has(&["rate_limit", "insufficient_quota", "resource_exhausted", "too many requests"]) {
        ModelErrorClass::RateLimited
    } else if has(&["authentication", "permission", "api_key", "unauthorized"]) {
        ModelErrorClass::Auth
    } else if has(&["not_found"]) {
        ModelErrorClass::NotFound
    } else if has(&["invalid_request", "invalid_argument", "bad_request", "context_length"]) {
        ModelErrorClass::BadRequest
    } else {
        ModelErrorClass::ServerError
    }
}

fn with_advice(error: ModelError, status: u16) -> ModelError {
    use ModelErrorClass as Class;
    let hint = match error.class {
        Class::Auth => "check the key and that it may use this model",
        Class::NotFound if (300..400).contains(&status) => {
            "redirects are not followed; give the final address as the base URL"
        }
        Class::NotFound => "check the model's name and the base URL",
        Class::RateLimited if status == 402 => "add credit to the account, or use another model",
        Class::RateLimited => "wait and try again, or check the account's limits and credit",
        Class::BadRequest if status == 413 => "give the model less context",
        Class::BadRequest => "check the parameters and whether the window fits the model",
        Class::ServerError
        | Class::Unreachable
        | Class::TimedOut
        | Class::Truncated
        | Class::Malformed
        | Class::TooLarge
        | Class::Cancelled
        | Class::NoAnswer => "try again later; the provider's status page may say more",
    };
    error.with_hint(hint)
}

/// What a body says, in the provider's own words where it has any.
fn words_of(body: &str) -> String {
    if let Ok(value) = serde_json::from_str::<Value>(body) {
        let value = value.get(0).cloned().unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(&value);
        return bounded(&message_of(error).unwrap_or_else(|| value.to_string()));
    }
    let text = body.trim_start();
    if text.is_empty() {
        "(an empty body)".to_owned()
    } else if text.starts_with('<') {
        "(an HTML or XML page instead of JSON)".to_owned()
    } else {
        bounded(text)
    }
}

fn message_of(error: &Value) -> Option<String> {
    if let Some(text) = error.as_str() {
        return Some(text.to_owned());
    }
    let message = ["message", "detail", "error"].iter().find_map(|key| error.get(key)?.as_str())?;
    // A router hides the host's own words one level down.
    match error.pointer("/metadata/raw").and_then(Value::as_str) {
        Some(raw) => Some(format!("{message} ({raw})")),
        None => Some(message.to_owned()),
    }
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
