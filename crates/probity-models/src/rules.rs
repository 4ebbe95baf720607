//! A model that follows a rule file: the same window, the same answer.
//!
//! It is for demos, tests and experiments on causes. Its answer is a function of what stands in the window and of the
//! tools that are offered, and of nothing else: no clock, no randomness, no memory between calls. "The payment was
//! tried" is therefore not a state but a condition on a tool result that is, or is not, in the window. Captures come from
//! items, so an item whose words an answer repeats is really needed for that answer, and [`RulesModel::decide`] says
//! which items those were: the truth against which a search for causes can be measured.
//!
//! What lost:
//! - *a scripted list of replies*: it answers whatever the window says, so nothing could ever be traced to an item;
//! - *an embedded script language*: more can be said, and no longer checked when the file is loaded. Here every name,
//!   pattern and number form is checked before the first call, and the error names the rule and its line;
//! - *the best rule wins* (weights, specificity): with the first rule that matches, a file is read from top to bottom;
//! - *conditions nested at will*: `when` (all), `any` and `unless` (none) cover what demos needed; more is another rule;
//! - *one name captured in two places means "equal"*: two captures are compared where it can be read, in `check`.
//!
//! The language is described in `docs/rules-model.md`.

mod answer;
mod condition;
mod error;
mod expression;
mod file;
mod names;
mod number;
mod parser;
mod rule;
mod scope;
mod template;
mod window;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use futures_util::stream;
use probity_contract::{
    BoxStream, Item, ItemId, Model, ModelContext, ModelError, ModelErrorClass, ModelEvent, ModelName,
    ModelReply, ModelRequest, ReplyPart, ReplyPartKind, Usage,
};

pub use error::RulesError;

use file::RawFile;
use rule::{Problem, Rule, Unmet};
use window::Window;

/// Bytes that a rule file may have.
const RULES_FILE_BYTES_MAX: usize = 1024 * 1024;
/// Rules that the error of a window without an answer names.
const RULES_SHOWN_MAX: usize = 3;
/// Characters that count as one token. A convention, so that budgets can be tested; no tokenizer's figure.
const CHARS_PER_TOKEN: usize = 4;

/// A deterministic model that answers by the first rule of a file whose conditions hold in the window.
///
/// Equal windows and equal offers of tools get equal answers. Parameters of the call (temperature, output limits, output
/// schema) change nothing. A rule that proposes calls is passed over where no tool is offered, as a model would.
#[derive(Debug)]
pub struct RulesModel {
    name: ModelName,
    rules: Vec<Rule>,
}

/// An answer and what it hangs on.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// The name of the rule that answered.
    pub rule: String,
    /// Where that rule begins in the file, counted from 1.
    pub line: usize,
    /// The reply; where `error` is set, what comes in of it before it breaks off.
    pub reply: ModelReply,
    /// What the rule lets the call fail with.
    pub error: Option<ModelError>,
    /// The items whose captured words, or numbers computed from them, stand in the reply.
    pub captured: BTreeSet<ItemId>,
    /// The items that met a condition of any rule that was tried, the deciding one included. Without any number of the
    /// other items the window has the same answer (its count of input tokens apart).
    pub matched: BTreeSet<ItemId>,
}

