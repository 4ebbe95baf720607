//! Policies that come with the engine.
//!
//! [`RulePolicy`] judges by short rules that people write: `fs_read(work/docs/**)`, `shell(git status)`, `pay(to=ACME)`.

mod address;
mod glob;
mod rule;
mod rules;
mod text;

pub use rule::RuleError;
pub use rules::{Otherwise, RuleLists, RulePolicy};
