//! `probity run`: runs one task and writes its record.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use probity_contract::{
    Answer, Approver, BoxFuture, Cancel, Consultant, ContentSetting, Ending, Journal, ModelErrorClass,
    PendingCall, PrincipalId, RunId, ToolName,
};
use probity_core::{Finished, Host, Keeper, Stopped, SystemClock, Task, run_task, start_task};
use probity_egress::{Egress, Words, egress_text};
use probity_store::{Store, StoreError};
use probity_trace::RunSummary;

use crate::cli::{Cli, RunArgs};
use crate::exit::{Code, Fatal};
use crate::keeping::{SealedKeeper, Started};
use crate::policies::data;
use crate::render::{
    FailureTeller, Questions, Report, Screen, TerminalApprover, TerminalConsultant, Watcher,
};
use crate::task_file::{self, ContextEntry, HostEntry, PolicyTable, RootEntry, TaskFile};
use crate::{interrupt, keys, settings, wire};

pub(crate) async fn run(cli: &Cli, args: &RunArgs, screen: Arc<Screen>) -> Result<Code, Fatal> {
    let file = task_file(args)?;
    let person = !args.no_input && !cli.json && std::io::stdin().is_terminal() && screen.is_interactive();
    data::is_apart(&settings::data_dir(cli.data_dir.clone())?, &file.tools)?;
    let (task, principal) = task(file, person)?;
    let look = Look { json: cli.json, quiet: args.quiet, reasoning: args.reasoning };
    let started = if args.no_checkpoints { None } else { Started::now(person) };
    let asking = Asking::of(person, args.no_input || started.is_none(), &screen, principal);
    let executed = execute(cli.data_dir.clone(), Start { task, asking, started }, look, &screen).await?;
    executed.show(look, &screen);
    Ok(executed.code)
}

/// Puts the task of a file together. Where `asks` is true a person is asked about calls that no rule covers.
pub(crate) fn task(file: TaskFile, asks: bool) -> Result<(Task, PrincipalId), Fatal> {
    let name = file.model.clone().ok_or_else(|| {
        Fatal::new(Code::Usage, "choose a model: neither the task file nor --model names one")
            .hint("write --model provider/name, for example --model ollama/llama3.2")
    })?;
    let model = wire::model(&name, file.base_url.clone(), file.key_file.clone())?;
    let tools = wire::tools(&file.tools)?;
    wire::task(file, model, tools, asks)
}

/// What becomes of a question.
pub(crate) enum Asking {
    /// The person at the terminal is asked, and may leave it open.
    Person(Arc<Screen>, PrincipalId),
    /// It stays open, and the run pauses.
    Later,
    /// It counts as refused.
    Nobody,
}

impl Asking {
    pub(crate) fn of(person: bool, never: bool, screen: &Arc<Screen>, principal: PrincipalId) -> Self {
        match (person, never) {
            (true, _) => Self::Person(Arc::clone(screen), principal),
            (false, false) => Self::Later,
            (false, true) => Self::Nobody,
        }
    }

    /// A deny that may be lifted is put to a person who is there; else it stands, for a run does not pause over it.
    fn consultant(&self) -> Option<Arc<dyn Consultant>> {
        match self {
            Self::Person(screen, _) => Some(Arc::new(TerminalConsultant::new(Arc::clone(screen)))),
            Self::Later | Self::Nobody => None,
        }
    }

    fn approver(self) -> Option<Arc<dyn Approver>> {
        match self {
            Self::Person(screen, person) => Some(Arc::new(TerminalApprover::new(screen, person))),
            Self::Later => Some(Arc::new(LeavesOpen)),
            Self::Nobody => None,
        }
    }
}

/// Answers nothing now.
struct LeavesOpen;

impl Approver for LeavesOpen {
    fn ask<'a>(&'a self, _question: &'a PendingCall) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(Answer::Later))
    }
}

/// A task that begins.
pub(crate) struct Start {
    pub(crate) task: Task,
    pub(crate) asking: Asking,
    /// How the task was started; without it nothing is kept to go on from.
    pub(crate) started: Option<Started>,
}

/// What is shown of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) reasoning: bool,
}

/// A run that has ended or pauses, ready to be shown.
pub(crate) struct Executed {
    pub(crate) run: RunId,
    pub(crate) code: Code,
    came_to: CameTo,
    model_hint: Option<Egress<probity_egress::SamePrincipal>>,
}

enum CameTo {
    Ended(Box<Report>),
    Pauses(Questions),
}

