//! Policy sources as people write them, read and checked.

use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;

use cedar_policy::{
    ActionConstraint, Effect as CedarEffect, EntityUid, Policy as ParsedPolicy, PolicyId, PolicySet, Schema,
    ValidationMode, ValidationWarning, Validator,
};
use miette::Diagnostic;

use crate::depth::{levels, stack_bytes};
use crate::error::{CedarError, Located};
use crate::limits::{POLICIES_MAX, SOURCES_BYTES_MAX};

/// A text of Cedar policies, and what errors and verdicts call it: a file's name, for example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CedarSource {
    /// The name. Two sources of one policy have different ones.
    pub name: String,
    /// Any number of policies in Cedar's notation. Templates are refused: nothing would fill them in.
    pub text: String,
}

/// What a policy says of itself, beside its condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The place among all policies, in the order of the sources.
    pub(crate) number: usize,
    pub(crate) forbids: bool,
    /// Why a person should decide, where a permit wants that.
    pub(crate) ask: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) advice: Option<String>,
}

/// All policies of all sources.
pub(crate) struct Rules {
    pub(crate) policies: PolicySet,
    // INVARIANT: has an entry for each of `policies`.
    pub(crate) facts: HashMap<PolicyId, Facts>,
    /// Bytes of stack that evaluating the deepest of them takes.
    pub(crate) stack_bytes: usize,
}

const ID: &str = "id";
const ASK: &str = "ask";
const REASON: &str = "reason";
const ADVICE: &str = "advice";

/// The controls and marks of Unicode's bidirectional algorithm (UAX #9, table 4): with them a policy reads otherwise than it
/// is.
const REORDERING: [char; 12] = [
    '\u{61C}', '\u{200E}', '\u{200F}', '\u{202A}', '\u{202B}', '\u{202C}', '\u{202D}', '\u{202E}',
    '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}',
];

impl Rules {
    /// Reads the sources and validates every policy strictly against the schema.
    pub(crate) fn load(sources: &[CedarSource], schema: &Schema) -> Result<Self, CedarError> {
        let bytes: usize = sources.iter().map(|source| source.name.len() + source.text.len()).sum();
        if bytes > SOURCES_BYTES_MAX {
            return Err(CedarError::limit(format!("{bytes} bytes; at most {SOURCES_BYTES_MAX} are read")));
        }
        let mut deepest = 0;
        for source in sources {
            let at = Located { source: &source.name, text: &source.text };
            if let Some(offset) = source.text.find(REORDERING) {
                let what = "a character that changes the order in which text is shown".to_owned();
                let hint = "write it as an escape, for example `\\u{202E}`";
                return Err(CedarError::at(at, offset, what, hint));
            }
            deepest = deepest.max(levels(&source.text).map_err(|found| CedarError::too_deep(at, found))?);
        }
        let stack_bytes = stack_bytes(deepest);
        stacker::maybe_grow(stack_bytes, stack_bytes, || Self::load_shallow(sources, schema, stack_bytes))
    }

    fn load_shallow(
        sources: &[CedarSource],
        schema: &Schema,
        stack_bytes: usize,
    ) -> Result<Self, CedarError> {
        let validator = Validator::new(schema.clone());
        let mut rules = Self { policies: PolicySet::new(), facts: HashMap::new(), stack_bytes };
        let mut seen = BTreeMap::new();
        for (index, source) in sources.iter().enumerate() {
            if let Some(before) = seen.insert(&source.name, index) {
                let what = format!("the sources {} and {} have the same name", before + 1, index + 1);
                return Err(CedarError::source(&source.name, what, "give each source its own name"));
            }
            for policy in read(source, &validator)? {
                rules.add(source, policy)?;
            }
        }
        Ok(rules)
    }

    /// The policies whose scope has this action. The others could say nothing of it, and their scopes cannot fail.
    pub(crate) fn about(&self, action: &EntityUid) -> Result<PolicySet, CedarError> {
        let is_about = |policy: &&ParsedPolicy| match policy.action_constraint() {
            ActionConstraint::Any => true,
            ActionConstraint::Eq(one) => one == *action,
            // The schema has no groups of actions.
            ActionConstraint::In(all) => all.contains(action),
        };
        PolicySet::from_policies(self.policies.policies().filter(is_about).cloned())
            .map_err(CedarError::schema)
    }

