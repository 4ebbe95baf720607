//! `fs_search`: lines that match a regular expression.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, Read as _};
use std::time::{Duration, Instant};

use cap_std::fs::{Dir, MetadataExt as _};
use globset::{GlobBuilder, GlobMatcher};
use probity_contract::{Access, Effect, ToolError, ToolErrorClass, ToolOutput};
use regex::bytes::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;

use super::FsAct;
use super::content::{HEAD_BYTES, binary_kind, kind_word, open_dir_in, open_in, open_regular};
use super::list::{names, show};
use crate::clip;
use crate::root::Resolved;
use crate::stop::Stop;

/// Matching lines in one answer.
const MATCHES_MAX: usize = 500;
/// Bytes of one file, and of all files of one search.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
const TOTAL_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Time of one search.
const SEARCH_MS_MAX: u64 = 20_000;
/// Levels that a search goes down.
const DEPTH_MAX: usize = 40;
/// Bytes of a line around its match that are shown.
const SHOWN_BYTES_MAX: usize = 300;
/// Bytes of a compiled expression.
const REGEX_BYTES_MAX: usize = 2 * 1024 * 1024;

pub(super) struct Search;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The directory or file to search in; `.` for the whole root.
    path: String,
    /// A regular expression (syntax of the Rust crate `regex`: no look-around, no back-references). It is tried on each
    /// line; start it with `(?i)` to ignore case.
    pattern: String,
    /// Only files whose path below `path` matches this glob, for example `**/*.rs`. A glob without `/` is compared with
    /// the file name alone.
    #[serde(default)]
    glob: Option<String>,
}

impl FsAct for Search {
    type Args = Args;
    const NAME: &'static str = "fs_search";
    const DESCRIPTION: &'static str = "Searches the lines of text files for a regular expression and shows them as \
        `path:line: text`. Links and `.git` are not entered, binary and big files are skipped; what was skipped is said \
        at the end.";
    const EFFECT: Effect = Effect::Pure;
    const ACCESS: Access = Access::Read;

    fn path(args: &Args) -> &str {
        &args.path
    }

    // Also where it names a file: what stands there when the search begins could be a directory.
    fn is_recursive(_: &Args) -> bool {
        true
    }

    fn act(path: &Resolved, args: Args, stop: &Stop, bytes_max: usize) -> Result<ToolOutput, ToolError> {
        let mut finding = Finding {
            stop,
            regex: regex(&args.pattern)?,
            glob: args.glob.as_deref().map(glob).transpose()?,
            started: Instant::now(),
            text: String::new(),
            bytes_max: bytes_max.saturating_sub(600),
            matches: 0,
            files: 0,
            read: 0,
            skipped: BTreeMap::new(),
        };
        let end = match path.dir() {
            Ok(dir) => finding.directory(&dir, "", 0)?,
            // Whatever is not a directory is a file, or `open_regular` says what it is.
            Err(_) => {
                let opened = open_regular(path)?;
                let name = path.resolved();
                finding.file(opened.file, opened.metadata.size(), &name).unwrap_or_else(|error| {
                    finding.skip(error_word(&error));
                    Ok(None)
                })?
            }
        };
        Ok(ToolOutput::text(finding.finish(end)))
    }
}

fn regex(pattern: &str) -> Result<Regex, ToolError> {
    RegexBuilder::new(pattern).size_limit(REGEX_BYTES_MAX).dfa_size_limit(REGEX_BYTES_MAX).build().map_err(
        |error| {
            let message = format!("`pattern` is not usable: {}", clip::word(&last_line(&error.to_string())));
            ToolError::new(ToolErrorClass::InvalidArguments, message)
        },
    )
}

/// The parser draws a picture of the fault; its last line says it in words.
fn last_line(text: &str) -> String {
    text.lines().next_back().unwrap_or(text).to_owned()
}

fn glob(pattern: &str) -> Result<Glob, ToolError> {
    let built = GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| {
        let message = format!("`glob` is not usable: {}", error.kind());
        ToolError::new(ToolErrorClass::InvalidArguments, message)
    })?;
    Ok(Glob { matcher: built.compile_matcher(), whole_path: pattern.contains('/') })
}

struct Glob {
    matcher: GlobMatcher,
    whole_path: bool,
}

impl Glob {
    fn matches(&self, path: &str) -> bool {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        self.matcher.is_match(if self.whole_path { path } else { name })
    }
}

/// Why a search ended before everything was searched.
#[derive(Clone, Copy)]
enum Cut {
    Matches,
    Bytes,
    Time,
    Output,
}

struct Finding<'a> {
    stop: &'a Stop,
    regex: Regex,
    glob: Option<Glob>,
    started: Instant,
    text: String,
    bytes_max: usize,
    matches: usize,
    files: usize,
    read: u64,
    skipped: BTreeMap<&'static str, usize>,
}

