//! Ctrl-C, SIGTERM and a terminal that hangs up: the first stops the task in order, the second stops the program.

use std::sync::Arc;

use probity_contract::Cancel;
use probity_egress::Egress;
use tokio::signal::unix::{SignalKind, signal};

use crate::exit::Code;
use crate::render::Screen;

/// Fires `cancel` at the first signal and ends the program at the second.
///
/// A thread of its own, with a runtime of its own: a reader of our output that has stalled can block every worker of the
/// main runtime, and Ctrl-C must work then, too.
pub(crate) fn watch(cancel: Cancel, screen: Arc<Screen>) {
    let watching = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
        runtime.block_on(async {
            next().await;
            cancel.fire();
            // Not waited for: the screen may be what is blocked.
            std::thread::spawn(move || {
                screen.tell(&Egress::fixed("cancelling; press Ctrl-C again to stop at once"));
            });
            next().await;
            stop_at_once();
        });
    });
    // Without the thread the signals do what they do by themselves: end the program.
    drop(watching);
}

async fn next() {
    tokio::select! {
        _pressed = tokio::signal::ctrl_c() => {}
        () = arrival(SignalKind::terminate()) => {}
        () = hang_up() => {}
    }
}

async fn arrival(kind: SignalKind) {
    match signal(kind) {
        Ok(mut signals) => {
            signals.recv().await;
        }
        // Without this signal there are the others.
        Err(_) => std::future::pending().await,
    }
}

/// The terminal is gone; never where whoever started the program wants it to outlive its terminal (`nohup`).
async fn hang_up() {
    if is_ignored(SignalKind::hangup()) {
        return std::future::pending().await;
    }
    arrival(SignalKind::hangup()).await;
}

/// Whether the program was started with this signal ignored. Listening would end that.
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let bit = u32::try_from(kind.as_raw_value() - 1).ok();
    mask.zip(bit).and_then(|(mask, bit)| mask.checked_shr(bit)).is_some_and(|rest| rest & 1 == 1)
}

#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "the person asked twice; the record says how far it came"
)]
fn stop_at_once() {
    std::process::exit(i32::from(Code::Cancelled as u8))
}
