//! Runs one fork to its end.

use std::sync::Arc;
use std::time::Duration;

use probity_contract::{BoxFuture, Cancel, Item, Model, ModelError, ProposedCall};

use super::shots::ask;
use crate::fork::{Fork, ForkEnd, ForkStep, LiveRead};

/// Makes a read of the world as it is now, for a fork that was told that it may ask for such.
///
/// Whoever implements this has the call judged as in any run and makes it only where it is allowed, and never one of a tool that does
/// more than read.
pub trait LiveReader: Send + Sync {
    /// What the call brings back, with the window that the model had as it proposed it; `None` where it may not be made.
    fn read<'a>(&'a self, window: &'a [Arc<Item>], call: &'a ProposedCall)
    -> BoxFuture<'a, Option<LiveRead>>;
}

/// Asks a model for a fork until the fork is over; the failure of the model, where that was its end.
///
/// Needs a tokio runtime with time. No tool runs, whatever the model proposes, but for what `reader` lets through.
pub async fn play(
    fork: &mut Fork<'_>,
    model: &Arc<dyn Model>,
    reader: Option<&dyn LiveReader>,
    timeout: Duration,
    cancel: &Cancel,
) -> (ForkEnd, Option<ModelError>) {
    let mut failure = None;
    loop {
        match fork.step() {
            ForkStep::Done(end) => return (end, failure),
            ForkStep::Read(call) => {
                let read = match reader.filter(|_| !cancel.is_fired()) {
                    Some(reader) => reader.read(fork.window(), &call).await,
                    None => None,
                };
                fork.heard_read(read);
            }
            ForkStep::Ask(request) => {
                let answer = ask(model, request, timeout, cancel).await;
                fork.heard(answer.as_ref().map_err(|error| error.class));
                failure = answer.err();
            }
        }
    }
}
