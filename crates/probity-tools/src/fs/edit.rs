//! `fs_edit`: one exact replacement in a text file.

use std::io::{Read as _, Seek as _};

use memchr::memmem;
use probity_contract::{Access, Effect, ToolError, ToolErrorClass, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::FsAct;
use super::content::{binary, binary_kind, head, not_a_file, open_regular};
use super::nearest::nearest;
use super::write::{Replace, replace};
use crate::root::{Resolved, refused};
use crate::stop::Stop;

/// Bytes of a file that can be edited, before and after.
const EDIT_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Places that an error names.
const PLACES_MAX: usize = 5;

pub(super) struct Edit;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The file.
    path: String,
    /// The text to replace, exactly as it stands in the file, white space and line ends included. Unless `all` is set
    /// it must stand there exactly once; take more of the text around it to make it unique.
    old: String,
    /// The text to put in its place.
    new: String,
    /// Whether to replace every place where `old` stands. Default false.
    #[serde(default)]
    all: bool,
}

impl FsAct for Edit {
    type Args = Args;
    const NAME: &'static str = "fs_edit";
    const DESCRIPTION: &'static str =
        "Replaces an exact text in a text file. Nothing is written unless the match is clear.";
    const EFFECT: Effect = Effect::Once;
    const ACCESS: Access = Access::Write;

    fn path(args: &Args) -> &str {
        &args.path
    }

    fn act(path: &Resolved, args: Args, stop: &Stop, _bytes_max: usize) -> Result<ToolOutput, ToolError> {
        if args.old.is_empty() || args.old == args.new {
            let message = "`old` must not be empty and must differ from `new`";
            return Err(ToolError::new(ToolErrorClass::InvalidArguments, message));
        }
        let io = |error| path.error(&error);
        let mut opened = open_regular(path)?;
        let len = opened.metadata.len();
        if len > EDIT_BYTES_MAX {
            return Err(too_big(path, len));
        }
        if let Some(kind) = binary_kind(&head(&mut opened.file).map_err(io)?) {
            return Err(binary(path, kind, len));
        }
        opened.file.rewind().map_err(io)?;
        let mut content = Vec::new();
        opened.file.take(EDIT_BYTES_MAX + 1).read_to_end(&mut content).map_err(io)?;
        stop.check()?;
        let (edited, places) = edit(path, &content, &args, stop)?;
        if edited.len() as u64 > EDIT_BYTES_MAX {
            return Err(too_big(path, edited.len() as u64));
        }
        let Some(place) = path.place()? else { return Err(not_a_file(path, "a directory")) };
        replace(path, &place, &edited, Some(&opened.metadata), Replace::Unchanged, stop)?;
        let lines = places.iter().take(PLACES_MAX).map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let (noun, more) = (plural(places.len()), if places.len() > PLACES_MAX { ", …" } else { "" });
        Ok(ToolOutput::text(format!(
            "edited `{}`: {} {noun} replaced (line {lines}{more})",
            path.shown(),
            places.len()
        )))
    }
}

/// The edited content, and the lines in which a replacement was made.
fn edit(
    path: &Resolved,
    content: &[u8],
    args: &Args,
    stop: &Stop,
) -> Result<(Vec<u8>, Vec<usize>), ToolError> {
    let (old, new) = (args.old.as_bytes(), args.new.as_bytes());
    let found: Vec<usize> =
        if args.all { memmem::find_iter(content, old).collect() } else { overlapping(content, old) };
    if found.is_empty() {
        return Err(not_found(path, content, &args.old, stop)?);
    }
    let places = lines_of(content, &found);
    if found.len() > 1 && !args.all {
        let lines = places.iter().take(PLACES_MAX).map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let count = if found.len() > PLACES_MAX {
            format!("more than {PLACES_MAX}")
        } else {
            found.len().to_string()
        };
        return Err(refused(format!(
            "`old` stands in {count} places of `{}` (lines {lines}): take more text around it, or set `all`",
            path.shown()
        )));
    }
    let grown = new.len().saturating_sub(old.len()).saturating_mul(found.len());
    if (content.len().saturating_add(grown)) as u64 > EDIT_BYTES_MAX {
        return Err(too_big(path, (content.len().saturating_add(grown)) as u64));
    }
    let mut edited = Vec::with_capacity(content.len() + grown);
    let mut copied = 0;
    for at in found {
        edited.extend_from_slice(content.get(copied..at).unwrap_or_default());
        edited.extend_from_slice(new);
        copied = at + old.len();
    }
    edited.extend_from_slice(content.get(copied..).unwrap_or_default());
    Ok((edited, places))
}

/// Where `old` stands, places that overlap counted too; stops after one more than an error would name.
fn overlapping(content: &[u8], old: &[u8]) -> Vec<usize> {
    let finder = memmem::Finder::new(old);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = content.get(from..).and_then(|rest| finder.find(rest)) {
        found.push(from + at);
        from += at + 1;
        if found.len() > PLACES_MAX {
            break;
        }
    }
    found
}

fn lines_of(content: &[u8], places: &[usize]) -> Vec<usize> {
    let (mut line, mut counted) = (1, 0);
    let mut lines = Vec::with_capacity(places.len());
    for &at in places {
        line += memchr::memchr_iter(b'\n', content.get(counted..at).unwrap_or_default()).count();
        counted = at;
        lines.push(line);
    }
    lines
}

fn not_found(path: &Resolved, content: &[u8], old: &str, stop: &Stop) -> Result<ToolError, ToolError> {
    let mut message = format!("`old` stands nowhere in `{}` (0 matches)", path.shown());
    let unix = memchr::memchr(b'\r', old.as_bytes()).is_none();
    if unix && old.contains('\n') && memmem::find(content, old.replace('\n', "\r\n").as_bytes()).is_some() {
        message.push_str("; its lines end in CRLF there, so write `\\r\\n` in `old` and `new`");
    } else if let Some(near) = nearest(content, old, stop)? {
        message.push_str("; nearest: ");
        message.push_str(&near);
    }
    Ok(ToolError::new(ToolErrorClass::NotFound, message))
}

fn too_big(path: &Resolved, len: u64) -> ToolError {
    refused(format!("`{}` has {len} bytes; at most {EDIT_BYTES_MAX} can be edited", path.shown()))
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "place" } else { "places" }
}
