use super::atomics::{AtomicBool, Ordering};

/// A signal that fires once and stays fired.
///
/// Whoever sees it fired sees everything that was done before it was fired; whoever was told, by whatever way, that it has
/// fired sees it fired. Reading it once seals a decision: it was a cancellation if and only if the signal had fired then.
#[derive(Debug)]
pub(crate) struct Latch {
    fired: AtomicBool,
}

impl Latch {
    /// A signal that has not fired.
    pub(crate) fn new() -> Self {
        Self { fired: AtomicBool::new(false) }
    }

    /// Fires it. Tells whether this was the first time.
    pub(crate) fn fire(&self) -> bool {
        !self.fired.swap(true, Ordering::SeqCst)
    }

    /// Whether it has fired.
    pub(crate) fn is_fired(&self) -> bool {
        self.fired.load(Ordering::SeqCst)
    }
}
