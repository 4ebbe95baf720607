//! Ctrl-C, SIGTERM and a terminal that hangs up: the first stops the task in order, the second stops the program.

use std::sync::Arc;

use probity_contract::Cancel;
use probity_egress::Egress;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Code;
use crate::render::Screen;

/// Fires `cancel` at the first signal and ends the program at the second. Signals count from the return on.
///
/// A thread of its own, with a runtime of its own: a reader of our output that has stalled can block every worker of the
/// main runtime, and Ctrl-C must work then, too.
pub(crate) fn watch(cancel: Cancel, screen: Arc<Screen>) {
    let (ready, listening) = std::sync::mpsc::channel();
    let watching = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
        runtime.block_on(async {
            let mut signals = Signals::listen();
            // Nobody waits any more only where the program ends.
            let _ended = ready.send(());
            signals.next().await;
            cancel.fire();
            // Not waited for: the screen may be what is blocked.
            std::thread::spawn(move || {
                screen.tell(&Egress::fixed("cancelling; press Ctrl-C again to stop at once"));
            });
            signals.next().await;
            stop_at_once();
        });
    });
    // Without the thread the signals do what they do by themselves: end the program.
    drop(watching);
    let _no_thread = listening.recv();
}

/// The signals that stop a task; one that cannot be listened to is left to do what it does by itself.
struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    /// The terminal is gone; not listened to where whoever started the program wants it to outlive its terminal (`nohup`).
    hang_up: Option<Signal>,
}

impl Signals {
    fn listen() -> Self {
        let hang_up = SignalKind::hangup();
        Self {
            interrupt: signal(SignalKind::interrupt()).ok(),
            terminate: signal(SignalKind::terminate()).ok(),
            hang_up: if is_ignored(hang_up) { None } else { signal(hang_up).ok() },
        }
    }

    async fn next(&mut self) {
        tokio::select! {
            () = arrival(self.interrupt.as_mut()) => {}
            () = arrival(self.terminate.as_mut()) => {}
            () = arrival(self.hang_up.as_mut()) => {}
        }
    }
}

async fn arrival(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
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
