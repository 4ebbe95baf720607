//! The crate from outside: what a pass promises about texts, values, streams and lines.

mod corpus;
