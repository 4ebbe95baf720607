//! A policy that is tried out: it is heard, and nothing follows.

use std::sync::{Arc, Mutex, PoisonError};

use probity_contract::limits::THROWN_LINE_CHARS_MAX;
use probity_contract::{BoxFuture, Cancel, FrozenCall, Policy, PolicyError, PolicyName, Said, Seat, Verdict};
use probity_egress::{SamePrincipal, egress_error, egress_panic, one_line_untrusted};
use tokio::task::JoinSet;

use crate::run::Outcome;

/// Calls that may wait for a policy which is tried out; of more it is not asked.
pub const SHADOW_CALLS_MAX: usize = 64;

/// Is told what a policy would have said.
pub trait ShadowLog: Send + Sync {
    /// `policy` would have said this of the call at the seat. It may be told late, in any order, and not at all once the policy
    /// is dropped or too many calls wait. What it does changes nothing.
    fn would_have_said(&self, policy: &PolicyName, call: &FrozenCall, seat: Seat, said: &Said);
}

/// What policies in shadow would have said, for the record of one run: it is given to each [`ShadowPolicy`] of a task, and to the
/// task itself ([`crate::Task::shadow_notes`]). A clone is the same notes.
///
/// What comes when the run has ended is not recorded any more.
#[derive(Clone, Default)]
pub struct ShadowNotes {
    notes: Arc<Mutex<Vec<Outcome>>>,
    also: Option<Arc<dyn ShadowLog>>,
}

impl ShadowNotes {
    /// Notes for a record alone.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, and another log is told as well.
    #[must_use]
    pub fn telling(log: Arc<dyn ShadowLog>) -> Self {
        Self { notes: Arc::default(), also: Some(log) }
    }

    /// What has come since the last time.
    pub(crate) fn take(&self) -> Vec<Outcome> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ShadowLog for ShadowNotes {
    fn would_have_said(&self, policy: &PolicyName, call: &FrozenCall, seat: Seat, said: &Said) {
        let (policy, call_id, noted) = (policy.clone(), call.id(), said.clone());
        let note = Outcome::Shadowed { call: call_id, seat, policy: policy.clone(), said: noted };
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(note);
        if let Some(also) = &self.also {
            also.would_have_said(&policy, call, seat, said);
        }
    }
}

/// A policy in shadow: it abstains at once, whatever the policy inside says, breaks or hangs on, and a log is told what that said.
///
/// So it never changes a decision: not by its words, its errors, its time or its changing rules. It judges beside the run, and its
/// own work ends with it. It needs a tokio runtime.
pub struct ShadowPolicy {
    name: PolicyName,
    inner: Arc<dyn Policy>,
    log: Arc<dyn ShadowLog>,
    waiting: Mutex<JoinSet<()>>,
}

impl ShadowPolicy {
    /// Tries out a policy, under the name that it has.
    #[must_use]
    pub fn new(inner: Arc<dyn Policy>, log: Arc<dyn ShadowLog>) -> Self {
        Self { name: inner.name().clone(), inner, log, waiting: Mutex::default() }
    }

    fn hear(&self, call: &FrozenCall, seat: Seat, cancel: &Cancel) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        while waiting.try_join_next().is_some() {}
        if waiting.len() >= SHADOW_CALLS_MAX {
            return;
        }
        let (name, inner, log) = (self.name.clone(), Arc::clone(&self.inner), Arc::clone(&self.log));
        let (call, cancel) = (call.clone(), cancel.clone());
        waiting.spawn(async move {
            // A task within the task, so that a panic of the policy can be told.
            let judged = {
                let (call, cancel) = (call.clone(), cancel.clone());
                let mut judging = JoinSet::new();
                judging.spawn(async move {
                    let said = inner.judge(&call, seat, &cancel).await;
                    said.map_err(|error| line(egress_error::<SamePrincipal>(&error).as_str()))
                });
                judging.join_next().await
            };
            let said = match judged {
                Some(Ok(Ok(verdict))) => Said::Verdict(verdict),
                Some(Ok(Err(words))) => Said::Failed(words),
                Some(Err(broken)) => match broken.try_into_panic() {
                    Ok(payload) => Said::Failed(line(egress_panic::<SamePrincipal>(payload).as_str())),
                    Err(_aborted) => return,
                },
                None => return,
            };
            log.would_have_said(&name, &call, seat, &said);
        });
    }
}

/// Passed before the cut, so no part of a credential is left at the edge.
fn line(words: &str) -> String {
    one_line_untrusted::<SamePrincipal>(words, THROWN_LINE_CHARS_MAX).as_str().to_owned()
}

impl Policy for ShadowPolicy {
    fn name(&self) -> &PolicyName {
        &self.name
    }

    // The epoch is the default one: if it changed with the rules inside, a judgement would be void because of them.

    fn judge<'a>(
        &'a self,
        call: &'a FrozenCall,
        seat: Seat,
        cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        self.hear(call, seat, cancel);
        Box::pin(std::future::ready(Ok(Verdict::Abstain)))
    }
}
