//! The run machine: decides what happens next, and does none of it.
//!
//! [`Run::next`] hands out steps, [`Run::feed`] takes what became of them. The machine has no clock, no randomness and
//! no I/O; time comes in with each outcome. It is plain data that can be written down and read back between any two
//! calls, so one machine serves every driver. The alternative, an async loop that awaits in place, lost: it cannot be
//! stored, replayed or tested without a runtime, and each way of running it would be a loop of its own.

mod call;
mod call_passing;
mod calls;
mod children;
mod declared;
mod judging;
mod kept;
mod labels;
mod ledger;
mod messages;
mod moments;
mod passing;
mod pieces;
mod places;
pub(crate) mod provenance;
mod replay;
mod resuming;
mod settling;
mod snapshot;
mod spec;
mod standing;
mod step;
mod takeover;
pub(crate) mod told;
mod turns;
pub(crate) mod words;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use probity_contract::{
    CallId, Ending, Event, Fact, Item, ItemId, Label, ModelCallId, ProposedCall, Remembered, RunStarted,
    Spending, Usage,
};
use probity_egress::{SamePrincipal, one_line_untrusted};
use serde::{Deserialize, Serialize};

pub use replay::{ReplayError, replay};
pub use resuming::{LeftBehind, ResumeError, Resumption};
pub use snapshot::{Snapshot, SnapshotError};
pub(crate) use spec::Schemas;
pub use spec::{FirstItem, RunSpec, SpecError};
pub use step::{Outcome, Release, Step, Unexpected};

use call::{Call, RefusedForGood};
use ledger::{Ledger, Reserved, Spent};
use passing::Passing;
use pieces::Written;
use told::ToldOf;

/// Code points of a run's title in its record.
const TITLE_CHARS_MAX: usize = 80;

/// A run: what it was given, what it knows, and where it stands.
///
/// Read back with serde it is the same run for the same driver: steps that were handed out are not handed out again, and
/// their outcomes are still waited for. A driver that owes nothing calls [`Run::abandon_outstanding`] first.
///
/// What always holds: no `RunTool` step without a permit; a `Record` step that tells of an effect comes before the step
/// that makes it; every proposed call gets exactly one result item; after `Done` nothing but `Done` comes.
#[derive(Deserialize)]
#[serde(try_from = "RunState")]
pub struct Run {
    state: RunState,
    schemas: Arc<Schemas>,
    // Whether something came in since all calls were moved as far as they go.
    changed: bool,
    // Notices to observers. They are lost over a pause: what happened stands in the record.
    events: VecDeque<Event>,
    // Whether it was read back and its calls were not made whole yet.
    as_stored: bool,
    // What the model is writing, where it is looked at in pieces.
    written: Written,
    // Texts that may go out.
    releases: VecDeque<Step>,
}

/// Its id and how it ended, and nothing that was said in it.
impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("id", self.id()).field("ending", &self.ending()).finish_non_exhaustive()
    }
}

/// Everything of a run that can be written down.
#[derive(Serialize, Deserialize)]
struct RunState {
    spec: RunSpec,
    ledger: Ledger,
    spent: Spent,
    window: Arc<Vec<Arc<Item>>>,
    // The join of the labels of all items in the window.
    label: Label,
    // How much of the window the record knows from the model call before.
    window_recorded: u32,
    next_item: u32,
    next_call: u32,
    next_model_call: u32,
    // What people said of more than one call.
    remembered: Vec<Remembered>,
    refused_for_good: Vec<RefusedForGood>,
    output_retries: u32,
    phase: Phase,
    // Calls of the current reply over the limit of one reply, which come after all others and are only answered.
    surplus: Vec<(CallId, ProposedCall)>,
    // The calls of the current reply, in order of proposal.
    calls: BTreeMap<CallId, Call>,
    // Whether the limit of tool calls has stopped one.
    calls_withheld: bool,
    // Since when the run only waits for people.
    waiting_since_ms: Option<u64>,
    answer: Option<ItemId>,
    // What is known of single values of tools' results.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    told: ToldOf,
    // What is being looked at of the run as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    passing: Option<Box<Passing>>,
    // How many passages there were.
    #[serde(default)]
    next_passage: u64,
    // Whether `Done` was handed out. Until then the record of the end is not known to be written.
    done: bool,
}

