//! Reading a model's arguments strictly and writing them canonically.
//!
//! The decision: arguments are parsed once, with everything refused that two readers could understand differently
//! (duplicate names, numbers that a double cannot hold, depth and size over the limit), and from then on only the
//! canonical bytes of RFC 8785 exist. The alternative, keeping the provider's text and parsing it again where needed,
//! lost: a checked text and an executed text would then be two values.

use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::limits::{ARGS_BYTES_MAX, JSON_DEPTH_MAX};

/// The largest integer that a double holds together with all smaller ones: 2^53 - 1 (RFC 7493, section 2.2).
const SAFE_INTEGER_MAX: u64 = 9_007_199_254_740_991;

const DIGITS_LOST: &str = "an integer beyond 2^53 loses digits in other readers; send it as a string";

/// A tool call's arguments: a JSON object in the canonical bytes of RFC 8785.
///
/// Equal meanings have equal bytes. The value is immutable and cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Arguments {
    // INVARIANT: `canonical` is the RFC 8785 form of an object that `parse` accepts.
    canonical: Arc<str>,
}

/// Why a text is not acceptable as arguments. The words may be shown to the model that wrote the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentsError {
    /// Not JSON, cut off, or with something after the object. Carries line and column.
    #[error("the arguments are not complete, valid JSON ({0})")]
    Malformed(String),
    /// JSON, but not an object.
    #[error("the arguments must be a JSON object, not {0}")]
    NotAnObject(&'static str),
    /// More bytes than `ARGS_BYTES_MAX`.
    #[error("the arguments are {0} bytes long; at most {ARGS_BYTES_MAX} are accepted")]
    TooLong(usize),
}

impl Arguments {
    /// Parses a model's text strictly.
    ///
    /// Refused: anything but one object, duplicate member names, numbers beyond 2^53 in either direction and in any notation
    /// (RFC 7493 calls only the integers up to there interoperable, and `1e300` is an integer, too), lone surrogates, nesting over `JSON_DEPTH_MAX`, more than `ARGS_BYTES_MAX` bytes. An empty text is refused too:
    /// nothing is ever defaulted to `{}`.
    ///
    /// # Errors
    /// One of [`ArgumentsError`], in words the model can act on.
    pub fn parse(text: &str) -> Result<Self, ArgumentsError> {
        Self::from_value(&interoperable_value(text)?)
    }

    /// The canonical form of an object already in memory.
    ///
    /// # Errors
    /// When the value is not an object, is over the limits, or holds a number outside the interoperable range.
    pub fn from_value(value: &Value) -> Result<Self, ArgumentsError> {
        let kind = match value {
            Value::Object(_) => None,
            Value::Array(_) => Some("an array"),
            Value::String(_) => Some("a string"),
            Value::Number(_) => Some("a number"),
            Value::Bool(_) => Some("a boolean"),
            Value::Null => Some("null"),
        };
        if let Some(kind) = kind {
            return Err(ArgumentsError::NotAnObject(kind));
        }
        check_value(value, JSON_DEPTH_MAX).map_err(|why| ArgumentsError::Malformed(why.to_owned()))?;
        let canonical = serde_json_canonicalizer::to_string(value)
            .map_err(|error| ArgumentsError::Malformed(error.to_string()))?;
        if canonical.len() > ARGS_BYTES_MAX {
            return Err(ArgumentsError::TooLong(canonical.len()));
        }
        Ok(Self { canonical: Arc::from(canonical) })
    }

    /// The canonical bytes as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.canonical
    }

    /// The arguments as a value, read from the canonical bytes.
    #[must_use]
    pub fn to_value(&self) -> Value {
        // The invariant makes a failure impossible; null is refused by every schema, so it could not widen anything.
        serde_json::from_str(&self.canonical).unwrap_or(Value::Null)
    }

    /// Reads the arguments into a type.
    ///
    /// # Errors
    /// When the arguments do not have the type's shape.
    pub fn read<T: serde::de::DeserializeOwned>(&self) -> Result<T, ArgumentsError> {
        serde_json::from_str(&self.canonical).map_err(|error| ArgumentsError::Malformed(error.to_string()))
    }
}

impl TryFrom<String> for Arguments {
    type Error = ArgumentsError;
    fn try_from(text: String) -> Result<Self, ArgumentsError> {
        Self::parse(&text)
    }
}

impl From<Arguments> for String {
    fn from(arguments: Arguments) -> Self {
        arguments.canonical.as_ref().to_owned()
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arguments({} bytes)", self.canonical.len())
    }
}

/// The value of a text that all readers understand alike: what [`Arguments::parse`] accepts, and not only of an object.
///
/// # Errors
/// When the text is no such JSON, or is longer than `ARGS_BYTES_MAX`.
pub fn interoperable_value(text: &str) -> Result<Value, ArgumentsError> {
    if text.len() > ARGS_BYTES_MAX {
        return Err(ArgumentsError::TooLong(text.len()));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    Strict { depth_left: JSON_DEPTH_MAX }
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|error| ArgumentsError::Malformed(error.to_string()))
}

