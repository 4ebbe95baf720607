//! Texts and JSON values with places for captured values.
//!
//! `{name}` is the value as it stood in the window, `{name:number}` its digits without separators, `{name:grouped}` with
//! a comma between groups of three; `{{` and `}}` are the characters. A JSON string that is nothing but `{name:number}`
//! becomes a JSON number. A wrapper such as `{ number = "{name}" }` lost: it could also be meant as an object.

use serde_json::{Map, Value};

use super::expression::is_name;
use super::scope::{NotANumber, Scope};

/// A text with places.
#[derive(Debug)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Place { name: String, form: Form },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    AsCaptured,
    Number,
    Grouped,
}

impl Template {
    /// A text without places.
    pub(crate) fn plain(text: &str) -> Self {
        Self { pieces: vec![Piece::Text(text.to_owned())] }
    }

    /// Reads a text with places.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, brace)) = split_at_brace(rest) {
            plain.push_str(before);
            if let Some(after) = brace.strip_prefix("{{") {
                plain.push('{');
                rest = after;
            } else if let Some(after) = brace.strip_prefix("}}") {
                plain.push('}');
                rest = after;
            } else if let Some((inside, after)) = brace.strip_prefix('{').and_then(|b| b.split_once('}')) {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
                pieces.push(place(inside)?);
                rest = after;
            } else {
                return Err("a brace stands alone; write `{{` or `}}` for the character".to_owned());
            }
        }
        plain.push_str(rest);
        pieces.push(Piece::Text(plain));
        Ok(Self { pieces })
    }

    /// Every name in it with its form, in reading order.
    pub(crate) fn names(&self) -> Vec<(&str, Form)> {
        let names = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Place { name, form } => Some((name.as_str(), *form)),
        });
        names.collect()
    }

    /// The text with the values in place.
    pub(crate) fn fill(&self, scope: &Scope) -> Result<String, NotANumber> {
        let mut filled = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Place { name, form: Form::AsCaptured } => filled.push_str(&scope.text(name)),
                Piece::Place { name, form: Form::Number } => filled.push_str(&scope.number(name)?.plain()),
                Piece::Place { name, form: Form::Grouped } => filled.push_str(&scope.number(name)?.grouped()),
            }
        }
        Ok(filled)
    }

    fn sole_number(&self) -> Option<&str> {
        let mut pieces =
            self.pieces.iter().filter(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
        match (pieces.next(), pieces.next()) {
            (Some(Piece::Place { name, form: Form::Number }), None) => Some(name),
            _ => None,
        }
    }
}

/// Cuts before the first brace.
fn split_at_brace(text: &str) -> Option<(&str, &str)> {
    text.split_at_checked(text.find(['{', '}'])?)
}

fn place(inside: &str) -> Result<Piece, String> {
    let (name, form) = match inside.split_once(':') {
        None => (inside, Form::AsCaptured),
        Some((name, "number")) => (name, Form::Number),
        Some((name, "grouped")) => (name, Form::Grouped),
        Some((_, form)) => {
            return Err(format!("`{{{inside}}}` wants the form `{form}`; there are `number` and `grouped`"));
        }
    };
    if !is_name(name) {
        return Err(format!("`{{{inside}}}` holds no name; write `{{{{` and `}}}}` for braces"));
    }
    Ok(Piece::Place { name: name.to_owned(), form })
}

/// A JSON value with places in its strings.
#[derive(Debug)]
pub(crate) enum JsonTemplate {
    Constant(Value),
    Text(Template),
    Number(String),
    Array(Vec<JsonTemplate>),
    /// Members in the order of their names, so that the bytes do not hang on how a library keeps its maps.
    Object(Vec<(String, JsonTemplate)>),
}

impl JsonTemplate {
    /// Reads a TOML value.
    pub(crate) fn from_toml(value: &toml::Value) -> Result<Self, String> {
        Ok(match value {
            toml::Value::String(text) => {
                let template = Template::parse(text)?;
                match template.sole_number() {
                    Some(name) => Self::Number(name.to_owned()),
                    None => Self::Text(template),
                }
            }
            toml::Value::Integer(number) => Self::Constant(Value::from(*number)),
            toml::Value::Float(number) if number.is_finite() => Self::Constant(Value::from(*number)),
            toml::Value::Boolean(truth) => Self::Constant(Value::from(*truth)),
            toml::Value::Float(_) | toml::Value::Datetime(_) => {
                return Err(format!("`{value}` has no form in JSON; write it as a string"));
            }
            toml::Value::Array(values) => {
                Self::Array(values.iter().map(Self::from_toml).collect::<Result<_, _>>()?)
            }
            toml::Value::Table(table) => Self::from_table(table)?,
        })
    }

    /// Reads a TOML table.
    pub(crate) fn from_table(table: &toml::Table) -> Result<Self, String> {
        let member = |(name, value): (&String, &toml::Value)| Ok((name.clone(), Self::from_toml(value)?));
        let mut members = table.iter().map(member).collect::<Result<Vec<_>, String>>()?;
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(Self::Object(members))
    }

    /// Every name in it with its form.
    pub(crate) fn names(&self) -> Vec<(&str, Form)> {
        match self {
            Self::Constant(_) => Vec::new(),
            Self::Text(template) => template.names(),
            Self::Number(name) => vec![(name, Form::Number)],
            Self::Array(values) => values.iter().flat_map(Self::names).collect(),
            Self::Object(members) => members.iter().flat_map(|(_, value)| value.names()).collect(),
        }
    }

    /// The JSON value with the values in place.
    pub(crate) fn fill(&self, scope: &Scope) -> Result<Value, NotANumber> {
        Ok(match self {
            Self::Constant(value) => value.clone(),
            Self::Text(template) => Value::String(template.fill(scope)?),
            Self::Number(name) => Value::Number(scope.number(name)?.to_json().ok_or(NotANumber::TooLarge)?),
            Self::Array(values) => {
                Value::Array(values.iter().map(|value| value.fill(scope)).collect::<Result<_, _>>()?)
            }
            Self::Object(members) => {
                let member = |(name, value): &(String, Self)| Ok((name.clone(), value.fill(scope)?));
                Value::Object(members.iter().map(member).collect::<Result<Map<_, _>, _>>()?)
            }
        })
    }
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
