//! `fs_write`: a whole file, all or nothing.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};

use cap_fs_ext::{FollowSymlinks, OpenOptionsExt as _, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, Metadata, MetadataExt as _, OpenOptions, Permissions, PermissionsExt as _};
use probity_contract::{Access, Effect, ToolError, ToolErrorClass, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::FsAct;
use super::content::{kind_word, not_a_file};
use crate::root::{Place, Resolved, refused};
use crate::stop::Stop;

/// Names that are tried for a temporary file before giving up.
const TEMP_NAMES_MAX: u32 = 100;

pub(super) struct Write;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The file. Directories that are missing on the way are made.
    path: String,
    /// The whole new content.
    content: String,
    /// Whether to refuse when the file exists already. Default false: an existing file is replaced.
    #[serde(default)]
    create_only: bool,
}

impl FsAct for Write {
    type Args = Args;
    const NAME: &'static str = "fs_write";
    const DESCRIPTION: &'static str = "Writes a whole file: creates it, or replaces what it held. Readers see the old \
        content or the new, never a part. To change a part of a file use `fs_edit`.";
    const EFFECT: Effect = Effect::Idempotent;
    const ACCESS: Access = Access::Write;

    fn path(args: &Args) -> &str {
        &args.path
    }

    fn act(path: &Resolved, args: Args, stop: &Stop, _bytes_max: usize) -> Result<ToolOutput, ToolError> {
        stop.check()?;
        if args.path.ends_with('/') {
            return Err(ToolError::new(
                ToolErrorClass::InvalidArguments,
                "a file's path does not end with `/`",
            ));
        }
        let Some(place) = path.place_made()? else { return Err(not_a_file(path, "a directory")) };
        let old = existing(path, &place)?;
        if old.is_some() && args.create_only {
            return Err(refused(format!("`{}` exists already and `create_only` is set", path.shown())));
        }
        let rule = if args.create_only { Replace::Never } else { Replace::Any };
        replace(path, &place, args.content.as_bytes(), old.as_ref(), rule, stop)?;
        let done = if old.is_some() { "replaced" } else { "created" };
        Ok(ToolOutput::text(format!("{done} `{}` ({} bytes)", path.shown(), args.content.len())))
    }
}

/// What may stand where the file goes.
#[derive(Clone, Copy)]
pub(super) enum Replace {
    /// Nothing.
    Never,
    /// Whatever regular file is there.
    Any,
    /// Only the file as it was when it was read.
    Unchanged,
}

/// What is there now, when it is a regular file.
pub(super) fn existing(path: &Resolved, place: &Place) -> Result<Option<Metadata>, ToolError> {
    match place.parent.symlink_metadata(&place.leaf) {
        Ok(metadata) if metadata.is_file() => {
            path.refuse_kernel(&place.parent, metadata.dev())?;
            Ok(Some(metadata))
        }
        Ok(metadata) => Err(not_a_file(path, kind_word(&metadata.file_type()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = place.parent.dir_metadata().map_err(|error| path.error(&error))?;
            path.refuse_kernel(&place.parent, parent.dev())?;
            Ok(None)
        }
        Err(error) => Err(path.error(&error)),
    }
}

/// Writes a temporary file beside the place and renames it over; on any failure nothing is left behind.
///
/// Mode and, where the process may set it, owner of the old file are kept. Extended attributes and hard links to it
/// are not.
pub(super) fn replace(
    path: &Resolved,
    place: &Place,
    content: &[u8],
    old: Option<&Metadata>,
    rule: Replace,
    stop: &Stop,
) -> Result<(), ToolError> {
    let io = |error: io::Error| path.error(&error);
    let (temp, mut file) = temporary(&place.parent).map_err(io)?;
    let temp = Temp { dir: &place.parent, name: temp };
    for chunk in content.chunks(64 * 1024) {
        stop.check()?;
        file.write_all(chunk).map_err(io)?;
    }
    if let Some(old) = old {
        let now = file.metadata().map_err(io)?;
        if (old.uid(), old.gid()) != (now.uid(), now.gid()) {
            // Only a privileged process may do this; the mode is kept either way.
            let owner = (rustix::fs::Uid::from_raw(old.uid()), rustix::fs::Gid::from_raw(old.gid()));
            let _ = rustix::fs::fchown(&file, Some(owner.0), Some(owner.1));
        }
        file.set_permissions(Permissions::from_mode(old.mode() & 0o777)).map_err(io)?;
    }
    file.sync_all().map_err(io)?;
    stop.check()?;
    if let (Replace::Unchanged, Some(old)) = (rule, old) {
        let now = place.parent.symlink_metadata(&place.leaf).map_err(io)?;
        if stamp(&now) != stamp(old) {
            return Err(refused(format!(
                "`{}` was changed by someone else meanwhile; nothing was written",
                path.shown()
            )));
        }
    }
    temp.rename(&place.leaf, rule).map_err(io)?;
    // The rename is what makes the content visible; that it survives a power cut is best effort.
    let _ = place.parent.try_clone().and_then(|dir| dir.into_std_file().sync_all());
    Ok(())
}

fn stamp(metadata: &Metadata) -> (u64, u64, u64, i64, i64) {
    (metadata.dev(), metadata.ino(), metadata.size(), metadata.mtime(), metadata.mtime_nsec())
}

fn temporary(dir: &Dir) -> io::Result<(String, cap_std::fs::File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).follow(FollowSymlinks::No).mode(0o666);
    for _ in 0..TEMP_NAMES_MAX {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".probity-{}-{count}.tmp", std::process::id());
        match dir.open_with(&name, &options) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return Ok((name, opened?)),
        }
    }
    Err(io::Error::other("no free name for a temporary file"))
}

/// A temporary file that is removed unless it was renamed.
struct Temp<'a> {
    dir: &'a Dir,
    name: String,
}

impl Temp<'_> {
    fn rename(mut self, leaf: &str, rule: Replace) -> io::Result<()> {
        match rule {
            Replace::Any | Replace::Unchanged => self.dir.rename(&self.name, self.dir, leaf)?,
            Replace::Never => rename_new(self.dir, &self.name, leaf)?,
        }
        self.name.clear();
        Ok(())
    }
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            // Nothing better can be done about a failure here.
            let _ = self.dir.remove_file(&self.name);
        }
    }
}

fn rename_new(dir: &Dir, from: &str, to: &str) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        Ok(rustix::fs::renameat_with(dir, from, dir, to, rustix::fs::RenameFlags::NOREPLACE)?)
    }
    #[cfg(not(target_os = "linux"))]
    {
        dir.hard_link(from, dir, to)?;
        dir.remove_file(from)
    }
}
