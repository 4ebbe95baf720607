//! What a tool's definition says of one place in its arguments.

use probity_contract::ToolSpec;
use serde_json::Value;

/// Schemas that are looked at for one place; a definition that needs more declares nothing there.
const SCHEMAS_MAX: usize = 64;
/// What stands for any index in a pointer of [`ToolSpec::endorses`].
const ANY_INDEX: &str = "*";

/// What is declared of the place of one value.
pub(super) struct Declared {
    /// Names of members on the way that no schema has: whoever made the call chose them.
    pub(super) chosen_names: Vec<String>,
    /// Whether the tool takes every value of this type for good, and the value is of such a type.
    pub(super) endorsed: bool,
}

impl Declared {
    /// What `tool` declares of the value at `pointer` in `arguments`.
    pub(super) fn at(tool: &ToolSpec, arguments: &Value, pointer: &str) -> Self {
        let root = &tool.input_schema;
        let mut place = Place { root, schemas: expanded(root, vec![root]) };
        let (mut value, mut chosen_names, mut way) = (Some(arguments), Vec::new(), String::new());
        for token in pointer.split('/').skip(1) {
            way.push('/');
            if let Some(Value::Array(values)) = value {
                way.push_str(ANY_INDEX);
                value = token.parse::<usize>().ok().and_then(|index| values.get(index));
                place.enter_elements();
                continue;
            }
            way.push_str(token);
            let name = unescaped(token);
            value = value.and_then(|value| value.get(&name));
            if !place.enter_member(&name) {
                chosen_names.push(name);
            }
        }
        let endorsed = tool.endorses.contains(&way) && value.is_some_and(|value| place.lists(value));
        Self { chosen_names, endorsed }
    }
}

/// The first pointer that a tool endorses and that is not of a type with few values.
pub(super) fn wrongly_endorsed(tool: &ToolSpec) -> Option<&str> {
    let is_wrong = |pointer: &&String| {
        let root = &tool.input_schema;
        let mut place = Place { root, schemas: expanded(root, vec![root]) };
        let found = pointer.split('/').skip(1).all(|token| match token {
            ANY_INDEX => place.enter_elements(),
            name => place.enter_member(&unescaped(name)),
        });
        !(found && pointer.starts_with('/') && place.has_few_values())
    };
    tool.endorses.iter().find(is_wrong).map(String::as_str)
}

/// All schemas that speak of one place.
struct Place<'a> {
    root: &'a Value,
    schemas: Vec<&'a Value>,
}

impl<'a> Place<'a> {
    /// Goes on to a member; false where no schema has its name.
    fn enter_member(&mut self, name: &str) -> bool {
        let of = |schema: &&'a Value| schema.get("properties").and_then(|known| known.get(name));
        let named: Vec<&'a Value> = self.schemas.iter().filter_map(of).collect();
        let has_it = !named.is_empty();
        let other = |schema: &&'a Value| schema.get("additionalProperties");
        let below = if has_it { named } else { self.schemas.iter().filter_map(other).collect() };
        self.schemas = expanded(self.root, below);
        has_it
    }

    /// Goes on to an element; false where no schema tells what elements are.
    fn enter_elements(&mut self) -> bool {
        let of = |schema: &&'a Value| schema.get("items");
        self.schemas = expanded(self.root, self.schemas.iter().filter_map(of).collect());
        !self.schemas.is_empty()
    }

    /// Whether a value that fits the schema is one of few.
    fn lists(&self, value: &Value) -> bool {
        let listed = |schema: &&Value| {
            let among = schema.get("enum").and_then(Value::as_array);
            among.is_some_and(|among| among.contains(value)) || schema.get("const") == Some(value)
        };
        matches!(value, Value::Bool(_) | Value::Null) || self.schemas.iter().any(listed)
    }

    /// Whether only few values fit: each alternative is true or false, null, or listed.
    fn has_few_values(&self) -> bool {
        let combines =
            |schema: &Value| ["$ref", "allOf", "anyOf", "oneOf"].iter().any(|key| schema.get(key).is_some());
        let mut ends = self.schemas.iter().filter(|schema| !combines(schema)).peekable();
        ends.peek().is_some() && ends.all(|schema| is_of_few_values(schema))
    }
}

fn is_of_few_values(schema: &Value) -> bool {
    let is_few = |kind: &Value| matches!(kind.as_str(), Some("boolean" | "null"));
    let by_type = match schema.get("type") {
        Some(Value::Array(kinds)) => !kinds.is_empty() && kinds.iter().all(is_few),
        Some(kind) => is_few(kind),
        None => false,
    };
    by_type || schema.get("enum").is_some() || schema.get("const").is_some()
}

/// The schemas with those that they refer to in the same document and those that they are combined of.
fn expanded<'a>(root: &'a Value, mut schemas: Vec<&'a Value>) -> Vec<&'a Value> {
    let mut at = 0;
    while let Some(schema) = schemas.get(at).copied() {
        at += 1;
        let reference = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
        let combined =
            ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
        let further: Vec<&Value> =
            reference.and_then(|to| root.pointer(to)).into_iter().chain(combined).collect();
        for schema in further {
            if !schemas.iter().any(|known| std::ptr::eq(*known, schema)) {
                schemas.push(schema);
            }
        }
        if schemas.len() > SCHEMAS_MAX {
            return Vec::new();
        }
    }
    schemas
}

fn unescaped(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
#[path = "declared_tests.rs"]
mod tests;
