//! What the crate promises, seen from outside.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod corpus;
mod corpus_providers;
mod keys;
mod naive;
mod requests;
mod rules;
mod rules_demo;
mod server;
mod transport;