impl Finding<'_> {
    fn skip(&mut self, what: &'static str) {
        *self.skipped.entry(what).or_insert(0) += 1;
    }

    fn over(&self) -> Result<Option<Cut>, ToolError> {
        self.stop.check()?;
        if self.started.elapsed() > Duration::from_millis(SEARCH_MS_MAX) {
            return Ok(Some(Cut::Time));
        }
        Ok((self.read > TOTAL_BYTES_MAX).then_some(Cut::Bytes))
    }

    fn directory(&mut self, dir: &Dir, prefix: &str, depth: usize) -> Result<Option<Cut>, ToolError> {
        if depth >= DEPTH_MAX {
            self.skip("directories that lie too deep");
            return Ok(None);
        }
        let (names, more) = match names(dir, self.stop) {
            Ok(read) => read?,
            Err(error) => {
                self.skip(error_word(&error));
                return Ok(None);
            }
        };
        if more {
            self.skip("ends of directories with too many names");
        }
        for name in &names {
            if let Some(cut) = self.over()? {
                return Ok(Some(cut));
            }
            if let Some(cut) = self.entry(dir, name, prefix, depth)? {
                return Ok(Some(cut));
            }
        }
        Ok(None)
    }

    fn entry(
        &mut self,
        dir: &Dir,
        name: &OsStr,
        prefix: &str,
        depth: usize,
    ) -> Result<Option<Cut>, ToolError> {
        let shown = format!("{prefix}{}", show(name));
        let Some(name) = name.to_str() else {
            self.skip("names that are not UTF-8");
            return Ok(None);
        };
        let metadata = match dir.symlink_metadata(name) {
            Ok(metadata) => metadata,
            Err(error) => {
                self.skip(error_word(&error));
                return Ok(None);
            }
        };
        if metadata.is_dir() {
            if name == ".git" {
                self.skip("`.git` directories");
                return Ok(None);
            }
            return match open_dir_in(dir, name) {
                Ok(inner) => self.directory(&inner, &format!("{shown}/"), depth + 1),
                Err(error) => {
                    self.skip(error_word(&error));
                    Ok(None)
                }
            };
        }
        if !metadata.is_file() {
            self.skip(if metadata.is_symlink() { "links" } else { kind_word(&metadata.file_type()) });
            return Ok(None);
        }
        if self.glob.as_ref().is_some_and(|glob| !glob.matches(&format!("{prefix}{name}"))) {
            return Ok(None);
        }
        let searched = open_in(dir, name).and_then(|opened| {
            if opened.metadata.is_file() {
                self.file(opened.file, opened.metadata.size(), &shown)
            } else {
                Ok(Ok(None))
            }
        });
        searched.unwrap_or_else(|error| {
            self.skip(error_word(&error));
            Ok(None)
        })
    }

    /// Searches one file; the outer result is the file's, the inner the call's.
    fn file(
        &mut self,
        file: cap_std::fs::File,
        size: u64,
        shown: &str,
    ) -> io::Result<Result<Option<Cut>, ToolError>> {
        if size > FILE_BYTES_MAX {
            self.skip("files over 4 MiB");
            return Ok(Ok(None));
        }
        let mut content = Vec::new();
        // One byte more than the limit, for a file that grows meanwhile.
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut content)?;
        self.read += content.len() as u64;
        if binary_kind(content.get(..HEAD_BYTES.min(content.len())).unwrap_or_default()).is_some() {
            self.skip("binary files");
            return Ok(Ok(None));
        }
        self.files += 1;
        if content.is_empty() {
            return Ok(Ok(None));
        }
        // The piece behind the last line end is no line.
        let lines = content.strip_suffix(b"\n").unwrap_or(&content);
        for (index, line) in lines.split(|&byte| byte == b'\n').enumerate() {
            if index % 4096 == 0
                && let Err(error) = self.stop.check()
            {
                return Ok(Err(error));
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if let Some(found) = self.regex.find(line) {
                if self.matches == MATCHES_MAX {
                    return Ok(Ok(Some(Cut::Matches)));
                }
                let row = format!("{shown}:{}: {}\n", index + 1, excerpt(line, found.range()));
                if self.text.len() + row.len() > self.bytes_max {
                    return Ok(Ok(Some(Cut::Output)));
                }
                self.matches += 1;
                self.text.push_str(&row);
            }
        }
        Ok(Ok(None))
    }

    fn finish(mut self, cut: Option<Cut>) -> String {
        let cut = cut.map(|cut| match cut {
            Cut::Matches => format!("cut after {MATCHES_MAX} matches; narrow `pattern`, `path` or `glob`"),
            Cut::Output => "cut because the answer is full; narrow `pattern`, `path` or `glob`".to_owned(),
            Cut::Bytes => format!("cut after {TOTAL_BYTES_MAX} bytes of files; narrow `path` or `glob`"),
            Cut::Time => format!("cut after {SEARCH_MS_MAX} ms; narrow `path` or `glob`"),
        });
        let _ = writeln!(self.text, "[{} matches in {} files searched]", self.matches, self.files);
        if let Some(cut) = cut {
            let _ = writeln!(self.text, "[{cut}]");
        }
        if !self.skipped.is_empty() {
            let skipped: Vec<String> = self.skipped.iter().map(|(what, n)| format!("{n} × {what}")).collect();
            let _ = writeln!(self.text, "[skipped: {}]", skipped.join(", "));
        }
        self.text
    }
}

/// The part of a line around its match.
fn excerpt(line: &[u8], found: std::ops::Range<usize>) -> String {
    if line.len() <= SHOWN_BYTES_MAX {
        return String::from_utf8_lossy(line).into_owned();
    }
    let from = found.start.saturating_sub(SHOWN_BYTES_MAX / 3).min(line.len() - SHOWN_BYTES_MAX);
    let part = line.get(from..from + SHOWN_BYTES_MAX).unwrap_or_default();
    let (before, after) = (from > 0, from + SHOWN_BYTES_MAX < line.len());
    let text = String::from_utf8_lossy(part);
    let text = text.trim_matches('\u{fffd}');
    format!("{}{text}{}", if before { "…" } else { "" }, if after { "…" } else { "" })
}

fn error_word(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::PermissionDenied {
        "places without permission"
    } else if error.kind() == io::ErrorKind::NotFound {
        "files that went away"
    } else {
        "places that could not be read"
    }
}
