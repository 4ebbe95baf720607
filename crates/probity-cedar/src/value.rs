//! A call's arguments as Cedar values.
//!
//! Values are built one by one by the tool's shape and never parsed from text, so nothing in an argument can become an
//! entity, an extension value or an expression: `{"__entity": …}` is a record with a member of that name, or a text.
//! What the shape cannot hold exactly is an error, which denies the call; it is never rounded, cut or left out.

use std::fmt;

use cedar_policy::RestrictedExpression;
use probity_contract::canonical_bytes;
use serde_json::{Number, Value};

use crate::limits::ARGUMENT_VALUES_MAX;
use crate::shape::Shape;

/// An argument that no policy can judge. The words are for the model that sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unfit {
    /// The names on the way to the argument, the innermost first.
    way: Vec<String>,
    why: String,
}

impl Unfit {
    fn new(why: impl Into<String>) -> Self {
        Self { way: Vec::new(), why: why.into() }
    }

    fn inside(mut self, name: &str) -> Self {
        self.way.push(name.to_owned());
        self
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.way.is_empty() {
            return write!(f, "the call's argument object {}", self.why);
        }
        let way: Vec<&str> = self.way.iter().rev().map(String::as_str).collect();
        write!(f, "the argument `{}` {}", way.join("."), self.why)
    }
}

/// The value as an expression of the shape's type.
pub(crate) fn expression(value: &Value, shape: &Shape) -> Result<RestrictedExpression, Unfit> {
    Builder { values_left: ARGUMENT_VALUES_MAX }.build(value, shape)
}

struct Builder {
    values_left: usize,
}

impl Builder {
    fn build(&mut self, value: &Value, shape: &Shape) -> Result<RestrictedExpression, Unfit> {
        let left = self.values_left.checked_sub(1).ok_or_else(|| {
            Unfit::new(format!("is one of more than {ARGUMENT_VALUES_MAX} values, too many to judge"))
        })?;
        self.values_left = left;
        match (shape, value) {
            (Shape::Text, Value::String(text)) => Ok(RestrictedExpression::new_string(text.clone())),
            (Shape::Truth, Value::Bool(truth)) => Ok(RestrictedExpression::new_bool(*truth)),
            (Shape::Whole, Value::Number(number)) => match number.as_i64() {
                Some(whole) => Ok(RestrictedExpression::new_long(whole)),
                None => Err(Unfit::new("is not an integer that policies can judge")),
            },
            (Shape::Number, Value::Number(number)) => match decimal(number) {
                Some(text) => Ok(RestrictedExpression::new_decimal(text)),
                None => Err(Unfit::new(
                    "cannot be judged exactly: send at most four decimal places, and less than 9e14",
                )),
            },
            (Shape::Set(element), Value::Array(values)) => {
                let elements: Result<Vec<_>, _> =
                    values.iter().map(|value| self.build(value, element)).collect();
                Ok(RestrictedExpression::new_set(elements?))
            }
            (Shape::Record(members), Value::Object(values)) => {
                if let Some(name) = values.keys().find(|name| !members.contains_key(*name)) {
                    return Err(Unfit::new("is not one that the tool declares; leave it out").inside(name));
                }
                let mut fields = Vec::with_capacity(values.len());
                for (name, member) in members {
                    match values.get(name) {
                        None if !member.required => {}
                        None => return Err(Unfit::new("is missing").inside(name)),
                        Some(Value::Null) if member.nullable => {}
                        Some(value) => {
                            let value =
                                self.build(value, &member.shape).map_err(|unfit| unfit.inside(name))?;
                            fields.push((name.clone(), value));
                        }
                    }
                }
                record(fields)
            }
            (Shape::Json, value) => {
                let text = canonical_bytes(value).ok().and_then(|bytes| String::from_utf8(bytes).ok());
                let text = text.ok_or_else(|| Unfit::new("has no canonical form"))?;
                record([("json".to_owned(), RestrictedExpression::new_string(text))])
            }
            (
                Shape::Text | Shape::Truth | Shape::Whole | Shape::Number | Shape::Set(_) | Shape::Record(_),
                _,
            ) => Err(Unfit::new("is not of the type that the tool declares")),
        }
    }
}

fn record(
    fields: impl IntoIterator<Item = (String, RestrictedExpression)>,
) -> Result<RestrictedExpression, Unfit> {
    RestrictedExpression::new_record(fields).map_err(|error| Unfit::new(error.to_string()))
}

/// The number in the notation of Cedar's `decimal`, where that holds it exactly: up to four decimal places, and all of it
/// times 10 000 within 64 bits.
fn decimal(number: &Number) -> Option<String> {
    // A double prints as the shortest digits that mean it, which are those of the canonical form.
    let text = match number.as_i64() {
        Some(whole) => whole.to_string(),
        None => number.as_f64().filter(|double| double.is_finite())?.to_string(),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, "0"));
    if fraction.len() > 4 {
        return None;
    }
    format!("{whole}{fraction:0<4}").parse::<i64>().ok()?;
    Some(format!("{whole}.{fraction}"))
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
