//! What the sources of deciding code may not say.
//!
//! Files are read as tokens, so that a comment or a text may name what the code may not, and line breaks,
//! grouped imports and macros hide nothing. Names are not resolved: a re-export under another name in a crate of
//! ours would pass. Clippy's `disallowed-methods` cannot do this: its configuration is one per crate, and
//! `probity-core` decides in one folder and acts in another.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::table::{ASYNC_WORDS, Area, BANNED_CALLS, BANNED_PATHS};

/// Every violation in the files of `area`. A folder that is missing is an error, or renaming it would lift the ban.
pub(super) fn check(root: &Path, area: &Area) -> Result<Vec<String>> {
    let mut files = Vec::new();
    list(&root.join(area.folder), &mut files)?;
    if files.is_empty() {
        bail!("no Rust file in `{}`: correct the table of areas", area.folder);
    }
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).with_context(|| format!("read `{}`", file.display()))?;
        let name = file.strip_prefix(root).unwrap_or(&file).display();
        found
            .extend(check_text(&text, area).into_iter().map(|(line, what)| format!("{name}:{line}: {what}")));
    }
    Ok(found)
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("list `{}`", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test(&path) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_test(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_tests"))
}

/// Violations in one file, with their lines.
fn check_text(text: &str, area: &Area) -> Vec<(usize, String)> {
    let stream: TokenStream = match text.parse() {
        Ok(stream) => stream,
        Err(error) => return vec![(1, format!("cannot be read as Rust: {error}"))],
    };
    let mut tokens = Vec::new();
    flatten(stream, &mut tokens);
    let mut found = Vec::new();
    if !area.is_async {
        let words = tokens.iter().filter(|token| ASYNC_WORDS.contains(&token.text.as_str()));
        found.extend(words.map(|token| (token.line, format!("`{}` in code that decides", token.text))));
    }
    let mut reader = Reader { tokens: &tokens, at: 0, paths: Vec::new() };
    reader.read_all();
    found.extend(reader.paths.iter().filter_map(|path| Some((path.line, path.refusal()?))));
    found.sort();
    found
}

struct Token {
    text: String,
    line: usize,
    is_word: bool,
}

/// Groups become their brackets and contents, `::` one token, and literals vanish.
fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        let mut push = |text: String, is_word| tokens.push(Token { text, line, is_word });
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                push(open.to_owned(), false);
                flatten(group.stream(), tokens);
                tokens.push(Token { text: close.to_owned(), line, is_word: false });
            }
            TokenTree::Ident(ident) => push(ident.to_string(), true),
            TokenTree::Punct(punct) => match tokens.last_mut() {
                Some(last) if last.text == ":" && punct.as_char() == ':' => last.text.push(':'),
                _ => tokens.push(Token { text: punct.to_string(), line, is_word: false }),
            },
            TokenTree::Literal(_) => {}
        }
    }
}

/// A path as written, grouped imports spelled out.
#[derive(Debug)]
struct NamedPath {
    segments: Vec<String>,
    line: usize,
    /// Follows `use` or `extern crate`, so that one word alone is a crate and not a variable.
    is_import: bool,
    is_renamed: bool,
}

impl NamedPath {
    fn refusal(&self) -> Option<String> {
        let words: Vec<&str> = self.segments.iter().map(String::as_str).collect();
        let is_banned = BANNED_PATHS.iter().any(|banned| self.names(&words, banned))
            || BANNED_CALLS.iter().any(|call| words.windows(call.len()).any(|window| window == call))
            || (words == ["std"] && self.is_renamed);
        is_banned.then(|| format!("`{}` in code that decides", words.join("::")))
    }

    /// Whether this is `banned`, something in it, or an import of everything around it.
    fn names(&self, words: &[&str], banned: &[&str]) -> bool {
        if let Some((&"*", around)) = words.split_last() {
            return banned.starts_with(around) || around.starts_with(banned);
        }
        words.starts_with(banned) && (words.len() > 1 || self.is_import)
    }
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    paths: Vec<NamedPath>,
}

impl Reader<'_> {
    fn read_all(&mut self) {
        while let Some(token) = self.tokens.get(self.at) {
            if self.imports_here() {
                self.at += 1;
                self.skip("::");
                self.read_path(Vec::new(), true);
            } else if token.is_word {
                self.read_path(Vec::new(), false);
            } else {
                self.at += 1;
            }
        }
    }

    /// Reads a path from here, behind `prefix`; always moves on by at least one token.
    fn read_path(&mut self, mut segments: Vec<String>, is_import: bool) {
        let start = self.at;
        let line = self.tokens.get(start).map_or(0, |token| token.line);
        while let Some(token) = self.tokens.get(self.at) {
            if token.text == "{" && is_import {
                return self.read_group(&segments);
            }
            let is_segment = token.is_word || (token.text == "*" && is_import);
            if !is_segment {
                break;
            }
            segments.push(token.text.clone());
            self.at += 1;
            if !self.skip("::") {
                break;
            }
        }
        self.at = self.at.max(start + 1);
        if segments.last().is_some_and(|last| last == "self") && segments.len() > 1 {
            segments.pop();
        }
        let is_renamed = self.tokens.get(self.at).is_some_and(|token| token.text == "as");
        self.paths.push(NamedPath { segments, line, is_import, is_renamed });
    }

    fn read_group(&mut self, prefix: &[String]) {
        self.at += 1;
        while let Some(token) = self.tokens.get(self.at) {
            match token.text.as_str() {
                "}" => {
                    self.at += 1;
                    return;
                }
                "," => self.at += 1,
                "as" => self.at += 2,
                _ => self.read_path(prefix.to_vec(), true),
            }
        }
    }

    /// At `use`, or at the second word of `extern crate`.
    fn imports_here(&self) -> bool {
        let is = |at: Option<usize>, text| {
            at.and_then(|at| self.tokens.get(at)).is_some_and(|token| token.text == text)
        };
        let at = Some(self.at);
        is(at, "use") || (is(at, "crate") && is(self.at.checked_sub(1), "extern"))
    }

    fn skip(&mut self, text: &str) -> bool {
        let is_here = self.tokens.get(self.at).is_some_and(|token| token.text == text);
        self.at += usize::from(is_here);
        is_here
    }
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
