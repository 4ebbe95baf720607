//! Where a piece of context stands in trust, and who may read it.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// How far a content may be believed: by who could have written it. Totally ordered; joining takes the lower one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Integrity {
    /// Anybody may have written it: what tools return, unless they declare otherwise.
    Untrusted,
    /// A tool vouches for it: it comes from a source that nobody outside can write.
    ToolTrusted,
    /// A person has looked at it and takes it for good, or its tool declares that any value of its type is.
    Endorsed,
    /// The person or program for whom the task acts wrote it.
    Person,
    /// The task or the engine wrote it. It is stored as `trusted`, the name that the upper one of two levels had: whatever was
    /// stored then reads back to the same bytes.
    #[serde(rename = "trusted", alias = "system")]
    System,
}

impl Integrity {
    /// All levels, the lowest first.
    pub const ALL: [Self; 5] =
        [Self::Untrusted, Self::ToolTrusted, Self::Endorsed, Self::Person, Self::System];
}

impl fmt::Display for Integrity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Untrusted => "untrusted",
            Self::ToolTrusted => "tool_trusted",
            Self::Endorsed => "endorsed",
            Self::Person => "person",
            Self::System => "system",
        })
    }
}

/// Who may read a content. Joining takes what both allow.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Readers {
    /// No restriction.
    #[default]
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

impl Readers {
    /// Whether there is no restriction.
    #[must_use]
    pub const fn is_everyone(&self) -> bool {
        matches!(self, Self::Everyone)
    }

    /// Whether somebody of this name may read it. Names are compared as they are.
    #[must_use]
    pub fn include(&self, name: &str) -> bool {
        match self {
            Self::Everyone => true,
            Self::Only(names) => names.contains(name),
        }
    }

    /// Who may read something derived from both.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Everyone, readers) | (readers, Self::Everyone) => readers.clone(),
            (Self::Only(a), Self::Only(b)) => Self::Only(a.intersection(b).cloned().collect()),
        }
    }
}

impl Label {
    /// Of the task or the engine, and readable by everyone: the label that joins to the other one.
    #[must_use]
    pub const fn system() -> Self {
        Self::of(Integrity::System)
    }

    /// Of the person or program for whom the task acts, and readable by everyone.
    #[must_use]
    pub const fn person() -> Self {
        Self::of(Integrity::Person)
    }

    /// Untrusted and readable by everyone.
    #[must_use]
    pub const fn untrusted() -> Self {
        Self::of(Integrity::Untrusted)
    }

    /// Of this integrity, and readable by everyone.
    #[must_use]
    pub const fn of(integrity: Integrity) -> Self {
        Self { integrity, readers: Readers::Everyone }
    }

    /// The label of something derived from both.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        Self { integrity: self.integrity.min(other.integrity), readers: self.readers.join(&other.readers) }
    }
}

#[cfg(test)]
#[path = "label_tests.rs"]
mod tests;
