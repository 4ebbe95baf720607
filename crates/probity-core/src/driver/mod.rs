//! The driver on tokio: the one place that awaits. It does what the machine says and feeds back what happened.
//!
//! Every model call, tool, policy and question runs as a task of its own, so that one that blocks or panics harms
//! neither the run nor its neighbours. All of them belong to one set, and dropping the run's future drops the set: there
//! is no way to lose track of a task.

mod ask;
mod clock;
mod host;
mod inquiry;
mod intercept;
mod judge;
mod keep;
mod model;
mod owed;
mod owned;
mod record;
mod redeem;
mod stream;
mod tool;
mod watch;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use probity_contract::limits::APPROVAL_TTL_S;
use probity_contract::{
    Answer, Approver, BoxFuture, Cancel, Clock, Consultant, Durability, Ending, Event, Interceptor, Journal,
    Model, ModelCallId, Redeemer, RunId, Tool, ToolName,
};
use probity_egress::{Egress, SamePrincipal};
use tokio::sync::mpsc;
use tokio::task::{Id, JoinSet};

use crate::boundary::ContextIdentity;
use crate::children::Kin;
use crate::gate::ShadowNotes;
use crate::run::{Outcome, Resumption, Run, RunSpec, Step};
use crate::task::{Above, Task};
pub use clock::SystemClock;
use host::{Driven, finish, stopped};
pub use host::{Finished, Host, Paused, StartError, Stopped};
pub use inquiry::{Heard, HeardAt, Inquiry};
pub use keep::Keeper;
use owed::Owed;
pub use redeem::MemoryRedeemer;
use stream::Hold;
pub(crate) use watch::Watch;

/// How long the driver waits for its tasks to be gone, and for the failure lane, once the run has ended.
const SHUTDOWN_GRACE_MS: u64 = 100;

/// Runs a task to its end as run `run`. A question that is left open ([`Answer::Later`]) counts as one that nobody answers.
///
/// Needs a tokio runtime. Every policy, tool and model call has a task of its own, so one that blocks its thread is given
/// up at its deadline as long as another worker is free: N that block on N workers, or one on a runtime with a single
/// thread, stop every timer and with them every deadline. What blocks belongs into `spawn_blocking`.
///
/// Dropping the future stops everything that works for the task; firing `host.cancel` does so too, and writes down how
/// it ended.
///
/// # Errors
/// When the task could not be started. Whatever happens after the start is an [`Ending`].
pub fn run_task(task: Task, run: RunId, host: Host) -> BoxFuture<'static, Result<Finished, StartError>> {
    Box::pin(async move {
        let spec = task.spec(run, host.clock.unix_ms())?;
        check_child_records(&spec, &host)?;
        let driver = Driver::new(task, &spec, host, 0);
        let Driven { machine, ending, hint } = driver.drive(Run::new(spec)?, Pauses::Never).await;
        // A run that never pauses has an ending.
        Ok(finish(machine, ending.unwrap_or(Ending::Cancelled), hint))
    })
}

/// Runs a task as run `run` until it ends or waits for people and for nothing else. The rest is as with [`run_task`].
///
/// # Errors
/// When the task could not be started.
pub fn start_task(task: Task, run: RunId, host: Host) -> BoxFuture<'static, Result<Stopped, StartError>> {
    Box::pin(async move {
        let spec = task.spec(run, host.clock.unix_ms())?;
        check_child_records(&spec, &host)?;
        let driver = Driver::new(task, &spec, host, 0);
        Ok(stopped(driver.drive(Run::new(spec)?, Pauses::ForPeople).await))
    })
}

