//! Hands the lines of the record to the journal.

use std::panic::{AssertUnwindSafe, catch_unwind};

use probity_contract::{Durability, Emission, Journal};
use probity_egress::{Egress, SamePrincipal, egress_error, egress_panic};
use tokio::runtime::RuntimeFlavor;

use super::Driver;

impl Driver {
    pub(super) async fn record(&mut self, lines: Vec<Emission>, durable: bool) -> Result<(), String> {
        // Away only while an append is under way, or after one that broke.
        let Some(journal) = self.journal.take() else { return Err("the journal is gone".to_owned()) };
        let threads = tokio::runtime::Handle::current().runtime_flavor();
        let append = move || append(journal, &lines, durable);
        let (journal, written) = if durable && threads == RuntimeFlavor::MultiThread {
            // Reaching the medium takes milliseconds, in which this thread has other work. The journal goes along rather
            // than the work elsewhere (`block_in_place`), which is not to be had inside a `LocalSet`.
            tokio::task::spawn_blocking(append)
                .await
                .map_err(|error| egress_error::<SamePrincipal>(&error).as_str().to_owned())?
        } else {
            append()
        };
        self.journal = journal;
        written
    }
}

/// Appends and gives the journal back, unless it broke.
fn append(
    mut journal: Box<dyn Journal>,
    lines: &[Emission],
    durable: bool,
) -> (Option<Box<dyn Journal>>, Result<(), String>) {
    let durability = if durable { Durability::Durable } else { Durability::Handed };
    let words = |words: Egress<SamePrincipal>| words.as_str().to_owned();
    match catch_unwind(AssertUnwindSafe(|| journal.append(lines, durability))) {
        Ok(written) => (Some(journal), written.map_err(|error| words(egress_error(&error)))),
        Err(payload) => (None, Err(words(egress_panic(payload)))),
    }
}
