//! Who is told what happens: observers and the failure lane. Neither can change or stop a run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use probity_contract::{CallId, Event, Failure, FailureLane, FrozenCall, Observer, Seat, ToolName};
use probity_egress::{Egress, SamePrincipal, extension_words, one_line_untrusted};
use tokio::task::JoinSet;

use crate::run::Outcome;

/// Code points of a name in a report.
const NAME_CHARS_MAX: usize = 128;

/// The watchers of one run. A clone watches the same run.
#[derive(Clone)]
pub(crate) struct Watch {
    shared: Arc<Shared>,
}

struct Shared {
    observer: Option<Arc<dyn Observer>>,
    observer_broke: AtomicBool,
    failures: Option<Arc<dyn FailureLane>>,
    // Reports that the record shall hear of with the next outcome.
    unrecorded: Mutex<Vec<Outcome>>,
    // Reports on their way to the lane.
    reports: Mutex<JoinSet<()>>,
}

/// Which part failed, and at which call where it was about one.
pub(super) struct Broken<'a> {
    pub(super) call: Option<CallId>,
    pub(super) tool: Option<&'a ToolName>,
    pub(super) seat: Option<Seat>,
    pub(super) who: &'a str,
}

impl Watch {
    pub(super) fn new(observer: Option<Arc<dyn Observer>>, failures: Option<Arc<dyn FailureLane>>) -> Self {
        let shared = Shared {
            observer,
            observer_broke: AtomicBool::new(false),
            failures,
            unrecorded: Mutex::default(),
            reports: Mutex::default(),
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

    /// Reports a failed part: once on the lane, and once in the record.
    ///
    /// The lane hears it on a thread of its own. One that panics is ignored, and one that hangs holds up nothing: what
    /// follows from the failure was decided before and does not depend on the lane.
    pub(super) fn failed(&self, broken: &Broken<'_>, class: &'static str, text: &Egress<SamePrincipal>) {
        let failure = Failure {
            phase: "hook",
            seat: broken.seat,
            call: broken.call,
            tool: broken.tool.map(|tool| one_line_untrusted(tool.as_str(), NAME_CHARS_MAX)),
            who: extension_words(broken.who, NAME_CHARS_MAX),
            class,
            text: text.clone(),
        };
        let outcome = Outcome::FailureReported {
            call: failure.call,
            seat: failure.seat,
            who: failure.who.as_str().to_owned(),
            error: failure.text.as_str().to_owned(),
        };
        lock(&self.shared.unrecorded).push(outcome);
        if let Some(lane) = self.shared.failures.clone() {
            lock(&self.shared.reports).spawn_blocking(move || lane.on_failure(&failure));
        }
    }

    /// Has the machine hear of something with the next outcome.
    pub(crate) fn tell(&self, outcome: Outcome) {
        lock(&self.shared.unrecorded).push(outcome);
    }

    /// Reports that a task broke which a call had started.
    pub(crate) fn child_broke(&self, call: &FrozenCall, who: &str, line: &Egress<SamePrincipal>) {
        let broken = Broken { call: Some(call.id()), tool: Some(call.tool()), seat: None, who };
        self.failed(&broken, "panic", line);
    }

    /// Waits until the lane has heard everything.
    pub(super) async fn reported(&self) {
        let mut reports = std::mem::take(&mut *lock(&self.shared.reports));
        while reports.join_next().await.is_some() {}
    }

    pub(super) fn take_failures(&self) -> Vec<Outcome> {
        std::mem::take(&mut *lock(&self.shared.unrecorded))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
