//! Ctrl-C and SIGTERM: the first stops the task in order, the second stops the program.

use std::sync::Arc;

use probity_contract::Cancel;
use probity_egress::Egress;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

use crate::exit::Code;
use crate::render::Screen;

/// Fires `cancel` at the first signal. The watch ends when its handle is aborted.
pub(crate) fn watch(cancel: Cancel, screen: Arc<Screen>) -> JoinHandle<()> {
    tokio::spawn(async move {
        next().await;
        screen.tell(&Egress::fixed("cancelling; press Ctrl-C again to stop at once"));
        cancel.fire();
        next().await;
        stop_at_once();
    })
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
