//! The record format through its public names.
#![expect(clippy::unwrap_used, reason = "tests")]

mod compat;
mod damage;
mod frames;
mod graph;
mod samples;
mod views;
