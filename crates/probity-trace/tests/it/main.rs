//! The record format through its public names.
#![expect(clippy::unwrap_used, reason = "tests")]

mod atoms;
mod compat;
mod copies;
mod damage;
mod frames;
mod samples;
mod views;
