//! Blocking work that ends when the call ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use probity_contract::{Cancel, ToolContext, ToolError, ToolErrorClass};

/// Milliseconds that work on a blocking thread gets to notice a cancellation before its answer is no longer awaited.
const NOTICE_MS_MAX: u64 = 80;

/// What blocking work must ask between its steps.
///
/// It says stop when the task is cancelled, when the call's time is up, and when nobody waits for the work any more.
#[derive(Debug)]
pub(crate) struct Stop {
    cancel: Cancel,
    abandoned: Arc<AtomicBool>,
    started: Instant,
    timeout: Duration,
}

impl Stop {
    pub(crate) fn check(&self) -> Result<(), ToolError> {
        if self.started.elapsed() >= self.timeout {
            return Err(timed_out(self.timeout));
        }
        if self.abandoned.load(Ordering::Relaxed) || self.cancel.is_fired() {
            return Err(cancelled());
        }
        Ok(())
    }
}

/// Runs `work` on a thread that may block.
///
/// The future ends soon after the cancellation even where the work hangs in the kernel; dropping it tells the work to
/// stop.
pub(crate) async fn blocking<T: Send + 'static>(
    cx: &ToolContext,
    grace: Duration,
    work: impl FnOnce(&Stop) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let abandoned = Arc::new(AtomicBool::new(false));
    let _guard = Abandon(Arc::clone(&abandoned));
    let stop = Stop { cancel: cx.cancel.clone(), abandoned, started: Instant::now(), timeout: cx.timeout };
    let mut task = tokio::task::spawn_blocking(move || work(&stop));
    let over = async {
        tokio::select! {
            () = cx.cancel.fired() => {}
            () = tokio::time::sleep(cx.timeout) => {}
        }
        tokio::time::sleep(Duration::from_millis(NOTICE_MS_MAX) + grace).await;
    };
    tokio::select! {
        biased;
        done = &mut task => done.unwrap_or_else(|_| {
            Err(ToolError::new(ToolErrorClass::Panicked, "the tool broke off by a fault of its own"))
        }),
        () = over => Err(if cx.cancel.is_fired() { cancelled() } else { timed_out(cx.timeout) }),
    }
}

struct Abandon(Arc<AtomicBool>);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(crate) fn cancelled() -> ToolError {
    ToolError::new(ToolErrorClass::Cancelled, "the call was cancelled")
}

pub(crate) fn timed_out(timeout: Duration) -> ToolError {
    let ms = timeout.as_millis();
    ToolError::new(ToolErrorClass::TimedOut, format!("the call took longer than {ms} ms and was stopped"))
}