/// Goes on with a stored run, for its task as it is now, until it ends or waits for people. What was said of its calls
/// before does not count: whoever judges is asked again, under the rules of now.
///
/// The host's journal goes on behind what the run, and `resumption`, tell of its record. Two processes that go on with one
/// stored run are two runs with one record; whoever stores runs sees to it that there is one.
///
/// # Errors
/// When the task is not the run's, or the run has gone on since it was stored. Nothing has happened then.
pub fn resume_task(
    task: Task,
    mut machine: Run,
    resumption: Resumption,
    host: Host,
) -> BoxFuture<'static, Result<Stopped, StartError>> {
    Box::pin(async move {
        let spec = task.spec(machine.id().clone(), machine.started_at_unix_ms())?;
        check_child_records(&spec, &host)?;
        machine.resume(&spec, &resumption)?;
        let mut driver = Driver::new(task, &spec, host, machine.entries());
        // The run's clock stood at this when the driver's was started.
        driver.started_at_run_ms = machine.clock_ms();
        Ok(stopped(driver.drive(machine, Pauses::ForPeople).await))
    })
}

/// A task whose record cannot be kept is not started, and that is known before anything is.
fn check_child_records(spec: &RunSpec, host: &Host) -> Result<(), StartError> {
    match spec.delegates.keys().next().filter(|_| host.children.is_none()) {
        Some(tool) => Err(StartError::NoChildRecords(tool.clone())),
        None => Ok(()),
    }
}

/// What a driver does with a question that is left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pauses {
    Never,
    ForPeople,
}

struct Driver {
    model: Arc<dyn Model>,
    tools: HashMap<ToolName, Arc<dyn Tool>>,
    judges: judge::Judges,
    shadow_notes: Option<ShadowNotes>,
    approver: Option<Arc<dyn Approver>>,
    journal: Option<Box<dyn Journal>>,
    clock: Arc<dyn Clock>,
    watch: Watch,
    cancel: Cancel,
    output_bytes_max: usize,
    judge_timeout: Duration,
    started_ms: u64,
    started_at_run_ms: u64,
    redeemer: Arc<dyn Redeemer>,
    keeper: Option<Box<dyn Keeper>>,
    // What tasks inherit that calls start; only where a tool starts any.
    kin: Option<Arc<Kin>>,
    // Whether anything was recorded since the last checkpoint.
    to_keep: bool,
    work: JoinSet<Outcome>,
    // Held by every tool and interceptor at work; when all are let go, no future of theirs is left.
    alive: mpsc::Sender<()>,
    tools_gone: mpsc::Receiver<()>,
    // What each task at work owes, should it break.
    owed: HashMap<Id, Owed>,
    interceptors: Vec<Arc<dyn Interceptor>>,
    consultant: Option<Arc<dyn Consultant>>,
    identity: Option<ContextIdentity>,
    // What the model writes, where it is looked at in pieces.
    wrote: mpsc::UnboundedSender<Outcome>,
    written: Option<mpsc::UnboundedReceiver<Outcome>>,
    // The stream of the model call under way, where it is held.
    hold: Option<Hold>,
    // Whether the machine was told that the task is cancelled.
    cancelled: bool,
    // The model client's advice for the failure that ends the run.
    hint: Option<Egress<SamePrincipal>>,
}