impl Executed {
    pub(crate) fn show(&self, look: Look, screen: &Screen) {
        let report = match &self.came_to {
            CameTo::Ended(report) => report,
            CameTo::Pauses(questions) => return questions.show(look.json, screen),
        };
        if look.json {
            screen.json(&report.json());
        }
        if look.quiet
            && !look.json
            && let Some(answer) = report.answer()
        {
            screen.out(&answer);
        }
        if !look.json && (!look.quiet || self.code != Code::Ok) {
            report.lines().iter().for_each(|line| screen.tell(line));
        }
        if let Some(hint) = &self.model_hint {
            screen.tell(hint);
        }
    }
}

/// Runs a task, with its record in the store.
pub(crate) async fn execute(
    data_dir: Option<PathBuf>,
    start: Start,
    look: Look,
    screen: &Arc<Screen>,
) -> Result<Executed, Fatal> {
    let Start { task, asking, started } = start;
    let data_dir = settings::data_dir(data_dir)?;
    let store = open_store(&data_dir, screen).await?;
    let run = settings::fresh_run_id()?;
    let keeper = match &started {
        Some(started) => Some(SealedKeeper::new(
            store.checkpoints().map_err(|error| store_failed(&error))?,
            keys::ring_or_new(&data_dir)?,
            0,
            started,
        )?),
        None => None,
    };
    let journal: Box<dyn Journal> = Box::new(store.begin(&run).map_err(|error| store_failed(&error))?);
    let host = host(&store, journal, keeper, asking, look, screen)?;
    // Where nothing is kept there is nothing to pause for: a question that is left open counts as one that nobody answers.
    let stopped = match started {
        Some(_) => start_task(task, run.clone(), host).await,
        None => run_task(task, run.clone(), host).await.map(|ended| Stopped::Finished(Box::new(ended))),
    };
    screen.idle();
    match stopped {
        Ok(stopped) => Ok(come_to_rest(&store, run, stopped).await),
        Err(error) => {
            // Nothing was begun, so there is nothing to keep.
            let _gone = store.delete(&run).await;
            Err(Fatal::of(Code::Usage, &error))
        }
    }
}

/// Opens the store and tells what is odd about it.
pub(crate) async fn open_store(data_dir: &Path, screen: &Screen) -> Result<Store, Fatal> {
    let store = Store::open(data_dir).await.map_err(|error| store_failed(&error))?;
    store.notices().iter().for_each(|notice| screen.tell(&egress_text(notice)));
    Ok(store)
}

/// Everything around a run of this program. Signals stop the task from here on.
pub(crate) fn host(
    store: &Store,
    journal: Box<dyn Journal>,
    keeper: Option<SealedKeeper>,
    asking: Asking,
    look: Look,
    screen: &Arc<Screen>,
) -> Result<Host, Fatal> {
    let redeemer = store.redeemer().map_err(|error| store_failed(&error))?;
    let cancel = Cancel::new();
    interrupt::watch(cancel.clone(), Arc::clone(screen));
    let talks = !look.json && !look.quiet;
    let watcher = Watcher::new(Arc::clone(screen), talks, talks, talks && look.reasoning);
    Ok(Host {
        journal,
        clock: Arc::new(SystemClock::new()),
        observer: Some(Arc::new(watcher)),
        failures: Some(Arc::new(FailureTeller(Arc::clone(screen)))),
        consultant: asking.consultant(),
        approver: asking.approver(),
        redeemer: Some(Arc::new(redeemer)),
        children: Some(Arc::new(store.children())),
        keeper: keeper.map(|keeper| Box::new(keeper) as Box<dyn Keeper>),
        cancel,
    })
}

/// What there is to tell of a run that has ended or pauses.
pub(crate) async fn come_to_rest(store: &Store, run: RunId, stopped: Stopped) -> Executed {
    match stopped {
        Stopped::Paused(paused) => {
            let questions = Questions::of(paused.machine());
            Executed { run, code: Code::Paused, came_to: CameTo::Pauses(questions), model_hint: None }
        }
        Stopped::Finished(finished) => {
            // One that stays is refused when it is opened: the record tells of the end.
            let _stays = store.kept_checkpoints().remove(&run);
            let summary = summarise(store, &run).await;
            let (model_hint, code) = (model_hint(&finished), Code::of_ending(&finished.ending));
            let came_to = CameTo::Ended(Box::new(Report::new(&finished, summary.as_ref())));
            Executed { run, code, came_to, model_hint }
        }
    }
}

/// Reads the record back and puts its summary into the index. A list works without it.
async fn summarise(store: &Store, run: &RunId) -> Option<RunSummary> {
    let summary = store.read(run).await.ok()?.record.summary()?;
    store.index_finished(&summary).await;
    Some(summary)
}

