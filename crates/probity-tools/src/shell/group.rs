//! The process group of one call, and its end.

use std::io;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// Milliseconds for a killed group to be gone; whoever inherits its dead may take their time to bury them.
const GONE_MS_MAX: u64 = 100;

/// The helper and, after it, the program and all it started: one process group. Dropping it kills them.
pub(super) struct Group {
    pub(super) child: Child,
    done: Option<ExitStatus>,
}

impl Group {
    pub(super) const fn new(child: Child) -> Self {
        Self { child, done: None }
    }

    pub(super) fn pid(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.child.id()).ok()?)
    }

    /// Kills what is left of the group and waits for its leader.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(done) = self.done {
            return Ok(done);
        }
        let pid = self.pid();
        // Until the leader is waited for, its number cannot belong to another group.
        if let Some(pid) = pid {
            // A helper that has not come to its session yet has no group; the next line ends it.
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let _ = self.child.kill();
        let status = self.child.wait()?;
        self.done = Some(status);
        if let Some(pid) = pid {
            wait_for_group(pid);
        }
        Ok(status)
    }
}

/// Waits, within a bound, until the killed group is gone. Only asks: after the leader was waited for, its number may be
/// given to another process.
fn wait_for_group(pid: Pid) {
    let started = Instant::now();
    while test_kill_process_group(pid).is_ok() && started.elapsed() < Duration::from_millis(GONE_MS_MAX) {
        pause();
    }
}

/// Sleeps for a moment, on the supervisor's own thread.
pub(super) fn pause() {
    // An interrupted sleep is a shorter one.
    let _ = poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: 1_000_000 }));
}

impl Drop for Group {
    fn drop(&mut self) {
        // Nobody is left to tell.
        let _ = self.end();
    }
}
