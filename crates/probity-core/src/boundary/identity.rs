//! What names a context: `jcs-sha256` of AGENT-HOOKS-0.1.
//!
//! The name stands for what the specification lists for a point and for nothing else: what a host adds beside changes no
//! name. A context that two readers could understand differently, or that misses a member, has none.

use std::io::Write as _;

use probity_contract::{Digest, HostError, Point, write_canonical, write_canonical_members};
use serde_json::Value;

/// Nesting of a context.
pub(super) const CONTEXT_DEPTH_MAX: usize = 128;

/// The largest integer that a double holds together with all smaller ones: 2^53 - 1 (RFC 7493, section 2.2).
const SAFE_INTEGER_MAX: u64 = 9_007_199_254_740_991;

/// A member of a context and those of its own members that count; all of them where none is listed.
type Listed = (&'static str, &'static [&'static str]);

const EVERYWHERE: [Listed; 7] = [
    ("spec", &[]),
    ("interception_point", &[]),
    ("timestamp", &[]),
    ("sequence", &[]),
    ("agent", &["id", "framework"]),
    ("session", &["id"]),
    ("target", &[]),
];

const fn listed_at(point: Point) -> &'static [Listed] {
    match point {
        Point::AgentStartup => &[("agent_init", &["tools_registered"])],
        Point::Input => &[("input", &["content", "role"])],
        Point::PreModelCall => &[("model", &["id"]), ("messages", &[])],
        Point::PostModelCall => {
            &[("model", &["id"]), ("response", &["content", "tool_calls", "finish_reason"])]
        }
        Point::PreToolCall => &[("tool_call", &["id", "name", "args"])],
        Point::PostToolCall => {
            &[("tool_call", &["id", "name", "args"]), ("tool_result", &["value", "is_error"])]
        }
        Point::Output => &[("output", &["content"])],
        Point::AgentShutdown => &[("summary", &["reason"])],
    }
}

/// The name of a context.
///
/// # Errors
/// `ContextInvalid` where it misses a member, holds a number that loses digits in other readers, or is nested too deeply.
pub(super) fn jcs_sha256(point: Point, context: &Value) -> Result<String, HostError> {
    check(point, context)?;
    let listed = projection(point, context);
    listed.iter().flat_map(values).try_for_each(|(value, depth)| check_below(value, depth))?;
    let bytes = bytes_of(&listed).map_err(|_| HostError::ContextInvalid)?;
    Ok(format!("sha256:{}", Digest::of_content(&bytes)))
}

/// Whether every member is there that the point needs.
///
/// # Errors
/// `ContextInvalid` where one is not.
pub(super) fn check(point: Point, context: &Value) -> Result<(), HostError> {
    let has = |name: &str, inner: &&str| context.get(name).is_some_and(|value| value.get(inner).is_some());
    let is_there = |(name, inner): &Listed| match inner {
        [] => context.get(name).is_some(),
        inner => inner.iter().all(|inner| has(name, inner)),
    };
    let is_named = |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(|name| !name.is_empty());
    let within = |name: &str, inner: &str| context.get(name).and_then(|value| value.get(inner));
    let is_whole = EVERYWHERE.iter().chain(listed_at(point)).all(is_there)
        && context.get("interception_point").and_then(Value::as_str) == Some(point.name())
        && ["spec", "timestamp"].into_iter().all(|name| is_named(context.get(name)))
        && [("agent", "id"), ("agent", "framework"), ("session", "id")]
            .into_iter()
            .all(|(name, inner)| is_named(within(name, inner)))
        && context.get("sequence").is_some_and(Value::is_u64);
    if is_whole { Ok(()) } else { Err(HostError::ContextInvalid) }
}

/// What counts of a member of a context. The context itself may be as long as a window, so nothing of it is copied.
enum Picked<'a> {
    Whole(&'a Value),
    Some(Vec<(&'a str, &'a Value)>),
}

fn projection(point: Point, context: &Value) -> Vec<(&'static str, Picked<'_>)> {
    let pick = |(name, inner): &Listed| {
        let value = context.get(name)?;
        let picked = match value.as_object().filter(|_| !inner.is_empty()) {
            Some(members) => {
                let counts = |(name, _): &(&String, &Value)| inner.contains(&name.as_str());
                Picked::Some(
                    members.iter().filter(counts).map(|(name, value)| (name.as_str(), value)).collect(),
                )
            }
            None => Picked::Whole(value),
        };
        Some((*name, picked))
    };
    EVERYWHERE.iter().chain(listed_at(point)).filter_map(pick).collect()
}

/// The values that count, each with how deep it stands.
fn values<'a>((_, picked): &(&'static str, Picked<'a>)) -> Vec<(&'a Value, usize)> {
    match picked {
        Picked::Whole(value) => vec![(value, 2)],
        Picked::Some(members) => members.iter().map(|(_, value)| (*value, 3)).collect(),
    }
}

/// The canonical bytes of an object of what counts.
fn bytes_of(listed: &[(&'static str, Picked<'_>)]) -> Result<Vec<u8>, serde_json::Error> {
    let mut in_order: Vec<_> = listed.iter().collect();
    in_order.sort_unstable_by_key(|(name, _)| *name);
    let mut bytes = Vec::with_capacity(512);
    for (at, (name, picked)) in in_order.into_iter().enumerate() {
        bytes.push(if at == 0 { b'{' } else { b',' });
        // One of the names above, in which nothing is to be escaped, and whose bytes are in order.
        write!(bytes, "\"{name}\":").map_err(serde_json::Error::io)?;
        match picked {
            Picked::Whole(value) => write_canonical(value, &mut bytes)?,
            Picked::Some(members) => write_canonical_members(members.iter().copied(), &mut bytes)?,
        }
    }
    bytes.push(b'}');
    Ok(bytes)
}

/// Whether all readers understand the value alike. Not recursive: it is what keeps those that are from going too deep.
pub(super) fn check_domain(value: &Value) -> Result<(), HostError> {
    check_below(value, 1)
}

/// The same, of a value that stands so deep.
fn check_below(value: &Value, depth: usize) -> Result<(), HostError> {
    let mut left = vec![(value, depth)];
    while let Some((value, depth)) = left.pop() {
        if depth > CONTEXT_DEPTH_MAX || value.as_number().is_some_and(loses_digits) {
            return Err(HostError::ContextInvalid);
        }
        match value {
            Value::Array(values) => left.extend(values.iter().map(|value| (value, depth + 1))),
            Value::Object(members) => left.extend(members.values().map(|value| (value, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    Ok(())
}

/// Whether a number may have been written with more digits than a double holds. All doubles over 2^53 are integers, and a
/// reader hands longer ones over as doubles.
fn loses_digits(number: &serde_json::Number) -> bool {
    match number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs)) {
        Some(magnitude) => magnitude > SAFE_INTEGER_MAX,
        None => number.as_f64().is_none_or(|float| float.is_nan() || float.abs() > SAFE_INTEGER_MAX as f64),
    }
}

#[cfg(test)]
#[path = "identity_tests.rs"]
mod tests;