/// Where a run stands as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    /// What it was given comes in, item by item.
    Opening {
        // Whether whoever is heard at the start was told.
        told: bool,
    },
    /// The model shall be asked next; with a limit, for the last time and without tools.
    Turn { wrap_up: Option<probity_contract::LimitKind> },
    /// The model was asked.
    Model {
        call: ModelCallId,
        sent: bool,
        wrap_up: Option<probity_contract::LimitKind>,
        // What a limit left of the output, where that is less than was asked for.
        imposed: Option<Reserved>,
    },
    /// The calls of the last reply are on their way.
    Calls,
    /// It has ended, and whoever is heard at the end is told.
    Closing,
    /// It is over.
    Ended(Ending),
}

impl TryFrom<RunState> for Run {
    type Error = SpecError;
    fn try_from(mut state: RunState) -> Result<Self, SpecError> {
        state.label = labels::as_held(&state);
        let schemas = Arc::new(state.spec.check()?);
        Ok(Self {
            state,
            schemas,
            changed: true,
            events: VecDeque::new(),
            as_stored: true,
            written: Written::default(),
            releases: VecDeque::new(),
        })
    }
}

impl Serialize for Run {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.state.serialize(serializer)
    }
}

impl Run {
    /// A run at its beginning.
    ///
    /// # Errors
    /// When the spec cannot be run: a tool's name twice, an unusable schema, a cost limit without prices, no prompt.
    pub fn new(spec: RunSpec) -> Result<Self, SpecError> {
        if !spec.has_prompt() {
            return Err(SpecError::NoPrompt);
        }
        let schemas = Arc::new(spec.check()?);
        let state = RunState {
            ledger: Ledger::new(spec.content),
            spent: Spent::default(),
            window: Arc::new(Vec::new()),
            label: Label::system(),
            window_recorded: 0,
            next_item: 1,
            next_call: 1,
            next_model_call: 1,
            remembered: Vec::new(),
            refused_for_good: Vec::new(),
            output_retries: 0,
            phase: Phase::Opening { told: false },
            surplus: Vec::new(),
            calls: BTreeMap::new(),
            calls_withheld: false,
            waiting_since_ms: None,
            answer: None,
            told: ToldOf::new(),
            passing: None,
            next_passage: 0,
            done: false,
            spec,
        };
        let mut run = Self {
            state,
            schemas,
            changed: true,
            events: VecDeque::new(),
            as_stored: false,
            written: Written::default(),
            releases: VecDeque::new(),
        };
        run.open();
        Ok(run)
    }

    fn open(&mut self) {
        let title = one_line_untrusted::<SamePrincipal>(&self.state.spec.title, TITLE_CHARS_MAX);
        title.as_str().clone_into(&mut self.state.spec.title);
        let spec = &self.state.spec;
        let mut above = spec.bench.levels().iter();
        let own = above.next();
        let started = RunStarted {
            version: probity_contract::RECORD_VERSION,
            run: spec.run.clone(),
            title: spec.title.clone(),
            principal: spec.principal.clone(),
            parent: spec.parent.clone(),
            imported: None,
            model: spec.model.clone(),
            prices: spec.prices,
            params: spec.params.as_ref().clone(),
            tools: spec.tools.to_vec(),
            policies: own.map(|roster| roster.names().to_vec()).unwrap_or_default(),
            inherited: above.map(|roster| roster.names().to_vec()).collect(),
            limits: spec.limits.clone(),
            content: spec.content,
            output_schema: spec.params.output_schema.clone(),
            started_at_unix_ms: spec.started_at_unix_ms,
        };
        self.state.ledger.fact(Fact::RunStarted(Box::new(started)));
        self.progress_opening();
    }

