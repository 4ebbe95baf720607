//! A small real model for end-to-end tests: Needle 3, which is 34 MB, answers in a fraction of a second on one
//! core and calls the right tool. Models that also write prose are three times as large and call the wrong one.

mod smoke;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::cli;
use crate::python::Venv;
use crate::workspace;

const REQUIREMENTS: &str = include_str!("../requirements/models.txt");
const VENV: &str = "needle";

/// Files of the wheel that are loaded, with their SHA-256. The package is someone else's packaging of the model, so
/// what is loaded is checked each time, not only what was downloaded.
#[cfg(target_arch = "x86_64")]
const ENGINE: [&str; 2] =
    ["libneedle3.so", "016acf60a979c3f1d34d5e155d29bb74100c7ebeff115ea3c40afebf625070c4"];
#[cfg(not(target_arch = "x86_64"))]
const ENGINE: [&str; 2] =
    ["libneedle3.so", "d8c1c2322eae3b7d39370d68ba6233c68a516c2ea389150b5767d3027a6aa372"];
const WEIGHTS: [&str; 2] =
    ["needle3.cact", "c9d915eca282ed42d1a09b143b592adb4cc6744ffe2d294adf5cfc5548170c38"];

/// An installed model whose digests are right, and what it takes to start it.
#[derive(Debug)]
pub(crate) struct Needle {
    python: PathBuf,
    script: PathBuf,
    dir: PathBuf,
}

pub(crate) fn run(options: cli::Models) -> Result<()> {
    let needle = if options.check { Needle::find()? } else { Needle::install()? };
    if options.check {
        smoke::check(&needle)?;
    }
    if options.json {
        println!("{}", needle.to_json());
    } else {
        println!(
            "Needle 3 is in `{}`; start it with\n  {}",
            needle.dir.display(),
            needle.command().join(" ")
        );
    }
    Ok(())
}

impl Needle {
    /// Installs what is missing; quick when nothing is.
    pub(crate) fn install() -> Result<Self> {
        Self::verified(&Venv::ensure(VENV, REQUIREMENTS)?)
    }

    fn find() -> Result<Self> {
        match Venv::find(VENV, REQUIREMENTS)? {
            Some(venv) => Self::verified(&venv),
            None => bail!("the model is not installed: run `cargo xtask models`"),
        }
    }

    fn verified(venv: &Venv) -> Result<Self> {
        let dir = venv.site_packages()?.join("needle");
        for [name, digest] in [ENGINE, WEIGHTS] {
            check_digest(&dir.join(name), digest)?;
        }
        let script = workspace::root().join("xtask/models/needle_server.py");
        Ok(Self { python: venv.bin("python"), script, dir })
    }

    /// The command line that serves it on a free port of loopback.
    fn command(&self) -> Vec<String> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        vec![
            text(&self.python),
            text(&self.script),
            "--model-dir".into(),
            text(&self.dir),
            "--port".into(),
            "0".into(),
        ]
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({ "python": self.python, "script": self.script, "needle_dir": self.dir, "command": self.command() })
    }
}

fn check_digest(path: &Path, expected: &str) -> Result<()> {
    let bytes = fs::read(path).with_context(|| format!("read `{}`", path.display()))?;
    let found: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if found != expected {
        bail!(
            "`{}` has the SHA-256 {found}, not {expected}: remove the folder `{VENV}` from the cache and try again",
            path.display()
        );
    }
    Ok(())
}

#[cfg(test)]
#[path = "models_tests.rs"]
mod tests;
