//! Keeps the last state of a run, so that another process can go on with it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use probity_contract::{Durability, JournalError};
use probity_egress::{Egress, SamePrincipal, egress_error, egress_panic};
use tokio::runtime::RuntimeFlavor;

use super::Driver;
use crate::run::{Run, Snapshot};

/// Keeps the last checkpoint of one run.
///
/// The driver has one made before every effect, before its tool has the permit, and at every wait. What is kept holds all
/// that the run has read; whoever keeps it seals it ([`crate::Checkpoint::seal`]).
pub trait Keeper: Send {
    /// Puts this state in the place of the last one. With [`Durability::Durable`] it is on the medium when this returns. The
    /// driver calls it off its own thread where there are others.
    ///
    /// # Errors
    /// When it could not be kept. The run then does nothing more.
    fn keep(&mut self, state: &Snapshot, durability: Durability) -> Result<(), JournalError>;
}

impl Driver {
    /// Makes a checkpoint where there is somebody to keep it.
    pub(super) async fn keep(&mut self, machine: &Run, durability: Durability) -> Result<(), String> {
        self.to_keep = false;
        // A run that has ended is not gone on with.
        if self.keeper.is_none() || machine.ending().is_some() {
            return Ok(());
        }
        let state = machine.snapshot().map_err(|error| words(&egress_error(&error)))?;
        // Away only while a checkpoint is made, or after one that broke.
        let Some(keeper) = self.keeper.take() else { return Ok(()) };
        let keep = move || keep(keeper, &state, durability);
        let (keeper, kept) =
            if tokio::runtime::Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread {
                let kept = tokio::task::spawn_blocking(keep).await;
                kept.map_err(|error| words(&egress_error(&error)))?
            } else {
                keep()
            };
        self.keeper = keeper;
        kept
    }
}

/// Keeps and gives the keeper back, unless it broke.
fn keep(
    mut keeper: Box<dyn Keeper>,
    state: &Snapshot,
    durability: Durability,
) -> (Option<Box<dyn Keeper>>, Result<(), String>) {
    match catch_unwind(AssertUnwindSafe(|| keeper.keep(state, durability))) {
        Ok(kept) => (Some(keeper), kept.map_err(|error| words(&egress_error(&error)))),
        Err(payload) => (None, Err(words(&egress_panic(payload)))),
    }
}

fn words(passed: &Egress<SamePrincipal>) -> String {
    passed.as_str().to_owned()
}
