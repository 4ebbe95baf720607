//! The tools through their port, each call with a permit from the gate.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod escapes;
mod files;
mod functions;
#[cfg(target_os = "linux")]
mod hooks;
mod http;
#[cfg(target_os = "linux")]
mod operands;
mod sandbox;
mod support;
