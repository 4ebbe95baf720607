//! The driver on tokio: the one place that awaits. It does what the machine says and feeds back what happened.
//!
//! Every model call, tool, policy and question runs as a task of its own, so that one that blocks or panics harms
//! neither the run nor its neighbours. All of them belong to one set, and dropping the run's future drops the set: there
//! is no way to lose track of a task.

mod ask;
mod inquiry;
mod judge;
mod model;
mod owed;
mod owned;
mod tool;
mod watch;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use probity_contract::{
    Approver, BenchError, BoxFuture, Cancel, Clock, Durability, Emission, Ending, Event, FailureLane,
    Journal, Model, Observer, RosterError, RunId, Tool, ToolName, Usage,
};
use probity_egress::{
    Egress, EgressValue, SamePrincipal, egress_error, egress_panic, egress_text, egress_value,
};
use tokio::runtime::RuntimeFlavor;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinSet};

use crate::run::{Outcome, Run, RunSpec, SpecError, Step, reply_text_of};
use crate::task::Task;
pub use inquiry::{Heard, Inquiry};
use owed::Owed;
use watch::Watch;

/// Appends and gives the journal back, unless it broke.
fn append(
    mut journal: Box<dyn Journal>,
    lines: &[Emission],
    durable: bool,
) -> (Option<Box<dyn Journal>>, Result<(), String>) {
    let durability = if durable { Durability::Durable } else { Durability::Handed };
    let words = |words: Egress<SamePrincipal>| words.as_str().to_owned();
    match catch_unwind(AssertUnwindSafe(|| journal.append(lines, durability))) {
        Ok(written) => (Some(journal), written.map_err(|error| words(egress_error(&error)))),
        Err(payload) => (None, Err(words(egress_panic(payload)))),
    }
}

/// How long the driver waits for its tasks to be gone, and for the failure lane, once the run has ended.
const SHUTDOWN_GRACE_MS: u64 = 100;

/// What the surroundings provide to one run.
pub struct Host {
    /// Where the record goes.
    pub journal: Box<dyn Journal>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Who watches.
    pub observer: Option<Arc<dyn Observer>>,
    /// Who hears of failed parts.
    pub failures: Option<Arc<dyn FailureLane>>,
    /// Who decides where a policy asks. Without one such calls are denied.
    pub approver: Option<Arc<dyn Approver>>,
    /// The signal that stops the task.
    pub cancel: Cancel,
}

/// A run that has ended.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// The answer's text, where there is one.
    pub answer: Option<Egress<SamePrincipal>>,
    /// The answer as a value, where an output schema was set and the answer follows it.
    pub output: Option<EgressValue<SamePrincipal>>,
    /// What to do about it, where the model failed and its client knows.
    pub hint: Option<Egress<SamePrincipal>>,
    /// Tokens.
    pub usage: Usage,
    /// US dollars, where known.
    pub cost_usd: Option<f64>,
    machine: Run,
}

impl Finished {
    /// The run's id.
    #[must_use]
    pub const fn run(&self) -> &RunId {
        self.machine.id()
    }

    /// The machine in its last state: all messages of the run, raw, for code that may see them.
    #[must_use]
    pub const fn machine(&self) -> &Run {
        &self.machine
    }
}

/// Why a task could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Two policies with one name.
    #[error(transparent)]
    Roster(#[from] RosterError),
    /// Too many tasks above.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// The task itself is not sound.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

/// Runs a task to its end as run `run`.
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
        let driver = Driver::new(task, &spec, host);
        let machine = Run::new(spec)?;
        Ok(driver.drive(machine).await)
    })
}

struct Driver {
    model: Arc<dyn Model>,
    tools: HashMap<ToolName, Arc<dyn Tool>>,
    judges: judge::Judges,
    approver: Option<Arc<dyn Approver>>,
    journal: Option<Box<dyn Journal>>,
    clock: Arc<dyn Clock>,
    watch: Watch,
    cancel: Cancel,
    output_bytes_max: usize,
    judge_timeout: Duration,
    started_ms: u64,
    work: JoinSet<Outcome>,
    // Held by every tool at work; when all are let go, no tool's future is left.
    alive: mpsc::Sender<()>,
    tools_gone: mpsc::Receiver<()>,
    // What each task at work owes, should it break.
    owed: HashMap<Id, Owed>,
    // The model client's advice for the failure that ends the run.
    hint: Option<Egress<SamePrincipal>>,
}

