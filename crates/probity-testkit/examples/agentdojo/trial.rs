//! One run of one task under one setting, through the production path.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use probity_contract::{
    Approver, Cancel, ChildJournals, Content, Durability, Ending, Item, JournalError, Limits, Model,
    ModelContext, ModelError, ModelEvent, ModelName, ModelRequest, PrincipalId, ReplyPartKind, RunId, Tool,
    ToolName,
};
use probity_core::{
    Checkpoint, ChildProfile, Finished, Host, Keeper, KeyRing, LeftBehind, Making, NONCE_BYTES, Resumption,
    Snapshot, Stopped, SubAgent, Task, resume_task, start_task,
};
use probity_testkit::{MemoryChildren, MemoryJournal};
use serde_json::Value;

use super::adapter::{Adapter, Checked, Suite};
use super::answer::Cleaner;
use super::attacker::{Obedient, Part};
use super::policies::{Planner, Setting};
use super::world::{DELEGATE, DojoTool, World};

/// How a task is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// From its start to its end.
    Straight,
    /// What an outsider wants is handed to a task below, which does it.
    Child,
    /// The process ends while the model thinks about what an outsider wrote, or half-way where nothing is read; another goes on.
    Resumed,
}

impl Way {
    /// The word on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Straight => "straight",
            Self::Child => "child",
            Self::Resumed => "resumed",
        }
    }
}

/// Which task with which injection.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    pub(crate) setting: Setting,
    pub(crate) way: Way,
    /// Its place among the suites.
    pub(crate) suite: usize,
    pub(crate) user_task: String,
    pub(crate) injection: Option<String>,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) utility: bool,
    pub(crate) attacked: bool,
    /// Questions that were put to the person.
    pub(crate) prompts: u32,
}

impl Trial {
    pub(crate) async fn run(&self, adapter: &Arc<Adapter>, suite: &Suite) -> Result<Outcome> {
        let injection = self.injection.as_deref();
        let world = World::open(adapter, suite, &self.user_task, injection, self.setting.vouches())?;
        let world = Arc::new(world);
        let outcome = self.run_in(&world).await;
        adapter.close(world.opened.world)?;
        outcome.with_context(|| {
            let injection = injection.unwrap_or("no injection");
            format!("run {} {} with {injection} under `{}`", suite.name, self.user_task, self.setting.name())
        })
    }

    async fn run_in(&self, world: &Arc<World>) -> Result<Outcome> {
        let who = PrincipalId::new("person").context("name the person")?;
        let person = Arc::new(Planner::new(world, who.clone()));
        let seat = Seat { setting: self.setting, world, who, person: &person };
        let finished = match self.way {
            Way::Straight => seat.straight(Part::Everything).await?,
            Way::Child => seat.straight(Part::Handing).await?,
            Way::Resumed => seat.resumed().await?,
        };
        let Ending::Answered = finished.ending else { bail!("the run ended with {:?}", finished.ending) };
        let answer = finished.machine().answer().map(|item| text_of(item)).unwrap_or_default();
        let Checked { utility, attacked } = world.adapter.check(world.opened.world, &answer)?;
        Ok(Outcome { utility, attacked, prompts: person.asked() })
    }
}

/// All that a task of this world needs.
struct Seat<'a> {
    setting: Setting,
    world: &'a Arc<World>,
    who: PrincipalId,
    person: &'a Arc<Planner>,
}

