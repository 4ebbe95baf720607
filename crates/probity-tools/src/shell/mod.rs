//! `shell`: one program with its arguments, in a sandbox.
//!
//! The decision: an argument list, never a string for a shell to read, so that a policy sees the words that the program
//! gets. Who needs a pipe can call `sh -c`, and a policy can refuse exactly that.

mod config;
#[cfg(target_os = "linux")]
mod group;
mod output;
#[cfg(target_os = "linux")]
mod supervise;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use probity_contract::{
    Access, Arguments, BoxFuture, Digest, Effect, Operand, Permit, Target, Tool, ToolContext, ToolError,
    ToolErrorClass, ToolOutput, ToolSpec, canonical_bytes,
};
use schemars::JsonSchema;
use serde::Deserialize;

pub use config::ShellConfig;

use crate::clip;
use crate::fs::{as_approved, as_judged, read_arguments};
use crate::root::{Resolved, Roots, refused};
use crate::sandbox::{Job, is_lent};
use crate::schema;
use crate::setup::ToolSetupError;
use crate::stop::{Stop, blocking};
use config::{environment, real};
#[cfg(target_os = "linux")]
use group::{Group, Leash};

/// Arguments of one call.
const ARGV_MAX: usize = 4_096;
/// Files that the words of one command may name.
const OPERANDS_MAX: usize = 64;
/// Bytes of a word that is looked at as the name of a file: `PATH_MAX` of Linux.
const WORD_BYTES_MAX: usize = 4_096;
/// Bytes that are kept for the lines around the output.
const FRAME_BYTES: usize = 512;
/// The tool `shell`.
///
/// A call runs one program in a sandbox: it reads the roots, the system's programs and libraries, and what was declared;
/// it writes the writable roots and a private temporary directory; without a grant it has no network; it cannot touch
/// other processes; and whatever it started is dead when the call ends. When the kernel cannot keep all of this, the
/// call fails with `Unavailable` and nothing ran.
///
/// It does not promise to bound memory, processor time below the call's time limit, or the disk space of writable
/// roots; to hide which files exist, names of users or facts about the machine; or to survive faults of the kernel.
/// When the host process is itself killed, only the program that was started dies with it, not its children.
pub struct ShellTool {
    spec: ToolSpec,
    roots: Arc<Roots>,
    /// What every job has in common.
    base: Job,
    helper: PathBuf,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The program and its arguments, for example `["git", "status"]`. No shell reads them: write
    /// `["sh", "-c", "a | b"]` to use one.
    #[schemars(length(min = 1))]
    argv: Vec<String>,
    /// The working directory, a path inside a root. Default: the first root.
    #[serde(default)]
    cwd: Option<String>,
    /// What the program reads on its standard input. Default: nothing.
    #[serde(default)]
    stdin: Option<String>,
}

impl ShellTool {
    /// The tool with its configuration. Reads the environment of the process once, here.
    ///
    /// # Errors
    /// When a root or readable path is missing, a variable's name is not usable, or the running program lends no
    /// helper.
    pub fn new(config: ShellConfig) -> Result<Self, ToolSetupError> {
        let config_error = |why: &str| ToolSetupError::config("shell", why);
        let helper = match config.helper.clone() {
            Some(helper) => helper,
            None if is_lent() => PathBuf::from("/proc/self/exe"),
            None => return Err(config_error("call `maybe_run_sandbox_helper` at the start of `main`")),
        };
        let roots = Roots::open("shell", &config.roots)?;
        let readable = config.readable.iter().map(|path| real(path)).collect::<Result<Vec<_>, _>>()?;
        let paths =
            |write| roots.all().iter().filter(move |root| root.write == write).map(|root| root.path.clone());
        let base = Job {
            argv: Vec::new(),
            env: environment(&config.env_names)?,
            stdin: String::new(),
            cwd_root: String::new(),
            cwd: Vec::new(),
            read: paths(false).chain(readable).collect(),
            write: paths(true).collect(),
            network: config.network,
            landlock_abi_min: config.landlock_abi_min,
            open_files_max: config.open_files_max,
            file_bytes_max: config.file_bytes_max,
            parent: 0,
        };
        let network = if config.network { "The network can be used." } else { "There is no network." };
        let description = format!(
            "Runs one program in a sandbox and returns its exit code and output. It can write only in writable roots \
             and in the directory named by TMPDIR, which is deleted afterwards; background processes are killed when \
             the program ends. {network} {}",
            roots.describe()
        );
        let mut spec = schema::spec::<Args>("shell", description, Effect::Once)?;
        spec.sandbox = Some(profile(&config, &roots, &base));
        Ok(Self { spec, roots, base, helper })
    }
}