impl Driver {
    /// The names come from the spec, which read each of them once: a part that changes its name, or panics when it is
    /// asked for it again, must not matter any more.
    fn new(task: Task, spec: &RunSpec, host: Host) -> Self {
        let limits = task.limits_ref();
        let (output_bytes_max, judge_timeout) =
            (limits.tool_output_bytes_max, Duration::from_millis(limits.judge_timeout_ms));
        let started_ms = host.clock.monotonic_ms();
        // Nothing is ever sent: what counts is who still holds the sender.
        let (alive, tools_gone) = mpsc::channel(1);
        Self {
            model: task.model,
            tools: spec.tools.iter().map(|tool| tool.name.clone()).zip(task.tools).collect(),
            judges: judge::Judges::new(&spec.bench, task.policies, task.above),
            approver: host.approver,
            journal: Some(host.journal),
            clock: host.clock,
            watch: Watch::new(host.observer, host.failures),
            cancel: host.cancel,
            output_bytes_max,
            judge_timeout,
            started_ms,
            work: JoinSet::new(),
            alive,
            tools_gone,
            owed: HashMap::new(),
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
        self.clock.monotonic_ms().saturating_sub(self.started_ms)
    }

    async fn drive(mut self, mut machine: Run) -> Finished {
        let ending = loop {
            if let Some(ending) = self.carry_out(&mut machine).await {
                break ending;
            }
            let outcome = tokio::select! {
                biased;
                () = self.cancel.fired() => Outcome::Cancelled,
                Some(outcome) = self.joined() => outcome,
            };
            self.feed(&mut machine, outcome);
        };
        self.work.abort_all();
        // A task that blocks its thread cannot be aborted; it is left behind rather than waited for.
        let grace = Duration::from_millis(SHUTDOWN_GRACE_MS);
        drop(self.alive);
        let gone = async {
            while self.work.join_next().await.is_some() {}
            // Dropping a tool's future ends what it started; a host that exits right after the run must not be faster.
            while self.tools_gone.recv().await.is_some() {}
            self.watch.reported().await;
        };
        let _late = tokio::time::timeout(grace, gone).await;
        finish(machine, ending, self.hint)
    }

    fn feed(&self, machine: &mut Run, outcome: Outcome) {
        let now_ms = self.now_ms();
        for failure in self.watch.take_failures() {
            // A failure of an ended run has been reported on the lane; the record is closed.
            let _late = machine.feed(now_ms, failure);
        }
        // A late or repeated outcome changes nothing, by the machine's promise.
        let _late = machine.feed(now_ms, outcome);
    }

    /// Carries out steps until the machine waits or has ended.
    async fn carry_out(&mut self, machine: &mut Run) -> Option<Ending> {
        loop {
            match machine.next()? {
                Step::Record { lines, durable } => {
                    if let Err(words) = self.record(lines, durable).await {
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
                Step::CallModel { call, request, timeout_ms } => {
                    let context = self.model_context(timeout_ms);
                    let model = Arc::clone(&self.model);
                    self.start(
                        Owed::Reply(call),
                        model::call(model, call, request, context, self.watch.clone()),
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
                Step::RunTool { permit, timeout_ms } => {
                    let tool = self.tools.get(permit.call().tool()).cloned();
                    let clock = Arc::clone(&self.clock);
                    let timeout = Duration::from_millis(timeout_ms);
                    self.start(
                        Owed::Result(permit.call().id()),
                        tool::run(tool, permit, timeout, self.output_bytes_max, clock, self.alive.clone()),
                    );
                }
                Step::Done(ending) => return Some(ending),
            }
        }
    }

    async fn record(&mut self, lines: Vec<Emission>, durable: bool) -> Result<(), String> {
        // Away only while an append is under way, or after one that broke.
        let Some(journal) = self.journal.take() else { return Err("the journal is gone".to_owned()) };
        let threads = tokio::runtime::Handle::current().runtime_flavor();
        let append = move || append(journal, &lines, durable);
        let (journal, written) = if durable && threads == RuntimeFlavor::MultiThread {
            // Reaching the medium takes milliseconds, in which this thread has other work. The journal goes along rather
            // than the work elsewhere (`block_in_place`), which is not to be had inside a `LocalSet`.
            tokio::task::spawn_blocking(append)
                .await
                .map_err(|error| egress_error::<SamePrincipal>(&error).as_str().to_owned())?
        } else {
            append()
        };
        self.journal = journal;
        written
    }

    fn model_context(&self, timeout_ms: u64) -> probity_contract::ModelContext {
        probity_contract::ModelContext {
            cancel: self.cancel.clone(),
            timeout: Duration::from_millis(timeout_ms),
        }
    }
}

fn finish(machine: Run, ending: Ending, hint: Option<Egress<SamePrincipal>>) -> Finished {
    let text = machine.answer().map(|item| reply_text_of(item));
    let output = text.as_ref().filter(|_| machine.has_output_schema()).and_then(|text| {
        let value: serde_json::Value = serde_json::from_str(text.trim()).ok()?;
        Some(egress_value::<SamePrincipal>(&value))
    });
    Finished {
        answer: text.map(|text| egress_text::<SamePrincipal>(&text)),
        output,
        hint: hint.filter(|_| matches!(ending, Ending::ModelFailed { .. })),
        usage: machine.usage(),
        cost_usd: machine.cost_usd(),
        ending,
        machine,
    }
}

/// The machine's own clock: the system's.
#[derive(Debug, Clone)]
pub struct SystemClock {
    origin: tokio::time::Instant,
}

impl SystemClock {
    /// A clock that starts now.
    #[must_use]
    pub fn new() -> Self {
        Self { origin: tokio::time::Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn unix_ms(&self) -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    fn monotonic_ms(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
