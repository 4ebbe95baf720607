use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use probity_egress::{Tier, egress_text, egress_value};
use serde_json::{Map, Value};

use super::error::ExitError;

/// Headers whose value is a credential whatever it looks like.
const CREDENTIALS: [&str; 8] = [
    "authorization",
    "proxy-authorization",
    "authentication-info",
    "proxy-authentication-info",
    "cookie",
    "set-cookie",
    "x-api-key",
    "x-auth-token",
];

/// What a pass over the body makes untrue.
const UNTRUE_AFTER: [HeaderName; 3] =
    [header::CONTENT_LENGTH, header::ACCEPT_RANGES, HeaderName::from_static("content-md5")];
const UNTRUE_AFTER_TOO: [&str; 3] = ["digest", "content-digest", "repr-digest"];

/// Passes every value, and drops a header whose name does not pass.
pub(super) fn pass<T: Tier>(headers: &mut HeaderMap) {
    let mut passed = HeaderMap::with_capacity(headers.len());
    for (name, value) in &*headers {
        if egress_text::<T>(name.as_str()).as_str() == name.as_str() {
            passed.append(name.clone(), pass_value::<T>(name, value));
        }
    }
    *headers = passed;
}

fn pass_value<T: Tier>(name: &HeaderName, value: &HeaderValue) -> HeaderValue {
    if CREDENTIALS.contains(&name.as_str()) {
        return HeaderValue::from_static("[REDACTED:header]");
    }
    // Bytes that are not text cannot be read by a pass, so they stay inside.
    let Ok(text) = std::str::from_utf8(value.as_bytes()) else {
        return HeaderValue::from_static("[REDACTED:bytes]");
    };
    let member = Map::from_iter([(name.as_str().to_owned(), Value::from(text))]);
    let passed = egress_value::<T>(&member);
    let passed = passed.as_value().as_object().and_then(|members| members.values().next());
    let text = passed.and_then(Value::as_str).unwrap_or("[REDACTED:unreadable]");
    HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static("[REDACTED:bytes]"))
}

pub(super) fn drop_untrue(headers: &mut HeaderMap) {
    for name in UNTRUE_AFTER {
        headers.remove(name);
    }
    for name in UNTRUE_AFTER_TOO {
        headers.remove(name);
    }
}

/// Whether a pass can read the body of this response.
pub(super) fn check<T: Tier, B>(response: &Response<B>) -> Result<(), ExitError<T>> {
    let headers = response.headers();
    let identity = |value: &HeaderValue| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity");
    if !headers.get_all(header::CONTENT_ENCODING).iter().all(identity) {
        return Err(ExitError::Encoded);
    }
    if response.status() == StatusCode::PARTIAL_CONTENT || headers.contains_key(header::CONTENT_RANGE) {
        return Err(ExitError::Partial);
    }
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    match (types.next().and_then(|value| value.to_str().ok()), types.next()) {
        (Some(one), None) if is_text(one) => Ok(()),
        _ => Err(ExitError::NotText),
    }
}

fn is_text(content_type: &str) -> bool {
    let lower = content_type.to_ascii_lowercase();
    let mut parts = lower.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    let textual = essence.starts_with("text/")
        || essence.ends_with("+json")
        || essence.ends_with("+xml")
        || matches!(
            essence,
            "application/json"
                | "application/xml"
                | "application/x-ndjson"
                | "application/yaml"
                | "application/javascript"
                | "application/x-www-form-urlencoded"
        );
    let utf8 = |charset: &str| {
        matches!(charset.trim_matches(|c| matches!(c, '"' | '\'' | ' ')), "utf-8" | "utf8" | "us-ascii")
    };
    textual
        && parts.all(|part| match part.split_once('=') {
            Some((name, charset)) if name.trim() == "charset" => utf8(charset),
            _ => true,
        })
}
