//! What importers promise, by hand, by chance and on recorded traces.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::wildcard_enum_match_arm,
    clippy::print_stdout,
    reason = "tests"
)]

mod attribution;
#[path = "../../examples/attribution/bench/mod.rs"]
mod bench;
mod corpus;
mod formats;
mod hostile;
mod runs;
mod samples;
mod support;
mod zips;
