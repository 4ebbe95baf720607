//! Tasks that a tool starts, below the task that has called it.
//!
//! A task can be started below another one from a [`Ceiling`] alone. The driver makes one for one call of a tool that says that
//! it starts tasks, hands it over with the permit, and closes it when the call is over. With it go the policies of every task
//! above, what is kept of the limits, the people who are asked, and the signal that stops the task; a profile can only add to
//! that. The alternative, a constructor of tasks that takes the parent as an argument, lost: every tool would be a new chance
//! to leave something out. `docs/design/children.md` has the rest.

mod ceiling;
mod kin;
mod profile;
mod sub_agent;
mod words;

pub use ceiling::{Ceiling, ChildError, ChildReport};
pub(crate) use kin::{Fostered, Kin};
pub use profile::ChildProfile;
pub use sub_agent::SubAgent;
