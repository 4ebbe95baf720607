//! Where the workspace is, and what cargo says of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::process;

/// The folder of the root manifest.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// `cargo`, the one that runs us if there is one, started in the workspace root.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(root());
    command
}

/// `cargo metadata` of the members; needs neither the network nor a build.
pub(crate) fn metadata() -> Result<Value> {
    let text = process::stdout_of(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    serde_json::from_str(&text).context("read the output of `cargo metadata`")
}

/// The folder outside the tree where tools and models are installed. It may not exist yet.
pub(crate) fn cache_dir() -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let Some(base) = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache"))) else {
        bail!("neither XDG_CACHE_HOME nor HOME is an absolute path: set one of them");
    };
    Ok(base.join("probity"))
}
