//! One author's rules.

use probity_contract::{ToolSpec, Verdict};

use super::glob::Reading;
use super::layers::{IdleRule, RuleLayer, RuleSource};
use super::mode::{Mode, Silence};
use super::needs::Needs;
use super::rule::{Rule, RuleError, Seen, allowing};
use super::rule_file::RuleEntry;
use super::rules::{allowed_by, denied_by};

/// The rules of one layer, parsed.
#[derive(Debug)]
pub(super) struct Layer {
    source: RuleSource,
    pub(super) may_widen: bool,
    mode: Mode,
    allow: Vec<Written>,
    ask: Vec<Written>,
    deny: Vec<Written>,
}

/// A rule with its author's reason.
#[derive(Debug)]
struct Written {
    rule: Rule,
    reason: Option<String>,
    needs: Needs,
}

impl Written {
    /// Whether it speaks of a call, read as its list is read.
    fn matches(&self, seen: &Seen<'_>, reading: Reading) -> bool {
        match reading {
            Reading::Strict => self.needs.are_met(seen) && allowing(&[&self.rule], seen).is_some(),
            Reading::Loose => self.rule.matches(seen, Reading::Loose) && self.needs.let_narrow(seen),
        }
    }
}

/// Why a file of rules cannot be used. It stops the start; it never means "no rules".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("load the {layer} rules `{file}`: {why}")]
pub struct LayerError {
    layer: RuleSource,
    file: String,
    why: LayerFault,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum LayerFault {
    #[error("{0}")]
    Rule(RuleError),
    #[error("it states nothing")]
    Empty,
}

impl Layer {
    pub(super) fn parse(
        layer: &RuleLayer,
        tools: &[ToolSpec],
        idle: &mut Vec<IdleRule>,
    ) -> Result<Self, LayerError> {
        let RuleLayer { source, file_name, file, may_widen } = layer;
        let fail = |why| LayerError { layer: *source, file: file_name.clone(), why };
        // A task may have no rules of its own; a file that somebody put there and that says nothing was cut off.
        if file.is_empty() && *source != RuleSource::Task {
            return Err(fail(LayerFault::Empty));
        }
        let mut list = |entries: &[RuleEntry], reading| {
            let written = entries.iter().map(|entry| {
                let rule = Rule::parse(&entry.rule)?;
                if reading == Reading::Strict {
                    rule.check_that_it_names_its_tool()?;
                }
                if *source == RuleSource::Task || rule.means_any(tools) {
                    rule.check(tools)?;
                } else {
                    let (tool, rule) = (rule.tool_name().to_owned(), rule.to_string());
                    idle.push(IdleRule { source: *source, tool, rule });
                }
                let needs = Needs::new(entry.needs, &entry.arguments);
                needs.check(&rule, tools)?;
                let written = Written { rule, reason: entry.reason.clone(), needs };
                check_examples(&written, entry, reading, tools)?;
                Ok(written)
            });
            written.collect::<Result<Vec<_>, RuleError>>().map_err(|error| fail(LayerFault::Rule(error)))
        };
        Ok(Self {
            source: *source,
            may_widen: *may_widen,
            mode: file.mode,
            allow: list(&file.allow, Reading::Strict)?,
            ask: list(&file.ask, Reading::Loose)?,
            deny: list(&file.deny, Reading::Loose)?,
        })
    }

    /// What its rules say. Where they are silent and closed, that is a denial.
    pub(super) fn says(&self, seen: &Seen<'_>) -> Verdict {
        let loosely = |written: &&Written| written.matches(seen, Reading::Loose);
        if let Some(written) = self.deny.iter().find(loosely) {
            let words = format!("{}{}", denied_by(&written.rule, seen.call), written.needs.words());
            return Verdict::Deny { reason: self.words(&words, written) };
        }
        if let Some(written) = self.ask.iter().find(loosely) {
            let words =
                format!("the rule `{}` wants a person to decide{}", written.rule, written.needs.words());
            return Verdict::Ask { reason: self.words(&words, written) };
        }
        match self.allowing(seen) {
            Some(rules) if self.may_widen => {
                Verdict::Allow { reason: format!("{}{}", allowed_by(&rules), self.by()) }
            }
            // It is not against the call, and it has no say in favour.
            Some(_) => Verdict::Abstain,
            None if self.mode.silence() == Silence::Denies => Verdict::Deny {
                reason: format!("the {} rules are `allow-listed`, and none of them allows it", self.source),
            },
            None => Verdict::Abstain,
        }
    }

    /// The question that follows from its silence about a call which another layer allows.
    pub(super) fn asks_in_silence(&self, seen: &Seen<'_>) -> Option<Verdict> {
        let asks = self.mode.silence() == Silence::Asks && self.allowing(seen).is_none();
        asks.then(|| Verdict::Ask { reason: format!("none of the {} rules covers it", self.source) })
    }

    fn allowing(&self, seen: &Seen<'_>) -> Option<Vec<&Rule>> {
        let met = self.allow.iter().filter(|written| written.needs.are_met(seen));
        let rules: Vec<&Rule> = met.map(|written| &written.rule).collect();
        allowing(&rules, seen)
    }

    fn words(&self, said: &str, written: &Written) -> String {
        match &written.reason {
            Some(reason) => format!("{said}{}: {reason}", self.by()),
            None => format!("{said}{}", self.by()),
        }
    }

    /// Whose rules they are, where they are not the task's own.
    fn by(&self) -> String {
        match self.source {
            RuleSource::Task => String::new(),
            RuleSource::Organisation | RuleSource::User | RuleSource::Project => {
                format!(" ({} rules)", self.source)
            }
        }
    }
}

/// Refuses a rule that its own examples contradict.
fn check_examples(
    written: &Written,
    entry: &RuleEntry,
    reading: Reading,
    tools: &[ToolSpec],
) -> Result<(), RuleError> {
    let rule = &written.rule;
    let wanted = entry.matches.iter().map(|example| (example, true));
    for (example, must_match) in wanted.chain(entry.not_match.iter().map(|example| (example, false))) {
        let call = example.freeze(tools).map_err(|error| rule.refused(&error.to_string()))?;
        let seen = Seen::new(&call);
        // An allow rule is held against its examples alone: no other rule helps it.
        match (written.matches(&seen, reading), must_match) {
            (true, true) | (false, false) => {}
            (false, true) => return Err(rule.refused(&format!("it does not match its example `{example}`"))),
            (true, false) => {
                return Err(rule.refused(&format!("it matches `{example}`, which it says it does not")));
            }
        }
    }
    Ok(())
}
