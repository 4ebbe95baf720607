//! Where a piece of context stands in trust, and who may read it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// How far a content may be believed. Joining takes the lower one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Integrity {
    /// Anybody may have written it: what tools return, unless they declare otherwise.
    Untrusted,
    /// Written by the task, its principal or the engine.
    Trusted,
}

/// Who may read a content. Joining takes what both allow.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Readers {
    /// No restriction.
    Everyone,
    /// These principals only; an empty set means nobody.
    Only(BTreeSet<String>),
}

/// The label of a context item, of a model call (the join of what it saw) and of a proposed call.
///
/// Join is associative, commutative and idempotent, and never raises integrity or widens readers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// How far it may be believed.
    pub integrity: Integrity,
    /// Who may read it.
    pub readers: Readers,
}

impl Label {
    /// Trusted and readable by everyone: the label that joins to the other one.
    #[must_use]
    pub const fn trusted() -> Self {
        Self { integrity: Integrity::Trusted, readers: Readers::Everyone }
    }

    /// Untrusted and readable by everyone.
    #[must_use]
    pub const fn untrusted() -> Self {
        Self { integrity: Integrity::Untrusted, readers: Readers::Everyone }
    }

    /// The label of something derived from both.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        let readers = match (&self.readers, &other.readers) {
            (Readers::Everyone, readers) | (readers, Readers::Everyone) => readers.clone(),
            (Readers::Only(a), Readers::Only(b)) => Readers::Only(a.intersection(b).cloned().collect()),
        };
        Self { integrity: self.integrity.min(other.integrity), readers }
    }
}

#[cfg(test)]
#[path = "label_tests.rs"]
mod tests;
