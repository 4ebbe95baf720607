//! Small readings of JSON that every importer needs.

use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::limits::NESTED_JSON_BYTES_MAX;

/// The first of several members that is there and not null.
pub(crate) fn first<'a>(value: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| value.get(name).filter(|found| !found.is_null()))
}

/// The first of several members that is a text and not empty.
pub(crate) fn text<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| value.get(name)?.as_str().filter(|text| !text.is_empty()))
}

/// Takes a member out; null counts as absent.
pub(crate) fn take(object: &mut Map<String, Value>, name: &str) -> Option<Value> {
    object.remove(name).filter(|value| !value.is_null())
}

/// A text as it is, anything else as JSON.
pub(crate) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// What a text holds where it is JSON of an array or an object; many exporters write those as texts. Some of Python's
/// write its own literals, which are read too where nothing but the quotation marks and three words differ.
pub(crate) fn unpacked(value: Value) -> Value {
    let Value::String(text) = &value else { return value };
    parsed(text).unwrap_or(value)
}

pub(crate) fn parsed(text: &str) -> Option<Value> {
    let trimmed = text.trim_start();
    if !trimmed.starts_with(['{', '[']) || text.len() > NESTED_JSON_BYTES_MAX {
        return None;
    }
    serde_json::from_str(text).ok().or_else(|| crate::python::literal(text))
}

/// A JSON text that is the same for equal values, whatever the order of their members.
pub(crate) fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(object) => {
            let mut names: Vec<_> = object.iter().collect();
            names.sort_unstable_by_key(|(name, _)| name.as_str());
            out.push('{');
            for (name, member) in names {
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                canonical(member, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(list) => {
            out.push('[');
            for member in list {
                canonical(member, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string())
        }
    }
}

/// A time as milliseconds since 1970: a number of seconds, milliseconds, microseconds or nanoseconds, told apart by their
/// size; the same as a text; a pair of seconds and nanoseconds; or a date.
pub(crate) fn unix_ms(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => {
            number.as_u64().map(scaled).or_else(|| Some(scaled_seconds(number.as_f64()?)))
        }
        Value::String(text) => match text.parse::<u64>() {
            Ok(number) => Some(scaled(number)),
            Err(_) => date_ms(text),
        },
        Value::Array(pair) => {
            let (seconds, nanos) = (pair.first()?.as_u64()?, pair.get(1)?.as_u64()?);
            Some(seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000))
        }
        Value::Null | Value::Bool(_) | Value::Object(_) => None,
    }
}

fn scaled(number: u64) -> u64 {
    match number {
        0..100_000_000_000 => number.saturating_mul(1000),
        100_000_000_000..100_000_000_000_000 => number,
        100_000_000_000_000..100_000_000_000_000_000 => number / 1000,
        _ => number / 1_000_000,
    }
}

fn scaled_seconds(number: f64) -> u64 {
    // Below zero is cut to zero by the conversion; a fraction of a millisecond does not matter.
    if number < 1e11 { (number * 1000.0) as u64 } else { scaled(number as u64) }
}

fn date_ms(text: &str) -> Option<u64> {
    let date = OffsetDateTime::parse(text, &Rfc3339).or_else(|_| {
        // Dates without a zone are taken for UTC, and a blank for the letter between date and time.
        OffsetDateTime::parse(&format!("{}Z", text.replacen(' ', "T", 1)), &Rfc3339)
    });
    u64::try_from(date.ok()?.unix_timestamp_nanos() / 1_000_000).ok()
}

/// Members with dots in their names as nested arrays and objects: `a.0.b` is `{"a": [{"b": …}]}`.
pub(crate) fn nested<'a>(members: impl Iterator<Item = (&'a str, &'a Value)>) -> Value {
    let mut root = Value::Object(Map::new());
    for (name, value) in members {
        let mut node = &mut root;
        for segment in name.split('.').take(crate::limits::JSON_DEPTH_MAX / 2) {
            if !node.is_object() {
                *node = Value::Object(Map::new());
            }
            let Value::Object(object) = node else { break };
            node = object.entry(segment.to_owned()).or_insert(Value::Null);
        }
        *node = value.clone();
    }
    listed(root)
}

/// Objects all of whose names are numbers, as arrays in the order of these numbers.
fn listed(value: Value) -> Value {
    let Value::Object(object) = value else { return value };
    let is_list = !object.is_empty() && object.keys().all(|name| name.parse::<u32>().is_ok());
    if !is_list {
        return Value::Object(object.into_iter().map(|(name, member)| (name, listed(member))).collect());
    }
    let mut members: Vec<_> =
        object.into_iter().map(|(name, member)| (name.parse::<u32>().unwrap_or(u32::MAX), member)).collect();
    members.sort_by_key(|(index, _)| *index);
    Value::Array(members.into_iter().map(|(_, member)| listed(member)).collect())
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
