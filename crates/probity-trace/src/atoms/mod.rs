//! Atoms: the pieces of a text that can be right or wrong on their own, and where each stands.
//!
//! No grammar of a language and no learned weights: what counts as an atom is decided by its form, so that the same text
//! always has the same atoms. What that costs, and what lost, stands in `docs/design/atoms.md`.

mod calendar;
mod chars;
mod dates;
mod decimal;
mod extract;
mod json;
mod lexicon;
mod names;
mod numbers;
mod pieces;
mod spelled;
mod tokens;
mod units;

use std::ops::Range;

pub use self::calendar::{CalendarDate, ClockTime};
pub(crate) use self::chars::{
    GAP_BYTES_MAX, hashed_word_end, is_gap, lower_word, lower_word_hash, mixed, word_end, words,
};
pub use self::decimal::Decimal;
pub use self::extract::{atoms_of_json, atoms_of_text};
pub(crate) use self::json::{Decoded, Form};
pub(crate) use self::lexicon::is_common;
pub(crate) use self::tokens::{Token, TokenKind, Tokens};
pub use self::units::Unit;
pub(crate) use self::units::unit_at;

/// A piece of a text that can be right or wrong on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Atom {
    /// What it is.
    pub kind: AtomKind,
    /// Where it stands in the text that was given, in bytes; always on the bounds of characters.
    pub range: Range<usize>,
    /// The text of it: what stands there, with the escapes of a JSON string resolved.
    pub text: String,
    /// What it says, however it was written.
    pub value: AtomValue,
    /// What it says when read the other way: `1,234` as 1.234, `05/06/2024` as the fifth of June.
    pub other: Option<AtomValue>,
    /// What a number counts, where the text says so: beside it, not part of its range.
    pub unit: Option<Unit>,
}

/// What an atom is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AtomKind {
    /// `1,234.50`, `twenty`, `7 million`.
    Number,
    /// `2024-05-20`, `May 20th`.
    Date,
    /// `19:00:00`, `7:00 PM`.
    Time,
    /// An order number, UUID, hash, code or identifier: `HAT136`, `mia_li_3668`, `JFK`.
    Id,
    /// An e-mail address.
    Email,
    /// A URL with its scheme.
    Url,
    /// A path or the name of a file.
    Path,
    /// A proper name, by its capitals.
    Name,
    /// A quoted phrase, or the whole text of a short argument.
    Phrase,
}

impl AtomKind {
    /// All kinds, in the order in which tables show them.
    pub const ALL: [Self; 9] = [
        Self::Number,
        Self::Date,
        Self::Time,
        Self::Id,
        Self::Email,
        Self::Url,
        Self::Path,
        Self::Name,
        Self::Phrase,
    ];

    /// The word for it in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Date => "date",
            Self::Time => "time",
            Self::Id => "id",
            Self::Email => "e-mail",
            Self::Url => "url",
            Self::Path => "path",
            Self::Name => "name",
            Self::Phrase => "phrase",
        }
    }
}

/// What an atom says, however it was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AtomValue {
    /// A number, percent signs and currencies aside.
    Number(Decimal),
    /// A day.
    Date(CalendarDate),
    /// A time of day.
    Time(ClockTime),
    /// Words in lower case with one space between; a word is a run of letters and digits.
    Words(String),
    /// Lower case with all its punctuation: e-mail addresses, URLs and paths.
    Literal(String),
}
