//! Policies that come with the engine.
//!
//! [`RulePolicy`] judges by short rules that people write: `fs_read(docs/**)`, `shell(git status)`, `pay(to=ACME)`.

mod pattern;
mod rules;

pub use pattern::RuleError;
pub use rules::{Otherwise, RuleLists, RulePolicy};
