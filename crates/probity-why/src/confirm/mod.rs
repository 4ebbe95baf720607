//! Tests suspects: a [`Search`](crate::Search) says which arm to run, a [`Fork`](crate::Fork) runs it against a model.

mod candidates;
mod chain;
mod once;
mod shots;

pub use candidates::{Candidate, SENTENCES_MAX, candidates, candidates_with_replies, candidates_within};
pub use chain::{CHAIN_STEPS_MAX, ChainStep, ConfirmChain};
pub use once::{LiveReader, play};
pub use shots::{Confirm, ConfirmError, Confirmed, MODEL_TIMEOUT};
