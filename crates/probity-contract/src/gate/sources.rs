//! What each value of a call's arguments may be believed, beside what the call as a whole may.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::FrozenCall;
use crate::ids::ItemId;
use crate::label::{Integrity, Label};

/// Why one value of a call's arguments may be believed further than the window that the call was proposed from.
///
/// Only the integrity of a value can be another than the call's. Its readers never are: who chose a value may have told by the
/// choice what stood in the rest of the window.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgumentSource {
    /// Which value: a JSON pointer (RFC 6901) into the arguments, to a scalar.
    pub at: String,
    /// How far it may be believed.
    pub integrity: Integrity,
    /// The item in which it stands word for word; `None` where the tool declares that any value of its type is taken for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// Where it is only of this piece of the value that the source tells: a link or an address within a longer text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

/// One value of a call's arguments with its label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentLabel {
    /// Which value: a JSON pointer to a scalar, or to an object or array in which nothing stands.
    pub at: String,
    /// Its label.
    pub label: Label,
    /// Why it may be believed further than the call, if it may.
    pub source: Option<ArgumentSource>,
}

impl FrozenCall {
    /// How far the call as a whole may be believed: as far as the least of all that the model had read.
    #[must_use]
    pub const fn integrity(&self) -> Integrity {
        self.facts().label.integrity
    }

    /// Every value of the arguments with its label, in the order of the canonical form.
    #[must_use]
    pub fn argument_labels(&self) -> Vec<ArgumentLabel> {
        let facts = self.facts();
        let label = |at: String| {
            let source =
                facts.arguments_from.iter().find(|source| source.at == at && source.part.is_none()).cloned();
            let integrity = source.as_ref().map_or(facts.label.integrity, |source| source.integrity);
            ArgumentLabel { at, label: Label { integrity, ..facts.label.clone() }, source }
        };
        argument_values(&facts.arguments.to_value()).into_iter().map(|(at, _)| label(at)).collect()
    }

    /// The label of one value, or the join of all below it. Where nothing stands there, that is the label of the call.
    #[must_use]
    pub fn label_of(&self, pointer: &str) -> Label {
        let below = self.argument_labels().into_iter().filter(|argument| is_at(&argument.at, pointer));
        let joined = below.map(|argument| argument.label).reduce(|all, label| all.join(&label));
        joined.unwrap_or_else(|| self.facts().label.clone())
    }

    /// How far a piece of the value at a pointer may be believed: as far as the value, or further where the piece has a source
    /// of its own.
    #[must_use]
    pub fn integrity_of_part(&self, pointer: &str, part: &str) -> Integrity {
        let is_of = |source: &&ArgumentSource| source.at == pointer && source.part.as_deref() == Some(part);
        let of_part = self.facts().arguments_from.iter().filter(is_of).map(|source| source.integrity).max();
        let of_value = self.label_of(pointer).integrity;
        of_part.map_or(of_value, |of_part| of_part.max(of_value))
    }

    /// How far each of the arguments may be believed: the least of them, or, where there are none, the call itself.
    #[must_use]
    pub fn arguments_integrity(&self) -> Integrity {
        self.label_of("").integrity
    }
}

/// Whether a pointer is `above`, or leads to something below it.
pub(crate) fn is_at(pointer: &str, above: &str) -> bool {
    pointer.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Every scalar in a value, and every object and array in which nothing stands, each with its JSON pointer.
#[must_use]
pub fn argument_values(value: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    walk(value, &mut String::new(), &mut found);
    found
}

fn walk<'a>(value: &'a Value, at: &mut String, found: &mut Vec<(String, &'a Value)>) {
    let mut below = |name: &str, value| {
        let kept = at.len();
        at.push('/');
        at.push_str(&name.replace('~', "~0").replace('/', "~1"));
        walk(value, at, found);
        at.truncate(kept);
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            members.iter().for_each(|(name, value)| below(name, value));
        }
        Value::Array(values) if !values.is_empty() => {
            values.iter().enumerate().for_each(|(index, value)| below(&index.to_string(), value));
        }
        Value::Object(_)
        | Value::Array(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_) => found.push((at.clone(), value)),
    }
}
