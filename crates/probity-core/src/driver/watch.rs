//! Who is told what happens: observers and the failure lane. Neither can change or stop a run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use probity_contract::{CallId, Event, Failure, FailureLane, FrozenCall, Observer, PolicyName, Seat};
use probity_egress::{Egress, SamePrincipal, extension_words, one_line_untrusted};

use crate::run::Outcome;

/// Code points of a name in a report.
const NAME_CHARS_MAX: usize = 128;

/// The watchers of one run. A clone watches the same run.
#[derive(Clone)]
pub(super) struct Watch {
    shared: Arc<Shared>,
}

struct Shared {
    observer: Option<Arc<dyn Observer>>,
    observer_broke: AtomicBool,
    failures: Option<Arc<dyn FailureLane>>,
    // Reports that the record shall hear of with the next outcome.
    unrecorded: Mutex<Vec<Outcome>>,
}

impl Watch {
    pub(super) fn new(observer: Option<Arc<dyn Observer>>, failures: Option<Arc<dyn FailureLane>>) -> Self {
        let shared = Shared {
            observer,
            observer_broke: AtomicBool::new(false),
            failures,
            unrecorded: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Tells the observer. One that panics is not told again.
    pub(super) fn notify(&self, event: &Event) {
        let Some(observer) = &self.shared.observer else { return };
        if self.shared.observer_broke.load(Ordering::Relaxed) {
            return;
        }
        if catch_unwind(AssertUnwindSafe(|| observer.on_event(event))).is_err() {
            self.shared.observer_broke.store(true, Ordering::Relaxed);
        }
    }

    /// Whether anybody listens; saves the making of events that nobody hears.
    pub(super) fn has_observer(&self) -> bool {
        self.shared.observer.is_some()
    }

    /// Reports a failed policy: once on the lane, and once in the record. A lane that panics is ignored.
    pub(super) fn policy_failed(
        &self,
        policy: &PolicyName,
        call: &FrozenCall,
        seat: Seat,
        class: &'static str,
        text: &Egress<SamePrincipal>,
    ) {
        let failure = Failure {
            phase: "hook",
            seat: Some(seat),
            call: Some(call.id()),
            tool: Some(one_line_untrusted(call.tool().as_str(), NAME_CHARS_MAX)),
            who: extension_words(policy.as_str(), NAME_CHARS_MAX),
            class,
            text: text.clone(),
        };
        self.keep(call.id(), seat, &failure);
        if let Some(lane) = &self.shared.failures {
            // The denial was decided before and does not depend on the lane.
            let _ignored = catch_unwind(AssertUnwindSafe(|| lane.on_failure(&failure)));
        }
    }

    fn keep(&self, call: CallId, seat: Seat, failure: &Failure) {
        let outcome = Outcome::FailureReported {
            call: Some(call),
            seat: Some(seat),
            who: failure.who.as_str().to_owned(),
            error: failure.text.as_str().to_owned(),
        };
        self.shared.unrecorded.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
    }

    pub(super) fn take_failures(&self) -> Vec<Outcome> {
        std::mem::take(&mut *self.shared.unrecorded.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
