//! `fs_list`: what is in a directory.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io;

use cap_std::fs::{Dir, MetadataExt as _};
use probity_contract::{Access, Effect, ToolError, ToolErrorClass, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::FsAct;
use super::content::{kind_word, open_dir_in};
use crate::root::Resolved;
use crate::stop::Stop;
use probity_egress::is_hard_to_see;

/// Entries that one answer shows.
const ENTRIES_MAX: usize = 2_000;
/// Names that are read of one directory.
const NAMES_MAX: usize = 20_000;
/// Levels that one call goes down.
const DEPTH_MAX: u32 = 8;

pub(super) struct List;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The directory; `.` for the root itself.
    path: String,
    /// How many levels to go down, 1 to 8. 1, the default, lists the directory alone.
    #[serde(default)]
    #[schemars(range(min = 1, max = 8))]
    depth: Option<u32>,
}

impl FsAct for List {
    type Args = Args;
    const NAME: &'static str = "fs_list";
    const DESCRIPTION: &'static str = "Lists a directory: names in order, directories with a trailing `/`, files with \
        their size in bytes, links with what they point to. Links are not followed while going down.";
    const EFFECT: Effect = Effect::Pure;
    const ACCESS: Access = Access::Read;

    fn path(args: &Args) -> &str {
        &args.path
    }

    fn is_recursive(args: &Args) -> bool {
        args.depth.is_some_and(|depth| depth > 1)
    }

    fn act(path: &Resolved, args: Args, stop: &Stop, bytes_max: usize) -> Result<ToolOutput, ToolError> {
        let depth = args.depth.unwrap_or(1);
        if !(1..=DEPTH_MAX).contains(&depth) {
            let message = format!("`depth` must be from 1 to {DEPTH_MAX}");
            return Err(ToolError::new(ToolErrorClass::InvalidArguments, message));
        }
        let mut listing = Listing {
            stop,
            text: String::new(),
            bytes_max: bytes_max.saturating_sub(400),
            shown: 0,
            notes: Vec::new(),
        };
        let dir = path.dir().map_err(|error| match path.place() {
            Ok(Some(place)) if place.parent.symlink_metadata(&place.leaf).is_ok_and(|m| !m.is_dir()) => {
                let message = format!("`{}` is not a directory", path.shown());
                ToolError::new(ToolErrorClass::InvalidArguments, message)
            }
            _ => error,
        })?;
        let whole = listing.directory(&dir, "", depth)?;
        if listing.shown == 0 && whole {
            listing.notes.push("the directory is empty".to_owned());
        }
        if !whole {
            let note = format!("cut after {} entries; list a subdirectory to see more", listing.shown);
            listing.notes.push(note);
        }
        for note in listing.notes {
            // Writing to a string does not fail.
            let _ = writeln!(listing.text, "[{note}]");
        }
        Ok(ToolOutput::text(listing.text))
    }
}

struct Listing<'a> {
    stop: &'a Stop,
    text: String,
    bytes_max: usize,
    shown: usize,
    notes: Vec<String>,
}

impl Listing<'_> {
    /// Appends a directory; tells whether everything had room.
    fn directory(&mut self, dir: &Dir, prefix: &str, depth: u32) -> Result<bool, ToolError> {
        let (names, more) = match names(dir, self.stop) {
            Ok(read) => read?,
            Err(error) => {
                self.notes.push(format!("`{prefix}` could not be read: {}", error.kind()));
                return Ok(true);
            }
        };
        for name in &names {
            self.stop.check()?;
            let line = line(dir, name, prefix);
            if self.shown >= ENTRIES_MAX || self.text.len() + line.len() > self.bytes_max {
                return Ok(false);
            }
            self.shown += 1;
            self.text.push_str(&line);
            if depth > 1
                && let Some(name) = name.to_str()
                && let Ok(inner) = open_dir_in(dir, name)
                && !self.directory(&inner, &format!("{prefix}{}/", show(OsStr::new(name))), depth - 1)?
            {
                return Ok(false);
            }
        }
        if more {
            self.notes.push(format!("`{prefix}.` holds more than {NAMES_MAX} names; the rest is not shown"));
        }
        Ok(true)
    }
}

/// The names in a directory in order, and whether there are more than are read. The outer result is the directory's,
/// the inner the call's.
pub(super) fn names(
    dir: &Dir,
    stop: &Stop,
) -> io::Result<Result<(Vec<std::ffi::OsString>, bool), ToolError>> {
    let mut names = Vec::new();
    let mut more = false;
    for entry in dir.entries()? {
        if let Err(error) = stop.check() {
            return Ok(Err(error));
        }
        if names.len() == NAMES_MAX {
            more = true;
            break;
        }
        names.push(entry?.file_name());
    }
    names.sort();
    Ok(Ok((names, more)))
}

fn line(dir: &Dir, name: &OsStr, prefix: &str) -> String {
    let shown = format!("{prefix}{}", show(name));
    match dir.symlink_metadata(name) {
        Err(error) => format!("{shown}  [{}]\n", error.kind()),
        Ok(metadata) if metadata.is_dir() => format!("{shown}/\n"),
        Ok(metadata) if metadata.is_file() => format!("{shown}  {} bytes\n", metadata.size()),
        Ok(metadata) if metadata.is_symlink() => {
            let goal = dir.read_link_contents(name).map(|goal| show(goal.as_os_str()));
            format!("{shown} -> {}\n", goal.unwrap_or_else(|_| "?".to_owned()))
        }
        Ok(metadata) => format!("{shown}  [{}]\n", kind_word(&metadata.file_type())),
    }
}

/// A name as a line can show it; one that a call could not name is quoted with its characters escaped.
pub(super) fn show(name: &OsStr) -> String {
    match name.to_str() {
        Some(text) if !text.chars().any(is_hard_to_see) => text.to_owned(),
        _ => format!("{name:?} [not usable]"),
    }
}
