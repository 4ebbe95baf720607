use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use probity_contract::Clock;

/// 2026-01-01T00:00:00Z in milliseconds since 1970 UTC.
const UNIX_MS_AT_START: u64 = 1_767_225_600_000;

/// A clock that stands still until the test moves it. A clone is the same clock.
#[derive(Debug, Clone, Default)]
pub struct FakeClock {
    since_start_ms: Arc<AtomicU64>,
}

impl FakeClock {
    /// A clock at 2026-01-01T00:00:00Z.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock forward.
    pub fn advance_ms(&self, ms: u64) {
        self.since_start_ms.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for FakeClock {
    fn unix_ms(&self) -> u64 {
        UNIX_MS_AT_START + self.monotonic_ms()
    }

    fn monotonic_ms(&self) -> u64 {
        self.since_start_ms.load(Ordering::SeqCst)
    }
}
