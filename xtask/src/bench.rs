//! Every benchmark of the workspace.

use anyhow::{Result, bail};
use serde_json::Value;

use crate::process;
use crate::workspace;

/// Benchmarks are named one by one, since `cargo bench --workspace` also starts the unit tests, and these do not
/// know Criterion's arguments.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut command = workspace::cargo();
    command.arg("bench");
    if !selects(arguments) {
        let all = selection(&workspace::metadata()?);
        if all.is_empty() {
            bail!("the workspace has no benchmark: add a `[[bench]]` to a crate first");
        }
        command.args(all);
    }
    process::run(command.args(arguments))
}

/// Whether the person already said which ones.
fn selects(arguments: &[String]) -> bool {
    let own = arguments.iter().take_while(|argument| *argument != "--");
    own.map(String::as_str).any(|argument| {
        ["-p", "--package", "--bench", "--workspace"]
            .iter()
            .any(|flag| argument == *flag || argument.starts_with(&format!("{flag}=")))
    })
}

fn selection(metadata: &Value) -> Vec<String> {
    let mut selected = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let targets = package["targets"].as_array().into_iter().flatten();
        let benches: Vec<&str> = targets
            .filter(|target| {
                target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "bench"))
            })
            .filter_map(|target| target["name"].as_str())
            .collect();
        if let (Some(name), false) = (package["name"].as_str(), benches.is_empty()) {
            selected.extend(["--package".to_owned(), name.to_owned()]);
            selected.extend(benches.into_iter().flat_map(|bench| ["--bench".to_owned(), bench.to_owned()]));
        }
    }
    selected
}

#[cfg(test)]
#[path = "bench_tests.rs"]
mod tests;
