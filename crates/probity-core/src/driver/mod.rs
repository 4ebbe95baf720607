//! The driver on tokio: the one place that awaits. It does what the machine says and feeds back what happened.
//!
//! Every model call, tool, policy and question runs as a task of its own, so that one that blocks or panics harms
//! neither the run nor its neighbours. All of them belong to one set, and dropping the run's future drops the set: there
//! is no way to lose track of a task.

mod judge;
mod model;
mod owed;
mod owned;
mod tool;
mod watch;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use probity_contract::{
    Answer, Approver, BoxFuture, Cancel, Clock, Durability, Emission, Ending, FailureLane, Journal, Model,
    Observer, PendingCall, RosterError, RunId, Tool, ToolName, Usage,
};
use probity_egress::{Egress, EgressValue, SamePrincipal, egress_error, egress_text, egress_value};
use tokio::task::{Id, JoinSet};

use crate::run::{Outcome, Run, RunSpec, SpecError, Step, reply_text_of};
use crate::task::Task;
use owed::Owed;
use owned::Owned;
use watch::Watch;

/// How long the driver waits for its tasks to be gone once the run has ended.
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
    /// The task itself is not sound.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

/// Runs a task to its end as run `run`.
///
/// Needs a tokio runtime; on one with a single thread a policy or tool that blocks its thread cannot be timed out.
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
    policies: judge::Bench,
    approver: Option<Arc<dyn Approver>>,
    journal: Box<dyn Journal>,
    clock: Arc<dyn Clock>,
    watch: Watch,
    cancel: Cancel,
    output_bytes_max: usize,
    judge_timeout: Duration,
    started_ms: u64,
    work: JoinSet<Outcome>,
    // What each task at work owes, should it break.
    owed: HashMap<Id, Owed>,
}

impl Driver {
    /// The names come from the spec, which read each of them once: a part that changes its name, or panics when it is
    /// asked for it again, must not matter any more.
    fn new(task: Task, spec: &RunSpec, host: Host) -> Self {
        let limits = task.limits_ref();
        let (output_bytes_max, judge_timeout) =
            (limits.tool_output_bytes_max, Duration::from_millis(limits.judge_timeout_ms));
        let started_ms = host.clock.monotonic_ms();
        Self {
            model: task.model,
            tools: spec.tools.iter().map(|tool| tool.name.clone()).zip(task.tools).collect(),
            policies: spec.roster.names().iter().cloned().zip(task.policies).collect(),
            approver: host.approver,
            journal: host.journal,
            clock: host.clock,
            watch: Watch::new(host.observer, host.failures),
            cancel: host.cancel,
            output_bytes_max,
            judge_timeout,
            started_ms,
            work: JoinSet::new(),
            owed: HashMap::new(),
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
            if let Some(ending) = self.carry_out(&mut machine) {
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
        let _gone =
            tokio::time::timeout(grace, async { while self.work.join_next().await.is_some() {} }).await;
        finish(machine, ending)
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
    fn carry_out(&mut self, machine: &mut Run) -> Option<Ending> {
        loop {
            match machine.next()? {
                Step::Record { lines, durable } => {
                    if let Err(error) = self.record(&lines, durable) {
                        let words = egress_error::<SamePrincipal>(&error).as_str().to_owned();
                        // Refused only after `Done`, and this comes before it.
                        let _taken = machine.feed(self.now_ms(), Outcome::RecordFailed(words));
                    }
                }
                Step::Notify(event) => self.watch.notify(&event),
                Step::CallModel { call, request, timeout_ms } => {
                    let context = self.model_context(timeout_ms);
                    let model = Arc::clone(&self.model);
                    self.start(
                        Owed::Reply(call),
                        model::call(model, call, request, context, self.watch.clone()),
                    );
                }
                Step::Resolve { call, tool, arguments } => {
                    let tool = self.tools.get(&tool).cloned();
                    self.start(Owed::Targets(call), tool::resolve(tool, call, arguments, self.judge_timeout));
                }
                Step::Judge { call, seat } => {
                    let (bench, owed) = (Arc::clone(&self.policies), Owed::Opinions(call.id(), seat));
                    let (cancel, watch) = (self.cancel.clone(), self.watch.clone());
                    self.start(owed, judge::hear(bench, call, seat, self.judge_timeout, cancel, watch));
                }
                Step::Ask { question } => {
                    let left = question.expires_at_ms.saturating_sub(self.now_ms());
                    let owed = Owed::Answer(question.call.id(), question.call.digest());
                    self.start(owed, ask(self.approver.clone(), question, Duration::from_millis(left)));
                }
                Step::RunTool { permit, timeout_ms } => {
                    let tool = self.tools.get(permit.call().tool()).cloned();
                    let clock = Arc::clone(&self.clock);
                    let timeout = Duration::from_millis(timeout_ms);
                    self.start(
                        Owed::Result(permit.call().id()),
                        tool::run(tool, permit, timeout, self.output_bytes_max, clock),
                    );
                }
                Step::Done(ending) => return Some(ending),
            }
        }
    }

    fn record(&mut self, lines: &[Emission], durable: bool) -> Result<(), probity_contract::JournalError> {
        let durability = if durable { Durability::Durable } else { Durability::Handed };
        let many_threads =
            tokio::runtime::Handle::current().runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread;
        if durable && many_threads {
            // Reaching the medium takes milliseconds; the other work of this thread moves elsewhere meanwhile.
            tokio::task::block_in_place(|| self.journal.append(lines, durability))
        } else {
            self.journal.append(lines, durability)
        }
    }

    fn model_context(&self, timeout_ms: u64) -> probity_contract::ModelContext {
        probity_contract::ModelContext {
            cancel: self.cancel.clone(),
            timeout: Duration::from_millis(timeout_ms),
        }
    }
}

async fn ask(approver: Option<Arc<dyn Approver>>, question: PendingCall, left: Duration) -> Outcome {
    let (call, digest) = (question.call.id(), question.call.digest());
    let answer = match approver {
        None => Answer::Nobody,
        Some(approver) => {
            // A person who does not answer in time has not approved, and neither has an approver that panics.
            let asked = Owned::spawn(async move { approver.ask(&question).await });
            match tokio::time::timeout(left, asked).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) | Err(_) => Answer::Nobody,
            }
        }
    };
    Outcome::Answered { call, digest, answer }
}

fn finish(machine: Run, ending: Ending) -> Finished {
    let text = machine.answer().map(|item| reply_text_of(item));
    let output = text.as_ref().filter(|_| machine.has_output_schema()).and_then(|text| {
        let value: serde_json::Value = serde_json::from_str(text.trim()).ok()?;
        Some(egress_value::<SamePrincipal>(&value))
    });
    Finished {
        answer: text.map(|text| egress_text::<SamePrincipal>(&text)),
        output,
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
