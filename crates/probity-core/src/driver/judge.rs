//! Hears all policies of a task about one frozen call. Whatever is not a verdict is a denial.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use probity_contract::limits::THROWN_LINE_CHARS_MAX;
use probity_contract::{
    Bench, Cancel, Digest, FrozenCall, Level, Opinion, Policy, PolicyName, Said, Seat, Verdict,
};
use probity_egress::{Egress, SamePrincipal, egress_panic, one_line_untrusted};

use super::owned::Owned;
use super::watch::{Broken, Watch};
use crate::run::Outcome;
use crate::sync::Reading;
use crate::task::Above;

/// Times that a policy is asked whose rules change while it judges.
const TRIES_MAX: usize = 3;

/// Everybody who may be heard, under the names with which they were registered. Cheap to clone.
#[derive(Clone)]
pub(super) struct Judges {
    bench: Bench,
    // INVARIANT: in the order of the bench's levels and names.
    policies: Arc<[Arc<dyn Policy>]>,
}

impl Judges {
    /// `bench` was made of these policies.
    pub(super) fn new(bench: &Bench, own: Vec<Arc<dyn Policy>>, above: Vec<Above>) -> Self {
        let above = above.into_iter().flat_map(|above| above.policies);
        Self { bench: bench.clone(), policies: own.into_iter().chain(above).collect() }
    }

    fn at(&self, seat: Seat) -> Vec<(Level, PolicyName, Arc<dyn Policy>)> {
        let wanted: Vec<(Level, &PolicyName)> = self.bench.to_hear(seat).collect();
        // The execute-recheck hears everybody, so its order is that of the policies.
        let everybody = self.bench.to_hear(Seat::ExecuteRecheck).zip(self.policies.iter());
        let heard = everybody.filter(|(who, _)| wanted.contains(who));
        heard.map(|((level, name), policy)| (level, name.clone(), Arc::clone(policy))).collect()
    }
}

/// Asks every policy that is heard at the seat, side by side; each has `timeout`.
pub(super) async fn hear(
    judges: Judges,
    call: Arc<FrozenCall>,
    seat: Seat,
    timeout: Duration,
    cancel: Cancel,
    watch: Watch,
) -> Outcome {
    let ask_one = |(level, name, policy): (Level, PolicyName, Arc<dyn Policy>)| {
        let (call, cancel, watch) = (Arc::clone(&call), cancel.clone(), watch.clone());
        async move {
            let (said, epoch) = ask(policy, &name, call, seat, timeout, cancel, &watch).await;
            Opinion { level, policy: name, epoch, said }
        }
    };
    let opinions = join_all(judges.at(seat).into_iter().map(ask_one)).await;
    Outcome::Judged { call: call.id(), seat, opinions }
}

async fn ask(
    policy: Arc<dyn Policy>,
    name: &PolicyName,
    call: Arc<FrozenCall>,
    seat: Seat,
    timeout: Duration,
    cancel: Cancel,
    watch: &Watch,
) -> (Said, Option<Digest>) {
    let judged = {
        let (call, cancel) = (Arc::clone(&call), cancel.clone());
        // A task of its own: a policy that blocks its thread must not take the deadline with it. Its error is put into
        // words there, too, for those words are the policy's code.
        Owned::spawn(async move { steadily(&*policy, &call, seat, &cancel).await })
    };
    let (class, line): (&str, Egress<SamePrincipal>) = match tokio::time::timeout(timeout, judged).await {
        Ok(Ok(Ok((verdict, epoch)))) => return (Said::Verdict(verdict), Some(epoch)),
        Ok(Ok(Err(broken))) => broken,
        Ok(Err(broken)) => match broken.try_into_panic() {
            Ok(payload) => ("panic", egress_panic(payload)),
            Err(_aborted) => ("error", Egress::fixed("the policy was stopped")),
        },
        Err(_elapsed) => ("timeout", Egress::fixed("the policy took too long")),
    };
    // The task's own signal tells a cancellation apart, not the error: nobody's fault, and not reported.
    if cancel.is_fired() {
        return (Said::Cancelled, None);
    }
    // Passed before the cut, so no part of a credential is left at the edge.
    let line = one_line_untrusted::<SamePrincipal>(line.as_str(), THROWN_LINE_CHARS_MAX);
    let broken =
        Broken { call: Some(call.id()), tool: Some(call.tool()), seat: Some(seat), who: name.as_str() };
    watch.failed(&broken, class, &line);
    (Said::Failed(line.as_str().to_owned()), None)
}

/// A verdict and the rules it is by: the same before and after, or it is nobody's verdict.
async fn steadily(
    policy: &dyn Policy,
    call: &FrozenCall,
    seat: Seat,
    cancel: &Cancel,
) -> Result<(Verdict, Digest), (&'static str, Egress<SamePrincipal>)> {
    for _ in 0..TRIES_MAX {
        let reading = Reading::begin(policy.epoch());
        let verdict = policy.judge(call, seat, cancel).await.map_err(|error| {
            let class = if error.is_malformed() { "malformed" } else { "error" };
            (class, error.own_words())
        })?;
        if let Some(epoch) = reading.end(policy.epoch()) {
            return Ok((verdict, epoch));
        }
    }
    Err(("error", Egress::fixed("its rules kept changing while it judged")))
}
