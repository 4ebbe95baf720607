use std::sync::{Arc, Mutex};

use probity_contract::{ChildJournals, Journal, JournalError, ParentCall, RunId};

use crate::journal::MemoryJournal;
use crate::lock;

/// The records of tasks that calls start, in memory. A clone keeps the same records.
#[derive(Debug, Clone, Default)]
pub struct MemoryChildren {
    begun: Arc<Mutex<Vec<(RunId, ParentCall, MemoryJournal)>>>,
    refuses: bool,
    breaks_at: Option<usize>,
}

impl MemoryChildren {
    /// Keeps every record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins none.
    #[must_use]
    pub fn refusing() -> Self {
        Self { refuses: true, ..Self::default() }
    }

    /// Keeps records whose `nth` append (counted from 1) and all later ones fail.
    #[must_use]
    pub fn breaking_at(nth: usize) -> Self {
        Self { breaks_at: Some(nth), ..Self::default() }
    }

    /// What was begun, in order: the task, the call that has started it, and its record.
    #[must_use]
    pub fn begun(&self) -> Vec<(RunId, ParentCall, MemoryJournal)> {
        lock(&self.begun).clone()
    }
}

impl ChildJournals for MemoryChildren {
    fn begin(&self, run: &RunId, parent: &ParentCall) -> Result<Box<dyn Journal>, JournalError> {
        if self.refuses {
            let message = "no space left for another record".to_owned();
            return Err(JournalError { message, source: None });
        }
        let journal = self.breaks_at.map_or_else(MemoryJournal::new, MemoryJournal::failing_from);
        lock(&self.begun).push((run.clone(), parent.clone(), journal.clone()));
        Ok(Box::new(journal))
    }
}
