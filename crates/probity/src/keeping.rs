//! Keeps a run's checkpoints in the store, sealed, with what it takes to start its task again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use probity_contract::{Clock as _, Durability, Fact, JournalError, Kept, RunId};
use probity_core::{Checkpoint, Keeper, KeyRing, LeftBehind, Making, Resumption, Run, Snapshot, SystemClock};
use probity_store::{Checkpoints, Reopened, Store};
use probity_trace::{Noted, Record};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::{Cli, Command, RunArgs};
use crate::command::run::store_failed;
use crate::exit::{Code, Fatal};
use crate::keys;

/// Seconds that a checkpoint is good for: 30 days, which outlasts every question that stands in it.
const CHECKPOINT_TTL_S: u64 = 30 * 86_400;

/// How a task was started, to start it again. It stands in the sealed part of its checkpoints.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Started {
    /// The directory in which relative paths begin.
    directory: PathBuf,
    /// What stood behind the program's name.
    arguments: Vec<String>,
    /// Whether a person is asked about calls that no rule covers.
    pub(crate) asks: bool,
}

impl Started {
    /// How this process was started; `None` where that cannot be written down.
    pub(crate) fn now(asks: bool) -> Option<Self> {
        let arguments = std::env::args_os().skip(1).map(|argument| argument.into_string().ok());
        Some(Self {
            directory: std::env::current_dir().ok()?,
            arguments: arguments.collect::<Option<_>>()?,
            asks,
        })
    }

    /// What the task was started with, or the same with the task file `instead`. This process goes on in the directory of that
    /// one, or in that of the file: what the task names without a directory is looked for there.
    pub(crate) fn again(&self, instead: Option<&Path>) -> Result<RunArgs, Fatal> {
        let mut args = self.args()?;
        let mut directory = self.directory.clone();
        if let Some(file) = instead {
            let file = std::path::absolute(file).map_err(|error| Fatal::of(Code::Usage, &error))?;
            let name = file.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
            name.clone_into(&mut args.task);
            directory = file.parent().unwrap_or(&file).to_owned();
        }
        std::env::set_current_dir(&directory).map_err(|error| {
            let words = format!("go to `{}`, where the task lies: {error}", directory.display());
            Fatal::new(Code::Setup, &words)
                .hint("name the task file where it lies now, with --task, or make the directory")
        })?;
        Ok(args)
    }

    fn args(&self) -> Result<RunArgs, Fatal> {
        use clap::Parser as _;
        let program = std::iter::once("probity".to_owned());
        let cli = Cli::try_parse_from(program.chain(self.arguments.iter().cloned()));
        match cli.map(|cli| cli.command) {
            Ok(Command::Run(args)) => Ok(*args),
            Ok(_) | Err(_) => {
                Err(Fatal::new(Code::Usage, "read how the task was started: it is no `probity run`")
                    .hint("go on with it in the version of Probity that made the checkpoint"))
            }
        }
    }
}

/// The keeper of one run.
pub(crate) struct SealedKeeper {
    checkpoints: Checkpoints,
    ring: KeyRing,
    generation: u64,
    started: Value,
}

impl SealedKeeper {
    /// A keeper whose next checkpoint is the one after number `generation`.
    pub(crate) fn new(
        checkpoints: Checkpoints,
        ring: KeyRing,
        generation: u64,
        started: &Started,
    ) -> Result<Self, Fatal> {
        let started = serde_json::to_value(started).map_err(|error| Fatal::of(Code::Failed, &error))?;
        Ok(Self { checkpoints, ring, generation, started })
    }

    fn put(&mut self, state: &Snapshot, durability: Durability) -> Result<(), Fatal> {
        let generation = self.generation + 1;
        let making = Making {
            generation,
            made_at_unix_ms: unix_ms(),
            ttl_s: CHECKPOINT_TTL_S,
            host: &self.started,
            nonce: keys::random()?,
        };
        let sealed = Checkpoint::seal(&self.ring, state, &making)
            .map_err(|error| Fatal::of(Code::Store, &error).hint(error.hint()))?;
        let kept = self.checkpoints.keep(state.run(), generation, &sealed, durability);
        kept.map_err(|error| store_failed(&error))?;
        self.generation = generation;
        Ok(())
    }
}