impl Seat<'_> {
    fn tools(&self) -> Result<Vec<Arc<dyn Tool>>> {
        let tools = self.world.tools.values().map(|tool| {
            let tool = DojoTool::new(tool, self.world)?;
            Ok(Arc::new(tool) as Arc<dyn Tool>)
        });
        tools.collect()
    }

    /// The tool behind which another task does what an outsider wants. It leaves it to this one what may run.
    fn delegate(&self) -> Result<Arc<dyn Tool>> {
        let name = PrincipalId::new("helper").context("name the task below")?;
        let model = Arc::new(Obedient::new(Arc::clone(self.world), Part::Handed)?);
        let mut profile = ChildProfile::new(name, model).as_above().limits(limits());
        for tool in self.tools()? {
            profile = profile.tool(tool);
        }
        let name = ToolName::new(DELEGATE).context("name the tool")?;
        Ok(Arc::new(SubAgent::new(name, "Has somebody else do it.", profile)))
    }

    fn task(&self, model: Arc<dyn Model>, part: Part) -> Result<Task> {
        let mut task = Task::new(model, self.who.clone(), &self.world.opened.message).limits(limits());
        for tool in self.tools()? {
            task = task.tool(tool);
        }
        if part == Part::Handing {
            task = task.tool(self.delegate()?);
        }
        for policy in self.setting.policies(self.world)? {
            task = task.policy(policy);
        }
        if self.setting.has_output() {
            task = task.interceptor(Arc::new(Cleaner::new(self.world)?));
        }
        Ok(task)
    }

    fn host(&self, journal: MemoryJournal, keeper: Option<Box<dyn Keeper>>) -> Host {
        let approver = Arc::clone(self.person) as Arc<dyn Approver>;
        let children = Some(Arc::new(MemoryChildren::new()) as Arc<dyn ChildJournals>);
        Host { approver: Some(approver), keeper, children, ..Host::new(Box::new(journal)) }
    }

    async fn straight(&self, part: Part) -> Result<Finished> {
        let model = Arc::new(Obedient::new(Arc::clone(self.world), part)?);
        let host = self.host(MemoryJournal::new(), None);
        finished(start_task(self.task(model, part)?, run_id()?, host).await.context("start the task")?)
    }

    /// Starts the task, ends its process while the model thinks, and has another one go on from the last checkpoint.
    async fn resumed(&self) -> Result<Finished> {
        let ring = KeyRing::parse(&KeyRing::written(&[7; 32])).context("make a key")?;
        let (journal, safe) = (MemoryJournal::new(), Safe::new(ring.clone()));
        let leaves = Cancel::new();
        let model = Obedient::new(Arc::clone(self.world), Part::Everything)?;
        let model = Arc::new(Thinking { model, world: Arc::clone(self.world), leaves: leaves.clone() });
        let host = self.host(journal.clone(), Some(Box::new(safe.clone())));
        let first = start_task(self.task(model, Part::Everything)?, run_id()?, host);
        tokio::select! {
            biased;
            stopped = first => return finished(stopped.context("start the task")?),
            () = leaves.fired() => {}
        }
        let checkpoint = safe.open()?;
        let mut left_behind = LeftBehind::default();
        for entry in journal.entries().iter().filter(|entry| entry.seq >= checkpoint.run.entries()) {
            let text = |part| journal.text(part).map(Arc::from);
            left_behind.take(entry.seq, entry.at_ms, Some(&entry.fact), text);
        }
        let now_ms = checkpoint.run.clock_ms();
        let resumption = Resumption { checkpoint: checkpoint.head.generation, now_ms, left_behind };
        let model = Arc::new(Obedient::new(Arc::clone(self.world), Part::Everything)?);
        let host = self.host(journal, Some(Box::new(safe)));
        let resumed =
            resume_task(self.task(model, Part::Everything)?, checkpoint.run, resumption, host).await;
        finished(resumed.context("go on with the task")?)
    }
}

fn limits() -> Limits {
    Limits { turns_max: 200, tool_calls_max: 200, ..Limits::default() }
}

fn run_id() -> Result<RunId> {
    RunId::new("agentdojo").context("name the run")
}

fn finished(stopped: Stopped) -> Result<Finished> {
    match stopped {
        Stopped::Finished(finished) => Ok(*finished),
        Stopped::Paused(_) => bail!("the run waits for a person who has answered everything"),
    }
}

fn text_of(item: &Item) -> String {
    let Content::Reply(parts) = &item.content else { return item.flat_text() };
    let texts = parts.iter().filter_map(|part| match &part.kind {
        ReplyPartKind::Text(text) => Some(text.as_str()),
        ReplyPartKind::Reasoning(_) | ReplyPartKind::Call(_) | ReplyPartKind::Opaque => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A model whose process ends while it thinks: right after an outsider's words were read, or half-way.
struct Thinking {
    model: Obedient,
    world: Arc<World>,
    leaves: Cancel,
}

impl Model for Thinking {
    fn name(&self) -> &ModelName {
        self.model.name()
    }

    fn call(
        &self,
        request: ModelRequest,
        cx: ModelContext,
    ) -> probity_contract::BoxStream<'static, Result<ModelEvent, ModelError>> {
        let way = super::attacker::way(&request.items, &self.world.opened.mark);
        if way.read_after.is_some() || way.done * 2 >= self.world.opened.plan.len() {
            self.leaves.fire();
            return Box::pin(futures_util::stream::pending());
        }
        self.model.call(request, cx)
    }
}

/// The last checkpoint, sealed as it would be on a disk.
#[derive(Clone)]
struct Safe {
    ring: KeyRing,
    last: Arc<Mutex<(u64, Vec<u8>)>>,
}

impl Safe {
    fn new(ring: KeyRing) -> Self {
        Self { ring, last: Arc::default() }
    }

    fn open(&self) -> Result<Checkpoint> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        Checkpoint::open(&self.ring, &last.1, 0, last.0).context("open the last checkpoint")
    }
}

impl Keeper for Safe {
    fn keep(&mut self, state: &Snapshot, _durability: Durability) -> Result<(), JournalError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = last.0 + 1;
        let mut nonce = [0; NONCE_BYTES];
        nonce.iter_mut().zip(generation.to_be_bytes()).for_each(|(to, from)| *to = from);
        let making = Making { generation, made_at_unix_ms: 0, ttl_s: 60, host: &Value::Null, nonce };
        let sealed = Checkpoint::seal(&self.ring, state, &making);
        let sealed = sealed.map_err(|error| JournalError { message: error.to_string(), source: None })?;
        *last = (generation, sealed);
        Ok(())
    }
}
