//! The store through its public names.
#![expect(clippy::unwrap_used, reason = "tests")]

mod checkpoints;
mod files;
mod index;
mod samples;
mod torn;
