//! Starting the helper, reading what the program writes, and ending all of it.
//!
//! One thread does everything with `poll`: it wakes for output, for the end of the program, and every few milliseconds
//! to ask whether it should stop. The program's whole process group is killed in every case, also after the program has
//! ended by itself, so that nothing it started outlives the call.

use std::io::{self, Read, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use probity_contract::{ToolError, ToolErrorClass};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::group::{Group, pause};
use super::output::HeadTail;
use crate::sandbox::{Job, MARKER, Report};
use crate::stop::Stop;

/// Milliseconds between two looks at the stop signal.
const LOOK_MS: i64 = 15;
/// Milliseconds that the helper may take until the sandbox stands.
const READY_MS_MAX: u64 = 15_000;
/// Milliseconds for the pipes that killed processes still hold.
const DRAIN_MS_MAX: u64 = 500;
/// Bytes that a helper may say.
const REPORT_BYTES_MAX: usize = 8 * 1024;

/// A program that has ended, with all it started.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    pub(super) stdout: HeadTail,
    pub(super) stderr: HeadTail,
}

/// Runs one job in the sandbox to its end.
///
/// `Unavailable` means that nothing ran. When the call is stopped, everything is dead before this returns.
pub(super) fn run(
    job: &Job,
    helper: &Path,
    group: &Group,
    stop: &Stop,
    bytes_max: usize,
) -> Result<Result<Finished, Stopped>, ToolError> {
    let (ours, theirs) = UnixStream::pair().map_err(|error| unavailable(&error))?;
    let mut command = Command::new(helper);
    command.arg(MARKER).env_clear().current_dir("/");
    command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()).stderr(Stdio::piped());
    let opened = group.start(&mut command, |pid, child| Session::open(pid, child, ours, bytes_max))?;
    // Standard input's other end must close here, or the helper's silence would never be heard.
    drop(command);
    let followed = opened.map_err(|error| unavailable(&error)).and_then(|mut session| {
        send(job, &session.channel, stop)?;
        session.channel.set_nonblocking(true).map_err(|error| unavailable(&error))?;
        let ended = session.follow(stop);
        Ok((session, ended))
    });
    let status = group.end();
    let (mut session, ended) = followed?;
    session.drain();
    let Session { stdout, stderr, said, .. } = session;
    if let Err(error) = ended {
        // Before the sandbox stood nothing ran, whatever made it stop.
        return Ok(Err(Stopped { error, stdout: stdout.kept, stderr: stderr.kept }));
    }
    conclude(&said, &stderr.kept)?;
    let status = status.map_err(|error| {
        ToolError::new(ToolErrorClass::Failed, format!("the end of the program is unknown: {error}"))
    })?;
    Ok(Ok(Finished { status, stdout: stdout.kept, stderr: stderr.kept }))
}

/// A program that was ended by the call's end.
#[derive(Debug)]
pub(super) struct Stopped {
    pub(super) error: ToolError,
    pub(super) stdout: HeadTail,
    pub(super) stderr: HeadTail,
}

/// What the helper's words mean now that the process has ended.
fn conclude(said: &[u8], stderr: &HeadTail) -> Result<(), ToolError> {
    match Report::parse(said).unwrap_or_default().as_slice() {
        [Report::Ready] => Ok(()),
        [Report::Ready, Report::NotStarted(errno)] => Err(not_started(*errno)),
        [Report::Unavailable(why), ..] => {
            let message = format!("the sandbox cannot be set up, so nothing ran: {why}");
            Err(ToolError::new(ToolErrorClass::Unavailable, message))
        }
        _ => {
            let words = stderr.text();
            let words = crate::clip::word(words.trim());
            let message =
                format!("the sandbox helper ended before the sandbox stood, so nothing ran {words}");
            Err(ToolError::new(ToolErrorClass::Unavailable, message.trim_end()))
        }
    }
}

fn not_started(errno: Option<i32>) -> ToolError {
    let (class, why) = match errno.map(io::Error::from_raw_os_error) {
        Some(error) if error.kind() == io::ErrorKind::NotFound => {
            (ToolErrorClass::NotFound, "it does not exist, in `PATH` or as a path".to_owned())
        }
        Some(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            (ToolErrorClass::Refused, "it is not executable or lies outside of the sandbox".to_owned())
        }
        Some(error) => (ToolErrorClass::Failed, error.to_string()),
        None => (ToolErrorClass::Failed, "the system gave no reason".to_owned()),
    };
    ToolError::new(class, format!("the program cannot be started: {why}"))
}

fn unavailable(error: &io::Error) -> ToolError {
    let message = format!("the sandbox helper cannot be started, so nothing ran: {error}");
    ToolError::new(ToolErrorClass::Unavailable, message)
}