impl Driver {
    /// The names come from the spec, which read each of them once: a part that changes its name, or panics when it is
    /// asked for it again, must not matter any more. `entries` are in the record already.
    fn new(task: Task, spec: &RunSpec, host: Host, entries: u64) -> Self {
        let limits = task.limits_ref();
        let (output_bytes_max, judge_timeout) =
            (limits.tool_output_bytes_max, Duration::from_millis(limits.judge_timeout_ms));
        let started_ms = host.clock.monotonic_ms();
        // Nothing is ever sent: what counts is who still holds the sender.
        let (alive, tools_gone) = mpsc::channel(1);
        let watch = Watch::new(host.observer, host.failures.clone());
        let redeemer = host.redeemer.unwrap_or_else(|| Arc::new(MemoryRedeemer::new()));
        let kin = host.children.filter(|_| !spec.delegates.is_empty()).map(|journals| {
            let own = Above { principal: spec.principal.clone(), policies: task.policies.clone() };
            Arc::new(Kin {
                run: spec.run.clone(),
                entries,
                bench: spec.bench.clone(),
                above: std::iter::once(own).chain(task.above.iter().cloned()).collect(),
                content: spec.content,
                denial_detail: spec.denial_detail,
                journals,
                interceptors: task.interceptors.clone(),
                boundary: spec.boundary.clone(),
                identity: task.identity.clone(),
                approver: host.approver.clone(),
                consultant: host.consultant.clone(),
                failures: host.failures,
                redeemer: Arc::clone(&redeemer),
                clock: Arc::clone(&host.clock),
                cancel: host.cancel.clone(),
                watch: watch.clone(),
                alive: alive.downgrade(),
                fostered: crate::children::Fostered::default(),
            })
        });
        let (wrote, written) = mpsc::unbounded_channel();
        Self {
            model: task.model,
            tools: spec.tools.iter().map(|tool| tool.name.clone()).zip(task.tools).collect(),
            judges: judge::Judges::new(&spec.bench, task.policies, task.above),
            shadow_notes: task.shadow_notes,
            approver: host.approver,
            journal: Some(host.journal),
            clock: host.clock,
            watch,
            cancel: host.cancel,
            output_bytes_max,
            judge_timeout,
            started_ms,
            started_at_run_ms: 0,
            redeemer,
            keeper: host.keeper,
            kin,
            to_keep: false,
            work: JoinSet::new(),
            alive,
            tools_gone,
            owed: HashMap::new(),
            interceptors: task.interceptors,
            consultant: host.consultant,
            identity: task.identity,
            wrote,
            written: Some(written),
            hold: None,
            cancelled: false,
            hint: None,
        }
    }

    fn start(&mut self, owed: Owed, work: impl Future<Output = Outcome> + Send + 'static) {
        let id = self.work.spawn(work).id();
        self.owed.insert(id, owed);
    }

    /// The next outcome; one that says what broke where a task brings none, for the run would wait for it for ever.
    async fn joined(&mut self) -> Option<Outcome> {
        match self.work.join_next_with_id().await? {
            Ok((id, outcome)) => {
                self.owed.remove(&id);
                Some(outcome)
            }
            Err(broken) => self.owed.remove(&broken.id()).map(Owed::broken),
        }
    }

    fn now_ms(&self) -> u64 {
        let since = self.clock.monotonic_ms().saturating_sub(self.started_ms);
        self.started_at_run_ms.saturating_add(since)
    }

    /// Drives until the run has ended, or pauses: then there is no ending.
    async fn drive(mut self, mut machine: Run, pauses: Pauses) -> Driven {
        let mut written = self.written.take();
        let ending = loop {
            if let Some(ending) = self.carry_out(&mut machine).await {
                break Some(ending);
            }
            if self.owed.is_empty() {
                // Every question is left open, so nothing will ever come. The last checkpoint is the pause.
                match self.keep(&machine, Durability::Durable).await {
                    Ok(()) => break None,
                    Err(words) => {
                        let _taken = machine.feed(self.now_ms(), Outcome::RecordFailed(words));
                        continue;
                    }
                }
            }
            // A message that is looked at stands in no checkpoint; the last one does not know it yet.
            if self.to_keep
                && !machine.is_looked_at()
                && let Err(words) = self.keep(&machine, Durability::Handed).await
            {
                let _taken = machine.feed(self.now_ms(), Outcome::RecordFailed(words));
                continue;
            }
            let cancel = self.cancel.clone();
            let outcome = tokio::select! {
                biased;
                () = cancel.fired(), if !self.cancelled => {
                    Outcome::Cancelled
                }
                // What a model has written came before its reply.
                Some(wrote) = async { written.as_mut()?.recv().await } => wrote,
                Some(outcome) = self.joined() => outcome,
            };
            self.cancelled |= matches!(outcome, Outcome::Cancelled);
            if let Some(outcome) = left_open(outcome, pauses) {
                self.feed(&mut machine, outcome);
            }
        };
        self.work.abort_all();
        // A task that blocks its thread cannot be aborted; it is left behind rather than waited for.
        let grace = Duration::from_millis(SHUTDOWN_GRACE_MS);
        drop(self.alive);
        let kin = self.kin.take();
        let gone = async {
            while self.work.join_next().await.is_some() {}
            // Dropping a tool's future ends what it started; a host that exits right after the run must not be faster.
            while self.tools_gone.recv().await.is_some() {}
            self.watch.reported().await;
        };
        let _late = tokio::time::timeout(grace, gone).await;
        if let Some(kin) = kin {
            kin.fostered.abort_all();
        }
        Driven { machine, ending, hint: self.hint }
    }

