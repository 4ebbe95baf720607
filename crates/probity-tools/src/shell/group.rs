//! What one call has alive: the process group of its program and its private directory, and their end.
//!
//! The decision: the supervisor's thread and the call's future hold it together. The thread follows the program; the
//! future, when it is dropped, ends everything itself, there and then. Telling the thread to do it lost: a host that
//! ends gives that thread no more time, and the program's children would live on.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use probity_contract::ToolError;
use rustix::event::{Timespec, poll};
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use tempfile::TempDir;

use crate::stop::cancelled;

/// Milliseconds for a killed group to be gone; whoever inherits its dead may take their time to bury them.
const GONE_MS_MAX: u64 = 100;

/// The process group and the private directory of one call.
#[derive(Debug, Default)]
pub(super) struct Group {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    /// Nobody waits for the call any more: nothing may begin.
    over: bool,
    /// The helper and later the program: the leader of the group. Its number is its own until it is waited for, which
    /// happens only under the lock.
    child: Option<Child>,
    done: Option<ExitStatus>,
    place: Option<TempDir>,
}

/// Ends the group when the call's future goes away, before that returns.
#[derive(Debug)]
pub(super) struct Leash(Arc<Group>);

impl Leash {
    pub(super) fn new(group: &Arc<Group>) -> Self {
        Self(Arc::clone(group))
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl Group {
    fn held(&self) -> MutexGuard<'_, Held> {
        // What is held is valid after each line that changes it.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the private directory and keeps it; its path.
    pub(super) fn place(
        &self,
        make: impl FnOnce() -> io::Result<TempDir>,
    ) -> Result<io::Result<std::path::PathBuf>, ToolError> {
        let mut held = self.held();
        if held.over {
            return Err(cancelled());
        }
        Ok(make().map(|place| {
            let path = place.path().to_owned();
            held.place = Some(place);
            path
        }))
    }

    /// Starts the leader. The lock is held meanwhile, so that there is no moment in which it lives and nobody knows it.
    pub(super) fn start<T>(
        &self,
        command: &mut Command,
        open: impl FnOnce(Pid, &mut Child) -> io::Result<T>,
    ) -> Result<io::Result<T>, ToolError> {
        let mut held = self.held();
        if held.over {
            return Err(cancelled());
        }
        Ok(command.spawn().and_then(|child| {
            let child = held.child.insert(child);
            let pid = pid(child).ok_or_else(|| io::Error::other("no process number"))?;
            open(pid, child)
        }))
    }

    /// Kills what is left of the group and waits for its leader.
    pub(super) fn end(&self) -> io::Result<ExitStatus> {
        let pid = self.held().kill();
        let status = loop {
            if let Some(status) = self.held().reap()? {
                break status;
            }
            pause();
        };
        if let Some(pid) = pid {
            wait_for_group(pid);
        }
        Ok(status)
    }

    /// Removes the private directory.
    pub(super) fn clear(&self) {
        let place = self.held().place.take();
        // What cannot be removed is left to the system's own cleaning of temporary files.
        drop(place);
    }

    fn abandon(&self) {
        let pid = {
            let mut held = self.held();
            held.over = true;
            held.kill()
        };
        let started = Instant::now();
        // At once, for a host that ends has no time: whoever is not quite dead may still write, so it is tried again.
        let place = self.held().place.take().map(TempDir::keep);
        while let Some(place) = &place
            && std::fs::remove_dir_all(place).is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
            && is_within(started)
        {
            pause();
        }
        // The supervisor buries the leader, too, if it still can; here nothing must be left that runs.
        while pid.is_some() && matches!(self.held().reap(), Ok(None)) && is_within(started) {
            pause();
        }
    }
}

impl Held {
    /// Kills the leader and its group; its number, where it had one to kill.
    fn kill(&mut self) -> Option<Pid> {
        if self.done.is_some() {
            return None;
        }
        let pid = pid(self.child.as_ref()?)?;
        // The leader first: a helper that has not come to its session yet has no group, and never gets one now. What
        // has ended by itself cannot be killed, and need not be.
        let _ = kill_process(pid, Signal::KILL);
        let _ = kill_process_group(pid, Signal::KILL);
        Some(pid)
    }

    /// Waits for the leader without waiting.
    fn reap(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.done.is_none() {
            let child = self.child.as_mut().ok_or(io::ErrorKind::NotFound)?;
            self.done = child.try_wait()?;
        }
        Ok(self.done)
    }
}

fn pid(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()).ok()?)
}

fn is_within(started: Instant) -> bool {
    started.elapsed() < Duration::from_millis(GONE_MS_MAX)
}

/// Waits, within a bound, until the killed group is gone. Only asks: after the leader was waited for, its number may be
/// given to another process.
fn wait_for_group(pid: Pid) {
    let started = Instant::now();
    while test_kill_process_group(pid).is_ok() && is_within(started) {
        pause();
    }
}

/// Sleeps for a moment.
pub(super) fn pause() {
    // An interrupted sleep is a shorter one.
    let _ = poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: 1_000_000 }));
}
