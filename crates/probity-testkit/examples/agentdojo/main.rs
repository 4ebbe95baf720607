//! AgentDojo with a scripted worst-case model, through the production path. `cargo xtask agentdojo` runs this.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool reports by printing")]

mod adapter;
mod answer;
mod attacker;
mod options;
mod policies;
mod sources;
mod spelling;
mod table;
mod trial;
mod world;

use std::collections::{BTreeMap, VecDeque};
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use adapter::{Adapter, Suite};
use options::Options;
use policies::Setting;
use table::Row;
use trial::{Outcome, Trial};

/// Errors that are told one by one.
const ERRORS_TOLD_MAX: usize = 10;

fn main() -> ExitCode {
    let options = match options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{}", options::HELP);
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("error: {error:#}\n\n{}", options::HELP);
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let adapters = (0..options.jobs).map(|_| Adapter::start(&options.python, &options.script).map(Arc::new));
    let adapters: Vec<Arc<Adapter>> = adapters.collect::<Result<_>>()?;
    let suites = adapters.first().context("start an adapter")?.suites()?;
    let unknown = options.suites.iter().find(|name| suites.iter().all(|suite| suite.name != **name));
    if let Some(unknown) = unknown {
        bail!("no suite `{unknown}`");
    }
    let trials = trials(options, &suites);
    let work = Work { all: trials.len(), left: Mutex::new(trials.into()), done: Mutex::default() };
    let runtime = tokio::runtime::Runtime::new().context("start the runtime")?;
    runtime.block_on(async {
        let mut workers = tokio::task::JoinSet::new();
        let shared = Arc::new((work, suites));
        for adapter in adapters {
            let shared = Arc::clone(&shared);
            workers.spawn(async move { shared.0.work(&adapter, &shared.1).await });
        }
        while let Some(ended) = workers.join_next().await {
            ended.context("a worker broke")?;
        }
        report(options, &shared.0, &shared.1)
    })
}

/// Every task alone and with every injection, under every setting.
fn trials(options: &Options, suites: &[Suite]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for &setting in &options.settings {
        for (at, suite) in suites.iter().enumerate() {
            if !options.suites.is_empty() && !options.suites.contains(&suite.name) {
                continue;
            }
            for user_task in &suite.user_tasks {
                let injections = std::iter::once(None).chain(suite.injections.iter().cloned().map(Some));
                trials.extend(injections.map(|injection| Trial {
                    setting,
                    way: options.way,
                    suite: at,
                    user_task: user_task.clone(),
                    injection,
                }));
            }
        }
    }
    trials
}

struct Work {
    all: usize,
    left: Mutex<VecDeque<Trial>>,
    done: Mutex<Vec<(Trial, Result<Outcome>)>>,
}

impl Work {
    async fn work(&self, adapter: &Arc<Adapter>, suites: &[Suite]) {
        let next = || self.left.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        while let Some(trial) = next() {
            let outcome = match suites.get(trial.suite) {
                Some(suite) => trial.run(adapter, suite).await,
                None => Err(anyhow::anyhow!("there is no such suite")),
            };
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((trial, outcome));
            progress(done.len(), self.all);
        }
    }
}

fn progress(done: usize, all: usize) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() && (done.is_multiple_of(20) || done == all) {
        let end = if done == all { "\n" } else { "" };
        // Progress that cannot be shown is none.
        let _ = write!(terminal, "\r{done} of {all} runs{end}");
        let _ = terminal.flush();
    }
}

fn report(options: &Options, work: &Work, suites: &[Suite]) -> Result<()> {
    let mut rows: BTreeMap<Setting, Row> = BTreeMap::new();
    let mut errors = Vec::new();
    for (trial, outcome) in work.done.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let suite = suites.get(trial.suite).map_or("", |suite| suite.name.as_str());
        match outcome {
            Ok(outcome) => rows.entry(trial.setting).or_default().add(trial, suite, *outcome),
            Err(error) => errors.push(format!("{error:#}")),
        }
    }
    let rows: Vec<(Setting, trial::Way, Row)> =
        rows.into_iter().map(|(setting, row)| (setting, options.way, row)).collect();
    if options.json {
        let rows: Vec<_> = rows.iter().map(|(setting, way, row)| row.json(*setting, *way)).collect();
        println!("{:#}", json!({ "header": table::HEADER, "rows": rows, "errors": errors }));
    } else {
        println!("{}\n\n{}", table::HEADER, table::markdown(&rows));
    }
    for error in errors.iter().take(ERRORS_TOLD_MAX) {
        eprintln!("error: {error}");
    }
    if !errors.is_empty() {
        bail!("{} of {} runs broke, and the table is without them", errors.len(), work.all);
    }
    Ok(())
}
