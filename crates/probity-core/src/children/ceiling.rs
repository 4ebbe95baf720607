use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use probity_contract::limits::THROWN_LINE_CHARS_MAX;
use probity_contract::{
    Allowance, Cancel, Digest, Ending, FrozenCall, Journal, JournalError, Label, Lineage, ParentCall, RunId,
    Spending, ToolContext, ToolError, ToolErrorClass, ToolOutput,
};
use probity_egress::{Egress, SamePrincipal, egress_error, egress_panic, one_line_untrusted};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::kin::Kin;
use super::profile::{ChildProfile, label_of_prompt};
use super::words::{self, Told};
use crate::driver::{Finished, Host, StartError, run_task};
use crate::run::Outcome;
use crate::sync::{Nursery, Purse};
use crate::task::{Below, Task};

/// How long a call waits for its tasks to write down how they ended.
const CHILD_GRACE_MS: u64 = 100;
/// Characters of the parent's id in that of a task that it starts.
const RUN_ID_CHARS_MAX: usize = 36;
/// Hexadecimal digits that tell the tasks of one run apart.
const RUN_ID_DIGITS: usize = 12;

/// The place below which a tool may start tasks, for as long as its call is running.
///
/// It is made by the driver for one call and by nobody else, is read from the call's [`ToolContext`], and can be neither built
/// nor stored. What it carries judges, counts and stops every task that is started from it: the policies of all tasks above,
/// live; what the call may spend; who is asked; the signals. It does not promise that a tool starts nothing elsewhere: a tool
/// is a part of the program.
pub struct Ceiling {
    kin: Arc<Kin>,
    call: Arc<FrozenCall>,
    purse: Arc<Purse>,
    nursery: Nursery<Child>,
    /// Fires when the call's time is up.
    call_stop: Cancel,
    started: AtomicU32,
}

/// Why a task was not started, or did not come back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChildError {
    /// The call is over.
    #[error("start a task: the call that would start it is over")]
    CallIsOver,
    /// Nothing is left of what the call may spend.
    #[error("start a task: too little is left of the limits for another task")]
    NothingLeft,
    /// Its record could not be begun. Redacted words.
    #[error("begin the record of a task: {0}")]
    NoRecord(Egress<SamePrincipal>),
    /// It is not sound.
    #[error("start a task: {0}")]
    NotStarted(#[from] StartError),
    /// It broke, or was stopped.
    #[error("run a task: it broke before it had ended")]
    Broke,
}

impl From<ChildError> for ToolError {
    fn from(error: ChildError) -> Self {
        let class = match error {
            ChildError::NothingLeft => ToolErrorClass::Refused,
            ChildError::CallIsOver | ChildError::NoRecord(_) | ChildError::NotStarted(_) => {
                ToolErrorClass::Unavailable
            }
            ChildError::Broke => ToolErrorClass::Panicked,
        };
        Self::new(class, egress_error::<SamePrincipal>(&error).as_str())
    }
}

/// A task that has ended.
#[derive(Debug)]
pub struct ChildReport {
    /// Its run.
    pub run: RunId,
    /// How it ended.
    pub ending: Ending,
    /// Its whole answer, where there is one. For a model it goes through [`ChildReport::into_output`].
    pub answer: Option<Egress<SamePrincipal>>,
    /// The join of all that it had seen. The call's result has at least this label, whatever the tool makes of the answer.
    pub label: Label,
    /// What it spent.
    pub spent: Spending,
    who: String,
    chars_max: usize,
}

impl ChildReport {
    /// What the model reads that has asked for it: the answer, bounded and in its fence, in at most `bytes_max` bytes.
    ///
    /// # Errors
    /// When there is no answer; the words say why.
    pub fn into_output(self, bytes_max: usize) -> Result<ToolOutput, ToolError> {
        match (words::told(&self.ending), &self.answer) {
            (Told::Answered(told), Some(answer)) => {
                let report = words::report(&self.who, told, answer.as_str(), self.chars_max, bytes_max);
                Ok(ToolOutput::text(report.as_str()))
            }
            (Told::Answered(_), None) => Err(self.without(ToolErrorClass::Failed, "it has no answer")),
            (Told::Without(class, why), _) => Err(self.without(class, why.as_str())),
        }
    }

    fn without(&self, class: ToolErrorClass, why: &str) -> ToolError {
        let who = one_line_untrusted::<SamePrincipal>(&self.who, THROWN_LINE_CHARS_MAX);
        ToolError::new(class, format!("the task of {who} has ended without an answer: {why}"))
    }
}

