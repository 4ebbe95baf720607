//! One pattern over text, read strictly or loosely.

use globset::{GlobBuilder, GlobMatcher};

/// How a rule reads a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// For rules that widen.
    Strict,
    /// For rules that narrow.
    Loose,
}

/// A pattern of `*`, `**`, `?`, `{a,b}` and characters that stand for themselves.
///
/// Whatever matches strictly matches loosely. Character classes are refused: two people would read `[id]` differently.
#[derive(Debug, Clone)]
pub(super) struct Glob {
    /// `*` stays within one directory, letters' cases differ.
    exact: GlobMatcher,
    /// `*` stands for anything, letters' cases do not matter; and `x/**` and `x/*` mean `x` as well.
    loose: Vec<GlobMatcher>,
    /// What every match begins with, in lower case, and whether it can go on.
    prefix: String,
    is_open: bool,
    /// The pattern ends in a `**` that stands for everything below.
    is_deep: bool,
}

impl Glob {
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        refuse_classes(pattern)?;
        let build = |pattern: &str, is_loose: bool| {
            let mut builder = GlobBuilder::new(pattern);
            builder.literal_separator(!is_loose).case_insensitive(is_loose).backslash_escape(true);
            builder.build().map(|glob| glob.compile_matcher()).map_err(|error| error.kind().to_string())
        };
        let mut loose = vec![build(pattern, true)?];
        let stem = pattern.strip_suffix("/**").or_else(|| pattern.strip_suffix("/*"));
        if let Some(stem) = stem.filter(|stem| !stem.is_empty() && !stem.ends_with(['\\', '/'])) {
            loose.push(build(stem, true)?);
        }
        let (prefix, is_open) = literal_prefix(pattern);
        let is_deep = pattern == "**" || (pattern.ends_with("/**") && !pattern.ends_with("\\/**"));
        Ok(Self { exact: build(pattern, false)?, loose, prefix, is_open, is_deep })
    }

    pub(super) fn is_match(&self, text: &str, reading: Reading) -> bool {
        self.exact.is_match(text)
            || (reading == Reading::Loose && self.loose.iter().any(|glob| glob.is_match(text)))
    }

    /// Strictly: whether everything below `dir` matches. Loosely: whether anything below it could.
    pub(super) fn is_match_below(&self, dir: &str, reading: Reading) -> bool {
        match reading {
            // What the last `**` stands for may be anything, so one name below `dir` tells for all.
            Reading::Strict => self.is_deep && self.exact.is_match(format!("{dir}/x")),
            Reading::Loose => {
                let dir = if dir == "." { String::new() } else { format!("{}/", dir.to_ascii_lowercase()) };
                self.prefix.starts_with(&dir) || (self.is_open && dir.starts_with(&self.prefix))
            }
        }
    }
}

/// The characters before the first wildcard, in lower case, and whether there is a wildcard.
fn literal_prefix(pattern: &str) -> (String, bool) {
    let mut prefix = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' | '?' | '{' => return (prefix, true),
            '\\' => prefix.extend(chars.next().map(|c| c.to_ascii_lowercase())),
            _ => prefix.push(c.to_ascii_lowercase()),
        }
    }
    (prefix, false)
}

fn refuse_classes(pattern: &str) -> Result<(), String> {
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '[' => return Err("write `\\[` for a bracket, or `{a,b}` for one of several".to_owned()),
            _ => {}
        }
    }
    Ok(())
}
