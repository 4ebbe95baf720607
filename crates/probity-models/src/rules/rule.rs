//! One rule: conditions, values, comparisons, and the answer.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use probity_contract::{ItemId, ModelRequest, ToolChoice};
use toml::Spanned;

use super::answer::{Answer, Filled};
use super::condition::{Condition, Found};
use super::expression::{Check, Expression, parse_let};
use super::file::{RawCondition, RawRule};
use super::names::{Names, Sort};
use super::scope::{Bound, NotANumber, Scope, Value};
use super::window::Window;

/// Characters that a rule's name may have.
const NAME_CHARS_MAX: usize = 128;

/// A rule that was checked when its file was loaded.
///
/// Every name that it uses is bound whenever its conditions hold.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) name: String,
    /// Where it begins, counted from 1.
    pub(crate) line: usize,
    when: Vec<Condition>,
    any: Vec<Condition>,
    unless: Vec<Condition>,
    lets: Vec<(String, Expression)>,
    checks: Vec<(String, Check)>,
    answer: Answer,
}

/// What is wrong with a file, and the byte at which it stands.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) at: usize,
    pub(crate) words: String,
}

impl Problem {
    pub(crate) fn new(at: usize, words: impl Into<String>) -> Self {
        Self { at, words: words.into() }
    }
}

/// Why a rule does not answer a window.
#[derive(Debug)]
pub(crate) enum Unmet<'r> {
    /// It proposes calls, and none may be made.
    NoCalls,
    /// A call is demanded that it does not propose.
    MustCall,
    When(&'r Condition),
    Any,
    Unless(&'r Condition),
    Check(&'r str),
    Value(NotANumber),
}

impl fmt::Display for Unmet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCalls => f.write_str("it proposes calls and no tool is offered"),
            Self::MustCall => f.write_str("a call is demanded that it does not propose"),
            Self::When(condition) => write!(f, "not so: {condition}"),
            Self::Any => f.write_str("none of its `any` is so"),
            Self::Unless(condition) => write!(f, "excluded by: {condition}"),
            Self::Check(check) => write!(f, "not so: {check}"),
            Self::Value(value) => value.fmt(f),
        }
    }
}

impl Rule {
    /// Checks a rule as it is written. `line` is where it begins.
    pub(crate) fn compile(raw: &Spanned<RawRule>, line: usize) -> Result<Self, Problem> {
        let at = raw.span().start;
        let raw = raw.get_ref();
        let name = raw.name.get_ref();
        if name.trim().is_empty() || name.chars().count() > NAME_CHARS_MAX || name.contains(char::is_control)
        {
            let words = format!("a rule's name is one line of 1 to {NAME_CHARS_MAX} characters");
            return Err(Problem::new(raw.name.span().start, words));
        }
        let mut names = Names::default();
        let when = compile_all(&raw.when)?;
        for (condition, raw) in when.iter().zip(&raw.when) {
            names.add_all(condition.captures(), raw.span().start)?;
        }
        let any = compile_all(&raw.any)?;
        names.add_all(common_captures(&any, &raw.any)?, at)?;
        let unless = compile_all(&raw.unless)?;
        for (condition, raw) in unless.iter().zip(&raw.unless) {
            if let Some(name) = condition.captures().keys().next() {
                let words = format!("`unless` captures `{name}`, which no answer can use; write `(?:…)`");
                return Err(Problem::new(raw.span().start, words));
            }
        }
        let lets = raw.lets.iter().map(|raw| compile_let(raw, &mut names)).collect::<Result<_, _>>()?;
        let checks = raw.checks.iter().map(|raw| compile_check(raw, &names)).collect::<Result<_, _>>()?;
        let answer = Answer::compile(raw, at, &names)?;
        Ok(Self { name: name.clone(), line, when, any, unless, lets, checks, answer })
    }

    /// The answer to a window, or why this rule has none. Adds to `matched` every item that had a say in which.
    pub(crate) fn answer(
        &self,
        request: &ModelRequest,
        window: &Window<'_>,
        matched: &mut BTreeSet<ItemId>,
    ) -> Result<Filled, Unmet<'_>> {
        self.fits(request)?;
        let mut find = |condition: &Condition| {
            let mut found = condition.find(window);
            matched.append(&mut found.matched);
            found
        };
        let mut scope = Scope::default();
        for condition in &self.when {
            let found = find(condition);
            if !found.holds {
                return Err(Unmet::When(condition));
            }
            bind(&mut scope, found);
        }
        if !self.any.is_empty() {
            bind(&mut scope, self.any.iter().map(&mut find).find(|found| found.holds).ok_or(Unmet::Any)?);
        }
        if let Some(condition) = self.unless.iter().find(|condition| find(condition).holds) {
            return Err(Unmet::Unless(condition));
        }
        for (name, expression) in &self.lets {
            let value = Value::Computed(expression.value(&scope).map_err(Unmet::Value)?);
            let items = expression.names().iter().flat_map(|(name, _)| scope.items(name)).collect();
            scope.bind(name, Bound { value, items });
        }
        for (text, check) in &self.checks {
            if !check.holds(&scope).map_err(Unmet::Value)? {
                return Err(Unmet::Check(text));
            }
        }
        self.answer.fill(&scope).map_err(Unmet::Value)
    }

    /// A model proposes calls only where it is offered tools, and does so where it must.
    fn fits(&self, request: &ModelRequest) -> Result<(), Unmet<'_>> {
        let mut tools = self.answer.tools().peekable();
        let can_call = !request.tools.is_empty() && request.tool_choice != ToolChoice::None;
        let as_demanded = match &request.tool_choice {
            ToolChoice::Auto | ToolChoice::None => true,
            ToolChoice::Required => tools.peek().is_some(),
            ToolChoice::Named(name) => tools.clone().any(|tool| tool == name.as_str()),
        };
        if tools.peek().is_some() && !can_call {
            return Err(Unmet::NoCalls);
        }
        if as_demanded || self.answer.breaks_off() { Ok(()) } else { Err(Unmet::MustCall) }
    }
}

fn bind(scope: &mut Scope, found: Found) {
    for (name, bound) in found.captured {
        scope.bind(name, bound);
    }
}

fn compile_all(raw: &[Spanned<RawCondition>]) -> Result<Vec<Condition>, Problem> {
    raw.iter().map(Condition::compile).collect()
}

/// What every alternative captures: whichever holds, these names have a value.
fn common_captures(
    any: &[Condition],
    raw: &[Spanned<RawCondition>],
) -> Result<BTreeMap<String, Sort>, Problem> {
    let Some((first, others)) = any.split_first() else { return Ok(BTreeMap::new()) };
    let common = first.captures();
    for (other, raw) in others.iter().zip(raw.iter().skip(1)) {
        if other.captures() != common {
            let words = "the alternatives of `any` do not capture the same names in the same way";
            return Err(Problem::new(raw.span().start, words));
        }
    }
    Ok(common)
}

fn compile_let(raw: &Spanned<String>, names: &mut Names) -> Result<(String, Expression), Problem> {
    let at = raw.span().start;
    let (name, expression) = parse_let(raw.get_ref()).map_err(|words| Problem::new(at, words))?;
    names.allow_in_expression(&expression.names(), at)?;
    names.add(&name, Sort::Number, at)?;
    Ok((name, expression))
}

fn compile_check(raw: &Spanned<String>, names: &Names) -> Result<(String, Check), Problem> {
    let at = raw.span().start;
    let check = Check::parse(raw.get_ref()).map_err(|words| Problem::new(at, words))?;
    names.allow_in_expression(&check.names(), at)?;
    Ok((raw.get_ref().clone(), check))
}
