//! What is known of single values of a tool's result: for which the tool vouches, and which it was told by the call.

use std::collections::BTreeMap;

use probity_contract::{FrozenCall, Integrity, ItemId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::standing::{folded, stands};

/// Values for which a tool may vouch within one result. What comes after them is not vouched for.
const VOUCHED_MAX: usize = 8_192;

/// What is known of single values, by the item of the result.
pub(crate) type ToldOf = BTreeMap<ItemId, Told>;

/// What is known of single values of one result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    /// Values for which the tool vouches, once for each place where it does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) vouched: Vec<String>,
    /// Untrusted arguments of the call that stand in its result: whatever has one in it is no word of the tool's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) echoed: Vec<String>,
}

impl Told {
    pub(super) const fn is_empty(&self) -> bool {
        self.vouched.is_empty() && self.echoed.is_empty()
    }
}

/// Of the values for which a tool vouches those that stand whole in what it has brought, and that the call had not brought to it.
/// Together they are no longer than the text.
pub(super) fn vouched(values: Vec<String>, text: &str, call: Option<&FrozenCall>) -> Vec<String> {
    if values.is_empty() {
        return values;
    }
    let (text, brought) = (folded(text), call.map(untrusted_arguments).unwrap_or_default());
    let mut left = text.len();
    let mut is_told = |value: &String| {
        let fits = left.checked_sub(value.len());
        let is_told = fits.is_some()
            && stands(&folded(value), &text)
            && !brought.iter().any(|argument| stands(argument, value));
        left = fits.filter(|_| is_told).unwrap_or(left);
        is_told
    };
    values.into_iter().take(VOUCHED_MAX).filter(|value| is_told(value)).collect()
}

/// The untrusted arguments of a call that stand in its result.
pub(super) fn echoed(text: &str, call: &FrozenCall) -> Vec<String> {
    let arguments = untrusted_arguments(call);
    arguments.into_iter().filter(|argument| stands(argument, text)).collect()
}

fn untrusted_arguments(call: &FrozenCall) -> Vec<String> {
    let arguments = call.arguments().to_value();
    let untrusted =
        call.argument_labels().into_iter().filter(|one| one.label.integrity == Integrity::Untrusted);
    untrusted
        .filter_map(|one| arguments.pointer(&one.at).and_then(Value::as_str).map(str::to_owned))
        .filter(|text| text.contains(char::is_alphanumeric))
        .collect()
}

#[cfg(test)]
#[path = "told_tests.rs"]
mod tests;
