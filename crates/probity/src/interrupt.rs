//! Ctrl-C and SIGTERM: the first stops the task in order, the second stops the program.

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
    let terminate = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signals) => {
                signals.recv().await;
            }
            // Without the signal there is only Ctrl-C.
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _pressed = tokio::signal::ctrl_c() => {}
        () = terminate => {}
    }
}

#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "the person asked twice; the record says how far it came"
)]
fn stop_at_once() {
    std::process::exit(i32::from(Code::Cancelled as u8))
}
