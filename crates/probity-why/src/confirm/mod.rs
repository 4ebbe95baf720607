//! Tests suspects: a [`Search`](crate::Search) says which arm to run, a [`Fork`](crate::Fork) runs it against a model.

mod candidates;
mod once;
mod shots;

pub use candidates::{Candidate, candidates};
pub use once::play;
pub use shots::{Confirm, ConfirmError, Confirmed, MODEL_TIMEOUT};