    /// The next thing to do, or `None` while everything that could be done waits for an outcome.
    ///
    /// Steps are to be carried out in the order in which they come; all but `Record` and `Notify` may then go on side
    /// by side.
    #[expect(clippy::should_implement_trait, reason = "not an iterator: `None` means wait, not the end")]
    pub fn next(&mut self) -> Option<Step> {
        self.restore_calls();
        // First all that can move without an outcome moves and writes its facts; then the facts go out; and only then a
        // step that they tell of is handed out.
        self.progress();
        if let Some((lines, durable)) = self.state.ledger.take() {
            return Some(Step::Record { lines, durable });
        }
        if let Some(event) = self.events.pop_front() {
            return Some(Step::Notify(event));
        }
        if let Some(release) = self.releases.pop_front() {
            return Some(release);
        }
        if let Some(step) = self.hand_out_passage() {
            return Some(step);
        }
        self.hand_out()
    }

    fn progress(&mut self) {
        loop {
            let before = self.state.next_passage;
            self.progress_passing();
            if self.state.passing.is_none() {
                self.progress_phase();
            }
            // A passage that waits for nobody is over at once, and what follows may begin another.
            if self.state.next_passage == before {
                return;
            }
        }
    }

    fn progress_phase(&mut self) {
        match self.state.phase {
            Phase::Opening { .. } => {
                self.progress_opening();
                if let Phase::Turn { wrap_up } = self.state.phase {
                    self.begin_model_call(wrap_up);
                }
            }
            Phase::Turn { wrap_up } => self.begin_model_call(wrap_up),
            Phase::Calls if std::mem::take(&mut self.changed) => self.progress_calls(),
            Phase::Calls | Phase::Model { .. } | Phase::Closing | Phase::Ended(_) => {}
        }
    }

    fn hand_out(&mut self) -> Option<Step> {
        match &self.state.phase {
            Phase::Opening { .. } | Phase::Turn { .. } | Phase::Closing => None,
            Phase::Model { sent: true, .. } => None,
            Phase::Model { sent: false, .. } => self.hand_out_model_call(),
            Phase::Calls => self.hand_out_call_step(),
            Phase::Ended(ending) => {
                self.state.done = true;
                Some(Step::Done(ending.clone()))
            }
        }
    }

    /// Takes what became of a step, at `now_ms` of the run's clock (milliseconds since the run started).
    ///
    /// # Errors
    /// [`Unexpected`] when nobody waits for it: a late or repeated outcome changes nothing but, where it is an answer, the
    /// record.
    pub fn feed(&mut self, now_ms: u64, outcome: Outcome) -> Result<(), Unexpected> {
        self.restore_calls();
        self.state.ledger.advance(now_ms);
        self.changed = true;
        match (&self.state.phase, outcome) {
            // The end itself could not be written down, so whoever reads the record sees a run that broke off.
            (Phase::Ended(_), Outcome::RecordFailed(error)) if !self.state.done => self.fail_record(error),
            (Phase::Ended(_), _) => return Err(Unexpected),
            (_, outcome) => self.take_outcome(outcome)?,
        }
        self.measure_waiting();
        Ok(())
    }

    /// Takes a stored run over for a driver that owes no outcome: the one that was asked for them is gone.
    ///
    /// Steps that wait are handed out again, and a tool that was running is settled by its effect: `pure` and
    /// `idempotent` calls are put before the policies and run again under the same key, of `reconcile` and `once` ones it
    /// is recorded, and told to the model, that the outcome is unknown. To be called at once after reading back; a run
    /// that goes on with the driver it had must not be taken over.
    pub fn abandon_outstanding(&mut self) {
        self.restore_calls();
        self.look_anew();
        // A reply that is being looked at has come; it is not asked for twice.
        if let (Phase::Model { sent, .. }, None) = (&mut self.state.phase, &self.state.passing) {
            *sent = false;
        }
        self.abandon_calls();
        self.changed = true;
        self.measure_waiting();
    }

