//! Uses approvals up.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use probity_contract::limits::THROWN_LINE_CHARS_MAX;
use probity_contract::{Digest, FrozenCall, RedeemError, Redeemer, Redemption, RunId, Seat};
use probity_egress::{SamePrincipal, egress_panic, one_line_untrusted};
use tokio::runtime::RuntimeFlavor;

use super::watch::{Broken, Watch};
use crate::sync::Used;

/// Counts used approvals in memory, for all who share it and as long as it lives.
#[derive(Debug, Default)]
pub struct MemoryRedeemer {
    used: Used<(RunId, Digest)>,
}

impl MemoryRedeemer {
    /// A count that begins.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Redeemer for MemoryRedeemer {
    fn redeem(&self, run: &RunId, binding: Digest) -> Result<(), RedeemError> {
        if self.used.is_first((run.clone(), binding)) { Ok(()) } else { Err(RedeemError::Used) }
    }
}

/// Uses an approval up, off this thread where there are others: reaching the medium takes milliseconds. A redeemer that
/// panics has not said that this was the first use. One that fails is reported; that somebody was first is no failure.
pub(super) async fn redeem(
    redeemer: Arc<dyn Redeemer>,
    call: &FrozenCall,
    binding: Digest,
    watch: &Watch,
) -> Result<Redemption, RedeemError> {
    let run = call.facts().run.clone();
    let result = claim(redeemer, run, binding).await;
    if let Err(RedeemError::Failed(words)) = &result {
        let line = one_line_untrusted(words, THROWN_LINE_CHARS_MAX);
        let seat = Some(Seat::ExecuteRecheck);
        let who = Broken { call: Some(call.id()), tool: Some(call.tool()), seat, who: "redeemer" };
        watch.failed(&who, "error", &line);
    }
    result
}

async fn claim(redeemer: Arc<dyn Redeemer>, run: RunId, binding: Digest) -> Result<Redemption, RedeemError> {
    let claim = move || match catch_unwind(AssertUnwindSafe(|| Redemption::claim(&*redeemer, &run, binding)))
    {
        Ok(claimed) => claimed,
        Err(payload) => Err(RedeemError::Failed(egress_panic::<SamePrincipal>(payload).as_str().to_owned())),
    };
    if tokio::runtime::Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread {
        let claimed = tokio::task::spawn_blocking(claim).await;
        claimed.unwrap_or_else(|error| Err(RedeemError::Failed(error.to_string())))
    } else {
        claim()
    }
}
