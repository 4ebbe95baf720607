//! A policy of three lists of rules.

use std::sync::Arc;

use probity_contract::{
    BoxFuture, Cancel, Digest, FrozenCall, Policy, PolicyError, PolicyName, Seat, ToolSpec, Verdict,
};
use serde::{Deserialize, Serialize};

use super::glob::Reading;
use super::rule::{Rule, RuleError, Seen, allowing};
use super::shell::is_unaccounted;

/// Rules as people write them, each `tool` or `tool(pattern)`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RuleLists {
    /// Calls that may run.
    pub allow: Vec<String>,
    /// Calls about which a person is asked.
    pub ask: Vec<String>,
    /// Calls that must not run.
    pub deny: Vec<String>,
}

/// What is said of a call that no rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Otherwise {
    /// Nothing; if no other policy allows the call, it is denied.
    Abstain,
    /// A person is asked.
    Ask,
}

/// A policy that judges by [`RuleLists`]: deny over ask over allow, whatever the order or length of the rules.
///
/// `tool(pattern)` matches what the call touches: `fs_read(work/docs/**)` a path, written `root/path`; `http_get(*.example.org)`
/// a host; `shell(git log *)` a program and its arguments. `tool(name=pattern)` matches a named argument. Allow rules are
/// read strictly, ask and deny rules loosely. It does not promise to see through what a program does once it runs.
#[derive(Debug, Clone)]
pub struct RulePolicy {
    name: PolicyName,
    rules: Arc<Rules>,
    otherwise: Otherwise,
    // INVARIANT: the digest of the rules and of what is said where none matches.
    epoch: Digest,
}

#[derive(Debug)]
struct Rules {
    allow: Vec<Rule>,
    ask: Vec<Rule>,
    deny: Vec<Rule>,
}

impl RulePolicy {
    /// Parses the lists for a task that has these tools.
    ///
    /// # Errors
    /// When a rule cannot be read, can match nothing because it names a tool or an argument that is not there, or allows tools
    /// by a wildcard.
    pub fn new(
        name: PolicyName,
        lists: &RuleLists,
        tools: &[ToolSpec],
        otherwise: Otherwise,
    ) -> Result<Self, RuleError> {
        let parse = |texts: &[String]| -> Result<Vec<Rule>, RuleError> {
            let parsed = texts.iter().map(|text| {
                let rule = Rule::parse(text)?;
                rule.check(tools).map(|()| rule)
            });
            parsed.collect()
        };
        let rules = Rules { allow: parse(&lists.allow)?, ask: parse(&lists.ask)?, deny: parse(&lists.deny)? };
        rules.allow.iter().try_for_each(Rule::check_that_it_names_its_tool)?;
        let epoch = epoch_of(lists, otherwise);
        Ok(Self { name, rules: Arc::new(rules), otherwise, epoch })
    }

    /// What the rules say of a call.
    #[must_use]
    pub fn verdict(&self, call: &FrozenCall) -> Verdict {
        let seen = Seen::new(call);
        let first = |rules, reading| first(rules, &seen, reading);
        if let Some(rule) = first(&self.rules.deny, Reading::Loose) {
            return Verdict::Deny { reason: denied_by(rule, call) };
        }
        if let Some(rule) = first(&self.rules.ask, Reading::Loose) {
            return Verdict::Ask { reason: format!("the rule `{rule}` wants a person to decide") };
        }
        if let Some(rules) = allowing(&self.rules.allow.iter().collect::<Vec<_>>(), &seen) {
            return Verdict::Allow { reason: allowed_by(&rules) };
        }
        match self.otherwise {
            Otherwise::Abstain => Verdict::Abstain,
            Otherwise::Ask => Verdict::Ask { reason: not_covered(call).to_owned() },
        }
    }
}

/// Which rule denies it, and what may help.
pub(super) fn denied_by(rule: &Rule, call: &FrozenCall) -> String {
    let hint = if rule.narrower_helps(call) {
        "; the call reaches everything below its path, so try a narrower path"
    } else {
        ""
    };
    format!("the rule `{rule}` denies it{hint}")
}

/// Which rules allow it.
pub(super) fn allowed_by(rules: &[&Rule]) -> String {
    match rules {
        [rule] => format!("the rule `{rule}` allows it"),
        rules => {
            let names: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
            format!("the rules {} allow its commands", names.join(", "))
        }
    }
}

/// Why a person is asked where no rule speaks.
pub(super) fn not_covered(call: &FrozenCall) -> &'static str {
    match call.targets().iter().any(is_unaccounted) {
        true => "the command line has parts that no rule can account for",
        false => "no rule covers this call",
    }
}

fn epoch_of(lists: &RuleLists, otherwise: Otherwise) -> Digest {
    let otherwise: &[u8] = match otherwise {
        Otherwise::Abstain => b"abstain",
        Otherwise::Ask => b"ask",
    };
    let list = |name: &str, rules: &[String]| {
        let rules: Vec<&[u8]> = rules.iter().map(|rule| rule.as_bytes()).collect();
        *Digest::of(name, &rules).as_bytes()
    };
    let lists = [list("allow", &lists.allow), list("ask", &lists.ask), list("deny", &lists.deny)];
    let [allow, ask, deny] = &lists;
    Digest::of("probity.rules-epoch.v1", &[allow, ask, deny, otherwise])
}

fn first<'a>(rules: &'a [Rule], seen: &Seen<'_>, reading: Reading) -> Option<&'a Rule> {
    rules.iter().find(|rule| rule.matches(seen, reading))
}

impl Policy for RulePolicy {
    fn name(&self) -> &PolicyName {
        &self.name
    }

    fn epoch(&self) -> Digest {
        self.epoch
    }

    fn judge<'a>(
        &'a self,
        call: &'a FrozenCall,
        _seat: Seat,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        Box::pin(std::future::ready(Ok(self.verdict(call))))
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
