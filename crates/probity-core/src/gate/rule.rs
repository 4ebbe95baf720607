//! One rule: a tool and, in brackets, what the call must look like.
//!
//! A rule that widens (allow) reads strictly, one that narrows (ask, deny) reads loosely. Strictly: every target must
//! match in its literal and in its resolved form, and where a call reaches everything below a path, all of that. Loosely:
//! any target in either form, whatever the case of letters, anything that could lie below, and a command also where it
//! stands behind another (`env rm`). So a deny rule matches at least whatever an allow rule with the same text matches.

use std::cell::OnceCell;
use std::fmt;

use probity_contract::{FrozenCall, Target, ToolSpec};
use serde_json::Value;

use super::glob::{Glob, Reading};
use super::shell::is_unaccounted;
use super::text::{Text, addresses, command_lines, subjects};

/// Bytes of one rule.
const RULE_BYTES_MAX: usize = 4096;

/// A parsed rule.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    text: String,
    tool_name: String,
    tool: Glob,
    condition: Condition,
}

/// A call that many rules look at; its arguments, commands and addresses are read once.
pub(super) struct Seen<'a> {
    pub(super) call: &'a FrozenCall,
    arguments: OnceCell<Value>,
    command_lines: OnceCell<Vec<Vec<String>>>,
    addresses: OnceCell<Vec<String>>,
}

impl<'a> Seen<'a> {
    pub(super) const fn new(call: &'a FrozenCall) -> Self {
        Self { call, arguments: OnceCell::new(), command_lines: OnceCell::new(), addresses: OnceCell::new() }
    }

    pub(super) fn arguments(&self) -> &Value {
        self.arguments.get_or_init(|| self.call.arguments().to_value())
    }

    pub(super) fn addresses(&self) -> &[String] {
        self.addresses.get_or_init(|| addresses(self.call))
    }

    pub(super) fn command_lines(&self) -> &[Vec<String>] {
        self.command_lines.get_or_init(|| command_lines(self.call))
    }
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

impl Rule {
    pub(super) fn parse(text: &str) -> Result<Self, RuleError> {
        if text.len() > RULE_BYTES_MAX {
            // It is not quoted: cut, a credential in it would not be known as one.
            let why = format!("it is longer than {RULE_BYTES_MAX} bytes");
            return Err(RuleError { rule: "…".to_owned(), why });
        }
        let fail = |why: &str| RuleError { rule: one_line(text), why: why.to_owned() };
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
        let (text, tool_name) = (trimmed.to_owned(), tool.to_owned());
        Ok(Self { text, tool_name, tool: Glob::new(tool).map_err(|why| fail(&why))?, condition })
    }

    /// Refuses a rule that can match no call of these tools.
    pub(super) fn check(&self, tools: &[ToolSpec]) -> Result<(), RuleError> {
        let fail = |why: String| Err(RuleError { rule: one_line(&self.text), why });
        let meant: Vec<&ToolSpec> =
            tools.iter().filter(|tool| self.means(tool.name.as_str(), Reading::Loose)).collect();
        if meant.is_empty() {
            return match self.tool_name.as_str() {
                "*" => Ok(()),
                name if name.contains('*') => fail("the task has no tool whose name matches".to_owned()),
                _ => fail("the task has no tool of this name".to_owned()),
            };
        }
        let Condition::Arguments(arguments, _) = &self.condition else { return Ok(()) };
        match arguments.iter().find(|(name, _)| !meant.iter().any(|tool| may_have(tool, name))) {
            None => Ok(()),
            Some((name, _)) => {
                let tool =
                    if self.tool_name.contains('*') { "no such tool has an" } else { "the tool has no" };
                fail(format!("{tool} argument `{name}`; for a `=` in a path or command write `\\=`"))
            }
        }
    }

    fn means(&self, tool: &str, reading: Reading) -> bool {
        if self.tool_name.contains('*') { self.tool.is_match(tool, reading) } else { self.tool_name == tool }
    }

    /// Whether the rule speaks of what lies below some place and the call reaches there.
    pub(super) fn narrower_helps(&self, call: &FrozenCall) -> bool {
        let reaches = |target: &Target| matches!(target, Target::Path { recursive: true, .. });
        matches!(self.condition, Condition::Targets(_)) && call.targets().iter().any(reaches)
    }

    /// Whether it allows this one of several things that a call touches.
    fn covers(&self, call: &FrozenCall, target: &Target) -> bool {
        let covers = matches!(&self.condition, Condition::Targets(text) if text.covers(call, target));
        covers && self.means(call.tool().as_str(), Reading::Strict)
    }

    /// Refuses to allow tools by a wildcard: it would also allow those that a server adds tomorrow.
    pub(super) fn check_that_it_names_its_tool(&self) -> Result<(), RuleError> {
        match self.tool_name.contains('*') {
            true => {
                Err(self.refused("a rule that allows must name its tool in full, one rule for each tool"))
            }
            false => Ok(()),
        }
    }

