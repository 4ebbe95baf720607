//! Runs one fork to its end.

use std::sync::Arc;
use std::time::Duration;

use probity_contract::{Cancel, Model, ModelError};

use super::shots::ask;
use crate::fork::{Fork, ForkEnd, ForkStep};

/// Asks a model for a fork until the fork is over; the failure of the model, where that was its end.
///
/// Needs a tokio runtime with time. No tool runs, whatever the model proposes.
pub async fn play(
    fork: &mut Fork<'_>,
    model: &Arc<dyn Model>,
    timeout: Duration,
    cancel: &Cancel,
) -> (ForkEnd, Option<ModelError>) {
    let mut failure = None;
    loop {
        match fork.step() {
            ForkStep::Done(end) => return (end, failure),
            ForkStep::Ask(request) => {
                let answer = ask(model, request, timeout, cancel).await;
                fork.heard(answer.as_ref().map_err(|error| error.class));
                failure = answer.err();
            }
        }
    }
}
