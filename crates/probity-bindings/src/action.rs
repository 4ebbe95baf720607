//! What is approved and what is executed.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A field on which the meaning of an effect can depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// What is acted on.
    Target,
    /// What is put there.
    Content,
    /// What is done: which tool.
    Operation,
    /// On whose behalf.
    Caller,
    /// By which rules it was judged.
    Policy,
    /// In which run.
    Session,
    /// By which definition the tool acts.
    Workflow,
}

impl Field {
    /// All fields.
    pub const ALL: [Self; 7] = [
        Self::Target,
        Self::Content,
        Self::Operation,
        Self::Caller,
        Self::Policy,
        Self::Session,
        Self::Workflow,
    ];

    /// The member's name in a representation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Content => "content",
            Self::Operation => "operation",
            Self::Caller => "caller",
            Self::Policy => "policy",
            Self::Session => "session",
            Self::Workflow => "workflow",
        }
    }
}

/// An action in its meaning: two are equal when they do the same. Every field has a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    // INVARIANT: every field is there.
    fields: BTreeMap<Field, String>,
}

impl Action {
    /// Writes `content` to `target`, for `ada`, in her run, by the rules and definition of the day.
    #[must_use]
    pub fn write(target: &str, content: &str) -> Self {
        let value = |field| match field {
            Field::Target => target,
            Field::Content => content,
            Field::Operation => "write",
            Field::Caller => "ada",
            Field::Policy => "rules-7",
            Field::Session => "run-1",
            Field::Workflow => "daily",
        };
        Self { fields: Field::ALL.into_iter().map(|field| (field, value(field).to_owned())).collect() }
    }

    /// The field's value.
    #[must_use]
    pub fn get(&self, field: Field) -> &str {
        self.fields.get(&field).map_or("", String::as_str)
    }

    /// The same action with another value in one field.
    #[must_use]
    pub fn with(mut self, field: Field, value: &str) -> Self {
        self.fields.insert(field, value.to_owned());
        self
    }

    /// The action as JSON text, its members in one order or the other.
    #[must_use]
    pub fn to_json(&self, reordered: bool) -> String {
        let member = |(field, value): (&Field, &String)| {
            format!("{}:{}", Value::from(field.name()), Value::from(value.as_str()))
        };
        let mut members: Vec<String> = self.fields.iter().map(member).collect();
        if reordered {
            members.reverse();
        }
        format!("{{{}}}", members.join(","))
    }

    /// Reads an action; `None` where a field is missing or is no text, or there is one more.
    #[must_use]
    pub fn from_json(text: &str) -> Option<Self> {
        let members: Map<String, Value> = serde_json::from_str(text).ok()?;
        let field = |field: Field| Some((field, members.get(field.name())?.as_str()?.to_owned()));
        let fields = Field::ALL.into_iter().map(field).collect::<Option<BTreeMap<_, _>>>()?;
        (fields.len() == members.len()).then_some(Self { fields })
    }
}
