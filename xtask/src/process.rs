//! Child processes: run, with the command line in the error.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

/// Runs with inherited output; an exit other than 0 is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("start `{}`", line(command)))?;
    if !status.success() {
        bail!("`{}` ended with {status}", line(command));
    }
    Ok(())
}

/// Runs quietly and returns standard output; an exit other than 0 is an error that carries standard error.
pub(crate) fn stdout_of(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("start `{}`", line(command)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` ended with {}: {}", line(command), output.status, said.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("read the output of `{}`", line(command)))
}

/// Whether the command can be started and is content with itself, e.g. `tool --version`.
pub(crate) fn works(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).output().is_ok_and(|output| output.status.success())
}

/// Runs without standard input and collects the output; past `limit` the child is killed, which is an error.
pub(crate) fn output_within(command: &mut Command, limit: Duration) -> Result<Output> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("start `{}`", line(command)))?;
    let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let both = stdout.recv_timeout(limit).and_then(|out| Ok((out, stderr.recv_timeout(limit)?)));
    let Ok((stdout, stderr)) = both else {
        stop(&mut child);
        bail!("`{}` was still running after {} s and was stopped", line(command), limit.as_secs());
    };
    let status = child.wait().with_context(|| format!("wait for `{}`", line(command)))?;
    Ok(Output { status, stdout, stderr })
}

/// Ends a child of ours and reaps it.
pub(crate) fn stop(child: &mut Child) {
    // Both fail only when the child has ended already, which is what is wanted.
    let _ = child.kill();
    let _ = child.wait();
}

/// The whole of a stream, sent once its writer closes it.
fn collect(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What was read before an error is still worth showing.
            let _ = stream.read_to_end(&mut bytes);
        }
        let _ = sender.send(bytes);
    });
    receiver
}

/// The command as a person would type it.
pub(crate) fn line(command: &Command) -> String {
    let mut line = String::new();
    for word in std::iter::once(command.get_program()).chain(command.get_args()).map(OsStr::to_string_lossy) {
        let gap = if line.is_empty() { "" } else { " " };
        // Writing to a `String` cannot fail.
        let _ = if word.contains(' ') { write!(line, "{gap}'{word}'") } else { write!(line, "{gap}{word}") };
    }
    line
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
