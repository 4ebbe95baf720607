//! The Cedar schema of a task's tools.
//!
//! It is built as a value and never as text, so that no tool can put a name into it that is read as anything else. Where a
//! vocabulary is closed it is an enumerated entity type and no string: a policy with a misspelled word is refused when it
//! is loaded, where a string would just never be equal.

use cedar_policy::{Schema, SchemaFragment};
use probity_contract::{Access, Effect, Integrity, Seat, ToolSpec};
use serde_json::{Map, Value, json};

use crate::error::CedarError;
use crate::shape::Shape;
use crate::vocabulary::{Kind, NAMESPACE, access_word, effect_word};

/// A schema in the two forms that are needed of it.
pub(crate) struct Generated {
    pub(crate) schema: Schema,
    /// For people, in Cedar's own notation.
    pub(crate) text: String,
}

/// The schema for tools of these shapes.
pub(crate) fn generate<'a>(
    tools: impl IntoIterator<Item = (&'a ToolSpec, &'a Shape)>,
) -> Result<Generated, CedarError> {
    let mut actions = Map::new();
    for (tool, shape) in tools {
        if actions.insert(tool.name.as_str().to_owned(), action(shape)).is_some() {
            return Err(CedarError::tools(format!("two tools are called `{}`", tool.name)));
        }
    }
    let whole = json!({ NAMESPACE: {
        "commonTypes": common_types(),
        "entityTypes": entity_types(),
        "actions": actions,
    }});
    let fragment = SchemaFragment::from_json_value(whole).map_err(CedarError::schema)?;
    let text = fragment.to_cedarschema().map_err(CedarError::schema)?;
    let schema = Schema::from_schema_fragments([fragment]).map_err(CedarError::schema)?;
    Ok(Generated { schema, text })
}

fn action(arguments: &Shape) -> Value {
    json!({ "appliesTo": {
        "principalTypes": [Kind::Principal.name()],
        "resourceTypes": Kind::RESOURCES.map(Kind::name),
        "context": record([
            ("arguments", type_of(arguments)),
            ("arguments_integrity", arguments_integrity(arguments)),
            ("labels", named("Labels")),
            ("seat", entity(Kind::Seat)),
            ("targets", named("Targets")),
            ("tool", named("ToolFacts")),
        ]),
    }})
}

/// Of each argument that is declared, how far it may be believed; absent where the argument is.
fn arguments_integrity(arguments: &Shape) -> Value {
    match arguments {
        Shape::Record(members) => {
            record(members.keys().map(|name| (name.as_str(), optional(entity(Kind::Integrity)))))
        }
        Shape::Text | Shape::Whole | Shape::Number | Shape::Truth | Shape::Set(_) | Shape::Json => record([]),
    }
}

fn common_types() -> Value {
    let readers = optional(set(text()));
    json!({
        "Json": record([("json", text())]),
        "Labels": record([("integrity", entity(Kind::Integrity)), ("readers", readers)]),
        "Targets": record([("hosts", set(text())), ("programs", set(text())), ("roots", set(text()))]),
        "ToolFacts": record([("name", text()), ("effect", entity(Kind::Effect))]),
    })
}

fn entity_types() -> Value {
    let types = Kind::ALL.into_iter().map(|kind| (kind.name().to_owned(), entity_type(kind)));
    Value::Object(types.collect())
}

fn entity_type(kind: Kind) -> Value {
    match kind {
        Kind::Principal => shaped([("id", text())]),
        Kind::Path | Kind::Tree => {
            shaped([("root", text()), ("path", text()), ("access", entity(Kind::Access))])
        }
        Kind::Url => shaped([
            ("url", text()),
            ("scheme", text()),
            ("host", text()),
            ("port", whole()),
            ("method", text()),
        ]),
        Kind::Command => shaped([("program", text()), ("line", text()), ("words", set(text()))]),
        Kind::Other => shaped([("what", text()), ("value", text())]),
        Kind::Tool => shaped([("name", text()), ("effect", entity(Kind::Effect))]),
        Kind::Access => words([Access::Read, Access::Write].map(access_word)),
        Kind::Effect => {
            words([Effect::Pure, Effect::Idempotent, Effect::Reconcile, Effect::Once].map(effect_word))
        }
        Kind::Integrity => words(Integrity::ALL.map(|level| level.to_string())),
        // No policy judges at the seat `targets`, so a policy that names it is refused.
        Kind::Seat => words([Seat::Adjudicate, Seat::ExecuteRecheck].map(|seat| seat.to_string())),
    }
}

fn type_of(shape: &Shape) -> Value {
    match shape {
        Shape::Text => text(),
        Shape::Whole => whole(),
        Shape::Number => named("decimal"),
        Shape::Truth => named("Bool"),
        Shape::Set(element) => set(type_of(element)),
        Shape::Json => named("Json"),
        Shape::Record(members) => record(members.iter().map(|(name, member)| {
            let kind = type_of(&member.shape);
            (name.as_str(), if member.is_always_there() { kind } else { optional(kind) })
        })),
    }
}

fn words<const N: usize, T: Into<Value>>(words: [T; N]) -> Value {
    json!({ "enum": Value::Array(words.map(Into::into).into()) })
}

fn shaped<const N: usize>(attributes: [(&str, Value); N]) -> Value {
    json!({ "shape": record(attributes) })
}

fn record<'a>(attributes: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let attributes: Map<String, Value> =
        attributes.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect();
    json!({ "type": "Record", "attributes": attributes })
}

fn text() -> Value {
    named("String")
}

fn whole() -> Value {
    named("Long")
}

/// A type by its name alone, which is also how the text for people has it.
fn named(name: &str) -> Value {
    json!({ "type": "EntityOrCommon", "name": name })
}

fn set(element: Value) -> Value {
    json!({ "type": "Set", "element": element })
}

fn entity(kind: Kind) -> Value {
    named(kind.name())
}

fn optional(mut kind: Value) -> Value {
    if let Value::Object(kind) = &mut kind {
        kind.insert("required".to_owned(), Value::Bool(false));
    }
    kind
}
