//! Asks interceptors, and whoever may lift a deny of theirs. Whatever is not an answer is a deny.

use std::sync::Arc;
use std::time::Duration;

use probity_contract::limits::THROWN_LINE_CHARS_MAX;
use probity_contract::{Cancel, Consultant, Consultation, Interceptor, Occasion, PolicyError};
use probity_egress::{Egress, SamePrincipal, egress_panic, one_line_untrusted};
use tokio::sync::mpsc;

use super::owned::Owned;
use super::watch::{Broken, Watch};
use crate::boundary::{Consulted, Heard, scrubbed};
use crate::run::Outcome;

/// One interceptor's turn.
pub(super) struct Turn {
    pub(super) passage: u64,
    pub(super) seat: u32,
    pub(super) occasion: Occasion,
}

/// Has one interceptor look at its own copy of an occasion. `alive` is let go when the interceptor's own future is gone: what it
/// has started has no other hold on it then.
pub(super) async fn intercept(
    interceptor: Option<Arc<dyn Interceptor>>,
    turn: Turn,
    timeout: Duration,
    cancel: Cancel,
    watch: Watch,
    alive: mpsc::Sender<()>,
) -> Outcome {
    let Turn { passage, seat, occasion } = turn;
    let shown = occasion.clone();
    let heard = match interceptor {
        None => Heard::Failed,
        Some(interceptor) => {
            let signal = cancel.clone();
            let asked = {
                let interceptor = Arc::clone(&interceptor);
                // A task of its own: one that blocks its thread must not take the deadline with it.
                Owned::spawn(async move {
                    let _alive = alive;
                    let interceptor = interceptor;
                    interceptor.intercept(occasion, &signal).await.map_err(own_words)
                })
            };
            let (heard, class, line) = match tokio::time::timeout(timeout, asked).await {
                Ok(Ok(Ok(verdict))) => {
                    return Outcome::Intercepted { passage, seat, heard: Heard::Verdict(verdict) };
                }
                Ok(Ok(Err((true, line)))) => (Heard::Malformed, "malformed", line),
                Ok(Ok(Err((false, line)))) => (Heard::Failed, "error", line),
                Ok(Err(broken)) => (Heard::Failed, "panic", panic_words(broken)),
                Err(_elapsed) => (Heard::TimedOut, "timeout", Egress::fixed("the interceptor took too long")),
            };
            // The task's own signal tells a cancellation apart: nobody's fault, and not reported.
            if !cancel.is_fired() {
                let who = Broken { call: None, tool: None, seat: None, who: interceptor.name().as_str() };
                watch.failed(&who, class, &without(&shown, &line));
            }
            heard
        }
    };
    Outcome::Intercepted { passage, seat, heard }
}

/// Puts a deny that may be lifted to whoever decides. Nobody, a failure and no answer in time all leave it as it is.
pub(super) async fn consult(
    consultant: Option<Arc<dyn Consultant>>,
    passage: u64,
    consultation: Consultation,
    left: Duration,
    watch: Watch,
) -> Outcome {
    let resolution = match consultant {
        None => Consulted::Nobody,
        Some(consultant) => {
            let shown = consultation.occasion.clone();
            let asked =
                Owned::spawn(async move { consultant.consult(&consultation).await.map_err(own_words) });
            let (class, line) = match tokio::time::timeout(left, asked).await {
                Ok(Ok(Ok(resolution))) => {
                    return Outcome::Consulted {
                        passage,
                        resolution: Consulted::Resolved(Box::new(resolution)),
                    };
                }
                Ok(Ok(Err((true, line)))) => {
                    watch.failed(&consultant_broke(), "malformed", &without(&shown, &line));
                    return Outcome::Consulted { passage, resolution: Consulted::Malformed };
                }
                Ok(Ok(Err((false, line)))) => ("error", line),
                Ok(Err(broken)) => ("panic", panic_words(broken)),
                Err(_elapsed) => ("timeout", Egress::fixed("nobody decided in time")),
            };
            watch.failed(&consultant_broke(), class, &without(&shown, &line));
            Consulted::Failed
        }
    };
    Outcome::Consulted { passage, resolution }
}

const fn consultant_broke() -> Broken<'static> {
    Broken { call: None, tool: None, seat: None, who: "consultant" }
}

/// What was thrown as one line, without what it repeats of what it was thrown about: that is refused now.
fn without(shown: &Occasion, thrown: &Egress<SamePrincipal>) -> Egress<SamePrincipal> {
    let line = one_line_untrusted::<SamePrincipal>(thrown.as_str(), THROWN_LINE_CHARS_MAX);
    one_line_untrusted(&scrubbed(line.as_str(), [shown.target()]), THROWN_LINE_CHARS_MAX)
}

/// Whether the answer was none, and what the error says itself. In the task of whoever made it: the words are its code.
fn own_words(error: PolicyError) -> (bool, Egress<SamePrincipal>) {
    (error.is_malformed(), error.own_words())
}

fn panic_words(broken: tokio::task::JoinError) -> Egress<SamePrincipal> {
    match broken.try_into_panic() {
        Ok(payload) => egress_panic(payload),
        Err(_aborted) => Egress::fixed("it was stopped"),
    }
}
