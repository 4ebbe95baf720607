//! The crate from outside: what a pass promises about texts, values, streams and lines.

#![expect(clippy::unwrap_used, clippy::string_slice, reason = "tests")]
#![expect(clippy::disallowed_methods, reason = "bounds against hanging are measured")]

mod corpus;
mod credential_files;
mod json_texts;
mod lines;
mod made_up;
mod promises;
mod promises_values;
mod reports;
mod seams;
mod texts;
mod thrown;
mod ui;
mod values;
