//! One condition on the window: which items, what their text must match, how many, and what is captured.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use probity_contract::{Content, Item, ItemId};
use regex::{Captures, Regex, RegexBuilder};
use serde::Deserialize;
use toml::Spanned;

use super::expression::is_name;
use super::file::RawCondition;
use super::names::Sort;
use super::rule::Problem;
use super::scope::{Bound, Value};
use super::window::{Kind, Window};

/// Bytes that one compiled pattern may take.
const PATTERN_BYTES_MAX: usize = 1024 * 1024;

/// Which occurrences of a pattern are captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Take {
    /// The oldest.
    First,
    /// The newest: what was said last counts.
    #[default]
    Last,
    /// Every one, as a list.
    All,
}

/// A condition that was checked when its file was loaded.
#[derive(Debug)]
pub(crate) struct Condition {
    kind: Kind,
    name: Option<String>,
    tool: Option<String>,
    is_error: Option<bool>,
    since: Option<Kind>,
    pattern: Option<Regex>,
    take: Take,
    join: String,
    at_least: usize,
    at_most: Option<usize>,
}

/// What a condition found in a window.
#[derive(Debug)]
pub(crate) struct Found {
    /// Whether as many items match as the condition wants.
    pub(crate) holds: bool,
    /// Every item without which the condition might have found something else.
    pub(crate) matched: BTreeSet<ItemId>,
    /// The captured values.
    pub(crate) captured: BTreeMap<String, Bound>,
}

impl Condition {
    /// Checks a condition as it is written.
    pub(crate) fn compile(raw: &Spanned<RawCondition>) -> Result<Self, Problem> {
        let at = raw.span().start;
        let raw = raw.get_ref();
        let problem = |words: &str| Err(Problem::new(at, words));
        if raw.name.is_some() && raw.kind != Kind::Context {
            return problem("`name` belongs to conditions with `kind = \"context\"`");
        }
        if (raw.tool.is_some() || raw.is_error.is_some()) && raw.kind != Kind::ToolResult {
            return problem("`tool` and `is_error` belong to conditions with `kind = \"tool_result\"`");
        }
        if raw.join.is_some() && raw.take != Some(Take::All) {
            return problem("`join` belongs to conditions with `take = \"all\"`");
        }
        if raw.take.is_some() && raw.pattern.is_none() {
            return problem("`take` belongs to conditions with `match`");
        }
        let at_least = raw.at_least.unwrap_or(usize::from(raw.at_most.is_none()));
        if raw.at_most.is_some_and(|at_most| at_most < at_least) {
            return problem("`at_most` is less than `at_least`");
        }
        let condition = Self {
            kind: raw.kind,
            name: raw.name.clone(),
            tool: raw.tool.clone(),
            is_error: raw.is_error,
            since: raw.since,
            pattern: raw.pattern.as_ref().map(compile_pattern).transpose()?,
            take: raw.take.unwrap_or_default(),
            join: raw.join.clone().unwrap_or_else(|| ", ".to_owned()),
            at_least,
            at_most: raw.at_most,
        };
        if at_least == 0 && !condition.captures().is_empty() {
            return problem("a condition that may hold without a match captures nothing; set `at_least = 1`");
        }
        Ok(condition)
    }

    /// The names that it captures, and as what.
    pub(crate) fn captures(&self) -> BTreeMap<String, Sort> {
        let sort = if self.take == Take::All { Sort::List } else { Sort::One };
        let names = self.pattern.iter().flat_map(|pattern| pattern.capture_names().flatten());
        names.map(|name| (name.to_owned(), sort)).collect()
    }

