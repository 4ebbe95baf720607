//! `probity run`: runs one task and writes its record.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use probity_contract::{Approver, Cancel, ContentSetting, Ending, Journal, ModelErrorClass, RunId, ToolName};
use probity_core::{Finished, Host, SystemClock, Task, run_task};
use probity_egress::{Egress, Words, egress_text};
use probity_store::{Store, StoreError};
use probity_trace::RunSummary;

use crate::cli::{Cli, RunArgs};
use crate::exit::{Code, Fatal};
use crate::render::{FailureTeller, Report, Screen, TerminalApprover, Watcher};
use crate::task_file::{self, ContextEntry, HostEntry, PolicyTable, RootEntry, TaskFile};
use crate::{interrupt, settings, wire};

pub(crate) async fn run(cli: &Cli, args: &RunArgs, screen: Arc<Screen>) -> Result<Code, Fatal> {
    let file = task_file(args)?;
    let name = file.model.clone().ok_or_else(|| {
        Fatal::new(Code::Usage, "choose a model: neither the task file nor --model names one")
            .hint("write --model provider/name, for example --model ollama/llama3.2")
    })?;
    let model = wire::model(&name, file.base_url.clone(), file.key_file.clone())?;
    let tools = wire::tools(&file.tools)?;
    let asks = !args.no_input && !cli.json && std::io::stdin().is_terminal() && screen.is_interactive();
    let (task, principal) = wire::task(file, model, tools, asks)?;
    let look = Look { json: cli.json, quiet: args.quiet, reasoning: args.reasoning };
    let approver: Option<Arc<dyn Approver>> = if asks {
        Some(Arc::new(TerminalApprover::new(Arc::clone(&screen), principal.clone())))
    } else {
        None
    };
    let report = execute(cli.data_dir.clone(), task, approver, look, &screen).await?;
    report.show(look, &screen);
    Ok(report.code)
}

/// What is shown of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) reasoning: bool,
}

/// A run that has ended, ready to be shown.
pub(crate) struct Executed {
    pub(crate) run: RunId,
    pub(crate) code: Code,
    report: Report,
    model_hint: Option<Egress<probity_egress::SamePrincipal>>,
}

impl Executed {
    pub(crate) fn show(&self, look: Look, screen: &Screen) {
        if look.json {
            screen.json(&self.report.json());
        }
        if look.quiet
            && !look.json
            && let Some(answer) = self.report.answer()
        {
            screen.out(&answer);
        }
        if !look.json && (!look.quiet || self.code != Code::Ok) {
            self.report.lines().iter().for_each(|line| screen.tell(line));
        }
        if let Some(hint) = &self.model_hint {
            screen.tell(hint);
        }
    }
}

/// Runs a task, with its record in the store.
pub(crate) async fn execute(
    data_dir: Option<PathBuf>,
    task: Task,
    approver: Option<Arc<dyn Approver>>,
    look: Look,
    screen: &Arc<Screen>,
) -> Result<Executed, Fatal> {
    let store = Store::open(&settings::data_dir(data_dir)?).await.map_err(|error| store_failed(&error))?;
    store.notices().iter().for_each(|notice| screen.tell(&egress_text(notice)));
    let run = settings::fresh_run_id()?;
    let journal: Box<dyn Journal> = Box::new(store.begin(&run).map_err(|error| store_failed(&error))?);
    let cancel = Cancel::new();
    interrupt::watch(cancel.clone(), Arc::clone(screen));
    let talks = !look.json && !look.quiet;
    let watcher = Watcher::new(Arc::clone(screen), talks, talks, talks && look.reasoning);
    let host = Host {
        journal,
        clock: Arc::new(SystemClock::new()),
        observer: Some(Arc::new(watcher)),
        failures: Some(Arc::new(FailureTeller(Arc::clone(screen)))),
        approver,
        cancel,
    };
    let finished = run_task(task, run.clone(), host).await.map_err(|error| Fatal::of(Code::Usage, &error));
    screen.idle();
    let finished = match finished {
        Ok(finished) => finished,
        Err(fatal) => {
            // Nothing was begun, so there is nothing to keep.
            let _gone = store.delete(&run).await;
            return Err(fatal);
        }
    };
    let summary = summarise(&store, &run).await;
    let model_hint = model_hint(&finished);
    let code = Code::of_ending(&finished.ending);
    Ok(Executed { report: Report::new(&finished, summary.as_ref()), run, code, model_hint })
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
fn task_file(args: &RunArgs) -> Result<TaskFile, Fatal> {
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
    Ok(ContextEntry { name: name.to_owned(), text: Some(text), file: None, trusted: Some(false) })
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
