//! The run machine, its driver and the gate.
//!
//! [`Run`] decides what happens next and does none of it; [`run_task`] carries its steps out on tokio. A tool is reached
//! only through the machine: it is the machine that hears the policies and holds the permits.

mod driver;
mod gate;
mod run;
mod schema;
mod sync;
mod task;

pub use driver::{Finished, Heard, Host, Inquiry, StartError, SystemClock, run_task};
pub use gate::{Otherwise, RuleError, RuleLists, RulePolicy};
pub use run::{FirstItem, Outcome, Run, RunSpec, SpecError, Step, Unexpected};
pub use schema::SchemaError;
pub use sync::Used;
pub use task::Task;
