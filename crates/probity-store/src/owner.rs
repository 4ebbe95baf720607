//! Directories that only their owner may look into.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::Access;

use crate::checkpoints::{APPROVALS_DIR, CHECKPOINTS_DIR};
use crate::dir::{INDEX_FILE, RUNS_DIR, SUFFIX};
use crate::error::StoreError;

pub(crate) const DIR_MODE: u32 = 0o700;
pub(crate) const FILE_MODE: u32 = 0o600;
pub(crate) const OTHERS_MASK: u32 = 0o077;

pub(crate) fn check_is_dir(path: &Path, found: &Metadata) -> Result<(), StoreError> {
    if found.is_dir() {
        return Ok(());
    }
    let doing = format!("open the store `{}`", path.display());
    Err(StoreError::io(doing)(io::Error::new(io::ErrorKind::NotADirectory, "it is no directory")))
}

/// Makes sure that there is a directory that only its owner may look into, and tells whether it can be written.
pub(crate) fn ensure(path: &Path, notices: &mut Vec<String>) -> Result<bool, StoreError> {
    let found = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let created = DirBuilder::new().recursive(true).mode(DIR_MODE).create(path);
            created.map_err(StoreError::io(format!("create the directory `{}`", path.display())))?;
            // What is lost with an entry that never reached the medium is an empty directory.
            let _ = path.parent().map(sync_dir);
            fs::metadata(path)
        }
        found => found,
    };
    let found = found.map_err(StoreError::io(format!("open the store `{}`", path.display())))?;
    check_is_dir(path, &found)?;
    if found.mode() & OTHERS_MASK != 0 && !tighten(path, &found, notices)? {
        return Ok(false);
    }
    let is_writable = rustix::fs::access(path, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    if !is_writable {
        notices.push(format!("`{}` cannot be written; records are only read", path.display()));
    }
    Ok(is_writable)
}

/// A directory that is not clearly a store's own is left as it is: taking rights from, say, `/tmp` would harm others.
fn tighten(path: &Path, found: &Metadata, notices: &mut Vec<String>) -> Result<bool, StoreError> {
    let mode = found.mode() & 0o777;
    let is_ours = found.uid() == rustix::process::geteuid().as_raw() && looks_like_a_store(path);
    if !is_ours {
        return Err(StoreError::NotOwnerOnly { path: path.to_owned(), mode });
    }
    let shown = path.display();
    match fs::set_permissions(path, fs::Permissions::from_mode(DIR_MODE)) {
        Ok(()) => {
            notices
                .push(format!("other users could look into `{shown}` (mode {mode:03o}); now only you can"));
            Ok(true)
        }
        Err(error) => {
            notices.push(format!(
                "other users may look into `{shown}` (mode {mode:03o}), which cannot be changed: {error}; records are only read"
            ));
            Ok(false)
        }
    }
}

/// Empty, or with nothing in it but what a store puts there.
fn looks_like_a_store(path: &Path) -> bool {
    const OWN: [&str; 4] = [RUNS_DIR, CHECKPOINTS_DIR, APPROVALS_DIR, "key"];
    let is_known = |name: &str| OWN.contains(&name) || name.starts_with(INDEX_FILE) || name.ends_with(SUFFIX);
    fs::read_dir(path).is_ok_and(|mut entries| {
        entries.all(|entry| entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(is_known)))
    })
}

pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
