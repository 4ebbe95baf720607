//! One rule: a tool and, in brackets, what the call must look like.
//!
//! A rule that widens (allow) reads strictly, one that narrows (ask, deny) reads loosely. Strictly: every target must
//! match in its literal and in its resolved form. Loosely: any target in either form, whatever the case of letters, and
//! a command also where it stands behind another (`env rm`). So a deny rule matches at least whatever an allow rule with
//! the same text matches.

use std::fmt;

use globset::{GlobBuilder, GlobMatcher};
use probity_contract::{FrozenCall, Target};
use serde_json::Value;

/// A parsed rule.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    text: String,
    tool: Glob,
    names_tool: Option<String>,
    condition: Condition,
}

/// Why a rule cannot be used. A rule that cannot be used stops the start; it never means "no rule".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read the rule `{rule}`: {why}")]
pub struct RuleError {
    rule: String,
    why: String,
}

#[derive(Debug, Clone)]
enum Condition {
    /// `tool`: every call of the tool.
    Any,
    /// `tool(a=x, b=y)`: named arguments.
    Arguments(Vec<(String, Glob)>, Text),
    /// `tool(pattern)`: what the call touches.
    Targets(Text),
}

/// The pattern as a whole, and as the words of a command.
#[derive(Debug, Clone)]
struct Text {
    whole: Glob,
    words: Vec<Glob>,
    /// The command may go on after the words: the pattern ends in ` *`.
    open_ended: bool,
}

/// A glob that tells letters' cases apart, and one that does not.
#[derive(Debug, Clone)]
struct Glob {
    exact: GlobMatcher,
    folded: GlobMatcher,
}

/// How a rule reads a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// For rules that widen.
    Strict,
    /// For rules that narrow.
    Loose,
}