impl Ceiling {
    /// The ceiling of a call; `None` for a tool that has not said that it starts tasks ([`probity_contract::Tool::delegates`]).
    #[must_use]
    pub fn of(cx: &ToolContext) -> Option<Arc<Self>> {
        cx.lineage.read()
    }

    pub(crate) fn new(
        kin: Arc<Kin>,
        call: Arc<FrozenCall>,
        allowance: Allowance,
        call_stop: Cancel,
    ) -> Arc<Self> {
        let (purse, nursery) = (Arc::new(Purse::new(allowance)), Nursery::new());
        Arc::new(Self { kin, call, purse, nursery, call_stop, started: AtomicU32::new(0) })
    }

    pub(crate) fn lineage(self: &Arc<Self>) -> Lineage {
        Lineage::new(Arc::<Self>::clone(self))
    }

    /// Runs a task of this profile to its end. Several may run side by side; what they may spend, they share.
    ///
    /// Its question is not a person's: it has the label of the call. A task that must ask people asks those of the task at the
    /// top, and a question that is left open counts as one that nobody answers. Dropping the future stops it.
    ///
    /// # Errors
    /// When it could not be started, or broke. That it ended without an answer is no error here.
    pub async fn start(&self, profile: &ChildProfile, prompt: &str) -> Result<ChildReport, ChildError> {
        let alive = self.kin.alive.upgrade().ok_or(ChildError::CallIsOver)?;
        let taken = self.purse.take(&profile.wants());
        if !taken.is_of_use() {
            self.purse.give_back(&taken, &Spending::default());
            return Err(ChildError::NothingLeft);
        }
        let kin = &self.kin;
        let run = self.run_id();
        let unused = |error| {
            self.purse.give_back(&taken, &Spending::default());
            error
        };
        let (task, journal) = self.prepare(profile, prompt, &run, &taken).map_err(unused)?;
        let stop = Cancel::new();
        let host = Host {
            clock: Arc::clone(&kin.clock),
            failures: kin.failures.clone(),
            approver: kin.approver.clone(),
            consultant: kin.consultant.clone(),
            redeemer: Some(Arc::clone(&kin.redeemer)),
            children: Some(Arc::clone(&kin.journals)),
            cancel: stop.clone(),
            ..Host::new(journal)
        };
        let account = Arc::new(Account {
            kin: Arc::clone(kin),
            call: Arc::clone(&self.call),
            run: run.clone(),
            purse: Arc::clone(&self.purse),
            taken,
            settled: AtomicBool::new(false),
        });
        let (over, ended) = oneshot::channel();
        let work = {
            let (account, run) = (Arc::clone(&account), run.clone());
            async move {
                let _alive = alive;
                let ended = AssertUnwindSafe(run_task(task, run, host)).catch_unwind().await;
                match &ended {
                    Ok(Ok(finished)) => account.settle(Some(finished)),
                    Ok(Err(_not_started)) => account.give_back(),
                    Err(_broken) => account.settle(None),
                }
                // Whoever waited may be gone.
                let _late = over.send(ended);
            }
        };
        let spawn = || {
            let work = tokio::spawn(work);
            kin.fostered.add(work.abort_handle());
            Child { work, stop: stop.clone(), account: Arc::clone(&account) }
        };
        if !self.nursery.admit(spawn) {
            account.give_back();
            return Err(ChildError::CallIsOver);
        }
        // Whoever stops waiting, stops the task.
        let _stops = StopsWhenDropped(stop.clone());
        tokio::pin!(ended);
        let ended = tokio::select! {
            biased;
            ended = &mut ended => ended,
            () = kin.cancel.fired() => {
                stop.fire();
                ended.await
            }
            () = self.call_stop.fired() => {
                stop.fire();
                ended.await
            }
        };
        match ended {
            Ok(Ok(Ok(finished))) => {
                let (who, chars_max) = (profile.who().to_owned(), profile.reports_chars_max());
                Ok(report(run, finished, who, chars_max))
            }
            Ok(Ok(Err(error))) => Err(error.into()),
            Ok(Err(payload)) => {
                // What broke may have had anything in its hands, so the model is told no word of it.
                let line = one_line_untrusted(
                    egress_panic::<SamePrincipal>(payload).as_str(),
                    THROWN_LINE_CHARS_MAX,
                );
                kin.watch.child_broke(&self.call, profile.who(), &line);
                Err(ChildError::Broke)
            }
            Err(_stopped) => Err(ChildError::Broke),
        }
    }