    fn feed(&self, machine: &mut Run, outcome: Outcome) {
        let now_ms = self.now_ms();
        let notes = self.shadow_notes.iter().flat_map(ShadowNotes::take);
        for told in self.watch.take_failures().into_iter().chain(notes) {
            // A failure of an ended run has been reported on the lane; the record is closed.
            let _late = machine.feed(now_ms, told);
        }
        // A late or repeated outcome changes nothing, by the machine's promise.
        let _late = machine.feed(now_ms, outcome);
    }

    /// Carries out steps until the machine waits or has ended.
    async fn carry_out(&mut self, machine: &mut Run) -> Option<Ending> {
        loop {
            match machine.next()? {
                Step::Record { lines, durable } => {
                    self.to_keep = true;
                    let mut written = self.record(lines, durable).await;
                    if written.is_ok() && durable {
                        // An effect comes next. Whoever goes on from here must know that it may have been.
                        written = self.keep(machine, Durability::Durable).await;
                    }
                    if let Err(words) = written {
                        // Refused only after `Done`, and this comes before it.
                        let _taken = machine.feed(self.now_ms(), Outcome::RecordFailed(words));
                    }
                }
                Step::Notify(event) => {
                    if let Event::ModelFailed { hint, .. } = &event {
                        self.hint.clone_from(hint);
                    }
                    self.watch.notify(&event);
                }
                Step::CallModel { call, request, timeout_ms, release } => {
                    let context = self.model_context(timeout_ms);
                    let model = Arc::clone(&self.model);
                    let (sink, hold) = stream::open(call, &release, &self.watch, &self.wrote);
                    self.hold = hold;
                    self.start(
                        Owed::Reply(call),
                        model::call(model, call, request, context, self.watch.clone(), sink),
                    );
                }
                Step::Release { call, text, last } => self.release(call, &text, last),
                Step::Intercept { passage, seats, occasion } => {
                    let owed = Owed::Verdict(passage, seats.first().copied().unwrap_or_default());
                    let whose = |seat: u32| (seat, self.interceptors.get(seat as usize).cloned());
                    let row = intercept::Row::new(seats.into_iter().map(whose).collect(), occasion);
                    let timeout = self.interceptor_timeout();
                    let (cancel, watch, alive) =
                        (self.cancel.clone(), self.watch.clone(), self.alive.clone());
                    self.start(owed, intercept::intercept(passage, row, timeout, cancel, watch, alive));
                }
                Step::Identify { passage, provider, occasion } => {
                    let name = self.identity.as_ref().filter(|identity| identity.name() == provider);
                    let name = name.and_then(|identity| identity.of(&occasion));
                    // Refused only where the run has ended, and then this step does not come.
                    let _taken = machine.feed(self.now_ms(), Outcome::Identified { passage, name });
                }
                Step::Consult { passage, consultation } => {
                    let (consultant, watch) = (self.consultant.clone(), self.watch.clone());
                    let left = Duration::from_secs(APPROVAL_TTL_S);
                    self.start(
                        Owed::Resolution(passage),
                        intercept::consult(consultant, passage, *consultation, left, watch),
                    );
                }
                Step::Resolve { call, tool: name, arguments } => {
                    let tool = self.tools.get(&name).cloned();
                    let (timeout, watch) = (self.judge_timeout, self.watch.clone());
                    self.start(
                        Owed::Targets(call),
                        tool::resolve(tool, name, call, arguments, timeout, watch),
                    );
                }
                Step::Judge { call, seat } => {
                    let (judges, owed) = (self.judges.clone(), Owed::Opinions(call.id(), seat));
                    let (cancel, watch) = (self.cancel.clone(), self.watch.clone());
                    self.start(owed, judge::hear(judges, call, seat, self.judge_timeout, cancel, watch));
                }
                Step::Ask { question } => {
                    let owed = Owed::Answer(question.call().id(), question.binding());
                    let expires_at_ms = question.facts().expires_at_ms;
                    let left = Duration::from_millis(expires_at_ms.saturating_sub(self.now_ms()));
                    self.start(owed, ask::ask(self.approver.clone(), question, left, self.watch.clone()));
                }
                Step::Redeem { call, binding } => {
                    let redeemer = Arc::clone(&self.redeemer);
                    let (result, call) =
                        (redeem::redeem(redeemer, &call, binding, &self.watch).await, call.id());
                    // Refused only where the run has ended, and then this step does not come.
                    let _taken = machine.feed(self.now_ms(), Outcome::Redeemed { call, result });
                }
                Step::RunTool { permit, timeout_ms, allowance } => {
                    let tool = self.tools.get(permit.call().tool()).cloned();
                    let clock = Arc::clone(&self.clock);
                    let timeout = Duration::from_millis(timeout_ms);
                    let (alive, output_bytes_max) = (self.alive.clone(), self.output_bytes_max);
                    let place = self.kin.clone().zip(allowance);
                    self.start(
                        Owed::Result(permit.call().id()),
                        tool::run(tool, permit, timeout, output_bytes_max, clock, alive, place),
                    );
                }
                Step::Reconcile { call } => {
                    let tool = self.tools.get(call.tool()).cloned();
                    let (timeout, watch) = (self.judge_timeout, self.watch.clone());
                    let output_bytes_max = self.output_bytes_max;
                    self.start(
                        Owed::Reconciled(call.id()),
                        tool::reconcile(tool, call, timeout, output_bytes_max, watch),
                    );
                }
                Step::Done(ending) => return Some(ending),
            }
        }
    }

