//! Opening regular files, and telling text from everything else.

use std::io::{self, Read as _};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsExt as _, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, File, FileType, FileTypeExt as _, Metadata, MetadataExt as _, OpenOptions};
use probity_contract::{ToolError, ToolErrorClass};

use crate::root::{Resolved, refused};

/// Bytes at the start of a file that decide whether it is text.
pub(crate) const HEAD_BYTES: usize = 8 * 1024;

/// A regular file, open for reading.
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) metadata: Metadata,
}

/// Opens a regular file and nothing else: links, pipes, sockets and devices are refused without opening them, and what
/// slips in between is opened without blocking and refused then.
pub(crate) fn open_regular(path: &Resolved) -> Result<Opened, ToolError> {
    let Some(place) = path.place()? else { return Err(not_a_file(path, "a directory")) };
    let before = place.parent.symlink_metadata(&place.leaf).map_err(|error| path.error(&error))?;
    regular(path, &before.file_type())?;
    let opened = open_in(&place.parent, &place.leaf).map_err(|error| path.error(&error))?;
    regular(path, &opened.metadata.file_type())?;
    path.refuse_kernel(&opened.file, opened.metadata.dev())?;
    Ok(opened)
}

/// Opens a name without following a link and without waiting for a peer.
pub(crate) fn open_in(parent: &Dir, name: &str) -> io::Result<Opened> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).custom_flags(libc_nonblock());
    let file = parent.open_with(name, &options)?;
    let metadata = file.metadata()?;
    Ok(Opened { file, metadata })
}

/// Opens a directory without following a link.
pub(crate) fn open_dir_in(parent: &Dir, name: &str) -> io::Result<Dir> {
    parent.open_dir_nofollow(name)
}

fn libc_nonblock() -> i32 {
    // The flags are a handful of low bits on every target.
    i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default()
}

fn regular(path: &Resolved, kind: &FileType) -> Result<(), ToolError> {
    if kind.is_file() { Ok(()) } else { Err(not_a_file(path, kind_word(kind))) }
}

/// The error for what is there but is no regular file.
pub(crate) fn not_a_file(path: &Resolved, kind: &str) -> ToolError {
    let shown = path.shown();
    if kind == "a directory" {
        let message = format!("`{shown}` is a directory, not a file; `fs_list` shows what is in it");
        return ToolError::new(ToolErrorClass::InvalidArguments, message);
    }
    refused(format!("`{shown}` is {kind}, not a regular file"))
}

pub(crate) fn kind_word(kind: &FileType) -> &'static str {
    if kind.is_dir() {
        "a directory"
    } else if kind.is_symlink() {
        "a link"
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_block_device() || kind.is_char_device() {
        "a device"
    } else {
        "a special file"
    }
}

/// Reads the start of a file, as far as it decides about its kind.
pub(crate) fn head(file: &mut impl io::Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    file.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// What sort of binary content starts like this; nothing for text.
///
/// Text may be in an encoding other than UTF-8; a zero byte or a known signature makes it binary.
pub(crate) fn binary_kind(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Some("text in UTF-16");
    }
    let has_zero = memchr::memchr(0, head).is_some();
    let known = infer::get(head).filter(|kind| kind.matcher_type() != infer::MatcherType::Text);
    match known {
        // Signatures of two or three letters also start texts; a zero byte or broken UTF-8 settles it.
        Some(kind) if has_zero || !is_utf8_prefix(head) || kind.mime_type() == "application/pdf" => {
            Some(kind.mime_type())
        }
        _ if has_zero => Some("of unknown type"),
        _ => None,
    }
}

/// Whether bytes are UTF-8, except for a character that the end cuts.
fn is_utf8_prefix(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).err().is_none_or(|error| error.error_len().is_none())
}

/// The polite refusal of a binary file.
pub(crate) fn binary(path: &Resolved, kind: &str, len: u64) -> ToolError {
    refused(format!("`{}` is a binary file ({kind}, {len} bytes); only text can be used here", path.shown()))
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
