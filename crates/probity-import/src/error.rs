use std::fmt;

use crate::format::Format;

/// Why a file cannot be imported. Nothing of it is then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file ends too soon, or holds something that cannot stand there.
    #[error("read the trace at {place}: {why}")]
    Malformed {
        /// Where.
        place: Place,
        /// What is wrong.
        why: String,
    },
    /// No format fits.
    #[error("read the trace: its content is of no known format ({saw}); known are {}", Format::names())]
    Unknown {
        /// What was seen instead, in a few words.
        saw: String,
    },
    /// The format is known, and there is no message in the file.
    #[error("read the trace as `{format}`: there is no conversation in it")]
    Empty {
        /// The format.
        format: Format,
    },
    /// It is over a limit.
    #[error("read the trace at {place}: it has more than {max} {what}")]
    TooMuch {
        /// Where.
        place: Place,
        /// Of what there is too much.
        what: &'static str,
        /// The limit.
        max: u64,
    },
}

/// Where in a file something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A line and a column, both counted from 1.
    Line {
        /// The line.
        line: usize,
        /// The column; 0 for the whole line.
        column: usize,
    },
    /// Bytes from the start.
    Byte(u64),
    /// A JSON pointer; empty for the whole file.
    Pointer(String),
    /// A file of an archive, and where in it.
    Within {
        /// The name.
        name: String,
        /// Where in it.
        place: Box<Place>,
    },
}

impl ImportError {
    /// What to do about it, where there is something.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unknown { .. } => Some("name the format with `--format` if you know it"),
            Self::Malformed { .. } => Some("the file may have been cut off while it was written or copied"),
            Self::Empty { .. } => Some("traces are often recorded without content; turn content capture on"),
            Self::TooMuch { .. } => Some("split the file by trace or by session"),
        }
    }

    pub(crate) fn at(pointer: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Malformed { place: Place::Pointer(pointer.into()), why: why.into() }
    }

    pub(crate) fn within(self, name: &str) -> Self {
        let wrap = |place| Place::Within { name: name.to_owned(), place: Box::new(place) };
        match self {
            Self::Malformed { place, why } => Self::Malformed { place: wrap(place), why },
            Self::TooMuch { place, what, max } => Self::TooMuch { place: wrap(place), what, max },
            Self::Unknown { .. } | Self::Empty { .. } => self,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { line, column: 0 } => write!(f, "line {line}"),
            Self::Line { line, column } => write!(f, "line {line}, column {column}"),
            Self::Byte(at) => write!(f, "byte {at}"),
            Self::Pointer(pointer) if pointer.is_empty() => f.write_str("its top"),
            Self::Pointer(pointer) => write!(f, "`{pointer}`"),
            Self::Within { name, place } => write!(f, "`{name}`, {place}"),
        }
    }
}
