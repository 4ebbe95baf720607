use std::fmt;
use std::marker::PhantomData;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::pass::egress_text;
use crate::tier::Tier;

/// A detached snapshot of a value, in which every text and every member name went through tier `T`'s pass.
#[derive(Debug, Clone, PartialEq)]
pub struct EgressValue<T: Tier> {
    // INVARIANT: every string and member name in it went through `T`'s pass.
    value: Value,
    tier: PhantomData<T>,
}

impl<T: Tier> EgressValue<T> {
    /// The snapshot as plain data.
    pub fn as_value(&self) -> &Value {
        &self.value
    }
}

/// Takes the snapshot.
pub fn egress_value<T: Tier>(value: &impl Serialize) -> EgressValue<T> {
    let value = match serde_json::to_value(value) {
        Ok(value) => passed::<T>(value),
        Err(_) => Value::String("[REDACTED:unreadable]".to_owned()),
    };
    EgressValue { value, tier: PhantomData }
}

fn passed<T: Tier>(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(egress_text::<T>(&text).to_string()),
        Value::Array(items) => Value::Array(items.into_iter().map(passed::<T>).collect()),
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(name, v)| (egress_text::<T>(&name).to_string(), passed::<T>(v)))
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

impl<T: Tier> fmt::Display for EgressValue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.value, f)
    }
}

impl<T: Tier> Serialize for EgressValue<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}