    /// Whether a tool that it speaks of may have an argument of this name; where it speaks of none of these, nobody knows.
    pub(super) fn may_have_argument(&self, tools: &[ToolSpec], name: &str) -> bool {
        let mut meant = tools.iter().filter(|tool| self.means(tool.name.as_str(), Reading::Loose)).peekable();
        meant.peek().is_none() || meant.any(|tool| may_have(tool, name))
    }

    /// Whether it speaks of one of these tools.
    pub(super) fn means_any(&self, tools: &[ToolSpec]) -> bool {
        self.tool_name == "*" || tools.iter().any(|tool| self.means(tool.name.as_str(), Reading::Loose))
    }

    pub(super) fn refused(&self, why: &str) -> RuleError {
        RuleError { rule: one_line(&self.text), why: one_line(why) }
    }

    /// The name of the tool, or what stands for several.
    pub(super) fn tool_name(&self) -> &str {
        &self.tool_name
    }

    pub(super) fn matches(&self, seen: &Seen<'_>, reading: Reading) -> bool {
        let call = seen.call;
        // What a command line does that could not be accounted for, nobody has allowed.
        if reading == Reading::Strict && call.targets().iter().any(is_unaccounted) {
            return false;
        }
        self.means(call.tool().as_str(), reading)
            && match &self.condition {
                Condition::Any => true,
                Condition::Targets(text) => text.matches_call(seen, reading),
                // A pattern over a whole command line would say `git *` and mean `git log; rm x` as well.
                Condition::Arguments(..) if reading == Reading::Strict && commands(call) > 1 => false,
                Condition::Arguments(conditions, text) => {
                    let arguments = seen.arguments();
                    let holds = |(name, glob): &(String, Glob)| {
                        find(arguments, name).is_some_and(|value| argument_matches(value, glob, reading))
                    };
                    let named = conditions.iter().all(holds);
                    // A narrowing rule is read as a pattern over the targets too, in case that was meant.
                    named || (reading == Reading::Loose && text.matches_call(seen, reading))
                }
            }
    }
}

/// The rules that together allow a call: one that matches it whole; or, where it runs several programs, one for each of them.
pub(super) fn allowing<'a>(rules: &[&'a Rule], seen: &Seen<'_>) -> Option<Vec<&'a Rule>> {
    let call = seen.call;
    if let Some(rule) = rules.iter().find(|rule| rule.matches(seen, Reading::Strict)) {
        return Some(vec![rule]);
    }
    let covering = |target| rules.iter().find(|rule| rule.covers(call, target)).copied();
    let mut named: Vec<&Rule> = Vec::new();
    for rule in (commands(call) > 1).then(|| subjects(call).map(covering))? {
        let rule = rule?;
        if !named.iter().any(|known| std::ptr::eq(*known, rule)) {
            named.push(rule);
        }
    }
    Some(named)
}

fn commands(call: &FrozenCall) -> usize {
    call.targets().iter().filter(|target| matches!(target, Target::Command { .. })).count()
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
            let is_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
            (!name.is_empty() && name.bytes().all(is_name)).then(|| (name.to_owned(), glob.to_owned()))
        };
        let parts = split(pattern);
        if parts.first().is_none_or(|part| named(part).is_none()) {
            return Ok(Self::Targets(text));
        }
        let glob = |part: &String| match named(part) {
            None => Err(format!(
                "`{}` is not `name=pattern`; write `\\,` for a comma in a pattern",
                one_line(part)
            )),
            Some((name, glob)) if glob.is_empty() => {
                Err(format!("the argument `{name}` has an empty pattern"))
            }
            Some((name, glob)) => Glob::new(&glob).map(|glob| (name, glob)),
        };
        Ok(Self::Arguments(parts.iter().map(glob).collect::<Result<_, _>>()?, text))
    }
}

/// The parts between commas that stand outside of `{a,b}` and are not escaped.
fn split(pattern: &str) -> Vec<String> {
    let (mut parts, mut part, mut depth) = (Vec::new(), String::new(), 0_usize);
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        part.push(c);
        if c == '\\' {
            part.extend(chars.next());
        }
    }
    parts.push(part);
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

/// Whether a call of the tool may have an argument of this name; members of members are not looked at.
fn may_have(tool: &ToolSpec, name: &str) -> bool {
    let closed = tool.input_schema.get("additionalProperties") == Some(&Value::Bool(false));
    let first = name.split('.').next().unwrap_or(name);
    let has = |name: &str| tool.input_schema.get("properties").is_some_and(|known| known.get(name).is_some());
    !closed || has(name) || has(first)
}

/// The argument of this name; a dot goes down into objects where no name has the dot itself.
fn find<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).or_else(|| {
        let (first, rest) = name.split_once('.')?;
        find(value.get(first)?, rest)
    })
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

/// Foreign text for a message, whole: who shows it removes credentials first and cuts after.
fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
