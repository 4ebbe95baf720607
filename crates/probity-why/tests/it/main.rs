//! Forks of runs that the real machine has made.
#![expect(clippy::unwrap_used, clippy::wildcard_enum_match_arm, clippy::panic, reason = "tests")]

mod confirm;
mod forks;
mod fuzzed;
mod runs;
