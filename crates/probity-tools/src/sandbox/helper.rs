//! The helper process: reads its job, confines itself, says so, and becomes the program.

use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use cap_fs_ext::DirExt as _;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::process::{Pid, Resource, Rlimit, Signal};

use super::confine;
use super::filter;
use super::job::{Job, Report};

/// The exit code of a helper that could not start the program; the report says why.
const NOT_STARTED: i32 = 125;

/// Runs the sandbox helper; returns an exit code only when the program could not be started.
///
/// Standard input must be the channel that `shell` opened. Started by hand it finds none and ends.
#[must_use]
pub fn sandbox_helper_main() -> i32 {
    let Ok(channel) = channel() else { return NOT_STARTED };
    let job = match Job::read(&channel) {
        Ok(job) => job,
        Err(error) => return tell(&channel, &Report::Unavailable(format!("read the job: {error}"))),
    };
    if let Err(why) = confine(&job) {
        return tell(&channel, &Report::Unavailable(why));
    }
    // Nothing starts unless the other side can know that the sandbox stands.
    if Report::Ready.write(&channel).is_err() {
        return NOT_STARTED;
    }
    let Some((program, arguments)) = job.argv.split_first() else { return NOT_STARTED };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(job.env.iter().map(|(name, value)| (name, value)));
    let error = command.exec();
    tell(&channel, &Report::NotStarted(error.raw_os_error()))
}

/// The channel, moved away from standard input; it closes when the program starts.
fn channel() -> io::Result<UnixStream> {
    let owned: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::net::sockopt::socket_type(&owned)?;
    Ok(UnixStream::from(owned))
}

fn tell(mut channel: &UnixStream, report: &Report) -> i32 {
    // When nobody listens, the exit code is all that is left to say.
    let _ = report.write(&mut channel).and_then(|()| channel.flush());
    NOT_STARTED
}

/// Everything between the job and the program; the order matters, each step still has the rights that it needs.
fn confine(job: &Job) -> Result<(), String> {
    let step = |what: &'static str| move |error: rustix::io::Errno| format!("{what}: {error}");
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(step("follow the parent"))?;
    if rustix::process::getppid().map(Pid::as_raw_nonzero).map(i32::from) != Some(job.parent) {
        return Err("the parent is gone".to_owned());
    }
    rustix::process::setsid().map_err(step("start a session"))?;
    limit(Resource::Core, 0).map_err(step("limit core files"))?;
    limit(Resource::Nofile, job.open_files_max).map_err(step("limit open files"))?;
    limit(Resource::Fsize, job.file_bytes_max).map_err(step("limit file sizes"))?;
    enter(job).map_err(|error| format!("enter the working directory: {error}"))?;
    feed(&job.stdin).map_err(|error| format!("set up standard input: {error}"))?;
    close_fds::set_fds_cloexec(3, &[]);
    confine::capabilities().map_err(step("give up capabilities"))?;
    rustix::thread::set_no_new_privs(true).map_err(step("give up new privileges"))?;
    confine::landlock(job)?;
    filter::install(job.network)
}

fn limit(resource: Resource, most: u64) -> rustix::io::Result<()> {
    // Raising a hard limit needs a privilege; what is lower already stays.
    let hard = rustix::process::getrlimit(resource).maximum;
    let most = hard.map_or(most, |hard| hard.min(most));
    rustix::process::setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
}

/// Changes to the working directory without following links below its root.
fn enter(job: &Job) -> io::Result<()> {
    let mut dir = Dir::open_ambient_dir(&job.cwd_root, ambient_authority())?;
    for part in &job.cwd {
        dir = dir.open_dir_nofollow(part)?;
    }
    Ok(rustix::process::fchdir(&dir)?)
}

/// Puts a text, or nothing, where the program reads its standard input.
fn feed(text: &str) -> io::Result<()> {
    let source = if text.is_empty() {
        rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?
    } else {
        let memory = rustix::fs::memfd_create("stdin", MemfdFlags::CLOEXEC)?;
        let mut file = std::fs::File::from(memory);
        file.write_all(text.as_bytes())?;
        io::Seek::rewind(&mut file)?;
        file.into()
    };
    Ok(rustix::stdio::dup2_stdin(&source)?)
}
