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
    let listed = listed(point, context)?;
    listed.iter().try_for_each(|(_, picked)| picked.check())?;
    let bytes = bytes_of(listed).map_err(|_| HostError::ContextInvalid)?;
    Ok(format!("sha256:{}", Digest::of_content(&bytes)))
}

/// Whether every member is there that the point needs.
///
/// # Errors
/// `ContextInvalid` where one is not.
pub(super) fn check(point: Point, context: &Value) -> Result<(), HostError> {
    listed(point, context).map(|_| ())
}

/// What counts of a member of a context. The context itself may be as long as a window, so nothing of it is copied.
enum Picked<'a> {
    Whole(&'a Value),
    Some(Vec<(&'static str, &'a Value)>),
}

impl Picked<'_> {
    /// Whether all readers understand it alike, as deep as it stands.
    fn check(&self) -> Result<(), HostError> {
        match self {
            Self::Whole(value) => check_below(value, 2),
            Self::Some(members) => members.iter().try_for_each(|(_, value)| check_below(value, 3)),
        }
    }
}

/// The members of a context that count, all of which must be there.
fn listed(point: Point, context: &Value) -> Result<Vec<(&'static str, Picked<'_>)>, HostError> {
    let pick = |(name, inner): &Listed| {
        let value = context.get(name)?;
        let picked = match inner {
            [] => Picked::Whole(value),
            inner => {
                let members = inner.iter().map(|inner| Some((*inner, value.get(inner)?)));
                Picked::Some(members.collect::<Option<_>>()?)
            }
        };
        is_sound(point, name, &picked).then_some((*name, picked))
    };
    let all = EVERYWHERE.iter().chain(listed_at(point)).map(pick);
    all.collect::<Option<_>>().ok_or(HostError::ContextInvalid)
}

/// Whether what stands in every context is what it has to be.
fn is_sound(point: Point, name: &str, picked: &Picked<'_>) -> bool {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    match (name, picked) {
        ("spec" | "timestamp", Picked::Whole(value)) => is_text(value),
        ("interception_point", Picked::Whole(value)) => value.as_str() == Some(point.name()),
        ("sequence", Picked::Whole(value)) => value.is_u64(),
        ("agent" | "session", Picked::Some(members)) => members.iter().all(|(_, value)| is_text(value)),
        _ => true,
    }
}

/// The canonical bytes of an object of what counts.
fn bytes_of(mut listed: Vec<(&'static str, Picked<'_>)>) -> Result<Vec<u8>, serde_json::Error> {
    listed.sort_unstable_by_key(|(name, _)| *name);
    let mut bytes = Vec::with_capacity(512);
    for (at, (name, picked)) in listed.into_iter().enumerate() {
        bytes.push(if at == 0 { b'{' } else { b',' });
        // One of the names above, in which nothing is to be escaped, and whose bytes are in order.
        write!(bytes, "\"{name}\":").map_err(serde_json::Error::io)?;
        match picked {
            Picked::Whole(value) => write_canonical(value, &mut bytes)?,
            Picked::Some(members) => write_canonical_members(members, &mut bytes)?,
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