/// The RFC 8785 bytes of any serializable value.
///
/// # Errors
/// When the value cannot be JSON (a map with keys that are not strings, a number that is not finite).
pub fn canonical_bytes(value: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    serde_json_canonicalizer::to_vec(value)
}

/// Writes the same bytes for a value that is JSON already, several times faster: what passes is named at every point of a run.
///
/// Calls itself for every level of the value; whoever takes values from elsewhere bounds their depth first.
///
/// # Errors
/// As [`canonical_bytes`].
pub fn write_canonical(value: &Value, bytes: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    match value {
        Value::Number(number) => write_number(number, bytes),
        Value::Array(values) => {
            bytes.push(b'[');
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    bytes.push(b',');
                }
                write_canonical(value, bytes)?;
            }
            bytes.push(b']');
            Ok(())
        }
        Value::Object(members) => {
            write_canonical_members(members.iter().map(|(name, value)| (name.as_str(), value)), bytes)
        }
        Value::Null | Value::Bool(_) | Value::String(_) => serde_json::to_writer(bytes, value),
    }
}

/// Writes an object of these members; each name stands there once.
///
/// # Errors
/// As [`canonical_bytes`].
pub fn write_canonical_members<'a>(
    members: impl IntoIterator<Item = (&'a str, &'a Value)>,
    bytes: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    let mut members: Vec<(&str, &Value)> = members.into_iter().collect();
    // The order of UTF-16, which is not that of UTF-8 beyond the first plane.
    members.sort_unstable_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
    bytes.push(b'{');
    for (at, (name, value)) in members.into_iter().enumerate() {
        if at > 0 {
            bytes.push(b',');
        }
        serde_json::to_writer(&mut *bytes, name)?;
        bytes.push(b':');
        write_canonical(value, bytes)?;
    }
    bytes.push(b'}');
    Ok(())
}

/// Small integers are their digits; everything else has rules of its own.
fn write_number(number: &Number, bytes: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let is_plain = |magnitude: u64| magnitude <= SAFE_INTEGER_MAX;
    if number.as_i64().is_some_and(|integer| is_plain(integer.unsigned_abs())) {
        return serde_json::to_writer(bytes, number);
    }
    bytes.extend(serde_json_canonicalizer::to_vec(number)?);
    Ok(())
}

fn check_value(value: &Value, depth_left: usize) -> Result<(), &'static str> {
    let inner = || depth_left.checked_sub(1).ok_or("nested too deeply");
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
        Value::Number(number) => check_number(number),
        Value::Array(values) => {
            let left = inner()?;
            values.iter().try_for_each(|value| check_value(value, left))
        }
        Value::Object(members) => {
            let left = inner()?;
            members.values().try_for_each(|value| check_value(value, left))
        }
    }
}

fn check_number(number: &Number) -> Result<(), &'static str> {
    let magnitude = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
    match magnitude {
        Some(magnitude) if magnitude > SAFE_INTEGER_MAX => Err(DIGITS_LOST),
        Some(_) => Ok(()),
        None => match number.as_f64() {
            Some(float) if loses_digits(float) => Err(DIGITS_LOST),
            Some(float) if float.is_finite() => Ok(()),
            _ => Err("a number is out of range"),
        },
    }
}

/// Whether a double stands for an integer that a double need not hold exactly. All doubles over 2^53 are integers, so
/// `1e300` is one of them: it may have been written out in digits.
fn loses_digits(value: f64) -> bool {
    value.is_finite() && value.abs() > SAFE_INTEGER_MAX as f64
}

/// Builds a value and refuses what `serde_json` would let pass: duplicate names and numbers that lose digits.
struct Strict {
    depth_left: usize,
}

impl Strict {
    fn inner<E: serde::de::Error>(&self) -> Result<usize, E> {
        self.depth_left.checked_sub(1).ok_or_else(|| E::custom("nested too deeply"))
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;
    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        number(Number::from(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        number(Number::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        // The reader hands integers beyond u64 over as doubles; those have already lost digits.
        if loses_digits(value) {
            return Err(E::custom(DIGITS_LOST));
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is out of range"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let depth_left = self.inner()?;
        let mut values = Vec::new();
        while let Some(value) = elements.next_element_seed(Self { depth_left })? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let depth_left = self.inner()?;
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(Self { depth_left })?;
            if object.contains_key(&name) {
                return Err(A::Error::custom("an object has the same member name twice"));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

fn number<E: serde::de::Error>(number: Number) -> Result<Value, E> {
    check_number(&number).map_err(E::custom)?;
    Ok(Value::Number(number))
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
