//! One child: how it is started, and its end with all that it started.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use tokio::net::unix::pipe::{Receiver, Sender};

/// Milliseconds for a killed child to be gone.
const GONE_MS_MAX: u64 = 100;

/// What is started.
#[derive(Debug, Clone)]
pub(super) struct Start {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) directory: PathBuf,
    /// The whole environment.
    pub(super) environment: Vec<(String, String)>,
}

/// Our ends of a child's standard streams.
pub(super) struct Pipes {
    pub(super) stdin: Sender,
    pub(super) stdout: Receiver,
    pub(super) stderr: Receiver,
}

impl Start {
    /// Starts it in a process group of its own, so that a signal for ours does not meet it and its end takes along what it
    /// has started.
    pub(super) fn start(&self) -> io::Result<(Leash, Pipes)> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.directory);
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // From here on whatever fails ends it.
        let leash = Leash(Mutex::new(Held { child, status: None }));
        let missing = || io::Error::other("no pipe to the child");
        let pipes = Pipes {
            stdin: Sender::from_owned_fd(stdin.ok_or_else(missing)?.into())?,
            stdout: receiver(stdout.ok_or_else(missing)?.into())?,
            stderr: receiver(stderr.ok_or_else(missing)?.into())?,
        };
        Ok((leash, pipes))
    }
}

fn receiver(end: OwnedFd) -> io::Result<Receiver> {
    Receiver::from_owned_fd(end)
}

/// The only hold on a child. When it is dropped, the child and its group are dead before that returns.
///
/// It does not reach what has left the group (a daemon of its own). When the host process is itself killed, the child is not;
/// it reads the end of its standard input.
pub(super) struct Leash(Mutex<Held>);

struct Held {
    child: Child,
    /// Once it is waited for its number may be another's, and nothing is sent there any more.
    status: Option<ExitStatus>,
}

impl Leash {
    fn held(&self) -> MutexGuard<'_, Held> {
        // What is held is valid after each line that changes it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the leader has ended. It is not waited for: what it has started can still be found by its number.
    pub(super) fn has_ended(&self) -> bool {
        let held = self.held();
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // Where it cannot be told, the next question tells.
        held.status.is_some()
            || held.pid().is_some_and(|pid| matches!(waitid(WaitId::Pid(pid), look), Ok(Some(_))))
    }

    /// Kills the group and waits for the leader, within a bound; how it ended, where that is known by then.
    pub(super) fn end(&self) -> Option<ExitStatus> {
        let mut held = self.held();
        let started = Instant::now();
        held.kill();
        loop {
            match held.reap() {
                Ok(None) if started.elapsed() < Duration::from_millis(GONE_MS_MAX) => pause(),
                Ok(status) => return status,
                Err(_) => return None,
            }
        }
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        self.end();
    }
}

impl Held {
    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.child.id()).ok()?)
    }

    fn kill(&self) {
        if let (None, Some(pid)) = (self.status, self.pid()) {
            // What has ended by itself cannot be killed, and need not be.
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    fn reap(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            self.status = self.child.try_wait()?;
        }
        Ok(self.status)
    }
}

/// Sleeps for a moment.
fn pause() {
    // An interrupted sleep is a shorter one.
    let _ = poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: 1_000_000 }));
}
