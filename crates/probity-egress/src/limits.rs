//! The limits of this crate, unit last.

/// How far one decision of the pass looks ahead.
pub(crate) const WINDOW_BYTES: usize = 4 * 1024;

/// The most input a [`Redactor`](crate::Redactor) holds back between two pushes, whatever the input.
///
/// A decision looks at most 4 KiB ahead. After a decision that had to wait it is tried again when a sixteenth more has
/// arrived, so that a stream of single characters stays linear; hence the margin. Ordinary prose is held back by about a
/// hundred bytes: so much must have arrived before it is known that nothing begins at a position. The length of a secret
/// does not count: once it is certain, its marker is out and the rest is swallowed.
pub const STREAM_HOLDBACK_BYTES_MAX: usize = WINDOW_BYTES + WINDOW_BYTES / 16 + 8;

/// How deep [`egress_value`](crate::egress_value) follows a value; what lies deeper is a marker.
pub const VALUE_DEPTH_MAX: usize = 64;

/// How many members and elements a snapshot has in all; the others are a marker.
pub const VALUE_MEMBERS_MAX: usize = 100_000;

/// How many bytes of text a snapshot has in all; text beyond is a marker.
pub const VALUE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How many errors of a source chain are read.
pub const ERROR_CHAIN_MAX: usize = 32;

/// How many bytes of words of a chain of errors are read; a marker says that there were more.
pub const ERROR_BYTES_MAX: usize = 64 * 1024;

/// Least length of a registered secret, in bytes.
pub const KNOWN_SECRET_BYTES_MIN: usize = 6;
