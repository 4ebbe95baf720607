//! The values that a rule's conditions captured, with the items they came from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use probity_contract::ItemId;

use super::number::Number;

/// Names with their values.
///
/// Every name that a rule uses was checked when the file was loaded, so a name without a value is treated as an empty
/// text and never comes up in practice.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    values: BTreeMap<String, Bound>,
}

/// A value and the items that it was taken from.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) value: Value,
    pub(crate) items: BTreeSet<ItemId>,
}

#[derive(Debug)]
pub(crate) enum Value {
    /// The text of one capture.
    One(String),
    /// The texts of all captures, and what stands between them when they are written out.
    Many { values: Vec<String>, join: String },
    /// What an expression came to.
    Computed(Number),
}

/// Why a value cannot be calculated with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotANumber {
    /// The text of a capture is not one.
    Text { name: String, text: String },
    /// It has more digits than are kept exactly.
    TooLarge,
}

impl fmt::Display for NotANumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { name, text } => {
                let short: String = text.chars().filter(|c| !c.is_control()).take(40).collect();
                write!(f, "`{name}` = `{short}` is no number")
            }
            Self::TooLarge => f.write_str("a number has too many digits"),
        }
    }
}

impl Scope {
    pub(crate) fn bind(&mut self, name: impl Into<String>, bound: Bound) {
        self.values.insert(name.into(), bound);
    }

    /// The items that a name's value was taken from.
    pub(crate) fn items<'a>(&'a self, name: &str) -> impl Iterator<Item = ItemId> + use<'a> {
        self.values.get(name).into_iter().flat_map(|bound| bound.items.iter().copied())
    }

    /// The value as it is written into an answer.
    pub(crate) fn text(&self, name: &str) -> String {
        match self.values.get(name).map(|bound| &bound.value) {
            None => String::new(),
            Some(Value::One(text)) => text.clone(),
            Some(Value::Many { values, join }) => values.join(join),
            Some(Value::Computed(number)) => number.plain(),
        }
    }

    pub(crate) fn number(&self, name: &str) -> Result<Number, NotANumber> {
        match self.values.get(name).map(|bound| &bound.value) {
            Some(Value::Computed(number)) => Ok(*number),
            Some(Value::One(_) | Value::Many { .. }) | None => read(name, &self.text(name)),
        }
    }

    pub(crate) fn sum(&self, name: &str) -> Result<Number, NotANumber> {
        self.list(name).iter().try_fold(Number::of_count(0), |sum, text| {
            sum.plus(read(name, text)?).ok_or(NotANumber::TooLarge)
        })
    }

    pub(crate) fn count(&self, name: &str) -> Number {
        Number::of_count(self.list(name).len())
    }

    fn list(&self, name: &str) -> &[String] {
        match self.values.get(name).map(|bound| &bound.value) {
            Some(Value::Many { values, .. }) => values,
            Some(Value::One(_) | Value::Computed(_)) | None => &[],
        }
    }
}

fn read(name: &str, text: &str) -> Result<Number, NotANumber> {
    Number::read(text).ok_or_else(|| NotANumber::Text { name: name.to_owned(), text: text.to_owned() })
}
