//! The crate from outside: what a pass promises about texts, values, streams and lines.

#![expect(clippy::unwrap_used, clippy::string_slice, reason = "tests")]
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "the corpus is read in place")]
#![expect(clippy::print_stdout, reason = "a skipped corpus and measured figures are said")]

mod corpus;
mod lines;
mod made_up;
mod promises;
mod reports;
mod texts;
mod thrown;
mod ui;
mod values;
