//! Policies that come with the engine.
//!
//! [`RulePolicy`] judges by short rules that people write: `fs_read(work/docs/**)`, `shell(git status)`, `pay(to=ACME)`;
//! [`LayeredRules`] by files of them, of several authors. [`ArgumentPolicy`] and [`ReaderPolicy`] judge by labels, [`PlanPolicy`] by a
//! plan.

mod address;
mod argument_policy;
mod consequence;
mod example;
mod glob;
mod layer;
mod layers;
mod mode;
mod needs;
mod plan_policy;
mod reader_policy;
mod reloadable;
mod rule;
mod rule_file;
mod rules;
mod shadow;
mod shell;
mod text;

pub use argument_policy::ArgumentPolicy;
pub use example::{CallExample, ExampleError};
pub use layer::LayerError;
pub use layers::{IdleRule, LayeredRules, RuleLayer, RuleSource};
pub use mode::{Mode, ModeError};
pub use plan_policy::{PlanPolicy, PlannedCall};
pub use reader_policy::ReaderPolicy;
pub use reloadable::ReloadableRules;
pub use rule::RuleError;
pub use rule_file::{RuleEntry, RuleFile};
pub use rules::{Otherwise, RuleLists, RulePolicy};
pub use shadow::{SHADOW_CALLS_MAX, ShadowLog, ShadowNotes, ShadowPolicy};
pub use shell::{
    SHELL_BYTES_MAX, SHELL_COMMANDS_MAX, UNACCOUNTED_COMMAND, Unaccounted, command_targets, read_commands,
};