/// Sends the job. A helper that does not read is given up.
fn send(job: &Job, mut channel: &UnixStream, stop: &Stop) -> Result<(), ToolError> {
    let started = Instant::now();
    let frame = job.frame().map_err(|error| unavailable(&error))?;
    channel.set_write_timeout(Some(Duration::from_millis(50))).map_err(|error| unavailable(&error))?;
    let mut rest = frame.as_slice();
    while !rest.is_empty() {
        stop.check()?;
        match channel.write(rest) {
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(error)
                if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
                    && started.elapsed() < Duration::from_millis(READY_MS_MAX) => {}
            // It ended early; what it said comes next.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => return Err(unavailable(&error)),
        }
    }
    Ok(())
}

/// A pipe and what came out of it.
struct Stream<R> {
    pipe: Option<R>,
    kept: HeadTail,
}

impl<R: Read + AsFd> Stream<R> {
    fn new(pipe: Option<R>, bytes_max: usize) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(Self { pipe, kept: HeadTail::new(bytes_max) })
    }

    /// Takes what is there, at most some rounds; closes at the end.
    fn take(&mut self, buffer: &mut [u8]) {
        for _ in 0..16 {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(buffer) {
                Ok(0) => self.pipe = None,
                Ok(read) => self.kept.push(buffer.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.pipe = None,
            }
        }
    }
}

/// One run as its supervisor sees it.
struct Session {
    channel: UnixStream,
    /// What the helper said, and whether it can say no more.
    said: Vec<u8>,
    silent: bool,
    exit: OwnedFd,
    stdout: Stream<std::process::ChildStdout>,
    stderr: Stream<std::process::ChildStderr>,
    started: Instant,
    buffer: Vec<u8>,
}

impl Session {
    fn open(pid: Pid, child: &mut Child, channel: UnixStream, bytes_max: usize) -> io::Result<Self> {
        Ok(Self {
            channel,
            said: Vec::new(),
            silent: false,
            exit: pidfd_open(pid, PidfdFlags::empty())?,
            stdout: Stream::new(child.stdout.take(), bytes_max)?,
            stderr: Stream::new(child.stderr.take(), bytes_max)?,
            started: Instant::now(),
            buffer: vec![0; 64 * 1024],
        })
    }

    /// Follows the run until the leader has ended.
    fn follow(&mut self, stop: &Stop) -> Result<(), ToolError> {
        loop {
            stop.check()?;
            let ended = self.wait().map_err(|error| {
                ToolError::new(ToolErrorClass::Failed, format!("the program could not be followed: {error}"))
            })?;
            self.stdout.take(&mut self.buffer);
            self.stderr.take(&mut self.buffer);
            self.listen();
            if ended {
                return Ok(());
            }
            let late = self.started.elapsed() > Duration::from_millis(READY_MS_MAX);
            if late && !self.silent || self.said.len() > REPORT_BYTES_MAX {
                let message = "the sandbox helper gave no answer in time, so nothing ran";
                return Err(ToolError::new(ToolErrorClass::Unavailable, message));
            }
        }
    }

    /// Sleeps until something happens; tells whether the leader has ended.
    fn wait(&self) -> io::Result<bool> {
        let mut fds = vec![PollFd::new(&self.exit, PollFlags::IN)];
        if !self.silent {
            fds.push(PollFd::new(&self.channel, PollFlags::IN));
        }
        if let Some(pipe) = &self.stdout.pipe {
            fds.push(PollFd::new(pipe, PollFlags::IN));
        }
        if let Some(pipe) = &self.stderr.pipe {
            fds.push(PollFd::new(pipe, PollFlags::IN));
        }
        let timeout = Timespec { tv_sec: 0, tv_nsec: LOOK_MS * 1_000_000 };
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) => Ok(fds.first().is_some_and(|exit| !exit.revents().is_empty())),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn listen(&mut self) {
        while !self.silent && self.said.len() <= REPORT_BYTES_MAX {
            match self.channel.read(&mut self.buffer) {
                Ok(0) => self.silent = true,
                Ok(read) => self.said.extend_from_slice(self.buffer.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.silent = true,
            }
        }
    }

    /// Takes what the dead left in the pipes.
    fn drain(&mut self) {
        let started = Instant::now();
        self.listen();
        while (self.stdout.pipe.is_some() || self.stderr.pipe.is_some())
            && started.elapsed() < Duration::from_millis(DRAIN_MS_MAX)
        {
            self.stdout.take(&mut self.buffer);
            self.stderr.take(&mut self.buffer);
            pause();
        }
    }
}

/// How a program ended, in words.
pub(super) fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => {
            let name = match signal {
                6 => " (SIGABRT)",
                9 => " (SIGKILL)",
                11 => " (SIGSEGV)",
                13 => " (SIGPIPE)",
                15 => " (SIGTERM)",
                25 => " (SIGXFSZ)",
                31 => " (SIGSYS)",
                _ => "",
            };
            format!("ended by signal {signal}{name}")
        }
        (None, None) => "ended".to_owned(),
    }
}