/// The next step after a model call that failed.
fn model_hint(finished: &Finished) -> Option<Egress<probity_egress::SamePrincipal>> {
    use ModelErrorClass as Class;
    let Ending::ModelFailed { class, .. } = &finished.ending else { return None };
    if let Some(hint) = &finished.hint {
        return Some(Words::new().text(" hint: ").passed(hint).done());
    }
    let hint = match class {
        Class::Auth => {
            " hint: check the key and that it may use this model; `probity doctor` tells which keys are set"
        }
        Class::NotFound => " hint: check the model's name and the address behind --base-url",
        Class::BadRequest => " hint: check the parameters, and whether the context fits the model",
        Class::RateLimited => " hint: wait and try again, or check the account's limits and credit",
        Class::Malformed => " hint: check that the address behind --base-url serves this provider's API",
        Class::TimedOut => {
            " hint: try again, or give the model more time with `model_timeout_ms` in the task file"
        }
        Class::NoAnswer => {
            " hint: no rule of the rule file matches what the model was given; add one that does"
        }
        Class::Truncated | Class::TooLarge => " hint: nothing of the broken reply was executed; try again",
        Class::ServerError | Class::Unreachable | Class::Cancelled => {
            " hint: try again later; `probity doctor` tells which providers can be reached"
        }
    };
    Some(Egress::fixed(hint))
}

pub(crate) fn store_failed(error: &StoreError) -> Fatal {
    let fatal = Fatal::of(Code::Store, error);
    match error.hint() {
        Some(hint) => fatal.hint(hint),
        None => fatal,
    }
}

/// The task that the arguments state: the file's, with the flags laid over it.
pub(crate) fn task_file(args: &RunArgs) -> Result<TaskFile, Fatal> {
    let mut file = if args.task.ends_with(".toml") {
        TaskFile::load(Path::new(&args.task))?
    } else if !args.task.contains(char::is_whitespace) && Path::new(&args.task).is_file() {
        // Nobody means a file's name to be the prompt.
        return Err(Fatal::new(
            Code::Usage,
            &format!("take `{}` as a task: its name does not end in .toml", args.task),
        )
        .hint("to give the model a file to read, use --context NAME=FILE"));
    } else {
        let policy = PolicyTable::of_folder(Path::new("."));
        TaskFile { prompt: args.task.clone(), policy, ..TaskFile::default() }
    };
    if file.prompt.trim().is_empty() {
        return Err(Fatal::new(Code::Usage, "read the prompt: it is empty"));
    }
    let RunArgs { model, base_url, key_file, instructions, .. } = args;
    file.model = model.clone().or(file.model);
    file.base_url = base_url.clone().or(file.base_url);
    file.key_file = key_file.clone().or(file.key_file);
    file.instructions = instructions.clone().or(file.instructions);
    for text in &args.context {
        file.context.push(context(text)?);
    }
    add_roots(&mut file, args);
    file.tools.names.extend(args.tools.iter().map(|name| name.trim().to_owned()));
    file.default_tools();
    file.tools.hosts.extend(args.host.iter().cloned().map(HostEntry::Public));
    file.tools.required |= args.require_tool;
    file.policy.allow.extend(args.allow.iter().cloned());
    file.policy.ask.extend(args.ask.iter().cloned());
    file.policy.deny.extend(args.deny.iter().cloned());
    file.limits.turns_max = args.max_turns.unwrap_or(file.limits.turns_max);
    file.record.content = args.content.map_or(file.record.content, ContentSetting::from);
    Ok(file)
}

/// Material that the command line names. Somebody may have written it who is not the person at the keyboard, so it is
/// not trusted; a task file can say otherwise.
fn context(text: &str) -> Result<ContextEntry, Fatal> {
    let (name, path) = text
        .split_once('=')
        .ok_or_else(|| Fatal::new(Code::Usage, &format!("read `--context {text}`: it is not NAME=FILE")))?;
    // What fails is told with the whole argument: the pass knows some files' names only behind the name before them.
    let said = format!("--context {text}");
    let text = task_file::read_text_said(Path::new(path), &said, task_file::CONTEXT_BYTES_MAX)?;
    Ok(ContextEntry {
        name: name.to_owned(),
        text: Some(text),
        trusted: Some(false),
        ..ContextEntry::default()
    })
}

/// Roots of the command line without a name are called `work`, `work2`, and so on, the readable ones first.
fn add_roots(file: &mut TaskFile, args: &RunArgs) {
    let read = args.root.iter().map(|text| (text, false));
    for (text, write) in read.chain(args.write_root.iter().map(|text| (text, true))) {
        let taken = |name: &str, file: &TaskFile| file.tools.roots.iter().any(|root| root.name == name);
        let (mut name, path) = match text.split_once('=') {
            Some((name, path)) if ToolName::new(name).is_ok() => (name.to_owned(), path),
            _ => ("work".to_owned(), text.as_str()),
        };
        let (first, mut number) = (name.clone(), 1);
        while taken(&name, file) {
            number += 1;
            name = format!("{first}{number}");
        }
        file.tools.roots.push(RootEntry { name, path: PathBuf::from(path), write });
    }
}
