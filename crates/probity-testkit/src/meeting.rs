use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use probity_contract::Cancel;

/// A place where a number of tools wait until all of them are there: they can only come back if they run at once.
#[derive(Debug, Clone)]
pub struct Meeting {
    missing: Arc<AtomicUsize>,
    complete: Cancel,
}

impl Meeting {
    /// A meeting of `size`.
    #[must_use]
    pub fn of(size: usize) -> Self {
        Self { missing: Arc::new(AtomicUsize::new(size)), complete: Cancel::new() }
    }

    /// Arrives, and waits for the others.
    pub async fn arrive(&self) {
        if self.missing.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.complete.fire();
        }
        self.complete.fired().await;
    }
}
