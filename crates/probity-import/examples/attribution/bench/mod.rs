//! Which turn of a failed run was the decisive mistake, guessed without a model. What is measured, and how:
//! `docs/design/attribution.md`.

pub(crate) mod cases;
mod chance;
pub(crate) mod constants;
mod encode;
pub(crate) mod features;
pub(crate) mod protocol;
mod ranker;
mod report;
pub(crate) mod score;

pub(crate) use cases::{Half, agent_rx, who_and_when};
pub(crate) use report::report;
