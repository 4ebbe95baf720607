//! The record format through its public names.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "tests"
)]

mod atoms;
mod compat;
mod copies;
mod damage;
mod decimals;
mod frames;
mod hostile;
mod samples;
mod tau_bench;
mod views;
