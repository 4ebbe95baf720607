//! The run machine, its driver and the gate.
//!
//! [`Run`] decides what happens next and does none of it; [`run_task`] carries its steps out on tokio. A tool is reached
//! only through the machine: it is the machine that hears the policies and holds the permits.

mod driver;
mod gate;
mod run;
mod schema;
mod task;

pub use driver::{Finished, Heard, Host, Inquiry, StartError, SystemClock, run_task};
pub use gate::{
    CallExample, ExampleError, IdleRule, LayerError, LayeredRules, Mode, ModeError, Otherwise,
    ReloadableRules, RuleEntry, RuleError, RuleFile, RuleLayer, RuleLists, RulePolicy, RuleSource,
    SHADOW_CALLS_MAX, SHELL_BYTES_MAX, SHELL_COMMANDS_MAX, ShadowLog, ShadowPolicy, UNACCOUNTED_COMMAND,
    Unaccounted, command_targets, read_commands,
};
pub use run::{FirstItem, Outcome, Run, RunSpec, SpecError, Step, Unexpected};
pub use schema::SchemaError;
pub use task::Task;
