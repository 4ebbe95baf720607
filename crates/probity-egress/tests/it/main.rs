//! The crate from outside: what a pass promises about texts, values, streams and lines.

#![expect(clippy::unwrap_used, clippy::string_slice, reason = "tests")]

mod corpus;
mod json_texts;
mod lines;
mod made_up;
mod promises;
mod reports;
mod texts;
mod thrown;
mod ui;
mod values;