impl Rule {
    pub(super) fn parse(text: &str) -> Result<Self, RuleError> {
        let fail = |why: &str| RuleError { rule: clip(text), why: why.to_owned() };
        let trimmed = text.trim();
        if text.chars().any(char::is_control) {
            return Err(fail("a rule is one line without control characters"));
        }
        let (tool, pattern) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((tool, rest)) => {
                let pattern = rest.strip_suffix(')').ok_or_else(|| fail("the bracket is not closed"))?;
                (tool.trim_end(), Some(pattern.trim()))
            }
        };
        let is_tool = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'*');
        if tool.is_empty() || !tool.bytes().all(is_tool) {
            return Err(fail("it must begin with a tool's name; `*` stands for any part of one"));
        }
        if pattern == Some("") {
            return Err(fail("the brackets are empty; leave them out to mean every call of the tool"));
        }
        let condition = match pattern {
            None => Condition::Any,
            Some(pattern) => Condition::parse(pattern).map_err(|why| fail(&why))?,
        };
        Ok(Self {
            text: trimmed.to_owned(),
            tool: Glob::new(tool).map_err(|why| fail(&why))?,
            names_tool: (!tool.contains('*')).then(|| tool.to_owned()),
            condition,
        })
    }

    /// The tool that the rule names, where it names one and not many.
    pub(super) fn names_tool(&self) -> Option<&str> {
        self.names_tool.as_deref()
    }

    pub(super) fn unknown_tool(&self) -> RuleError {
        RuleError { rule: clip(&self.text), why: "the task has no tool of this name".to_owned() }
    }

    pub(super) fn matches(&self, call: &FrozenCall, reading: Reading) -> bool {
        self.tool.is_match(call.tool().as_str(), reading)
            && match &self.condition {
                Condition::Any => true,
                Condition::Targets(text) => text.matches_call(call, reading),
                Condition::Arguments(conditions, text) => {
                    let arguments = call.arguments().to_value();
                    let holds = |(name, glob): &(String, Glob)| {
                        arguments.get(name).is_some_and(|value| argument_matches(value, glob, reading))
                    };
                    let named = conditions.iter().all(holds);
                    // A narrowing rule is read as a pattern over the targets too, in case that was meant.
                    named || (reading == Reading::Loose && text.matches_call(call, reading))
                }
            }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Condition {
    fn parse(pattern: &str) -> Result<Self, String> {
        let text = Text::parse(pattern)?;
        let named = |part: &str| {
            let (name, glob) = part.split_once('=')?;
            let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
            (!name.is_empty() && name.bytes().all(is_name)).then(|| (name.to_owned(), glob.to_owned()))
        };
        let parts: Option<Vec<_>> = pattern.split(", ").map(|part| named(part.trim())).collect();
        let Some(parts) = parts else { return Ok(Self::Targets(text)) };
        let glob = |(name, glob): (String, String)| match glob.as_str() {
            "" => Err(format!("the argument `{name}` has an empty pattern")),
            glob => Glob::new(glob).map(|glob| (name, glob)),
        };
        Ok(Self::Arguments(parts.into_iter().map(glob).collect::<Result<_, _>>()?, text))
    }
}

impl Text {
    fn parse(pattern: &str) -> Result<Self, String> {
        let mut words: Vec<&str> = pattern.split_whitespace().collect();
        let open_ended = words.len() > 1 && words.last() == Some(&"*");
        if open_ended {
            words.pop();
        }
        let words = words.into_iter().map(Glob::new).collect::<Result<_, _>>()?;
        Ok(Self { whole: Glob::new(pattern)?, words, open_ended })
    }

    fn matches_call(&self, call: &FrozenCall, reading: Reading) -> bool {
        let is_command = |target: &&Target| matches!(target, Target::Command { .. });
        let commands: Vec<&Target> = call.targets().iter().filter(is_command).collect();
        // Where a program is run, that is what the rule is about; the directory it runs in is not.
        let subjects = if commands.is_empty() { call.targets().iter().collect() } else { commands };
        match reading {
            Reading::Strict => {
                !subjects.is_empty()
                    && subjects.into_iter().all(|target| self.matches_target(target, reading))
            }
            Reading::Loose => {
                subjects.into_iter().any(|target| self.matches_target(target, reading))
                    || strings(&call.arguments().to_value()).any(|text| self.whole.is_match(text, reading))
            }
        }
    }

    fn matches_target(&self, target: &Target, reading: Reading) -> bool {
        match target {
            Target::Path { root, path, resolved, .. } => {
                let full = |path: &str| if path == "." { root.clone() } else { format!("{root}/{path}") };
                let (literal, real) = (full(path), full(resolved));
                let is_match = |text: &str| self.whole.is_match(text, reading);
                match reading {
                    Reading::Strict => is_match(&literal) && is_match(&real),
                    Reading::Loose => [&literal, &real, path, resolved].iter().any(|text| is_match(text)),
                }
            }
            Target::Url { url, host, port, .. } => {
                let with_port = format!("{host}:{port}");
                match reading {
                    Reading::Strict => {
                        [url, host, &with_port].iter().any(|text| self.whole.is_match(text, reading))
                    }
                    Reading::Loose => {
                        let without_scheme = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
                        [url.as_str(), host, &with_port, without_scheme]
                            .iter()
                            .any(|text| self.whole.is_match(text, reading))
                    }
                }
            }
            Target::Command { argv } => self.matches_command(argv, reading),
            Target::Other { value, .. } => self.whole.is_match(value, reading),
        }
    }

    fn matches_command(&self, argv: &[String], reading: Reading) -> bool {
        let begins = |words: &[&str]| {
            words.len() >= self.words.len()
                && self.words.iter().zip(words).all(|(glob, word)| glob.is_match(word, reading))
        };
        match reading {
            Reading::Strict => {
                let words: Vec<&str> = argv.iter().map(String::as_str).collect();
                begins(&words) && (self.open_ended || words.len() == self.words.len())
            }
            Reading::Loose => {
                // Arguments may hold commands of their own (`sh -c "…"`), so all words are looked at, each also by the
                // last part of its path.
                let split = |arg: &'_ String| -> Vec<String> {
                    let words = arg.split(|c: char| c.is_whitespace() || ";|&()<>'\"`$".contains(c));
                    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
                };
                let whole: Vec<&str> = argv.iter().map(String::as_str).collect();
                let pieces: Vec<String> = argv.iter().flat_map(split).collect();
                let bare = pieces.iter().map(|word| word.rsplit('/').next().unwrap_or(word));
                let (pieces, bare) =
                    (pieces.iter().map(String::as_str).collect::<Vec<_>>(), bare.collect::<Vec<_>>());
                let starts = |words: &[&str]| (0..words.len()).any(|at| words.get(at..).is_some_and(begins));
                starts(&whole) || starts(&pieces) || starts(&bare)
            }
        }
    }
}

impl Glob {
    fn new(pattern: &str) -> Result<Self, String> {
        let build = |folded: bool| {
            GlobBuilder::new(pattern)
                .literal_separator(true)
                .case_insensitive(folded)
                .build()
                .map(|glob| glob.compile_matcher())
                .map_err(|error| error.kind().to_string())
        };
        Ok(Self { exact: build(false)?, folded: build(true)? })
    }

    fn is_match(&self, text: &str, reading: Reading) -> bool {
        match reading {
            Reading::Strict => self.exact.is_match(text),
            Reading::Loose => self.folded.is_match(text),
        }
    }
}

fn argument_matches(value: &Value, glob: &Glob, reading: Reading) -> bool {
    match value {
        Value::String(text) => glob.is_match(text, reading),
        Value::Number(_) | Value::Bool(_) | Value::Null => glob.is_match(&value.to_string(), reading),
        Value::Array(values) => match reading {
            Reading::Strict => {
                !values.is_empty() && values.iter().all(|value| argument_matches(value, glob, reading))
            }
            Reading::Loose => values.iter().any(|value| argument_matches(value, glob, reading)),
        },
        // Nothing can be said of an object in one line; a widening rule does not match it, a narrowing one does.
        Value::Object(_) => reading == Reading::Loose,
    }
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

fn clip(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(120).collect()
}