    /// The task and the place of its record. Nothing is begun for a task that is not sound.
    fn prepare(
        &self,
        profile: &ChildProfile,
        prompt: &str,
        run: &RunId,
        taken: &Allowance,
    ) -> Result<(Task, Box<dyn Journal>), ChildError> {
        let kin = &self.kin;
        let parent = ParentCall { run: kin.run.clone(), call: self.call.id() };
        let (bench, above, label) = (kin.bench.clone(), kin.above.clone(), label_of_prompt(&self.call));
        let below = Below { parent: parent.clone(), bench, above, label };
        let task = profile.task(prompt, below, kin, taken);
        task.check(run)?;
        let begun = kin.journals.begin(run, &parent);
        let words = |error: JournalError| one_line_untrusted(&error.message, THROWN_LINE_CHARS_MAX);
        Ok((task, begun.map_err(|error| ChildError::NoRecord(words(error)))?))
    }

    /// Stops what the call has left running, and has the task above know what it spent. Nothing is started from here any more.
    pub(crate) async fn close(&self) {
        let children = self.nursery.close();
        children.iter().for_each(|child| child.stop.fire());
        let grace = tokio::time::Instant::now() + Duration::from_millis(CHILD_GRACE_MS);
        for child in children {
            let _late = tokio::time::timeout_at(grace, child.work).await;
            child.account.settle(None);
        }
    }

    /// An id that no other task has, and always the same: a call that runs again, for another driver, starts another task.
    fn run_id(&self) -> RunId {
        let kin = &self.kin;
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let parts = [self.call.digest().to_string(), number.to_string(), kin.entries.to_string()];
        let digest = Digest::of("probity.child-run.v1", &parts.each_ref().map(|part| part.as_bytes()));
        let short: String = kin.run.as_str().chars().take(RUN_ID_CHARS_MAX).collect();
        let digits: String = digest.to_string().chars().filter(char::is_ascii_hexdigit).collect();
        let digits: String = digits.chars().take(RUN_ID_DIGITS).collect();
        let id = format!("{short}-{}-{digits}", self.call.id());
        // Letters of an id, a number and digits are one.
        RunId::new(id).unwrap_or_else(|_| kin.run.clone())
    }
}

/// A task at work.
struct Child {
    work: JoinHandle<()>,
    stop: Cancel,
    account: Arc<Account>,
}

/// What a task took of the purse, until it is known what it spent.
struct Account {
    kin: Arc<Kin>,
    call: Arc<FrozenCall>,
    run: RunId,
    purse: Arc<Purse>,
    taken: Allowance,
    settled: AtomicBool,
}

impl Account {
    /// Gives all of it back: nothing was started.
    fn give_back(&self) {
        if !self.settled.swap(true, Ordering::Relaxed) {
            self.purse.give_back(&self.taken, &Spending::default());
        }
    }

    /// Gives back what was not used and tells the task above. Of a task that broke it is assumed that it spent all; nothing of
    /// what it has read comes back.
    fn settle(&self, finished: Option<&Finished>) {
        match finished {
            Some(finished) => {
                let machine = finished.machine();
                let spent = Spending {
                    // A wrap-up is not counted.
                    turns: machine.spending().turns.min(self.taken.turns),
                    ..machine.spending()
                };
                self.settle_as(Some(finished.ending.clone()), machine.label().clone(), spent);
            }
            None => self.settle_as(None, Label::untrusted(), self.taken.all_spent()),
        }
    }

    fn settle_as(&self, ending: Option<Ending>, label: Label, spent: Spending) {
        if self.settled.swap(true, Ordering::Relaxed) {
            return;
        }
        self.purse.give_back(&self.taken, &spent);
        let (call, run) = (self.call.id(), self.run.clone());
        self.kin.watch.tell(Outcome::ChildEnded { call, run, ending, label, spent });
    }
}

struct StopsWhenDropped(Cancel);

impl Drop for StopsWhenDropped {
    fn drop(&mut self) {
        self.0.fire();
    }
}

fn report(run: RunId, finished: Finished, who: String, chars_max: usize) -> ChildReport {
    let machine = finished.machine();
    let (label, spent) = (machine.label().clone(), machine.spending());
    ChildReport { run, ending: finished.ending, answer: finished.answer, label, spent, who, chars_max }
}
