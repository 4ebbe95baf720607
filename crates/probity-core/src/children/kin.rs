use std::sync::{Arc, Mutex, PoisonError};

use probity_contract::{
    Approver, Bench, Cancel, ChildJournals, Clock, Consultant, ContentSetting, DenialDetail, FailureLane,
    Interceptor, Redeemer, RunId,
};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::boundary::{BoundarySettings, ContextIdentity};
use crate::driver::Watch;
use crate::task::Above;

/// All that a running task hands down to those that it starts.
pub(crate) struct Kin {
    pub(crate) run: RunId,
    /// Entries that the record had when this driver took the run up: another number for each that does.
    pub(crate) entries: u64,
    /// Who is heard of the task's own calls, by name; a child's bench is made of it.
    pub(crate) bench: Bench,
    /// The task itself and those above it, the nearest first: the very policies that judge there.
    pub(crate) above: Vec<Above>,
    /// Who looks at what passes in the task, and in whatever it starts.
    pub(crate) interceptors: Vec<Arc<dyn Interceptor>>,
    pub(crate) boundary: BoundarySettings,
    pub(crate) identity: Option<ContextIdentity>,
    pub(crate) content: ContentSetting,
    pub(crate) denial_detail: DenialDetail,
    pub(crate) journals: Arc<dyn ChildJournals>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) consultant: Option<Arc<dyn Consultant>>,
    pub(crate) failures: Option<Arc<dyn FailureLane>>,
    pub(crate) redeemer: Arc<dyn Redeemer>,
    pub(crate) clock: Arc<dyn Clock>,
    /// The signal that stops the task.
    pub(crate) cancel: Cancel,
    /// Takes to the task's machine what became of a child.
    pub(crate) watch: Watch,
    /// Held by every child at work, so that the task waits for it when it ends; gone with the task.
    pub(crate) alive: mpsc::WeakSender<()>,
    /// What stops a child that does not stop by itself.
    pub(crate) fostered: Fostered,
}

/// The children of a task that were ever started.
#[derive(Default)]
pub(crate) struct Fostered(Mutex<Vec<AbortHandle>>);

impl Fostered {
    pub(crate) fn add(&self, child: AbortHandle) {
        let mut children = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        children.retain(|child| !child.is_finished());
        children.push(child);
    }

    /// Stops all that have not stopped by themselves.
    pub(crate) fn abort_all(&self) {
        let children = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        children.iter().for_each(AbortHandle::abort);
    }
}
