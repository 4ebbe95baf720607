//! A pattern over what a call touches.

use probity_contract::{FrozenCall, Target};
use serde_json::Value;

use super::address;
use super::glob::{Glob, Reading};
use super::rule::Seen;
use super::shell::is_unaccounted;

/// What `shell` calls the text that a program reads.
const STDIN: &str = "stdin";

/// The pattern as a whole, as an address, and as the words of a command.
#[derive(Debug, Clone)]
pub(super) struct Text {
    whole: Glob,
    address: Glob,
    words: Vec<Glob>,
    /// The command may go on after the words: the pattern ends in ` *`.
    open_ended: bool,
}

impl Text {
    pub(super) fn parse(pattern: &str) -> Result<Self, String> {
        let pattern = address::escape_addresses(pattern);
        let mut words: Vec<&str> = pattern.split_whitespace().collect();
        let open_ended = words.len() > 1 && words.last() == Some(&"*");
        if open_ended {
            words.pop();
        }
        let words = words.into_iter().map(Glob::new).collect::<Result<_, _>>()?;
        let address = Glob::new(&address::normal_pattern(&pattern))?;
        Ok(Self { whole: Glob::new(&pattern)?, address, words, open_ended })
    }

    pub(super) fn matches_call(&self, seen: &Seen<'_>, reading: Reading) -> bool {
        let call = seen.call;
        let runs = runs_programs(call);
        let mut subjects = subjects(call).peekable();
        match reading {
            Reading::Strict => {
                subjects.peek().is_some() && subjects.all(|target| self.matches_target(target, runs, reading))
            }
            Reading::Loose => {
                subjects.any(|target| self.matches_target(target, runs, reading))
                    || strings(seen.arguments()).any(|text| self.whole.is_match(text, reading))
            }
        }
    }

    /// Whether it allows this one of several things that a call touches.
    pub(super) fn covers(&self, call: &FrozenCall, target: &Target) -> bool {
        self.matches_target(target, runs_programs(call), Reading::Strict)
    }

    fn matches_target(&self, target: &Target, runs: bool, reading: Reading) -> bool {
        match target {
            Target::Path { root, path, resolved, recursive, .. } => {
                let full = |path: &str| if path == "." { root.clone() } else { format!("{root}/{path}") };
                let (literal, real) = (full(path), full(resolved));
                let is_match = |text: &str| match reading {
                    Reading::Strict if *recursive => self.whole.is_match_below(text, reading),
                    Reading::Strict => self.whole.is_match(text, reading),
                    Reading::Loose => {
                        self.whole.is_match(text, reading)
                            || (*recursive && self.whole.is_match_below(text, reading))
                    }
                };
                match reading {
                    Reading::Strict => is_match(&literal) && is_match(&real),
                    Reading::Loose => [&literal, &real, path, resolved].iter().any(|text| is_match(text)),
                }
            }
            Target::Url { url, host, port, .. } => {
                let is_match =
                    |text: &str| self.whole.is_match(text, reading) || self.address.is_match(text, reading);
                match reading {
                    Reading::Strict => {
                        is_match(host)
                            || is_match(&format!("{host}:{port}"))
                            || (is_match(url) && is_match(&address::resolved(url)))
                    }
                    Reading::Loose => {
                        address::loose_forms(url, host, *port).iter().any(|text| is_match(text))
                    }
                }
            }
            Target::Command { argv } => self.matches_command(argv, reading),
            Target::Other { .. } if is_unaccounted(target) && reading == Reading::Strict => false,
            // Nobody has said by a pattern over words what a program may be fed.
            Target::Other { what, .. } if runs && what == STDIN && reading == Reading::Strict => false,
            Target::Other { value, .. } => {
                self.whole.is_match(value, reading)
                    || (runs && reading == Reading::Loose && self.is_among(std::slice::from_ref(value)))
            }
        }
    }

    fn matches_command(&self, argv: &[String], reading: Reading) -> bool {
        match reading {
            Reading::Strict => {
                let words: Vec<&str> = argv.iter().map(String::as_str).collect();
                self.begins(&words, reading) && (self.open_ended || words.len() == self.words.len())
            }
            Reading::Loose => self.is_among(argv),
        }
    }

    fn begins(&self, words: &[&str], reading: Reading) -> bool {
        words.len() >= self.words.len()
            && self.words.iter().zip(words).all(|(glob, word)| glob.is_match(word, reading))
    }

    /// Whether the words stand anywhere in these arguments. They may hold commands of their own (`sh -c "…"`), so they
    /// are taken apart, also with what a shell takes away taken away, and each word is also looked at by the last part of
    /// its path.
    fn is_among(&self, argv: &[String]) -> bool {
        let whole: Vec<&str> = argv.iter().map(String::as_str).collect();
        let pieces: Vec<&str> = argv.iter().flat_map(|arg| split(arg, ";|&()<>'\"`$")).collect();
        let plain: Vec<String> = argv.iter().map(|arg| without_quotes(arg)).collect();
        let plain: Vec<&str> = plain.iter().flat_map(|arg| split(arg, ";|&()<>`${},")).collect();
        let bare = |words: &[&'_ str]| -> bool {
            let bare: Vec<&str> = words.iter().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
            self.is_within(&bare)
        };
        self.is_within(&whole) || [pieces, plain].iter().any(|words| self.is_within(words) || bare(words))
    }

    fn is_within(&self, words: &[&str]) -> bool {
        (0..words.len()).any(|at| words.get(at..).is_some_and(|words| self.begins(words, Reading::Loose)))
    }
}

/// Whether the call has programs run.
fn runs_programs(call: &FrozenCall) -> bool {
    let runs = |target: &Target| matches!(target, Target::Command { .. }) || is_unaccounted(target);
    call.targets().iter().any(runs)
}

/// What a rule about targets speaks of. Where a program is run it is that; the directory it runs in, the first path, is not
/// meant.
pub(super) fn subjects(call: &FrozenCall) -> impl Iterator<Item = &Target> {
    let (runs, mut paths) = (runs_programs(call), 0);
    call.targets().iter().filter(move |target| {
        let is_path = matches!(target, Target::Path { .. });
        paths += usize::from(is_path);
        !(runs && is_path && paths == 1)
    })
}

fn split<'a>(text: &'a str, at: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(move |c: char| c.is_whitespace() || at.contains(c)).filter(|word| !word.is_empty())
}

/// The text without what a shell takes away: quotes, backslashes, lines that go on, and blanks written as a variable.
fn without_quotes(text: &str) -> String {
    let text = text.replace("\\\n", "").replace("${IFS}", " ").replace("$IFS", " ");
    text.replace(['\'', '"', '\\'], "")
}

/// All strings in a value.
fn strings(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text.as_str())),
        Value::Array(values) => Box::new(values.iter().flat_map(strings)),
        Value::Object(members) => Box::new(members.values().flat_map(strings)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Box::new(std::iter::empty()),
    }
}
