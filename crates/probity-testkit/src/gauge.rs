use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts how many of something were started and how many are still there: futures and streams that a driver must drop.
#[derive(Debug, Clone, Default)]
pub struct Gauge {
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    started: AtomicUsize,
    alive: AtomicUsize,
}

/// One of the things counted; it is there until this is dropped.
#[derive(Debug)]
pub struct Guard {
    counts: Arc<Counts>,
}

impl Gauge {
    /// Starts one.
    #[must_use]
    pub fn enter(&self) -> Guard {
        self.counts.started.fetch_add(1, Ordering::SeqCst);
        self.counts.alive.fetch_add(1, Ordering::SeqCst);
        Guard { counts: Arc::clone(&self.counts) }
    }

    /// How many were ever started.
    #[must_use]
    pub fn started(&self) -> usize {
        self.counts.started.load(Ordering::SeqCst)
    }

    /// How many are still there.
    #[must_use]
    pub fn alive(&self) -> usize {
        self.counts.alive.load(Ordering::SeqCst)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.counts.alive.fetch_sub(1, Ordering::SeqCst);
    }
}