impl Tool for ShellTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn targets<'a>(&'a self, arguments: &'a Arguments) -> BoxFuture<'a, Result<Vec<Target>, ToolError>> {
        Box::pin(async move {
            let args: Args = read_arguments(arguments)?;
            check(&args)?;
            let roots = Arc::clone(&self.roots);
            let resolving = tokio::task::spawn_blocking(move || {
                let cwd = resolve(&roots, &args)?;
                targets(&args, &cwd)
            });
            resolving.await.unwrap_or_else(|_| {
                Err(ToolError::new(ToolErrorClass::Panicked, "the working directory could not be resolved"))
            })
        })
    }

    fn operands<'a>(&'a self, arguments: &'a Arguments) -> BoxFuture<'a, Result<Vec<Operand>, ToolError>> {
        Box::pin(async move {
            let args: Args = read_arguments(arguments)?;
            check(&args)?;
            let roots = Arc::clone(&self.roots);
            let reading = tokio::task::spawn_blocking(move || operands(&roots, &args));
            reading.await.unwrap_or_else(|_| {
                Err(ToolError::new(ToolErrorClass::Panicked, "the files could not be looked into"))
            })
        })
    }

    fn run<'a>(&'a self, permit: Permit, cx: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let roots = Arc::clone(&self.roots);
            let (job, helper) = (self.base.clone(), self.helper.clone());
            let (call, was_asked) = (Arc::clone(permit.call()), permit.redeems().is_some());
            let bytes_max = cx.output_bytes_max;
            // Ending the group takes a moment that the answer waits for.
            let grace = Duration::from_millis(1_500);
            let group = Arc::new(Group::default());
            // Whatever ends this future, also before its time, ends the group.
            let _leash = Leash::new(&group);
            blocking(&cx, grace, move |stop| {
                let args: Args = read_arguments(call.arguments())?;
                check(&args)?;
                let cwd = resolve(&roots, &args)?;
                as_judged(call.targets(), &targets(&args, &cwd)?)?;
                if was_asked {
                    as_approved(call.operands(), &operands(&roots, &args)?)?;
                }
                let done = act(job, args, &cwd, &helper, &group, stop, bytes_max);
                group.clear();
                done
            })
            .await
        })
    }
}

/// What bounds the programs, by the names of roots: the same profile on another machine has the same digest.
fn profile(config: &ShellConfig, roots: &Roots, base: &Job) -> Digest {
    let roots: Vec<(&str, bool)> = roots.all().iter().map(|root| (root.name.as_str(), root.write)).collect();
    let bounds = (
        roots,
        &config.readable,
        &config.env_names,
        base.network,
        base.landlock_abi_min,
        base.open_files_max,
        base.file_bytes_max,
    );
    // Names and numbers always have a canonical form; a path that is not UTF-8 has none, and its error takes the place.
    let bytes = canonical_bytes(&bounds).unwrap_or_else(|error| error.to_string().into_bytes());
    Digest::of("probity.sandbox.v1", &[&bytes])
}

fn check(args: &Args) -> Result<(), ToolError> {
    let invalid = |why: &str| Err(ToolError::new(ToolErrorClass::InvalidArguments, why));
    if args.argv.first().is_none_or(String::is_empty) {
        return invalid("`argv` must start with a program");
    }
    if args.argv.len() > ARGV_MAX {
        return invalid(&format!("`argv` has more than {ARGV_MAX} parts"));
    }
    if args.argv.iter().any(|part| part.contains('\0')) {
        return invalid("`argv` holds a zero character");
    }
    Ok(())
}

fn resolve(roots: &Arc<Roots>, args: &Args) -> Result<Resolved, ToolError> {
    match &args.cwd {
        Some(cwd) => roots.resolve(cwd),
        None => roots.resolve("."),
    }
}

fn targets(args: &Args, cwd: &Resolved) -> Result<Vec<Target>, ToolError> {
    let access = if cwd.root()?.write { Access::Write } else { Access::Read };
    let mut targets = vec![Target::Command { argv: args.argv.clone() }, cwd.target(access, false)?];
    // A shell or an interpreter does what it reads there; rules judge it like a command.
    if let Some(stdin) = args.stdin.as_ref().filter(|stdin| !stdin.is_empty()) {
        targets.push(Target::Other { what: "stdin".to_owned(), value: stdin.clone() });
    }
    Ok(targets)
}

