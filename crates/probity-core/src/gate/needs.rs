//! How far the words behind a call must be believed for a rule.

use std::collections::BTreeMap;

use probity_contract::{Integrity, ToolSpec, argument_values};
use serde_json::Value;

use super::rule::{Rule, RuleError, Seen};

/// What a rule says a call needs, beside what it looks like. An allow rule matches only a call that has it; an ask or deny rule
/// only one that lacks it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Needs {
    call: Option<Integrity>,
    arguments: BTreeMap<String, Integrity>,
}

impl Needs {
    pub(super) fn new(call: Option<Integrity>, arguments: &BTreeMap<String, Integrity>) -> Self {
        Self { call, arguments: arguments.clone() }
    }

    fn is_stated(&self) -> bool {
        self.call.is_some() || !self.arguments.is_empty()
    }

    /// Whether a call has all of it. An argument that is not there needs nothing.
    pub(super) fn are_met(&self, seen: &Seen<'_>) -> bool {
        self.call.is_none_or(|least| seen.call.integrity() >= least)
            && self.arguments.iter().all(|(name, least)| {
                let at = pointer_of(seen.arguments(), name);
                at.is_none_or(|at| seen.call.label_of(&at).integrity >= *least)
            })
    }

    /// Whether a rule that narrows speaks of a call: where nothing is needed, or something of it is lacking.
    pub(super) fn let_narrow(&self, seen: &Seen<'_>) -> bool {
        !self.is_stated() || !self.are_met(seen)
    }

    /// Refuses a need of an argument that no tool of the rule has.
    pub(super) fn check(&self, rule: &Rule, tools: &[ToolSpec]) -> Result<(), RuleError> {
        match self.arguments.keys().find(|name| !rule.may_have_argument(tools, name)) {
            None => Ok(()),
            Some(name) => Err(rule.refused(&format!("no tool that it speaks of has an argument `{name}`"))),
        }
    }

    /// In words, for whoever reads why a call was not let through.
    pub(super) fn words(&self) -> String {
        let call = self.call.map(|least| format!("all that was read must be `{least}` at least"));
        let arguments =
            self.arguments.iter().map(|(name, least)| format!("`{name}` must be `{least}` at least"));
        let all: Vec<String> = call.into_iter().chain(arguments).collect();
        if all.is_empty() { String::new() } else { format!(", as {}", all.join(" and ")) }
    }

    /// What a digest of the rules must tell apart; nothing where nothing is needed, as before there were needs.
    pub(super) fn bound(call: Option<Integrity>, arguments: &BTreeMap<String, Integrity>) -> Option<String> {
        let needs = Self::new(call, arguments);
        needs.is_stated().then(|| format!("{:?} {:?}", needs.call, needs.arguments))
    }
}

/// Where the argument of this name stands; a dot goes down into objects where no name has the dot itself.
pub(super) fn pointer_of(arguments: &Value, name: &str) -> Option<String> {
    let escaped = |name: &str| format!("/{}", name.replace('~', "~0").replace('/', "~1"));
    if arguments.get(name).is_some() {
        return Some(escaped(name));
    }
    let (first, rest) = name.split_once('.')?;
    let below = pointer_of(arguments.get(first)?, rest)?;
    Some(format!("{}{below}", escaped(first)))
}

/// The values below one that a call's label can be told for.
pub(super) fn values_below(call: &Value, at: &str) -> Vec<String> {
    let all = argument_values(call).into_iter().map(|(at, _)| at);
    all.filter(|found| found.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
        .collect()
}
