//! Copies: where the atoms of an answer stand in what the model had before, and which of them were computed from it.
//!
//! The sources are read once, in linear time; each question after that costs a binary search and a bounded number of
//! looks. No learned weights, no distance between meanings: either the bytes are there, or a value that is equal, or
//! there is `no source`. What lost stands in `docs/design/atoms.md`.

mod chance;
mod computed;
mod find;
mod index;
mod operands;
mod phrase;
mod verbatim;

use std::ops::Range;

pub use self::chance::Chance;
pub use self::computed::{Computation, Computed, Operation};
pub use self::index::{CopyIndex, INDEX_BYTES_MAX};
pub use self::operands::{Operand, Operands};
pub use self::verbatim::{VERBATIM_BYTES_MIN, VerbatimIndex, VerbatimSpan};

/// The most holders that are listed of one atom; the rest is counted.
pub const HOLDERS_MAX: usize = 64;

/// A text that an atom may have come from.
#[derive(Debug, Clone)]
pub struct CopySource<'t, K> {
    /// What the caller calls it.
    pub key: K,
    /// Its text as the model had it; JSON is recognised, and its escapes are resolved.
    pub text: &'t str,
}

/// Where an atom stands.
#[derive(Debug, Clone)]
pub struct Copies<K> {
    /// The places, oldest source first, and within a source from its beginning. At most [`HOLDERS_MAX`].
    pub holders: Vec<Holder<K>>,
    /// How many places beyond those may hold it too; they were not looked at.
    pub left_out: usize,
    /// How likely such a value stands in an unrelated text as long as the sources.
    pub chance: Chance,
}

impl<K> Copies<K> {
    /// The oldest place, where there is one.
    #[must_use]
    pub fn origin(&self) -> Option<&Holder<K>> {
        self.holders.first()
    }

    /// Whether it stands nowhere: `no source`.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.holders.is_empty()
    }
}

/// A place that holds an atom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder<K> {
    /// The source.
    pub source: K,
    /// The place in the text of the source, in bytes.
    pub range: Range<usize>,
    /// What is the same there.
    pub sameness: Sameness,
}

/// What an atom and a place that holds it have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sameness {
    /// All its words, in order and near each other, with others between: a first and a last name in two members.
    Parts,
    /// The value, as far as both say it: `1.234,50` and `1234.50`, `May 20` and `2024-05-20`, `New York` and `new_york`.
    Value,
    /// The very bytes.
    Bytes,
}