/// The files inside the roots that the words of the command name: a script, what it reads, what stands behind `--name=`. What
/// a program reads beside is bounded by the sandbox and not known here.
fn operands(roots: &Arc<Roots>, args: &Args) -> Result<Vec<Operand>, ToolError> {
    let cwd = resolve(roots, args)?;
    let words = args.argv.iter().flat_map(|word| {
        let value = word.split_once('=').map(|(_, value)| value);
        std::iter::once(word.as_str()).chain(value)
    });
    let mut found: Vec<Operand> = Vec::new();
    for word in words.filter(|word| !word.is_empty() && word.len() <= WORD_BYTES_MAX) {
        // What leads out of the roots is none of the files that are bound.
        let Some(named) = roots.named(&cwd, word) else { continue };
        if let Some(operand) = named.operand()?.filter(|operand| !found.contains(operand)) {
            if found.len() == OPERANDS_MAX {
                return Err(refused(format!("the command names more than {OPERANDS_MAX} files")));
            }
            found.push(operand);
        }
    }
    Ok(found)
}

#[cfg(target_os = "linux")]
fn act(
    mut job: Job,
    args: Args,
    cwd: &Resolved,
    helper: &std::path::Path,
    group: &Group,
    stop: &Stop,
    bytes_max: usize,
) -> Result<ToolOutput, ToolError> {
    let unavailable = |error: &std::io::Error| {
        let message = format!("the private temporary directory cannot be made, so nothing ran: {error}");
        ToolError::new(ToolErrorClass::Unavailable, message)
    };
    // A working directory that is not there is the call's mistake; found here, it reads as one.
    cwd.dir()?;
    // The system's own default would let other users in.
    let owner_only = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    let temp = group
        .place(|| tempfile::Builder::new().prefix("probity-shell-").permissions(owner_only).tempdir())?
        .map_err(|error| unavailable(&error))?;
    let real = std::fs::canonicalize(temp).map_err(|error| unavailable(&error))?;
    let place =
        real.to_str().ok_or_else(|| unavailable(&std::io::ErrorKind::InvalidFilename.into()))?.to_owned();
    job.env.extend([("HOME".to_owned(), place.clone()), ("TMPDIR".to_owned(), place.clone())]);
    job.write.push(place);
    job.argv = args.argv;
    job.stdin = args.stdin.unwrap_or_default();
    job.cwd_root.clone_from(&cwd.root()?.path);
    job.cwd = cwd.parts().to_vec();
    job.parent = i32::try_from(std::process::id()).unwrap_or_default();
    let stream_max = bytes_max.saturating_sub(FRAME_BYTES).max(FRAME_BYTES) / 2;
    match supervise::run(&job, helper, group, stop, stream_max)? {
        Ok(finished) => Ok(ToolOutput::text(render(&finished, bytes_max))),
        Err(stopped) => Err(stopped_error(&stopped)),
    }
}

#[cfg(not(target_os = "linux"))]
fn act(
    _: Job,
    _: Args,
    _: &Resolved,
    _: &std::path::Path,
    _: &Group,
    _: &Stop,
    _: usize,
) -> Result<ToolOutput, ToolError> {
    let message = "the sandbox needs Linux, so nothing ran";
    Err(ToolError::new(ToolErrorClass::Unavailable, message))
}

#[cfg(target_os = "linux")]
fn render(finished: &supervise::Finished, bytes_max: usize) -> String {
    let mut text = supervise::ending(finished.status);
    text.push('\n');
    for (name, stream) in [("stdout", &finished.stdout), ("stderr", &finished.stderr)] {
        if !stream.is_empty() {
            text.push_str(&format!("[{name}]\n"));
            text.push_str(&stream.text());
            if !text.ends_with('\n') {
                text.push('\n');
            }
        }
    }
    if finished.stdout.is_empty() && finished.stderr.is_empty() {
        text.push_str("[no output]\n");
    }
    // Bytes that are not UTF-8 grow when they are shown.
    if text.len() > bytes_max {
        let kept = clip::prefix(&text, bytes_max.saturating_sub(FRAME_BYTES)).len();
        let cut = text.len() - kept;
        text.truncate(kept);
        text.push_str(&format!("\n[{cut} bytes cut here]\n"));
    }
    text
}

/// The error of a call that was stopped, with the last that the program said.
#[cfg(target_os = "linux")]
fn stopped_error(stopped: &supervise::Stopped) -> ToolError {
    let mut error = stopped.error.clone();
    let words = if stopped.stderr.is_empty() { stopped.stdout.text() } else { stopped.stderr.text() };
    if !words.trim().is_empty() {
        let words = clip::last_words(&words, 120);
        error.message.push_str(&format!("; the program's last words: `{words}`"));
    }
    error
}
