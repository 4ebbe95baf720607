//! The binary as a person or a script uses it: command lines in, text, exit codes and records out.
//!
//! Models are rule files, servers on loopback, or, in `real_model`, a small real model on loopback. Nothing talks to the
//! world, and the environment of the machine does not reach the program.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![expect(clippy::indexing_slicing, reason = "a member of a JSON value that is not there compares as null")]
#![expect(clippy::print_stderr, reason = "what is skipped is said")]

mod asking;
mod canary;
mod cli;
mod exit_codes;
mod interceptors;
mod pausing;
mod policy;
mod real_model;
mod records;
mod redact;
mod redact_jsonl;
mod rules;
mod scenarios;
mod server;
mod snapshots;
mod terminal;
mod why;
