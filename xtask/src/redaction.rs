//! What the redaction pass finds, and whether its promises hold. The programs belong to the crates, since the automation
//! uses none of them.

use std::path::Path;
use std::process::{Child, Command};

use anyhow::{Context as _, Result, bail};

use crate::process;
use crate::workspace;

/// Each is a process of its own in CI; they run side by side.
const FUZZ_TARGETS: [&str; 4] = ["text", "stream", "value", "known"];
/// As many as were tried when this was set, on a machine that took up to three minutes for them.
const FUZZ_TEXTS: &str = "75000";

/// The pass over the redaction corpus, beside the targets.
pub(crate) fn report(arguments: &[String]) -> Result<()> {
    run_example("probity-testkit", "redaction-report", arguments)
}

/// Hostile texts against the promises of the pass.
pub(crate) fn fuzz(arguments: &[String]) -> Result<()> {
    run_example("probity-egress", "fuzz", arguments)
}

/// A minute for each target, with the program that was built beside the `binary`.
///
/// Never more texts than [`FUZZ_TEXTS`]: one seed gives one sequence, so a fast machine judges no text that a slow one
/// does not reach and nobody has seen hold.
pub(crate) fn fuzz_built(binary: &Path) -> Result<()> {
    let program = binary.parent().unwrap_or(Path::new(".")).join("examples/fuzz");
    let mut started = Vec::new();
    for target in FUZZ_TARGETS {
        let mut command = Command::new(&program);
        command.args([target, "--seconds", "60", "--texts", FUZZ_TEXTS]).current_dir(workspace::root());
        let child = command.spawn().with_context(|| format!("start `{}`", process::line(&command)))?;
        started.push((target, child));
    }
    let failed: Vec<&str> = started.into_iter().filter_map(failed).collect();
    if !failed.is_empty() {
        bail!("a promise does not hold: {}", failed.join(", "));
    }
    Ok(())
}

fn failed((target, mut child): (&'static str, Child)) -> Option<&'static str> {
    let is_well = child.wait().is_ok_and(|status| status.success());
    (!is_well).then_some(target)
}

fn run_example(package: &str, example: &str, arguments: &[String]) -> Result<()> {
    let mut command = workspace::cargo();
    command.args(["run", "--quiet", "--package", package, "--example", example, "--"]);
    process::run(command.args(arguments))
}

/// The speed of the pass, beside scans of the same text.
pub(crate) fn bench(arguments: &[String]) -> Result<()> {
    let mut command = workspace::cargo();
    command.args(["bench", "--quiet", "--package", "probity-egress", "--bench", "throughput", "--", "table"]);
    process::run(command.args(arguments))
}
