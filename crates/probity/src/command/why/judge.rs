//! `--kept-if` and `--kept-if-command`: when a reply counts as the recorded one, in the words of whoever asks.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use probity_contract::Cancel;
use probity_why::{Judge, Kept, Unjudged};
use regex::{Regex, RegexBuilder};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// How long the program may think about one reply.
const JUDGE_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of a compiled pattern.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// When a reply counts as the same.
#[derive(Debug, Clone)]
pub(crate) enum KeptIf {
    /// It matches.
    Matches(Regex),
    /// A program says so.
    Program(PathBuf),
}

impl KeptIf {
    pub(crate) fn kept(&self, cancel: &Cancel) -> Kept {
        match self {
            Self::Matches(pattern) => Kept::Matches(pattern.clone()),
            Self::Program(program) => Kept::Judged(judge(program.clone(), cancel.clone())),
        }
    }
}

/// A pattern of the command line.
///
/// # Errors
/// When it is none, or is too large.
pub(crate) fn pattern(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text).size_limit(PATTERN_BYTES_MAX).build().map_err(|error| error.to_string())
}

fn judge(program: PathBuf, cancel: Cancel) -> Judge {
    Arc::new(move |text| {
        asked(&program, text, JUDGE_TIMEOUT, &cancel).map_err(|why| unjudged(&program, &why))
    })
}

fn unjudged(program: &Path, why: &str) -> Unjudged {
    Unjudged(format!("`{}` {why}", program.display()))
}

/// Runs the program without a shell, with the reply on its standard input.
///
/// A fork compares in one go, so this waits; the runtime is told, and hears of an interrupt meanwhile.
fn asked(program: &Path, text: &str, timeout: Duration, cancel: &Cancel) -> Result<bool, String> {
    let answer = answer(program, text);
    let bounded = async {
        tokio::select! {
            answer = tokio::time::timeout(timeout, answer) => answer.unwrap_or_else(|_elapsed| {
                Err(format!("took longer than {} seconds", timeout.as_secs_f64()))
            }),
            () = cancel.fired() => Err("was stopped".to_owned()),
        }
    };
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(bounded))
}

async fn answer(program: &Path, text: &str) -> Result<bool, String> {
    let mut command = Command::new(program);
    // What it prints has passed no exit, so nobody sees it; its exit code is its answer.
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.kill_on_drop(true).process_group(0);
    let mut child = command.spawn().map_err(|error| format!("cannot be run: {error}"))?;
    let input = child.stdin.take();
    // Dropped before the child is, which is waited for only then: so the number is still its own.
    let mut group = Group(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)));
    let write = async {
        if let Some(mut input) = input {
            // A program that says so before it has read all has answered: the pipe is closed then.
            let _written = input.write_all(text.as_bytes()).await;
        }
        // Its exit is the answer, also where something that it has started still holds the pipe.
        std::future::pending::<Infallible>().await
    };
    let status = tokio::select! {
        status = child.wait() => status,
        never = write => match never {},
    };
    group.0 = None;
    match status.map_err(|error| format!("cannot be waited for: {error}"))?.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        Some(code) => Err(format!("ended with {code}: 0 says that the reply is as it was, 1 that it is not")),
        None => Err("was ended by a signal".to_owned()),
    }
}

/// A program that has not answered yet, with what it has started. It ends with the question.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // What has ended by itself cannot be killed, and need not be.
            let _killed = kill_process_group(leader, Signal::KILL);
        }
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
