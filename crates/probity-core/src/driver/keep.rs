//! Keeps the last state of a run, so that another process can go on with it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use probity_contract::{Durability, JournalError};
use probity_egress::{SamePrincipal, egress_error, egress_panic};

use super::Driver;
use crate::run::Run;

/// Keeps the last checkpoint of one run.
///
/// The driver has one made before every effect, before its tool has the permit, and at every wait. What is kept holds all
/// that the run has read; whoever keeps it seals it ([`crate::Checkpoint::seal`]).
pub trait Keeper: Send {
    /// Puts this state in the place of the last one. With [`Durability::Durable`] it is on the medium when this returns.
    ///
    /// # Errors
    /// When it could not be kept. The run then does nothing more.
    fn keep(&mut self, run: &Run, durability: Durability) -> Result<(), JournalError>;
}

impl Driver {
    /// Makes a checkpoint where there is somebody to keep it.
    pub(super) async fn keep(&mut self, machine: &Run, durability: Durability) -> Result<(), String> {
        self.to_keep = false;
        // A run that has ended is not gone on with.
        let Some(keeper) = self.keeper.as_mut().filter(|_| machine.ending().is_none()) else { return Ok(()) };
        match catch_unwind(AssertUnwindSafe(|| keeper.keep(machine, durability))) {
            Ok(kept) => kept.map_err(|error| egress_error::<SamePrincipal>(&error).as_str().to_owned()),
            Err(payload) => Err(egress_panic::<SamePrincipal>(payload).as_str().to_owned()),
        }
    }
}