    fn take_outcome(&mut self, outcome: Outcome) -> Result<(), Unexpected> {
        match outcome {
            Outcome::ModelReplied { call, result } => self.model_replied(call, result)?,
            Outcome::ModelWrote { call, text } => self.model_wrote(call, &text)?,
            Outcome::Intercepted { passage, row } => self.intercepted(passage, row)?,
            Outcome::Identified { passage, name } => self.identified(passage, name)?,
            Outcome::Consulted { passage, resolution } => self.consulted(passage, resolution)?,
            Outcome::Resolved { call, result } => self.resolved(call, result)?,
            Outcome::Judged { call, seat, opinions } => self.judged(call, seat, opinions)?,
            Outcome::Answered { call, binding, answer } => self.answered(call, binding, answer)?,
            Outcome::Redeemed { call, result } => self.redeemed(call, result)?,
            Outcome::ToolFinished { call, result, output_bytes, ran_ms } => {
                self.tool_finished(call, result, output_bytes, ran_ms)?;
            }
            Outcome::ChildEnded { call, run, ending, label, spent } => {
                self.child_ended(call, run, ending, label, spent);
            }
            Outcome::Reconciled { call, result } => self.reconciled(call, result)?,
            Outcome::Shadowed { call, seat, policy, said } => {
                self.state.ledger.fact(Fact::Shadowed { call, seat, policy, said });
            }
            Outcome::FailureReported { call, seat, who, error } => {
                self.state.ledger.fact(Fact::FailureReported { call, seat, who, error });
            }
            Outcome::Cancelled => self.cancel(),
            Outcome::RecordFailed(error) => self.fail_record(error),
        }
        Ok(())
    }

    /// The run's id.
    #[must_use]
    pub const fn id(&self) -> &probity_contract::RunId {
        &self.state.spec.run
    }

    /// How the run ended, once it has. Final when [`Step::Done`] has said so: an end that cannot be written down becomes
    /// [`Ending::RecordFailed`].
    #[must_use]
    pub const fn ending(&self) -> Option<&Ending> {
        match &self.state.phase {
            Phase::Ended(ending) => Some(ending),
            Phase::Opening { .. }
            | Phase::Turn { .. }
            | Phase::Model { .. }
            | Phase::Calls
            | Phase::Closing => None,
        }
    }

    /// Tokens spent so far, by the run and by the tasks that it has started.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.spending().usage
    }

    /// US dollars spent so far, where prices and counts are known.
    #[must_use]
    pub fn cost_usd(&self) -> Option<f64> {
        self.spending().cost_usd
    }

    /// Everything spent so far, by the run and by the tasks that it has started and that are over.
    #[must_use]
    pub fn spending(&self) -> Spending {
        self.state.spent.spending(self.state.spec.prices)
    }

    /// The join of the labels of all that the run has seen.
    #[must_use]
    pub const fn label(&self) -> &Label {
        &self.state.label
    }

    /// All items that came into the run, in order. Raw content, for code that may see it.
    #[must_use]
    pub fn items(&self) -> &[Arc<Item>] {
        &self.state.window
    }

    pub(crate) fn has_output_schema(&self) -> bool {
        self.schemas.has_output()
    }

    /// The reply that is the answer, once there is one.
    #[must_use]
    pub fn answer(&self) -> Option<&Arc<Item>> {
        let answer = self.state.answer?;
        self.state.window.iter().rev().find(|item| item.id == answer)
    }
}

/// The text of a reply item; empty for any other item.
pub(crate) fn reply_text_of(item: &Item) -> String {
    match &item.content {
        probity_contract::Content::Reply(parts) => turns::reply_text(parts),
        probity_contract::Content::Instructions(_)
        | probity_contract::Content::Person(_)
        | probity_contract::Content::Context { .. }
        | probity_contract::Content::ToolResult { .. }
        | probity_contract::Content::Notice(_) => String::new(),
    }
}
