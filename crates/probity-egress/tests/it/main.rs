//! The crate from outside: what a pass promises about texts, values, streams and lines.

mod corpus;
mod lines;
mod made_up;
mod promises;
mod texts;
mod thrown;
mod ui;
mod values;
