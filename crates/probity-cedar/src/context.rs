//! What policies read beside principal, action and resource.

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy::{Context, RestrictedExpression};
use probity_contract::{Effect, FrozenCall, Integrity, Label, Readers, Seat, Target};

use crate::shape::Shape;
use crate::value::expression;
use crate::vocabulary::{Kind, Vocabulary, effect_word};

/// The context of every request about a call.
pub(crate) fn context(
    call: &FrozenCall,
    seat: Seat,
    effect: Effect,
    shape: &Shape,
    vocabulary: &Vocabulary,
) -> Result<Context, String> {
    let arguments = expression(&call.arguments().to_value(), shape).map_err(|unfit| unfit.to_string())?;
    let tool = record([
        ("name", text(call.tool().as_str())),
        ("effect", vocabulary.word(Kind::Effect, effect_word(effect))?),
    ])?;
    let pairs = [
        ("arguments", arguments),
        ("arguments_integrity", arguments_integrity(call, shape, vocabulary)?),
        ("labels", labels(&call.facts().label, vocabulary)?),
        ("seat", vocabulary.word(Kind::Seat, &seat.to_string())?),
        ("targets", targets(call.targets())?),
        ("tool", tool),
    ];
    Context::from_pairs(pairs.map(|(name, value)| (name.to_owned(), value)))
        .map_err(|error| error.to_string())
}

/// How far each of the declared arguments may be believed: the least of all that stands in it.
fn arguments_integrity(
    call: &FrozenCall,
    shape: &Shape,
    vocabulary: &Vocabulary,
) -> Result<RestrictedExpression, String> {
    let Shape::Record(members) = shape else { return record([]) };
    let mut least: BTreeMap<&str, Integrity> = BTreeMap::new();
    let arguments = call.argument_labels();
    for argument in &arguments {
        let named = members.get_key_value(&first_name(&argument.at));
        let level = named.map(|(name, _)| least.entry(name).or_insert(Integrity::System));
        level.into_iter().for_each(|level| *level = argument.label.integrity.min(*level));
    }
    let word = |level: Integrity| vocabulary.word(Kind::Integrity, &level.to_string());
    let fields = least.into_iter().map(|(name, level)| word(level).map(|word| (name.to_owned(), word)));
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    RestrictedExpression::new_record(fields).map_err(|error| error.to_string())
}

/// The first name in a JSON pointer.
fn first_name(pointer: &str) -> String {
    let first = pointer.split('/').nth(1).unwrap_or_default();
    first.replace("~1", "/").replace("~0", "~")
}

fn labels(label: &Label, vocabulary: &Vocabulary) -> Result<RestrictedExpression, String> {
    let integrity = vocabulary.word(Kind::Integrity, &label.integrity.to_string())?;
    match &label.readers {
        Readers::Everyone => record([("integrity", integrity)]),
        Readers::Only(readers) => {
            record([("integrity", integrity), ("readers", set(readers.iter().map(String::as_str)))])
        }
    }
}

/// What all targets together are, for policies about two of them at once.
fn targets(targets: &[Target]) -> Result<RestrictedExpression, String> {
    let (mut hosts, mut programs, mut roots) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for target in targets {
        match target {
            Target::Path { root, .. } => roots.insert(root.as_str()),
            Target::Url { host, .. } => hosts.insert(host.as_str()),
            Target::Command { argv } => programs.insert(argv.first().map_or("", String::as_str)),
            Target::Other { .. } => false,
        };
    }
    record([("hosts", set(hosts)), ("programs", set(programs)), ("roots", set(roots))])
}

fn text(text: &str) -> RestrictedExpression {
    RestrictedExpression::new_string(text.to_owned())
}

fn set<'a>(texts: impl IntoIterator<Item = &'a str>) -> RestrictedExpression {
    RestrictedExpression::new_set(texts.into_iter().map(text))
}

fn record<const N: usize>(fields: [(&str, RestrictedExpression); N]) -> Result<RestrictedExpression, String> {
    let fields = fields.map(|(name, value)| (name.to_owned(), value));
    RestrictedExpression::new_record(fields).map_err(|error| error.to_string())
}
