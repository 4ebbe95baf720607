//! The boundary: what interceptors say at the points of a run, and what follows.
//!
//! Like the run machine this decides and does nothing: a [`Fold`] says whom to hear, is told what they said, and ends in an
//! [`Upshot`].

mod context;
mod fold;
mod identity;
mod name;
mod path;
mod reason;
mod refusal;
mod settings;
mod upshot;

pub(crate) use context::{Envelope, Scene, SceneCall, Staged, arguments_value, text_of};
pub use fold::{Consulted, Heard, RowHeard};
pub(crate) use fold::{Fold, FoldStep};
pub use name::ContextIdentity;
pub(crate) use reason::scrubbed;
pub use settings::{BoundarySettings, ChangedCalls, IdentityProvider, Releases, Seated};
pub(crate) use upshot::Upshot;

#[cfg(test)]
mod testing;