    fn release(&mut self, call: ModelCallId, text: &str, last: bool) {
        let Some(mut hold) = self.hold.take().filter(|hold| hold.call() == call) else { return };
        hold.release(text);
        if last {
            hold.finish();
        } else {
            self.hold = Some(hold);
        }
    }

    /// A run that is cancelled ends soon, and whoever is told of its end has no more time than its tasks.
    fn interceptor_timeout(&self) -> Duration {
        if self.cancelled { Duration::from_millis(SHUTDOWN_GRACE_MS) } else { self.judge_timeout }
    }

    fn model_context(&self, timeout_ms: u64) -> probity_contract::ModelContext {
        probity_contract::ModelContext {
            cancel: self.cancel.clone(),
            timeout: Duration::from_millis(timeout_ms),
        }
    }
}

/// An outcome for the machine. A question that is left open stays with whoever pauses, and is nobody's to answer otherwise.
fn left_open(outcome: Outcome, pauses: Pauses) -> Option<Outcome> {
    match (outcome, pauses) {
        (Outcome::Answered { answer: Answer::Later, .. }, Pauses::ForPeople) => None,
        (Outcome::Answered { call, binding, answer: Answer::Later }, Pauses::Never) => {
            Some(Outcome::Answered { call, binding, answer: Answer::Nobody })
        }
        (outcome, _) => Some(outcome),
    }
}