impl RulesModel {
    /// Reads rules from TOML. `name` is the model's name and the file's name in errors.
    ///
    /// # Errors
    /// When the text is no TOML, has unknown keys, or has a rule that could never be carried out: a broken pattern, an
    /// unknown name in an answer, a list used as a number.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, RulesError> {
        let model = ModelName::new(name).map_err(|error| RulesError::new(name, error.to_string()))?;
        if text.len() > RULES_FILE_BYTES_MAX {
            return Err(RulesError::new(name, format!("the file has over {RULES_FILE_BYTES_MAX} bytes")));
        }
        let lines = Lines::of(text);
        let raw: RawFile = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            RulesError::new(name, error.message()).at(lines.line(at), file::rule_around(text, at))
        })?;
        let mut seen = BTreeMap::new();
        let mut rules = Vec::with_capacity(raw.rule.len());
        for raw in &raw.rule {
            let at = raw.span().start;
            let line = lines.line(at);
            let rule_name = raw.get_ref().name.get_ref();
            let rule = match seen.insert(rule_name, line) {
                None => Rule::compile(raw, line),
                Some(line) => Err(Problem::new(at, format!("the rule in line {line} has the same name"))),
            };
            rules.push(rule.map_err(|problem| {
                RulesError::new(name, problem.words).at(lines.line(problem.at), Some(rule_name.clone()))
            })?);
        }
        if rules.is_empty() {
            return Err(RulesError::new(name, "there is no rule in it"));
        }
        Ok(Self { name: model, rules })
    }

    /// Reads a rule file; the model is called `rules/` and the path as it is given.
    ///
    /// # Errors
    /// As [`from_toml`](Self::from_toml), and when the file cannot be read as text.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, RulesError> {
        let path = path.as_ref();
        let name = format!("rules/{}", path.display());
        let text = read_capped(path).map_err(|error| RulesError::new(&name, error.to_string()))?;
        Self::from_toml(&name, &text)
    }

    /// The answer to a window, with the rule and the items that it hangs on.
    ///
    /// # Errors
    /// [`NoAnswer`](ModelErrorClass::NoAnswer) when no rule matches; it names the last rules and what each lacked.
    pub fn decide(&self, request: &ModelRequest) -> Result<Decided, ModelError> {
        let window = Window::new(request);
        let mut matched = BTreeSet::new();
        let mut unmet = Vec::new();
        for rule in &self.rules {
            match rule.answer(request, &window, &mut matched) {
                Err(why) => unmet.push((rule, why)),
                Ok(filled) => {
                    let reply = ModelReply {
                        usage: usage(&request.items, &filled.parts),
                        parts: filled.parts,
                        stop: filled.stop,
                        model: Some(self.name.as_str().to_owned()),
                        response_id: None,
                    };
                    let (error, captured) = (filled.error, filled.captured);
                    return Ok(Decided {
                        rule: rule.name.clone(),
                        line: rule.line,
                        reply,
                        error,
                        captured,
                        matched,
                    });
                }
            }
        }
        Err(self.no_answer(&unmet, &window))
    }

    fn no_answer(&self, unmet: &[(&Rule, Unmet<'_>)], window: &Window<'_>) -> ModelError {
        let last = unmet.get(unmet.len().saturating_sub(RULES_SHOWN_MAX)..).unwrap_or_default();
        let last: Vec<_> =
            last.iter().map(|(rule, why)| format!("`{}` (line {}): {why}", rule.name, rule.line)).collect();
        let words = format!(
            "answer by `{}`: none of its {} rules matches the window; tried last: {}",
            self.name,
            unmet.len(),
            last.join("; ")
        );
        let hint = format!("the window holds {window}; add a rule for it, or a last one without conditions");
        ModelError::new(ModelErrorClass::NoAnswer, words).with_hint(hint)
    }
}

impl Model for RulesModel {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn call(
        &self,
        request: ModelRequest,
        cx: ModelContext,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let events = match self.decide(&request) {
            _ if cx.cancel.is_fired() => {
                vec![Err(ModelError::new(ModelErrorClass::Cancelled, "the task was cancelled"))]
            }
            Ok(decided) => answer::events(decided.reply, decided.error),
            Err(error) => vec![Err(error)],
        };
        Box::pin(stream::iter(events))
    }
}

/// The text of a file, one byte over the limit at most.
fn read_capped(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(RULES_FILE_BYTES_MAX as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

/// Where the lines of a text end.
struct Lines {
    ends: Vec<usize>,
}

impl Lines {
    fn of(text: &str) -> Self {
        Self { ends: text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at).collect() }
    }

    /// The line of a byte, counted from 1.
    fn line(&self, at: usize) -> usize {
        self.ends.partition_point(|&end| end < at) + 1
    }
}

fn usage(items: &[Arc<Item>], parts: &[ReplyPart]) -> Usage {
    let tokens = |text: &str| text.chars().count().div_ceil(CHARS_PER_TOKEN) as u64;
    let reasoning = parts.iter().map(|part| match &part.kind {
        ReplyPartKind::Reasoning(text) => tokens(text),
        ReplyPartKind::Text(_) | ReplyPartKind::Call(_) | ReplyPartKind::Opaque => 0,
    });
    let said = parts.iter().map(|part| match &part.kind {
        ReplyPartKind::Text(text) => tokens(text),
        ReplyPartKind::Call(call) => tokens(&call.name) + tokens(&call.arguments),
        ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => 0,
    });
    let reasoning: u64 = reasoning.sum();
    Usage {
        input: Some(items.iter().map(|item| tokens(&item.flat_text())).sum()),
        output: Some(said.sum::<u64>() + reasoning),
        reasoning: Some(reasoning),
        ..Usage::default()
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
