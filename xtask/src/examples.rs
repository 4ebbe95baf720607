//! The task files under `examples/` through the real binary: what the documents show must run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::process;
use crate::workspace;

const EXAMPLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Example programs that must run without arguments and end with exit code 0.
const PROGRAMS: [&str; 2] = ["library", "pausing"];

/// Nobody listens on the discard port: a task that wants the network fails at once.
const NO_NETWORK: &str = "http://127.0.0.1:9";

/// Builds what the tests are made of, the binary included, and says where cargo put that. In one go with the tests,
/// since cargo would compile many dependencies again, with other features, for the binary alone.
pub(crate) fn build() -> Result<PathBuf> {
    let mut command = workspace::cargo();
    command.args([
        "build",
        "--workspace",
        "--bins",
        "--tests",
        "--examples",
        "--message-format",
        "json-render-diagnostics",
    ]);
    let messages = process::stdout_of(command.stderr(Stdio::inherit()))?;
    messages.lines().find_map(executable).context("cargo did not say where the binary is")
}

/// Runs `probity run FILE --json` for every `examples/*.toml`. Each must end with exit code 0, print JSON only,
/// and need neither the network nor anything of the person's own settings.
pub(crate) fn run(binary: &Path) -> Result<()> {
    let tasks = task_files(&workspace::root().join("examples"))?;
    if tasks.is_empty() {
        bail!("there is no task file in `examples/`");
    }
    let home = workspace::cache_dir()?.join("examples-home");
    let mut failed = Vec::new();
    for task in &tasks {
        let name = task.file_name().unwrap_or_default().to_string_lossy();
        match run_one(binary, task, &home) {
            Ok(()) => eprintln!("    {name}: ok"),
            Err(error) => failed.push(format!("{name}: {error:#}")),
        }
    }
    // Programs stand beside the binary, in the folder where cargo puts examples.
    let programs = binary.parent().unwrap_or(Path::new(".")).join("examples");
    for name in PROGRAMS {
        let mut command = Command::new(programs.join(name));
        command.env_clear().stdin(Stdio::null());
        match process::stdout_of(&mut command) {
            Ok(_) => eprintln!("    {name}: ok"),
            Err(error) => failed.push(format!("{name}: {error:#}")),
        }
    }
    if !failed.is_empty() {
        bail!("{} of {} examples failed\n{}", failed.len(), tasks.len() + PROGRAMS.len(), failed.join("\n"));
    }
    Ok(())
}

fn executable(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    // The unit tests of the binary bear its name, too.
    let is_ours = message.pointer("/target/name")? == "probity" && message.pointer("/profile/test")? == false;
    message.get("executable")?.as_str().filter(|_| is_ours).map(PathBuf::from)
}

fn task_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("list `{}`", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    Ok(files)
}

fn run_one(binary: &Path, task: &Path, home: &Path) -> Result<()> {
    if home.exists() {
        fs::remove_dir_all(home).context("clear the home folder of the examples")?;
    }
    fs::create_dir_all(home).context("create the home folder of the examples")?;
    let mut command = Command::new(binary);
    command.arg("run").arg(task).arg("--json").current_dir(workspace::root());
    // Nothing of the person's: no keys, no settings, no records.
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", home);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        command.env(name, NO_NETWORK);
    }
    let output = process::output_within(&mut command, EXAMPLE_TIMEOUT)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` ended with {}: {}", process::line(&command), output.status, said.trim());
    }
    check_json(&output.stdout).with_context(|| format!("read the output of `{}`", process::line(&command)))
}

/// One or more JSON values, with nothing between them but white space.
fn check_json(stdout: &[u8]) -> Result<()> {
    let mut count = 0;
    for value in serde_json::Deserializer::from_slice(stdout).into_iter::<Value>() {
        value.context("standard output is not JSON")?;
        count += 1;
    }
    if count == 0 {
        bail!("standard output is empty");
    }
    Ok(())
}

#[cfg(test)]
#[path = "examples_tests.rs"]
mod tests;
