//! Puts a question to a person.

use std::sync::Arc;
use std::time::Duration;

use probity_contract::limits::THROWN_LINE_CHARS_MAX;
use probity_contract::{Answer, Approver, PendingCall};
use probity_egress::{SamePrincipal, egress_panic, one_line_untrusted};

use super::owned::Owned;
use super::watch::{Broken, Watch};
use crate::run::Outcome;

/// Asks as long as the question is open. A person who does not answer in time has not approved, and neither has an
/// approver that panics; the latter is reported.
pub(super) async fn ask(
    approver: Option<Arc<dyn Approver>>,
    question: PendingCall,
    left: Duration,
    watch: Watch,
) -> Outcome {
    let (frozen, binding) = (Arc::clone(question.call()), question.binding());
    let answer = match approver {
        None => Answer::Nobody,
        // Its time ran out while the run was at rest.
        Some(_) if left.is_zero() => Answer::Nobody,
        Some(approver) => {
            let asked = Owned::spawn(async move { approver.ask(&question).await });
            match tokio::time::timeout(left, asked).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(broken)) => {
                    if let Ok(payload) = broken.try_into_panic() {
                        let words = egress_panic::<SamePrincipal>(payload);
                        let line = one_line_untrusted(words.as_str(), THROWN_LINE_CHARS_MAX);
                        let who = Broken {
                            call: Some(frozen.id()),
                            tool: Some(frozen.tool()),
                            seat: None,
                            who: "approver",
                        };
                        watch.failed(&who, "panic", &line);
                    }
                    Answer::Nobody
                }
                Err(_elapsed) => Answer::Nobody,
            }
        }
    };
    Outcome::Answered { call: frozen.id(), binding, answer }
}
