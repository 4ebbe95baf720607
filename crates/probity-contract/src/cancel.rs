//! The signal that a task shall stop.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use event_listener::{Event, listener};

/// A cancellation signal, shared by everything that works for one task.
///
/// It fires once and stays fired. A clone is the same signal. It belongs to no runtime.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    fired: AtomicBool,
    event: Event,
}

impl Cancel {
    /// A signal that has not fired.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Fires the signal and wakes all who wait for it.
    pub fn fire(&self) {
        self.shared.fired.store(true, Ordering::SeqCst);
        self.shared.event.notify(usize::MAX);
    }

    /// Whether the signal has fired.
    #[must_use]
    pub fn is_fired(&self) -> bool {
        self.shared.fired.load(Ordering::SeqCst)
    }

    /// Ends when the signal has fired; at once if it already has.
    pub fn fired(&self) -> impl Future<Output = ()> + Send + 'static {
        let shared = Arc::clone(&self.shared);
        async move {
            while !shared.fired.load(Ordering::SeqCst) {
                listener!(shared.event => waiting);
                // Checked again after listening began, so a signal between the two is not missed.
                if shared.fired.load(Ordering::SeqCst) {
                    return;
                }
                waiting.await;
            }
        }
    }
}
