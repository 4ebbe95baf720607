//! The run machine, its driver and the gate.
//!
//! [`Run`] decides what happens next and does none of it; [`run_task`] carries its steps out on tokio. A tool is reached
//! only through the machine: it is the machine that hears the policies and holds the permits.

mod addresses;
mod boundary;
mod children;
mod driver;
mod gate;
mod run;
mod schema;
mod seal;
mod sync;
mod task;

pub use boundary::{
    BoundarySettings, ChangedCalls, Consulted, ContextIdentity, Heard as Intercepting, IdentityProvider,
    Releases, RowHeard, Seated,
};
pub use children::{Ceiling, ChildError, ChildProfile, ChildReport, SubAgent};
pub use driver::{
    Finished, Heard, HeardAt, Host, Inquiry, Keeper, MemoryRedeemer, Paused, StartError, Stopped,
    SystemClock, resume_task, run_task, start_task,
};
pub use gate::{
    ArgumentPolicy, CallExample, ExampleError, IdleRule, LayerError, LayeredRules, Mode, ModeError,
    Otherwise, PlanPolicy, PlannedCall, ReaderPolicy, ReloadableRules, RuleEntry, RuleError, RuleFile,
    RuleLayer, RuleLists, RulePolicy, RuleSource, SHADOW_CALLS_MAX, SHELL_BYTES_MAX, SHELL_COMMANDS_MAX,
    ShadowLog, ShadowNotes, ShadowPolicy, UNACCOUNTED_COMMAND, Unaccounted, command_targets, read_commands,
};
pub use run::{
    FirstItem, LeftBehind, Outcome, Release, ReplayError, ResumeError, Resumption, Run, RunSpec, Snapshot,
    SnapshotError, SpecError, Step, Unexpected, replay,
};
pub use schema::SchemaError;
pub use seal::{
    CHECKPOINT_BYTES_MAX, CHECKPOINT_VERSION, Checkpoint, CheckpointError, CheckpointHead, KeyError, KeyId,
    KeyRing, Making, NONCE_BYTES,
};
pub use task::Task;
