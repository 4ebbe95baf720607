//! YAML as JSON: tags are dropped, names of members that are no texts become some.
//!
//! A few bytes of YAML can stand for any number, since a large part may be named as often as one likes. What comes out is
//! counted while it is made, so that it stays within a budget.

use std::fmt;

use serde::de::{DeserializeSeed, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::{ImportError, Place};
use crate::json::as_text;
use crate::limits::FILE_BYTES_MAX;

/// What a value costs beside its text.
const VALUE_BYTES: usize = 64;

/// Reads a document.
pub(crate) fn read(text: &str) -> Result<Value, ImportError> {
    let mut left = FILE_BYTES_MAX;
    let read = Budget(&mut left).deserialize(serde_yaml_ng::Deserializer::from_str(text));
    read.map_err(|error| {
        let place = error
            .location()
            .map_or(Place::Pointer(String::new()), |at| Place::Line { line: at.line(), column: at.column() });
        if left == 0 {
            let max = FILE_BYTES_MAX as u64;
            return ImportError::TooMuch { place, what: "bytes once its aliases are written out", max };
        }
        ImportError::Malformed { place, why: error.to_string() }
    })
}

/// Bytes that may still be made; 0 once it was overdrawn.
struct Budget<'a>(&'a mut usize);

impl Budget<'_> {
    fn spend<E: Error>(&mut self, bytes: usize) -> Result<(), E> {
        let left = self.0.checked_sub(bytes.saturating_add(VALUE_BYTES)).filter(|left| *left > 0);
        *self.0 = left.unwrap_or(0);
        left.map(|_| ()).ok_or_else(|| E::custom("it stands for more than it may"))
    }
}

impl<'de> DeserializeSeed<'de> for Budget<'_> {
    type Value = Value;
    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Budget<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(mut self, value: bool) -> Result<Value, E> {
        self.spend(0).map(|()| value.into())
    }

    fn visit_i64<E: Error>(mut self, value: i64) -> Result<Value, E> {
        self.spend(0).map(|()| value.into())
    }

    fn visit_u64<E: Error>(mut self, value: u64) -> Result<Value, E> {
        self.spend(0).map(|()| value.into())
    }

    fn visit_i128<E: Error>(mut self, value: i128) -> Result<Value, E> {
        self.spend(40).map(|()| value.to_string().into())
    }

    fn visit_u128<E: Error>(mut self, value: u128) -> Result<Value, E> {
        self.spend(40).map(|()| value.to_string().into())
    }

    fn visit_f64<E: Error>(mut self, value: f64) -> Result<Value, E> {
        self.spend(0).map(|()| value.into())
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<Value, E> {
        self.spend(text.len()).map(|()| text.into())
    }

    fn visit_unit<E: Error>(mut self) -> Result<Value, E> {
        self.spend(0).map(|()| Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_some<D: serde::Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        self.deserialize(from)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut from: A) -> Result<Value, A::Error> {
        self.spend(0)?;
        let mut list = Vec::new();
        while let Some(value) = from.next_element_seed(Budget(self.0))? {
            list.push(value);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut from: A) -> Result<Value, A::Error> {
        self.spend(0)?;
        let mut object = Map::new();
        while let Some(name) = from.next_key_seed(Budget(self.0))? {
            let value = from.next_value_seed(Budget(self.0))?;
            object.insert(as_text(&name), value);
        }
        Ok(object.into())
    }

    fn visit_enum<A: EnumAccess<'de>>(self, from: A) -> Result<Value, A::Error> {
        let (_tag, inner): (serde::de::IgnoredAny, _) = from.variant()?;
        inner.newtype_variant_seed(self)
    }
}
