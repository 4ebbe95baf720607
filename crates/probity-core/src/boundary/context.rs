//! What an interceptor sees of what passes: the agent context of AGENT-HOOKS-0.1.

use std::sync::Arc;

use probity_contract::{HostError, Occasion, Point, interoperable_value};
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::identity::{CONTEXT_DEPTH_MAX, check_domain};
use super::path::TargetPath;

/// The version of the specification that contexts follow.
const SPEC: &str = "agent-hooks/0.1";

/// What the engine calls itself.
const FRAMEWORK: &str = "probity";

/// What stands in every context of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Envelope<'a> {
    /// Who acts: the task's name for itself.
    pub(crate) agent: &'a str,
    /// The run.
    pub(crate) session: &'a str,
    /// Milliseconds since 1970 UTC.
    pub(crate) at_unix_ms: u64,
    /// Counted from 0 over the run.
    pub(crate) sequence: u64,
}

/// What passes at one point.
#[derive(Debug, Clone)]
pub(crate) enum Scene<'a> {
    /// The run begins with these tools.
    AgentStartup { tools: Vec<&'a str> },
    /// A message comes in.
    Input { content: &'a str, role: &'a str },
    /// A window goes to the model.
    PreModelCall { model: &'a str, messages: Vec<Value> },
    /// A reply has come, or a part of one.
    PostModelCall {
        model: &'a str,
        content: Option<&'a str>,
        calls: Vec<SceneCall<'a>>,
        finish_reason: &'a str,
    },
    /// A call was proposed.
    PreToolCall { id: &'a str, name: &'a str, arguments: Value },
    /// A tool came back.
    PostToolCall { id: &'a str, name: &'a str, arguments: Value, result: &'a str, is_error: bool },
    /// An answer goes out.
    Output { content: &'a str },
    /// The run is over.
    AgentShutdown { reason: &'a str },
}

/// A call in a reply, as the model worded it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SceneCall<'a> {
    /// The provider's id.
    pub(crate) id: &'a str,
    /// The name.
    pub(crate) name: &'a str,
    /// The arguments as they were sent.
    pub(crate) arguments: &'a str,
}

/// A context that was built, and whether something in it has no form that all readers understand alike.
#[derive(Debug, Clone)]
pub(crate) struct Staged {
    pub(super) occasion: Occasion,
    pub(super) is_interoperable: bool,
}

impl Scene<'_> {
    /// Where it is.
    pub(crate) const fn point(&self) -> Point {
        match self {
            Self::AgentStartup { .. } => Point::AgentStartup,
            Self::Input { .. } => Point::Input,
            Self::PreModelCall { .. } => Point::PreModelCall,
            Self::PostModelCall { .. } => Point::PostModelCall,
            Self::PreToolCall { .. } => Point::PreToolCall,
            Self::PostToolCall { .. } => Point::PostToolCall,
            Self::Output { .. } => Point::Output,
            Self::AgentShutdown { .. } => Point::AgentShutdown,
        }
    }

    /// The context.
    pub(crate) fn stage(self, envelope: Envelope<'_>) -> Staged {
        let point = self.point();
        let mut is_interoperable = true;
        let mut context = Map::new();
        let mut put = |name: &str, value: Value| context.insert(name.to_owned(), value);
        put("spec", json!(SPEC));
        put("interception_point", json!(point.name()));
        put("timestamp", json!(timestamp(envelope.at_unix_ms)));
        put("sequence", json!(envelope.sequence));
        put("agent", json!({"id": envelope.agent, "framework": FRAMEWORK}));
        put("session", json!({"id": envelope.session}));
        let target = match self {
            Self::AgentStartup { tools } => json!({"tools_registered": tools}),
            Self::Input { content, role } => json!({"content": content, "role": role}),
            Self::PreModelCall { model, messages } => {
                put("model", json!({"id": model}));
                Value::Array(messages)
            }
            Self::PostModelCall { model, content, calls, finish_reason } => {
                put("model", json!({"id": model}));
                let calls: Vec<Value> = calls
                    .iter()
                    .map(|call| {
                        let (args, is_exact) = arguments_value(call.arguments);
                        is_interoperable &= is_exact;
                        json!({"id": call.id, "name": call.name, "args": args})
                    })
                    .collect();
                json!({"content": content, "tool_calls": calls, "finish_reason": finish_reason})
            }
            Self::PreToolCall { id, name, arguments } => {
                put("tool_call", json!({"id": id, "name": name, "args": null}));
                arguments
            }
            Self::PostToolCall { id, name, arguments, result, is_error } => {
                put("tool_call", json!({"id": id, "name": name, "args": arguments}));
                put("tool_result", json!({"value": null, "is_error": is_error}));
                result_value(result)
            }
            Self::Output { content } => json!({"content": content}),
            Self::AgentShutdown { reason } => json!({"reason": reason}),
        };
        write_back(point, &mut context, &target);
        context.insert("target".to_owned(), target);
        Staged { occasion: Occasion::new(point, Arc::new(Value::Object(context))), is_interoperable }
    }
}

/// The occasion with `value` in place at `path` of its target, and in the member that repeats the target.
///
/// # Errors
/// `TransformTargetForbidden` at a point where nothing may be changed and for a path that leads elsewhere; `TransformInvalid`
/// where nothing stands there, or where what would stand there then is no such message, call or result any more.
pub(super) fn with_transform(occasion: &Occasion, path: &str, value: &Value) -> Result<Occasion, HostError> {
    if !occasion.point().may_transform() {
        return Err(HostError::TransformTargetForbidden);
    }
    let changed = replaced(occasion, path, value)?;
    if !keeps_shape(occasion, changed.target()) {
        return Err(HostError::TransformInvalid);
    }
    Ok(changed)
}

/// The occasion with these paths of its target put out of sight; one that leads nowhere here is no matter.
pub(super) fn redacted(occasion: &Occasion, paths: &[String]) -> Occasion {
    let hide = |occasion: Occasion, path: &String| {
        replaced(&occasion, path, &json!("[redacted]")).unwrap_or(occasion)
    };
    paths.iter().fold(occasion.clone(), hide)
}

fn replaced(occasion: &Occasion, path: &str, value: &Value) -> Result<Occasion, HostError> {
    let path = TargetPath::parse(path)?;
    let mut target = occasion.target().clone();
    path.put(&mut target, value.clone())?;
    let Value::Object(context) = occasion.context() else { return Err(HostError::ContextInvalid) };
    let mut context = context.clone();
    write_back(occasion.point(), &mut context, &target);
    context.insert("target".to_owned(), target);
    Ok(Occasion::new(occasion.point(), Arc::new(Value::Object(context))))
}

/// Puts the target into the member of the point that repeats it.
fn write_back(point: Point, context: &mut Map<String, Value>, target: &Value) {
    let target = target.clone();
    let (member, inner) = match point {
        Point::AgentStartup => ("agent_init", None),
        Point::Input => ("input", None),
        Point::PreModelCall => ("messages", None),
        Point::PostModelCall => ("response", None),
        Point::PreToolCall => ("tool_call", Some("args")),
        Point::PostToolCall => ("tool_result", Some("value")),
        Point::Output => ("output", None),
        Point::AgentShutdown => ("summary", None),
    };
    match inner {
        None => {
            context.insert(member.to_owned(), target);
        }
        Some(inner) => {
            if let Some(Value::Object(members)) = context.get_mut(member) {
                members.insert(inner.to_owned(), target);
            }
        }
    }
}

/// Whether a target still is what passes at this point, so that the run can go on with it: the same members with values of the
/// same kinds, the same number of messages in the same roles, the same calls. What else could be done with another one?
fn keeps_shape(occasion: &Occasion, target: &Value) -> bool {
    let before = occasion.target();
    let same = |name: &str| before.get(name) == target.get(name);
    let has_members = |names: &[&str]| {
        target.as_object().is_some_and(|members| members.len() == names.len())
            && names.iter().all(|name| target.get(*name).is_some())
    };
    let is_text = |name: &str| target.get(name).is_some_and(Value::is_string);
    if depth_of(target) >= CONTEXT_DEPTH_MAX {
        return false;
    }
    match occasion.point() {
        Point::AgentStartup | Point::AgentShutdown => false,
        Point::Input => has_members(&["content", "role"]) && is_text("content") && same("role"),
        Point::PreModelCall => match (before, target) {
            (Value::Array(before), Value::Array(after)) => {
                before.len() == after.len() && before.iter().zip(after).all(|(b, a)| is_same_message(b, a))
            }
            _ => false,
        },
        Point::PostModelCall => {
            let is_content = |value: &Value| value.is_string() || value.is_null();
            has_members(&["content", "tool_calls", "finish_reason"])
                && target.get("content").is_some_and(is_content)
                && target.get("tool_calls").is_some_and(is_calls)
                && same("finish_reason")
        }
        Point::PreToolCall => target.is_object(),
        Point::PostToolCall => true,
        Point::Output => has_members(&["content"]) && is_text("content"),
    }
}

/// Whether only the words of a message differ.
fn is_same_message(before: &Value, after: &Value) -> bool {
    let (Value::Object(before), Value::Object(after)) = (before, after) else { return false };
    let is_kept = |(name, value): (&String, &Value)| match name.as_str() {
        "content" => value.is_string(),
        _ => before.get(name) == Some(value),
    };
    before.len() == after.len() && after.iter().all(is_kept)
}

fn is_calls(calls: &Value) -> bool {
    let is_text = |call: &Value, name: &str| call.get(name).is_some_and(Value::is_string);
    let is_call = |call: &Value| {
        call.as_object().is_some_and(|members| members.len() == 3)
            && is_text(call, "id")
            && is_text(call, "name")
            && call.get("args").is_some()
    };
    calls.as_array().is_some_and(|calls| calls.iter().all(is_call))
}

fn depth_of(value: &Value) -> usize {
    let (mut deepest, mut left) = (0, vec![(value, 1_usize)]);
    while let Some((value, depth)) = left.pop() {
        deepest = deepest.max(depth);
        match value {
            Value::Array(values) => left.extend(values.iter().map(|value| (value, depth + 1))),
            Value::Object(members) => left.extend(members.values().map(|value| (value, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    deepest
}

/// Arguments as a value, and whether they have one that all readers understand alike. What has none is shown as the text that
/// it is.
pub(crate) fn arguments_value(text: &str) -> (Value, bool) {
    match interoperable_value(text) {
        Ok(value) => (value, true),
        Err(_) => {
            let lenient = serde_json::from_str::<Value>(text);
            (json!(text), !lenient.is_ok_and(|value| check_domain(&value).is_err()))
        }
    }
}

/// A tool's result as a value: an object or a list where it is one that all readers understand alike, else its text.
pub(crate) fn result_value(text: &str) -> Value {
    let value = text.trim_start().starts_with(['{', '[']).then(|| interoperable_value(text));
    value.and_then(Result::ok).unwrap_or_else(|| json!(text))
}

/// The text of a value that stands for a text: itself, or its JSON.
pub(crate) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// RFC 3339 in UTC.
fn timestamp(unix_ms: u64) -> String {
    let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(unix_ms) * 1_000_000);
    at.ok().and_then(|at| at.format(&Rfc3339).ok()).unwrap_or_else(|| "9999-12-31T23:59:59Z".to_owned())
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
