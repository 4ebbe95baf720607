//! Cedar policies, from outside.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod agreement;
mod docs;
mod failing;
mod hostile;
mod limits;
mod load;
mod scene;
mod schema;
mod targets;
mod verdicts;
