use probity_egress::{Human, SamePrincipal, Tier, egress_text, egress_value};
use serde_json::{Map, Value};

/// Names under which no text may stay, whatever it is.
const CREDENTIALS: &[&str] = &[
    "password",
    "PASSWORD",
    "DB_PASSWORD",
    "passwd",
    "client_secret",
    "api_key",
    "access_token",
    "Authorization",
    "Cookie",
];

pub(super) fn holds(text: &str) -> Result<(), String> {
    let value = value_of(text);
    snapshot_holds::<SamePrincipal>(&value).and_then(|()| snapshot_holds::<Human>(&value))
}

fn snapshot_holds<T: Tier>(value: &Value) -> Result<(), String> {
    let snapshot = egress_value::<T>(value);
    let again = egress_value::<T>(&snapshot);
    if again != snapshot {
        return Err(format!("of {value} a second snapshot changes {snapshot} to {again}"));
    }
    walk::<T>(snapshot.as_value(), false).map_err(|what| format!("of {value} the snapshot {snapshot} {what}"))
}

fn walk<T: Tier>(value: &Value, is_under_credential: bool) -> Result<(), String> {
    match value {
        Value::String(text) if is_under_credential && !text.is_empty() && !is_marker(text) => {
            Err(format!("holds {text:?} under a credential's name"))
        }
        Value::String(text) => is_passed::<T>(text),
        Value::Array(items) => items.iter().try_for_each(|item| walk::<T>(item, is_under_credential)),
        Value::Object(members) => members.iter().try_for_each(|(name, value)| {
            is_passed::<T>(name)?;
            walk::<T>(value, is_under_credential || CREDENTIALS.contains(&name.as_str()))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn is_passed<T: Tier>(text: &str) -> Result<(), String> {
    let passed = egress_text::<T>(text);
    if passed.as_str() == text { Ok(()) } else { Err(format!("holds {text:?}, which was not passed")) }
}

fn is_marker(text: &str) -> bool {
    text.strip_prefix("[REDACTED:").is_some_and(|rest| rest.find(']') == Some(rest.len() - 1))
}

/// The value that a text spells: JSON, or else a member a line. A dot in a name nests, commas make an array.
fn value_of(text: &str) -> Value {
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return value;
    }
    let mut members = Map::new();
    for line in text.split('\n') {
        let (name, value) = line.split_once(['=', ':']).unwrap_or((line, ""));
        let items: Vec<Value> = value.split(',').map(leaf).collect();
        let value = if let [only] = items.as_slice() { only.clone() } else { Value::Array(items) };
        put(&mut members, name, value);
    }
    Value::Object(members)
}

fn put(members: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        Some((outer, inner)) => {
            let below = members.entry(outer).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(below) = below {
                put(below, inner, value);
            }
        }
        None => {
            members.insert(name.to_owned(), value);
        }
    }
}

fn leaf(text: &str) -> Value {
    match text {
        "null" => Value::Null,
        "true" => Value::Bool(true),
        _ => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
    }
}
