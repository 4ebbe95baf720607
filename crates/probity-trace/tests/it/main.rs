//! The record format through its public names.
#![expect(clippy::unwrap_used, reason = "tests")]

mod atoms;
mod compat;
mod copies;
mod damage;
mod frames;
mod graph;
mod odd;
mod samples;
mod shadow;
mod taint;
mod views;
