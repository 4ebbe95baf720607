//! The record format through its public names.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::wildcard_enum_match_arm,
    clippy::panic,
    reason = "tests"
)]

mod atoms;
mod compat;
mod copies;
mod damage;
mod decimals;
mod frames;
mod graph;
mod hostile;
mod odd;
mod queries;
mod samples;
mod shadow;
mod taint;
mod tau_bench;
mod views;
