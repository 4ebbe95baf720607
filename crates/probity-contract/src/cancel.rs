//! The signal that a task shall stop.

use std::future::Future;
use std::sync::Arc;

use event_listener::{Event, listener};

use crate::sync::Latch;

/// A cancellation signal, shared by everything that works for one task.
///
/// It fires once and stays fired. A clone is the same signal. It belongs to no runtime.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    fired: Latch,
    event: Event,
}

impl Default for Shared {
    fn default() -> Self {
        Self { fired: Latch::new(), event: Event::new() }
    }
}

impl Cancel {
    /// A signal that has not fired.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Fires the signal and wakes all who wait for it.
    pub fn fire(&self) {
        if self.shared.fired.fire() {
            self.shared.event.notify(usize::MAX);
        }
    }

    /// Whether the signal has fired.
    #[must_use]
    pub fn is_fired(&self) -> bool {
        self.shared.fired.is_fired()
    }

    /// Ends when the signal has fired; at once if it already has.
    pub fn fired(&self) -> impl Future<Output = ()> + Send + 'static {
        let shared = Arc::clone(&self.shared);
        async move {
            while !shared.fired.is_fired() {
                listener!(shared.event => waiting);
                // Checked again after listening began, so a signal between the two is not missed.
                if shared.fired.is_fired() {
                    return;
                }
                waiting.await;
            }
        }
    }
}
