//! Which crate may know which, and what each may not know at all.
//!
//! The table is [`table`]; this module reads what is there and compares. Cargo itself refuses cycles only: an edge
//! that points upwards, or a clock in deciding code, compiles without a murmur.

mod manifests;
mod sources;
mod table;

use std::collections::BTreeSet;

use anyhow::{Result, bail};

use crate::process;
use crate::workspace;

/// Checks and prints; every violation is reported, not only the first.
pub(crate) fn run() -> Result<()> {
    let violations = violations()?;
    for violation in &violations {
        eprintln!("edges: {violation}");
    }
    match violations.len() {
        0 => Ok(()),
        many => bail!("{many} violation(s) of the table in `xtask/src/edges/table.rs`"),
    }
}

/// Everything in the workspace that the table does not allow.
fn violations() -> Result<Vec<String>> {
    let mut found = manifests::check(&manifests::read(&workspace::metadata()?)?);
    for name in table::WITHOUT_RUNTIME.iter().chain([&table::CORE]) {
        found.extend(manifests::check_reachable(name, &reachable(name)?));
    }
    for area in table::AREAS {
        found.extend(sources::check(workspace::root(), area)?);
    }
    Ok(found)
}

/// Names of all packages that end up in a crate, with the features it asks for itself.
fn reachable(name: &str) -> Result<BTreeSet<String>> {
    let tree = process::stdout_of(
        workspace::cargo()
            .args(["tree", "--package", name, "--edges", "normal,build"])
            .args(["--prefix", "none", "--format", "{p}"]),
    )?;
    Ok(tree.lines().filter_map(|line| line.split_whitespace().next()).map(String::from).collect())
}

#[cfg(test)]
#[path = "edges_tests.rs"]
mod tests;
