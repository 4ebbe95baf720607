//! The tests through nextest, and what it said about them.

use std::ffi::OsString;
use std::fmt;
use std::io::{BufRead as _, BufReader, IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::process;
use crate::python::Venv;
use crate::workspace;

/// Of proptest. A commit passes or fails as a whole, whoever runs it; drawing anew is for `cargo nextest run`, which has no seed.
const SEED_VARIABLE: &str = "PROPTEST_RNG_SEED";

const REQUIREMENTS: &str = include_str!("../requirements/nextest.txt");

/// Counts of tests, as nextest reported them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    /// Failed, timed out or not even started.
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// Runs every test of the workspace with the profile `ci` and passes the output through. `counts` is set even when
/// tests failed; it stays `None` when none ran, e.g. because something did not compile.
pub(crate) fn run(variables: &[(&str, String)], counts: &mut Option<Counts>) -> Result<()> {
    let color = if std::io::stderr().is_terminal() { "always" } else { "auto" };
    let mut command = command()?;
    command
        .args(["run", "--workspace", "--profile", "ci", "--color", color])
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .env(SEED_VARIABLE, seed())
        .stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("start `{}`", process::line(&command)))?;
    let stderr = child.stderr.take().context("read the output of nextest")?;
    for line in BufReader::new(stderr).split(b'\n') {
        let line = line.context("read the output of nextest")?;
        let mut out = std::io::stderr().lock();
        out.write_all(&line)?;
        out.write_all(b"\n")?;
        *counts = parse_summary(&String::from_utf8_lossy(&line)).or(*counts);
    }
    let status = child.wait().context("wait for nextest")?;
    if !status.success() {
        bail!("`{}` ended with {status}", process::line(&command));
    }
    if counts.is_none_or(|counts| counts.passed == 0) {
        bail!("nextest reported no test that passed");
    }
    Ok(())
}

/// What property tests draw from: the one that was given, or else the same every time.
fn seed() -> OsString {
    std::env::var_os(SEED_VARIABLE).unwrap_or_else(|| "1".into())
}

/// `cargo nextest` of the machine, or else one from PyPI.
fn command() -> Result<Command> {
    if process::works(workspace::cargo().args(["nextest", "--version"])) {
        let mut command = workspace::cargo();
        command.arg("nextest");
        return Ok(command);
    }
    let mut command = Command::new(Venv::ensure("nextest", REQUIREMENTS)?.bin("cargo-nextest"));
    command.arg("nextest").current_dir(workspace::root());
    Ok(command)
}

/// Reads `Summary [ 0.1s] 3/4 tests run: 2 passed (1 slow), 1 failed, 0 skipped`; anything else is `None`.
fn parse_summary(line: &str) -> Option<Counts> {
    let line = without_escapes(line);
    let (_, said) = line.trim().strip_prefix("Summary [")?.split_once("run: ")?;
    let mut counts = Counts::default();
    for part in without_parentheses(said).split(',') {
        let (number, what) = part.trim().split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        match what.trim() {
            "passed" => counts.passed += number,
            "skipped" => counts.skipped += number,
            _ => counts.failed += number,
        }
    }
    Some(counts)
}

fn without_escapes(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(char) = rest.next() {
        if char == '\x1b' {
            // A colour: everything to its final letter.
            rest.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(char);
        }
    }
    plain
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0_u32;
    text.chars()
        .filter(|char| {
            match char {
                '(' => depth += 1,
                ')' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect()
}

#[cfg(test)]
#[path = "nextest_tests.rs"]
mod tests;