    /// Looks for it in a window.
    pub(crate) fn find(&self, window: &Window<'_>) -> Found {
        let (entries, boundary) = match self.since {
            Some(kind) => window.since(kind),
            None => (window.entries(), None),
        };
        let mut items = BTreeSet::new();
        let mut occurrences = Vec::new();
        for entry in entries.iter().filter(|entry| self.selects(entry.item)) {
            match &self.pattern {
                None => {
                    items.insert(entry.item.id);
                }
                Some(pattern) => {
                    for captures in pattern.captures_iter(&entry.text) {
                        items.insert(entry.item.id);
                        occurrences.push((entry.item.id, captures));
                    }
                }
            }
        }
        let holds = items.len() >= self.at_least && self.at_most.is_none_or(|at_most| items.len() <= at_most);
        let captured = self.bind(&occurrences);
        items.extend(boundary);
        Found { holds, matched: items, captured }
    }

    fn selects(&self, item: &Item) -> bool {
        let wanted = |wanted: &Option<String>, is: &str| wanted.as_ref().is_none_or(|wanted| wanted == is);
        self.kind.is_of(item)
            && match &item.content {
                Content::Context { name, .. } => wanted(&self.name, name),
                Content::ToolResult { tool, is_error, .. } => {
                    wanted(&self.tool, tool) && self.is_error.is_none_or(|wanted| wanted == *is_error)
                }
                Content::Instructions(_) | Content::Person(_) | Content::Reply(_) | Content::Notice(_) => {
                    true
                }
            }
    }

    fn bind(&self, occurrences: &[(ItemId, Captures<'_>)]) -> BTreeMap<String, Bound> {
        let taken = match self.take {
            Take::First => occurrences.get(..1),
            Take::Last => occurrences.len().checked_sub(1).and_then(|last| occurrences.get(last..)),
            Take::All => Some(occurrences),
        };
        let taken = taken.unwrap_or_default();
        let bound = |(name, sort): (String, Sort)| {
            let text = |(_, captures): &(ItemId, Captures<'_>)| {
                captures.name(&name).map_or_else(String::new, |capture| capture.as_str().to_owned())
            };
            let mut values: Vec<String> = taken.iter().map(text).collect();
            let value = match sort {
                Sort::List => Value::Many { values, join: self.join.clone() },
                Sort::One | Sort::Number => Value::One(values.pop().unwrap_or_default()),
            };
            let items = taken.iter().map(|(item, _)| *item).collect();
            (name, Bound { value, items })
        };
        self.captures().into_iter().map(bound).collect()
    }
}

/// The condition as an error names it: `context vendor-note matching /…/`.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        for name in self.name.iter().chain(&self.tool) {
            write!(f, " {name}")?;
        }
        match self.is_error {
            None => {}
            Some(true) => f.write_str(" (error)")?,
            Some(false) => f.write_str(" (no error)")?,
        }
        if let Some(kind) = self.since {
            write!(f, " since {kind}")?;
        }
        if let Some(pattern) = &self.pattern {
            write!(f, " matching `{pattern}`")?;
        }
        match (self.at_least, self.at_most) {
            (1, None) => Ok(()),
            (0, Some(most)) => write!(f, ", at most {most}"),
            (least, None) => write!(f, ", at least {least}"),
            (least, Some(most)) => write!(f, ", {least} to {most}"),
        }
    }
}

fn compile_pattern(raw: &Spanned<String>) -> Result<Regex, Problem> {
    let at = raw.span().start;
    let pattern = RegexBuilder::new(raw.get_ref()).size_limit(PATTERN_BYTES_MAX).build();
    let pattern = pattern.map_err(|error| Problem::new(at, pattern_words(&error)))?;
    match pattern.capture_names().flatten().find(|name| !is_name(name)) {
        Some(name) => Err(Problem::new(
            at,
            format!("the capture `{name}` cannot be used in answers: ASCII letters, digits and `_` only"),
        )),
        None => Ok(pattern),
    }
}

/// The last line of the library's drawing says what is wrong; the lines above it repeat the pattern.
fn pattern_words(error: &regex::Error) -> String {
    let words = error.to_string();
    let last = words.lines().last().unwrap_or_default();
    format!("the pattern is broken: {}", last.strip_prefix("error: ").unwrap_or(last))
}

#[cfg(test)]
#[path = "condition_tests.rs"]
mod tests;