impl Keeper for SealedKeeper {
    fn keep(&mut self, state: &Snapshot, durability: Durability) -> Result<(), JournalError> {
        let kept = self.put(state, durability);
        kept.map_err(|fatal| JournalError { message: fatal.words.as_str().to_owned(), source: None })
    }
}

/// A run at rest that this process has taken: its record is locked until the journal is dropped.
pub(crate) struct Taken {
    pub(crate) run: RunId,
    pub(crate) reopened: Reopened,
    pub(crate) machine: Run,
    pub(crate) started: Started,
    pub(crate) generation: u64,
    pub(crate) ring: KeyRing,
    pub(crate) checkpoints: Checkpoints,
}

impl Taken {
    /// Takes the run that is called, or begins like, `name`.
    pub(crate) async fn of(store: &Store, data_dir: &Path, name: &str) -> Result<Self, Fatal> {
        let run = store.find(name).await.map_err(|error| crate::command::runs::not_found(&error))?;
        // Looked for before anything is changed.
        let checkpoints = store.checkpoints().map_err(|error| store_failed(&error))?;
        let kept = checkpoints.read(&run).map_err(|error| store_failed(&error))?.ok_or_else(|| {
            let words = format!("take up run `{run}`: it has no checkpoint");
            Fatal::new(Code::NotFound, &words)
                .hint("a run that has ended, or was started with --no-checkpoints, cannot be gone on with")
        })?;
        let ring = keys::ring(data_dir)?.ok_or_else(|| {
            Fatal::new(Code::Setup, "open the checkpoint: there is no key").hint(
                "put the key that sealed it into the key file of the data directory, or into PROBITY_KEY",
            )
        })?;
        let reopened = store.reopen(&run).await.map_err(|error| store_failed(&error))?;
        // The last one may be newer than what was read before the record was locked.
        let kept = checkpoints.read(&run).map_err(|error| store_failed(&error))?.unwrap_or(kept);
        let opened = Checkpoint::open(&ring, &kept.sealed, unix_ms(), kept.generation)
            .map_err(|error| Fatal::of(Code::Store, &error).hint(error.hint()))?;
        if opened.run.id() != &run {
            return Err(Fatal::new(Code::Store, "open the checkpoint: it is that of another run")
                .hint("put the run's own checkpoint back"));
        }
        let started = serde_json::from_value(opened.host).map_err(|error| Fatal::of(Code::Store, &error))?;
        let (machine, generation) = (opened.run, opened.head.generation);
        Ok(Self { run, reopened, machine, started, generation, ring, checkpoints })
    }

    /// Milliseconds of the run's clock now, by the wall.
    pub(crate) fn now_ms(&self) -> u64 {
        unix_ms().saturating_sub(self.machine.started_at_unix_ms())
    }

    /// What the record tells of the time behind the checkpoint.
    pub(crate) fn resumption(&self) -> Resumption {
        let left_behind = left_behind(&self.reopened.record, self.machine.entries());
        Resumption { checkpoint: self.generation, now_ms: self.now_ms(), left_behind }
    }
}

fn left_behind(record: &Record, entries: u64) -> LeftBehind {
    let mut behind = LeftBehind::default();
    for line in record.lines().iter().filter(|line| line.seq >= entries) {
        behind.take(line.seq, line.at_ms, known(&line.fact), |part| match record.part(part)? {
            Kept::Full(text) => Some(Arc::clone(text)),
            Kept::Redacted(_) | Kept::Length(_) => None,
        });
    }
    behind
}

const fn known(noted: &Noted) -> Option<&Fact> {
    match noted {
        Noted::Known(fact) => Some(fact),
        Noted::Opaque { .. } => None,
    }
}

fn unix_ms() -> u64 {
    SystemClock::new().unix_ms()
}
