use std::fmt;
use std::marker::PhantomData;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::snapshot_serializer::{Budget, Snapshot};
use crate::snapshot_tree::Tree;
use crate::tier::Tier;

/// A detached snapshot of a value, in which every text and every member name went through tier `T`'s pass.
///
/// It is plain data: what reads it later runs none of the value's code. A member whose name is a credential's
/// (`password`, `Authorization`, `x-api-key`, at any depth, in any case) is one marker whole, also when it is an object
/// or an array; a number is one under a password's name, and from six digits under another secret's; `null` and booleans
/// stay. Under a common word such as `key` or `token` a text is a marker when it looks drawn at random.
///
/// A name also counts beside its value (`{"name": "DB_PASSWORD", "value": "…"}`), in pairs (`[["authorization", "…"]]`) and
/// among arguments (`["--password", "…"]`). Bytes and single characters in an array are read as the text they spell.
/// Other numbers stay as they are, unless their digits are a registered secret's.
#[derive(Debug, Clone, PartialEq)]
pub struct EgressValue<T: Tier> {
    // INVARIANT: every string and member name in it went through `T`'s pass or is a marker.
    value: Value,
    tier: PhantomData<T>,
}

impl<T: Tier> EgressValue<T> {
    /// The snapshot as plain data.
    pub fn as_value(&self) -> &Value {
        &self.value
    }
}

/// Takes the snapshot of a value, as JSON reads it.
///
/// Fails closed: what lies deeper than [`VALUE_DEPTH_MAX`](crate::VALUE_DEPTH_MAX), or beyond
/// [`VALUE_MEMBERS_MAX`](crate::VALUE_MEMBERS_MAX) or [`VALUE_BYTES_MAX`](crate::VALUE_BYTES_MAX) in all, is a marker
/// `[REDACTED:limit]`; a value that refuses to be read is `[REDACTED:unreadable]`. Two member names that are equal after
/// the pass leave the later one.
pub fn egress_value<T: Tier>(value: &impl Serialize) -> EgressValue<T> {
    let mut budget = Budget::full();
    let value = value.serialize(Snapshot::<T>::new(&mut budget)).unwrap_or(Tree::Marker("unreadable"));
    EgressValue { value: value.into(), tier: PhantomData }
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
