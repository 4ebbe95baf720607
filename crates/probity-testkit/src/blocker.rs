use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crate::lock;

/// Blocked threads give up after this long, so that a failing test still ends.
const BLOCKED_S_MAX: u64 = 60;

/// Blocks whole threads, as badly written policies and tools do, until the test releases them.
#[derive(Debug, Clone, Default)]
pub struct Blocker {
    shared: Arc<(Mutex<bool>, Condvar)>,
}

impl Blocker {
    /// A blocker that blocks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Blocks the calling thread until [`Blocker::release`], ten seconds at most.
    pub fn block(&self) {
        let (released, changed) = &*self.shared;
        let limit = Duration::from_secs(BLOCKED_S_MAX);
        let waited = changed.wait_timeout_while(lock(released), limit, |released| !*released);
        // Released, too late or poisoned: in every case the thread goes on.
        drop(waited);
    }

    /// Lets all go on, now and later.
    pub fn release(&self) {
        let (released, changed) = &*self.shared;
        *lock(released) = true;
        changed.notify_all();
    }
}
