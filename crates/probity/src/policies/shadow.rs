//! Tells what rules that are tried out would have said.

use probity_contract::{FrozenCall, PolicyName, Said, Seat, Verdict};
use probity_core::ShadowLog;

/// Tells it as a warning of the program, which passes on its way out.
pub(super) struct Teller;

impl ShadowLog for Teller {
    fn would_have_said(&self, policy: &PolicyName, call: &FrozenCall, seat: Seat, said: &Said) {
        // What is said again just before the effect is said twice.
        if seat != Seat::Adjudicate {
            return;
        }
        let (word, why) = match said {
            Said::Verdict(Verdict::Allow { reason }) => ("allowed", reason.as_str()),
            Said::Verdict(Verdict::Ask { reason }) => ("asked about", reason.as_str()),
            Said::Verdict(Verdict::Deny { reason }) => ("denied", reason.as_str()),
            Said::Verdict(Verdict::Abstain) => ("not covered", "it has nothing to say"),
            Said::Failed(line) => ("failed to judge", line.as_str()),
            Said::Cancelled => return,
        };
        tracing::warn!("{policy}: {} {} would have been {word}: {why}", call.id(), call.tool());
    }
}
