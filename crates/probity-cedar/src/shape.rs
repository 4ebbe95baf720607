//! What a tool's arguments look like to a policy, read from their JSON Schema.
//!
//! A shape is what Cedar's types can hold without loss that a policy could be misled by. Everything else is
//! [`Shape::Json`]: the canonical text under a member of its own, so that a comparison with a plain string does not pass
//! validation and no policy takes the text of a value for the value. Keywords that only narrow (`minimum`, `pattern`, a
//! `oneOf` beside a `type`) are not read: they were checked before the call was frozen.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::limits::{ARGUMENT_DEPTH_MAX, ARGUMENT_TYPES_MAX};

/// The type of one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A string.
    Text,
    /// An integer.
    Whole,
    /// A number with at most four decimal places.
    Number,
    /// True or false.
    Truth,
    /// An array whose elements have one shape. Order and repetition are lost.
    Set(Box<Self>),
    /// An object whose members are all known.
    Record(BTreeMap<String, Member>),
    /// Anything, as its canonical JSON text.
    Json,
}

/// One member of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) shape: Shape,
    /// Whether the schema requires it.
    pub(crate) required: bool,
    /// Whether it may be null, which a policy sees as absent.
    pub(crate) nullable: bool,
}

impl Member {
    /// Whether a policy can count on it.
    pub(crate) const fn is_always_there(&self) -> bool {
        self.required && !self.nullable
    }
}

impl Shape {
    /// The shape of a tool's arguments.
    pub(crate) fn of_arguments(schema: &Value) -> Self {
        let mut reader = Reader { root: schema, types_left: ARGUMENT_TYPES_MAX, references: Vec::new() };
        reader.read(schema, ARGUMENT_DEPTH_MAX).shape
    }
}

struct Reader<'a> {
    root: &'a Value,
    types_left: usize,
    /// The references that are being followed.
    references: Vec<&'a str>,
}

#[derive(PartialEq, Eq)]
struct Reading {
    shape: Shape,
    nullable: bool,
}

const JSON: Reading = Reading { shape: Shape::Json, nullable: false };

impl From<Shape> for Reading {
    fn from(shape: Shape) -> Self {
        Self { shape, nullable: false }
    }
}

impl<'a> Reader<'a> {
    fn read(&mut self, schema: &'a Value, depth_left: usize) -> Reading {
        let Value::Object(schema) = schema else { return JSON };
        let Some(types_left) = self.types_left.checked_sub(1) else { return JSON };
        self.types_left = types_left;
        if let Some(Value::String(reference)) = schema.get("$ref") {
            return self.follow(reference, depth_left);
        }
        let types = match schema.get("type") {
            Some(Value::String(name)) => vec![name.as_str()],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            Some(_) => return JSON,
            None if schema.contains_key("properties") => vec!["object"],
            None => return self.read_untyped(schema, depth_left),
        };
        let nullable = types.contains(&"null");
        let types: BTreeSet<&str> = types.into_iter().filter(|name| *name != "null").collect();
        let mut types = types.into_iter();
        let shape = match (types.next(), types.next(), types.next()) {
            (Some("string"), None, _) => Shape::Text,
            (Some("integer"), None, _) => Shape::Whole,
            (Some("number"), None, _) | (Some("integer"), Some("number"), None) => Shape::Number,
            (Some("boolean"), None, _) => Shape::Truth,
            (Some("array"), None, _) => self.read_array(schema, depth_left),
            (Some("object"), None, _) => self.read_object(schema, depth_left),
            _ => return JSON,
        };
        Reading { nullable: nullable && shape != Shape::Json, shape }
    }

    /// A reference into the same document. One that leads back to itself or elsewhere has no shape.
    fn follow(&mut self, reference: &'a str, depth_left: usize) -> Reading {
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        match target {
            Some(target) if !self.references.contains(&reference) => {
                self.references.push(reference);
                let reading = self.read(target, depth_left);
                self.references.pop();
                reading
            }
            _ => JSON,
        }
    }

    fn read_untyped(&mut self, schema: &'a Map<String, Value>, depth_left: usize) -> Reading {
        if let Some(value) = schema.get("const") {
            return shape_of_all([value]);
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            return shape_of_all(values);
        }
        let branches = ["anyOf", "oneOf"].into_iter().find_map(|keyword| schema.get(keyword));
        match (branches, schema.get("allOf")) {
            (Some(Value::Array(branches)), None) => self.read_branches(branches, depth_left),
            (None, Some(Value::Array(parts))) => match parts.as_slice() {
                [only] => self.read(only, depth_left),
                _ => JSON,
            },
            _ => JSON,
        }
    }

    /// Branches that all have one shape have that; null beside them makes the value one that may be missing.
    fn read_branches(&mut self, branches: &'a [Value], depth_left: usize) -> Reading {
        let is_null = |branch: &&Value| branch.get("type").and_then(Value::as_str) == Some("null");
        let mut nullable = branches.iter().any(|branch| is_null(&branch));
        let mut shapes = branches.iter().filter(|branch| !is_null(branch)).map(|branch| {
            let reading = self.read(branch, depth_left);
            nullable |= reading.nullable;
            reading.shape
        });
        let Some(first) = shapes.next() else { return JSON };
        // All are read, whatever they are, so that `nullable` knows of each.
        let alike = shapes.fold(true, |alike, shape| alike & (shape == first));
        if alike && first != Shape::Json { Reading { shape: first, nullable } } else { JSON }
    }

    fn read_array(&mut self, schema: &'a Map<String, Value>, depth_left: usize) -> Shape {
        let Some(depth_left) = depth_left.checked_sub(1) else { return Shape::Json };
        match schema.get("items") {
            Some(items @ Value::Object(_)) if !schema.contains_key("prefixItems") => {
                let Reading { shape, nullable } = self.read(items, depth_left);
                Shape::Set(Box::new(if nullable { Shape::Json } else { shape }))
            }
            _ => Shape::Json,
        }
    }

    fn read_object(&mut self, schema: &'a Map<String, Value>, depth_left: usize) -> Shape {
        let Some(depth_left) = depth_left.checked_sub(1) else { return Shape::Json };
        let required: BTreeSet<&str> = match schema.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => BTreeSet::new(),
        };
        let mut members = BTreeMap::new();
        if let Some(Value::Object(properties)) = schema.get("properties") {
            for (name, schema) in properties {
                let Reading { shape, nullable } = self.read(schema, depth_left);
                let required = required.contains(name.as_str());
                members.insert(name.clone(), Member { shape, required, nullable });
            }
        }
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        if members.is_empty() && !closed {
            return Shape::Json;
        }
        for name in required {
            let member = Member { shape: Shape::Json, required: true, nullable: false };
            members.entry(name.to_owned()).or_insert(member);
        }
        Shape::Record(members)
    }
}

/// The shape that all these values have.
fn shape_of_all<'a>(values: impl IntoIterator<Item = &'a Value>) -> Reading {
    let mut nullable = false;
    let mut shapes: Vec<Shape> = Vec::new();
    for value in values {
        let shape = match value {
            Value::Null => {
                nullable = true;
                continue;
            }
            Value::String(_) => Shape::Text,
            Value::Bool(_) => Shape::Truth,
            Value::Number(number) if number.is_i64() => Shape::Whole,
            Value::Number(_) => Shape::Number,
            Value::Array(_) | Value::Object(_) => Shape::Json,
        };
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    match shapes.pop() {
        Some(shape) if shapes.is_empty() && shape != Shape::Json => Reading { shape, nullable },
        _ => JSON,
    }
}

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
