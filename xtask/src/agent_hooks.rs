//! The conformance vectors of AGENT-HOOKS-0.1, which come with the specification's Python package.
//!
//! They are read in place and never copied into the tree: a newer package brings newer ones.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::python::Venv;

const REQUIREMENTS: &str = include_str!("../requirements/agent-hooks.txt");

/// Tells the conformance test where the vectors are.
pub(crate) const VARIABLE: &str = "PROBITY_TEST_AGENT_HOOKS";

/// The folder of vectors, installed where it is missing.
pub(crate) fn install() -> Result<PathBuf> {
    let packages = Venv::ensure("agent-hooks", REQUIREMENTS)?.site_packages()?;
    let folder = packages.join("agent_hooks/ctk/vectors");
    if !folder.is_dir() {
        bail!("the package has no `{}`", folder.display());
    }
    Ok(folder)
}

/// Installs the vectors and prints where they are.
pub(crate) fn run() -> Result<ExitCode> {
    println!("{}", install()?.display());
    Ok(ExitCode::SUCCESS)
}
