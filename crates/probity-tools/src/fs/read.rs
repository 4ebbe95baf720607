//! `fs_read`: the lines of a text file, page by page.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Seek as _};

use probity_contract::{Access, Effect, ToolError, ToolErrorClass, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::FsAct;
use super::content::{binary, binary_kind, head, open_regular};
use crate::clip;
use crate::root::Resolved;
use crate::stop::Stop;

/// Lines of one page where the call names no limit, and at most.
const LINES_DEFAULT: u64 = 2_000;
const LINES_MAX: u64 = 20_000;
/// Bytes of one page.
const PAGE_BYTES_MAX: usize = 128 * 1024;
/// Bytes of one line; the rest of it is not shown.
const LINE_BYTES_MAX: usize = 16 * 1024;
/// Bytes of a page that are kept for the notes at its end.
const NOTES_BYTES: usize = 512;
/// Bytes that are read to reach a line.
const SCAN_BYTES_MAX: u64 = 512 * 1024 * 1024;

pub(super) struct Read;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The file.
    path: String,
    /// The first line to show, counted from 1. Default 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// How many lines to show at most. Default 2000, at most 20000.
    #[serde(default)]
    #[schemars(range(min = 1, max = 20000))]
    limit: Option<u64>,
    /// Whether each line starts with its number and a tab. Default false.
    #[serde(default)]
    line_numbers: bool,
}

impl FsAct for Read {
    type Args = Args;
    const NAME: &'static str = "fs_read";
    const DESCRIPTION: &'static str = "Reads a text file by lines. A long file comes in pages; a note in square brackets \
        at the end says with which `offset` to read on. Binary files are refused.";
    const EFFECT: Effect = Effect::Pure;
    const ACCESS: Access = Access::Read;

    fn path(args: &Args) -> &str {
        &args.path
    }

    fn act(path: &Resolved, args: Args, stop: &Stop, bytes_max: usize) -> Result<ToolOutput, ToolError> {
        let offset = args.offset.unwrap_or(1);
        let limit = args.limit.unwrap_or(LINES_DEFAULT);
        if offset == 0 || limit == 0 || limit > LINES_MAX {
            let message = format!("`offset` counts from 1, `limit` goes from 1 to {LINES_MAX}");
            return Err(ToolError::new(ToolErrorClass::InvalidArguments, message));
        }
        let mut opened = open_regular(path)?;
        let io = |error| path.error(&error);
        if let Some(kind) = binary_kind(&head(&mut opened.file).map_err(io)?) {
            return Err(binary(path, kind, opened.metadata.len()));
        }
        opened.file.rewind().map_err(io)?;
        let bytes_max = bytes_max.min(PAGE_BYTES_MAX).saturating_sub(NOTES_BYTES).max(256);
        let mut lines = Lines { reader: BufReader::with_capacity(64 * 1024, opened.file), read: 0 };
        let mut page = Page { text: String::new(), bytes_max, notes: Vec::new(), odd: false };
        let mut number = 0;
        loop {
            stop.check()?;
            if lines.read > SCAN_BYTES_MAX {
                page.notes
                    .push(format!("stopped after {SCAN_BYTES_MAX} bytes of the file, in line {number}"));
                break;
            }
            let wanted = number + 1 >= offset && number + 1 < offset.saturating_add(limit);
            let keep = if wanted { LINE_BYTES_MAX.min(bytes_max) } else { 0 };
            let Some(line) = lines.next(keep, stop).map_err(|error| error.into_tool(path))? else {
                page.end(number, offset);
                break;
            };
            number += 1;
            if number < offset {
                continue;
            }
            if !wanted || !page.push(&line, args.line_numbers.then_some(number)) {
                let last = number - 1;
                page.notes
                    .push(format!("lines {offset} to {last}; there are more: read on with offset {number}"));
                break;
            }
        }
        Ok(ToolOutput::text(page.finish()))
    }
}

/// One line: its first bytes without the line end, and how long it is.
struct Line {
    bytes: Vec<u8>,
    len: u64,
}

struct Lines<R> {
    reader: R,
    read: u64,
}

enum Broken {
    Io(std::io::Error),
    Stopped(ToolError),
}

impl Broken {
    fn into_tool(self, path: &Resolved) -> ToolError {
        match self {
            Self::Io(error) => path.error(&error),
            Self::Stopped(error) => error,
        }
    }
}

impl<R: BufRead> Lines<R> {
    /// The next line with at most `keep` of its bytes. Never holds more than that and one buffer.
    fn next(&mut self, keep: usize, stop: &Stop) -> Result<Option<Line>, Broken> {
        let mut line = Line { bytes: Vec::new(), len: 0 };
        loop {
            let buffer = self.reader.fill_buf().map_err(Broken::Io)?;
            if buffer.is_empty() {
                return Ok((line.len > 0).then_some(line));
            }
            let end = memchr::memchr(b'\n', buffer);
            let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
            let room = keep.saturating_sub(line.bytes.len()).min(part.len());
            line.bytes.extend_from_slice(part.get(..room).unwrap_or_default());
            line.len += part.len() as u64;
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            self.read += used as u64;
            if end.is_some() {
                return Ok(Some(line));
            }
            if self.read > SCAN_BYTES_MAX {
                return Ok(Some(line));
            }
            stop.check().map_err(Broken::Stopped)?;
        }
    }
}

struct Page {
    text: String,
    bytes_max: usize,
    notes: Vec<String>,
    odd: bool,
}

impl Page {
    /// Appends a line; tells whether it had room. The first line always finds some.
    fn push(&mut self, line: &Line, number: Option<u64>) -> bool {
        let text = String::from_utf8_lossy(&line.bytes);
        let whole = line.bytes.len() as u64 == line.len;
        let mut shown = String::new();
        if let Some(number) = number {
            let _ = write!(shown, "{number:>6}\t");
        }
        shown.push_str(clip::prefix(&text, self.bytes_max.saturating_sub(128)));
        if !whole || text.len() > self.bytes_max.saturating_sub(128) {
            let _ = write!(shown, " [line cut: it is {} bytes long; fs_search can look inside]", line.len);
        }
        shown.push('\n');
        if !self.text.is_empty() && self.text.len() + shown.len() > self.bytes_max {
            return false;
        }
        // A cut may split a character; only a break inside the text makes it odd.
        let odd = std::str::from_utf8(&line.bytes).err();
        self.odd |= odd.is_some_and(|error| whole || error.error_len().is_some());
        self.text.push_str(&shown);
        true
    }

    fn end(&mut self, lines: u64, offset: u64) {
        if lines == 0 {
            self.notes.push("the file is empty".to_owned());
        } else if offset > lines {
            self.notes.push(format!("the file has {lines} lines; offset {offset} is behind its end"));
        } else if offset > 1 {
            self.notes.push(format!("lines {offset} to {lines}, the end of the file"));
        }
    }

    fn finish(mut self) -> String {
        if self.odd {
            self.notes.push("bytes that are not UTF-8 are shown as \u{fffd}".to_owned());
        }
        for note in self.notes {
            let _ = writeln!(self.text, "[{note}]");
        }
        self.text
    }
}
