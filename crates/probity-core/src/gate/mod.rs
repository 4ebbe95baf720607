//! Policies that come with the engine.
//!
//! [`RulePolicy`] judges by short rules that people write: `fs_read(work/docs/**)`, `shell(git status)`, `pay(to=ACME)`.

mod address;
mod glob;
mod rule;
mod rules;
mod shell;
mod text;

pub use rule::RuleError;
pub use rules::{Otherwise, RuleLists, RulePolicy};
pub use shell::{
    SHELL_BYTES_MAX, SHELL_COMMANDS_MAX, UNACCOUNTED_COMMAND, Unaccounted, command_targets, read_commands,
};
