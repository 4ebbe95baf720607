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
    /// Where it reads differently as an address.
    address: Option<Glob>,
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
        let normal = address::normal_pattern(&pattern);
        let address = if normal == pattern { None } else { Some(Glob::new(&normal)?) };
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
                    || seen.addresses().iter().any(|form| self.is_address(form, reading))
                    || seen.command_lines().iter().any(|words| self.is_within(words))
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
            // Loosely, the forms of all addresses are looked at together.
            Target::Url { url, host, port, .. } => {
                let is_match = |text: &str| self.is_address(text, Reading::Strict);
                reading == Reading::Strict
                    && (is_match(host)
                        || is_match(&format!("{host}:{port}"))
                        || (is_match(url) && is_match(&address::resolved(url))))
            }
            // Loosely, the words of all commands are looked at together.
            Target::Command { argv } => reading == Reading::Strict && self.matches_command(argv),
            Target::Other { .. } if is_unaccounted(target) && reading == Reading::Strict => false,
            // Nobody has said by a pattern over words what a program may be fed.
            Target::Other { what, .. } if runs && what == STDIN && reading == Reading::Strict => false,
            Target::Other { value, .. } => self.whole.is_match(value, reading),
        }
    }

    /// Strictly: these words and, where the pattern is open, any more.
    fn matches_command(&self, argv: &[String]) -> bool {
        self.begins(argv, Reading::Strict) && (self.open_ended || argv.len() == self.words.len())
    }

    fn is_address(&self, text: &str, reading: Reading) -> bool {
        self.whole.is_match(text, reading)
            || self.address.as_ref().is_some_and(|address| address.is_match(text, reading))
    }

    fn begins(&self, words: &[String], reading: Reading) -> bool {
        words.len() >= self.words.len()
            && self.words.iter().zip(words).all(|(glob, word)| glob.is_match(word, reading))
    }

    fn is_within(&self, words: &[String]) -> bool {
        (0..words.len()).any(|at| words.get(at..).is_some_and(|words| self.begins(words, Reading::Loose)))
    }
}

/// Every form in which a narrowing rule may mean an address of the call.
pub(super) fn addresses(call: &FrozenCall) -> Vec<String> {
    let forms = |target: &Target| match target {
        Target::Url { url, host, port, .. } => address::loose_forms(url, host, *port),
        Target::Path { .. } | Target::Command { .. } | Target::Other { .. } => Vec::new(),
    };
    let mut all: Vec<String> = call.targets().iter().flat_map(forms).collect();
    // Most of them are the same.
    all.sort_unstable();
    all.dedup();
    all
}

/// The words of everything that a call has run or feeds to a program, in each form in which a narrowing rule may mean them.
///
/// Arguments may hold commands of their own (`sh -c "…"`), so they are taken apart, also with what a shell takes away taken away,
/// and each word is also there by the last part of its path.
pub(super) fn command_lines(call: &FrozenCall) -> Vec<Vec<String>> {
    let runs = runs_programs(call);
    let mut lines = Vec::new();
    for target in call.targets() {
        match target {
            Target::Command { argv } => forms(argv, &mut lines),
            Target::Other { value, .. } if runs => forms(std::slice::from_ref(value), &mut lines),
            Target::Path { .. } | Target::Url { .. } | Target::Other { .. } => {}
        }
    }
    lines
}

fn forms(argv: &[String], lines: &mut Vec<Vec<String>>) {
    let plain: Vec<String> = argv.iter().map(|arg| without_quotes(arg)).collect();
    let pieces = split(argv, ";|&()<>'\"`$");
    let plain = split(&plain, ";|&()<>`${},");
    let bare = |words: &[String]| -> Vec<String> {
        words.iter().map(|word| word.rsplit('/').next().unwrap_or(word).to_owned()).collect()
    };
    for line in [argv.to_vec(), bare(&pieces), pieces, bare(&plain), plain] {
        // Most of them are the same.
        if !lines.contains(&line) {
            lines.push(line);
        }
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

fn split(argv: &[String], at: &str) -> Vec<String> {
    let parts = argv.iter().flat_map(|arg| arg.split(|c: char| c.is_whitespace() || at.contains(c)));
    parts.filter(|word| !word.is_empty()).map(str::to_owned).collect()
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
