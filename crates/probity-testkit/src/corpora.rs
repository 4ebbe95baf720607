//! The corpora that tests read in place. They are no part of the tree.

use std::path::{Path, PathBuf};

/// The folder of the corpora: `PROBITY_CORPORA` where set, else `../shared/corpora` beside the workspace.
///
/// `None` where there is no such folder.
#[must_use]
pub fn corpora_dir() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora");
    let dir = std::env::var_os("PROBITY_CORPORA").map_or_else(beside, PathBuf::from);
    dir.is_dir().then_some(dir)
}

/// A file or folder of the corpora, for example `providers`. Where it is missing the test is to be skipped: this says so
/// by name and gives `None`.
///
/// # Panics
/// Where it is missing, in CI (`CI` is set), and nobody said where the corpora are (`PROBITY_CORPORA` is not set).
#[must_use]
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
pub fn corpus(name: &str) -> Option<PathBuf> {
    let found = corpora_dir().map(|dir| dir.join(name)).filter(|path| path.exists());
    if found.is_none() {
        let excused = std::env::var_os("CI").is_none() || std::env::var_os("PROBITY_CORPORA").is_some();
        assert!(excused, "the corpus `{name}` is missing; set PROBITY_CORPORA to the folder of the corpora");
        eprintln!("skipped: the corpus `{name}` is missing");
    }
    found
}
