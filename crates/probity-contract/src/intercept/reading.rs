//! Verdicts that come from outside: what is not exactly one is none, and is told by its shape.

use serde_json::{Map, Value};

use super::HookReasons;
use super::verdict::{HookDecision, HookVerdict, NotAVerdict};
use crate::json::Arguments;

impl HookVerdict {
    /// Reads a verdict that comes from outside: bare, or in an envelope with the members `verdict` and `extensions`.
    ///
    /// A program that is asked over a pipe or a network can answer anything; what is not exactly a verdict is none. A member
    /// that stands twice is one, too.
    ///
    /// # Errors
    /// When it is no verdict.
    pub fn from_json(text: &str, reasons: HookReasons) -> Result<Self, NotAVerdict> {
        match serde_json::from_str(text) {
            // A member that stands twice means one thing to one reader and another to the next.
            Ok(value @ Value::Object(_)) if Arguments::parse(text).is_ok() => {
                Self::from_value(&value, reasons)
            }
            Ok(Value::Object(_)) => Err(NotAVerdict("an object that readers could understand differently")),
            Ok(other) => Self::from_value(&other, reasons),
            Err(_) => Err(NotAVerdict("no JSON")),
        }
    }

    /// Reads a verdict from a value; the rest is as with [`HookVerdict::from_json`].
    ///
    /// # Errors
    /// When it is no verdict.
    pub fn from_value(value: &Value, reasons: HookReasons) -> Result<Self, NotAVerdict> {
        let members = match value {
            Value::Object(members) => members,
            Value::Null => return Err(NotAVerdict("null")),
            Value::Bool(_) => return Err(NotAVerdict("true or false")),
            Value::Number(_) => return Err(NotAVerdict("a number")),
            Value::String(_) => return Err(NotAVerdict("a text")),
            Value::Array(_) => return Err(NotAVerdict("a list")),
        };
        if let Some(verdict) = members.get("verdict") {
            let others = members.keys().filter(|name| *name != "verdict" && *name != "extensions").count();
            let is_sole = |inner: &Map<String, Value>| others == 0 && !inner.contains_key("verdict");
            return if verdict.as_object().is_some_and(is_sole) {
                Self::from_value(verdict, reasons)
            } else {
                Err(NotAVerdict("an envelope that holds no verdict"))
            };
        }
        let read = Self::from_members(members)?;
        read.checked(reasons)
    }

    fn from_members(members: &Map<String, Value>) -> Result<Self, NotAVerdict> {
        const KNOWN: [&str; 8] = [
            "decision",
            "reason",
            "message",
            "warnings",
            "approval",
            "transform",
            "evidence",
            "result_labels",
        ];
        if members.keys().any(|name| !KNOWN.contains(&name.as_str())) {
            return Err(NotAVerdict("an object with an unknown member"));
        }
        let approval = match members.get("approval") {
            None => None,
            Some(Value::Object(approval)) => Some(approval.clone()),
            Some(_) => return Err(NotAVerdict("an approval that is no object")),
        };
        let transform = members.get("transform");
        let decision = match members.get("decision").and_then(Value::as_str) {
            None => return Err(NotAVerdict("an object without the member `decision`")),
            Some("allow") => HookDecision::Allow,
            Some("deny") => HookDecision::Deny { approval: approval.clone() },
            Some("transform") => {
                let transform = transform.ok_or(NotAVerdict("a transform that puts nothing in place"))?;
                read_transform(transform)?
            }
            Some(_) => return Err(NotAVerdict("an object with an unknown decision")),
        };
        if approval.is_some() && !matches!(decision, HookDecision::Deny { .. }) {
            return Err(NotAVerdict("an approval without a deny"));
        }
        if transform.is_some() && !matches!(decision, HookDecision::Transform { .. }) {
            return Err(NotAVerdict("a transform beside another decision"));
        }
        Ok(Self {
            decision,
            reason: text(members, "reason")?,
            message: text(members, "message")?,
            warnings: list(members, "warnings")?,
            evidence: members.get("evidence").filter(|evidence| !evidence.is_null()).cloned(),
            result_labels: list(members, "result_labels")?,
        })
    }
}

fn read_transform(transform: &Value) -> Result<HookDecision, NotAVerdict> {
    let members = transform.as_object().ok_or(NotAVerdict("a transform that is no object"))?;
    let path =
        members.get("path").and_then(Value::as_str).ok_or(NotAVerdict("a transform without a path"))?;
    let value = members.get("value").ok_or(NotAVerdict("a transform without a value"))?;
    if members.len() != 2 {
        return Err(NotAVerdict("a transform with an unknown member"));
    }
    Ok(HookDecision::Transform { path: path.to_owned(), value: value.clone() })
}

fn text(members: &Map<String, Value>, name: &str) -> Result<Option<String>, NotAVerdict> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(NotAVerdict("an object with a member that is no text")),
    }
}

fn list<T: serde::de::DeserializeOwned>(
    members: &Map<String, Value>,
    name: &str,
) -> Result<Vec<T>, NotAVerdict> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(list) => serde_json::from_value(list.clone())
            .map_err(|_| NotAVerdict("an object with a list that holds something else")),
    }
}
