//! Hears all policies of a task about one frozen call. Whatever is not a verdict is a denial.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use probity_contract::limits::THROWN_LINE_CHARS_MAX;
use probity_contract::{Cancel, FrozenCall, Opinion, Policy, PolicyName, Said, Seat};
use probity_egress::{Egress, SamePrincipal, egress_error, egress_panic, one_line_untrusted};

use super::owned::Owned;
use super::watch::{Broken, Watch};
use crate::run::Outcome;

/// All policies of a task under the names with which they were registered.
pub(super) type Bench = Arc<[(PolicyName, Arc<dyn Policy>)]>;

/// Asks every policy side by side; each has `timeout`.
pub(super) async fn hear(
    bench: Bench,
    call: Arc<FrozenCall>,
    seat: Seat,
    timeout: Duration,
    cancel: Cancel,
    watch: Watch,
) -> Outcome {
    let ask_one = |(name, policy): &(PolicyName, Arc<dyn Policy>)| {
        let (name, policy, call) = (name.clone(), Arc::clone(policy), Arc::clone(&call));
        let (cancel, watch) = (cancel.clone(), watch.clone());
        async move {
            let said = ask(policy, &name, call, seat, timeout, cancel, &watch).await;
            Opinion { policy: name, said }
        }
    };
    let opinions = join_all(bench.iter().map(ask_one)).await;
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
) -> Said {
    let judged = {
        let (call, cancel) = (Arc::clone(&call), cancel.clone());
        // A task of its own: a policy that blocks its thread must not take the deadline with it. Its error is put into
        // words there, too, for those words are the policy's code.
        Owned::spawn(
            async move { policy.judge(&call, seat, &cancel).await.map_err(|error| egress_error(&error)) },
        )
    };
    let (class, line): (&str, Egress<SamePrincipal>) = match tokio::time::timeout(timeout, judged).await {
        Ok(Ok(Ok(verdict))) => return Said::Verdict(verdict),
        Ok(Ok(Err(words))) => ("error", words),
        Ok(Err(broken)) => match broken.try_into_panic() {
            Ok(payload) => ("panic", egress_panic(payload)),
            Err(_aborted) => ("error", Egress::fixed("the policy was stopped")),
        },
        Err(_elapsed) => ("timeout", Egress::fixed("the policy took too long")),
    };
    // The task's own signal tells a cancellation apart, not the error: nobody's fault, and not reported.
    if cancel.is_fired() {
        return Said::Cancelled;
    }
    // Passed before the cut, so no part of a credential is left at the edge.
    let line = one_line_untrusted::<SamePrincipal>(line.as_str(), THROWN_LINE_CHARS_MAX);
    let broken = Broken { call: call.id(), tool: call.tool(), seat: Some(seat), who: name.as_str() };
    watch.failed(&broken, class, &line);
    Said::Failed(line.as_str().to_owned())
}