    fn add(&mut self, source: &CedarSource, policy: ParsedPolicy) -> Result<(), CedarError> {
        let number = self.facts.len();
        if number >= POLICIES_MAX {
            return Err(CedarError::limit(format!("more than {POLICIES_MAX} policies")));
        }
        let facts = facts(source, &policy, number)?;
        let id = policy.id().clone();
        if self.facts.insert(id.clone(), facts).is_some() {
            let what = format!("a second policy has the id `{id}`");
            return Err(CedarError::source(&source.name, what, "give each policy its own `@id`"));
        }
        self.policies.add(policy).map_err(|error| {
            CedarError::source(&source.name, error.to_string(), "give each policy its own `@id`")
        })
    }
}

/// The policies of one source, under the ids that people know them by.
fn read(source: &CedarSource, validator: &Validator) -> Result<Vec<ParsedPolicy>, CedarError> {
    let at = Located { source: &source.name, text: &source.text };
    let parsed = PolicySet::from_str(&source.text).map_err(|errors| CedarError::parse(at, &errors))?;
    if let Some(template) = parsed.templates().next() {
        let what = format!("`{}` is a template; nothing would fill it in", template.id());
        return Err(CedarError::source(&source.name, what, "write the principal or resource out"));
    }
    // The parser calls the policies of a text `policy0`, `policy1` and so on.
    let mut policies: Vec<(usize, &ParsedPolicy)> = parsed
        .policies()
        .map(|policy| {
            let number = policy.id().to_string().strip_prefix("policy").and_then(|n| n.parse().ok());
            (number.unwrap_or(usize::MAX), policy)
        })
        .collect();
    policies.sort_by_key(|(number, _)| *number);
    let mut named = PolicySet::new();
    let mut all = Vec::new();
    for (number, policy) in policies {
        let id = match policy.annotation(ID) {
            Some("") => {
                let what = format!("policy {} has an empty `@id`", number + 1);
                return Err(CedarError::source(&source.name, what, "write the id: `@id(\"…\")`"));
            }
            Some(id) => id.to_owned(),
            None => format!("{}#{}", source.name, number + 1),
        };
        let policy = policy.new_id(PolicyId::new(&id));
        named.add(policy.clone()).map_err(|_| {
            let what = format!("a second policy has the id `{id}`");
            CedarError::source(&source.name, what, "give each policy its own `@id`")
        })?;
        all.push(policy);
    }
    validate(at, &named, validator)?;
    Ok(all)
}

/// Refuses what cannot be right and what could never apply.
fn validate(at: Located<'_>, policies: &PolicySet, validator: &Validator) -> Result<(), CedarError> {
    let result = validator.validate(policies, ValidationMode::Strict);
    let errors = result.validation_errors().map(|error| (at, error as &dyn Diagnostic));
    let warnings = result
        .validation_warnings()
        .filter(|warning| refuses(warning))
        .map(|warning| (at, warning as &dyn Diagnostic));
    match CedarError::validation(errors.chain(warnings)) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Whether a warning stops the load: the policy can never apply. Names in several scripts are somebody's language, and what
/// reorders text has been refused where it is no escape.
fn refuses(warning: &ValidationWarning) -> bool {
    !matches!(
        warning,
        ValidationWarning::MixedScriptString(_)
            | ValidationWarning::MixedScriptIdentifier(_)
            | ValidationWarning::ConfusableIdentifier(_)
            | ValidationWarning::BidiCharsInString(_)
            | ValidationWarning::BidiCharsInIdentifier(_)
    )
}

/// Reads the annotations. One that is not known is refused: a misspelled `@ask` would be a permit that asks nobody.
fn facts(source: &CedarSource, policy: &ParsedPolicy, number: usize) -> Result<Facts, CedarError> {
    let fail = |what: String, hint| {
        Err(CedarError::source(&source.name, format!("the policy `{}` {what}", policy.id()), hint))
    };
    let forbids = policy.effect() == CedarEffect::Forbid;
    for (name, value) in policy.annotations() {
        match name {
            ID | ASK | REASON | ADVICE if value.trim().is_empty() => {
                return fail(format!("has an empty `@{name}`"), "write the text: `@name(\"…\")`");
            }
            ASK if forbids => {
                return fail("forbids and asks".to_owned(), "ask with a `permit`, or drop the `@ask`");
            }
            ID | ASK | REASON | ADVICE => {}
            _ => {
                let what = format!("has an annotation `@{name}` that means nothing here");
                return fail(what, "the annotations are `@id`, `@ask`, `@reason` and `@advice`");
            }
        }
    }
    let text = |name| policy.annotation(name).map(str::to_owned);
    Ok(Facts { number, forbids, ask: text(ASK), reason: text(REASON), advice: text(ADVICE) })
}
