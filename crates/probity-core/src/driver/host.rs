//! What a run is given by its surroundings, and what is told of it when it comes to rest.

use std::sync::Arc;

use probity_contract::{
    Approver, BenchError, Cancel, ChildJournals, Clock, Consultant, Ending, FailureLane, InterceptorName,
    Journal, MessageDenied, Observer, Redeemer, RosterError, RunId, ToolName, Usage,
};
use probity_egress::{Egress, EgressValue, SamePrincipal, egress_text, egress_value};

use super::clock::SystemClock;
use super::keep::Keeper;
use crate::run::{ResumeError, Run, SpecError, reply_text_of};

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
    /// Who keeps count of used approvals. Without one the count is this run's own: whoever stores runs and has several
    /// processes go on with them needs one that all of them share.
    pub redeemer: Option<Arc<dyn Redeemer>>,
    /// Where the records of tasks go that calls of this one start. Without it a task with a tool that starts any is not started.
    pub children: Option<Arc<dyn ChildJournals>>,
    /// Who keeps checkpoints. Without one a process that ends takes the run with it.
    pub keeper: Option<Box<dyn Keeper>>,
    /// Who decides where an interceptor's deny may be lifted. Without one it stands.
    pub consultant: Option<Arc<dyn Consultant>>,
    /// The signal that stops the task.
    pub cancel: Cancel,
}

impl Host {
    /// A host with a journal, the system's clock, and nobody else.
    #[must_use]
    pub fn new(journal: Box<dyn Journal>) -> Self {
        Self {
            journal,
            clock: Arc::new(SystemClock::new()),
            observer: None,
            failures: None,
            approver: None,
            redeemer: None,
            children: None,
            keeper: None,
            consultant: None,
            cancel: Cancel::new(),
        }
    }
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

    /// Who refused what, where an interceptor has: the run has no answer then.
    #[must_use]
    pub const fn denied(&self) -> Option<&MessageDenied> {
        if let Ending::MessageDenied(denied) = &self.ending { Some(denied) } else { None }
    }

    /// The machine in its last state: all messages of the run, raw, for code that may see them.
    #[must_use]
    pub const fn machine(&self) -> &Run {
        &self.machine
    }
}

/// How a task came to rest.
#[derive(Debug)]
pub enum Stopped {
    /// It has ended.
    Finished(Box<Finished>),
    /// It waits for people and for nothing else.
    Paused(Box<Paused>),
}

/// A run that goes on when people have answered.
#[derive(Debug)]
pub struct Paused {
    machine: Run,
}

impl Paused {
    /// The machine as it waits: to be stored, and to be asked for its [`Run::questions`].
    #[must_use]
    pub const fn machine(&self) -> &Run {
        &self.machine
    }

    /// The machine itself.
    #[must_use]
    pub fn into_machine(self) -> Run {
        self.machine
    }
}

/// Why a task could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Two policies with one name.
    #[error(transparent)]
    Roster(#[from] RosterError),
    /// Two interceptors with one name.
    #[error("two interceptors are called `{0}`")]
    InterceptorTwice(InterceptorName),
    /// Too many tasks above.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// The task itself is not sound.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The tool starts tasks, and there is no place for their records.
    #[error("give the task the tool `{0}`: it starts tasks, and the host keeps no records of those")]
    NoChildRecords(ToolName),
    /// It is not the task of the run that it shall go on with.
    #[error(transparent)]
    Resume(#[from] ResumeError),
}

/// Where a drive came to: a pause where there is no ending.
pub(super) struct Driven {
    pub(super) machine: Run,
    pub(super) ending: Option<Ending>,
    pub(super) hint: Option<Egress<SamePrincipal>>,
}

pub(super) fn stopped(driven: Driven) -> Stopped {
    match driven.ending {
        None => Stopped::Paused(Box::new(Paused { machine: driven.machine })),
        Some(ending) => Stopped::Finished(Box::new(finish(driven.machine, ending, driven.hint))),
    }
}

pub(super) fn finish(machine: Run, ending: Ending, hint: Option<Egress<SamePrincipal>>) -> Finished {
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
