//! Forks of runs that the real machine has made, and a small WhyBench.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::wildcard_enum_match_arm,
    clippy::panic,
    reason = "tests"
)]

#[path = "../../examples/whybench/bench/mod.rs"]
mod bench;
mod chains;
mod children;
mod confirm;
mod error;
mod forks;
mod fuzzed;
mod queries;
mod runs;
mod whybench;
