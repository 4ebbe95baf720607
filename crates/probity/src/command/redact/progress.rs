//! How far the work is, for a person who waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use indicatif::ProgressBar;

use crate::render::Screen;

/// Nobody waits long for less.
const SHOWN_FROM_BYTES: u64 = 16 * 1024 * 1024;

/// Bytes that were read, shown on a terminal from a size that takes a while.
pub(super) struct Progress {
    /// Where it is shown, if at all.
    screen: Option<Arc<Screen>>,
    total: Option<u64>,
    read: AtomicU64,
    bar: OnceLock<Option<ProgressBar>>,
}

impl Progress {
    /// Of `total` bytes, or of as many as come.
    pub(super) const fn new(screen: Option<Arc<Screen>>, total: Option<u64>) -> Self {
        Self { screen, total, read: AtomicU64::new(0), bar: OnceLock::new() }
    }

    pub(super) fn advance(&self, bytes: u64) {
        let read = self.read.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let Some(screen) = self.screen.as_ref().filter(|_| self.total.unwrap_or(read) > SHOWN_FROM_BYTES)
        else {
            return;
        };
        if let Some(bar) = self.bar.get_or_init(|| screen.progress(self.total)) {
            bar.set_position(read);
        }
    }

    /// So much was read that will be read again.
    pub(super) fn back(&self, bytes: u64) {
        self.read.fetch_sub(bytes, Ordering::Relaxed);
    }
}
