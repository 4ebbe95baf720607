use std::collections::BTreeMap;

use probity_contract::{Stop, Usage};
use serde_json::{Map, Value};

use super::super::tree::Kind;
use super::super::{stop_of, usage_of};
use crate::json::{nested, text, unpacked};

/// The attributes of a span, flat: names with dots, values of any kind.
#[derive(Debug, Default)]
pub(in super::super) struct Attributes(pub(super) BTreeMap<String, Value>);

/// Bytes of a name up to which the members of its value get names of their own, which begin with it.
const NAME_BYTES_MAX: usize = 512;

impl Attributes {
    /// Reads OTLP's list of keys and values, or an object, nested or flat.
    pub(in super::super) fn of(value: &Value) -> Self {
        let mut attributes = Self::default();
        match value {
            Value::Array(list) => {
                for pair in list {
                    if let (Some(key), Some(value)) = (text(pair, &["key"]), pair.get("value")) {
                        attributes.insert(key, plain(value.clone()));
                    }
                }
            }
            Value::Object(object) => {
                object.iter().for_each(|(name, value)| attributes.insert(name, value.clone()));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        attributes
    }

    /// Adds an attribute; the members of an object become attributes of their own.
    pub(in super::super) fn insert(&mut self, name: &str, value: Value) {
        match value {
            Value::Object(object) if !object.is_empty() && name.len() <= NAME_BYTES_MAX => {
                for (member, value) in object {
                    self.insert(&format!("{name}.{member}"), value);
                }
            }
            value @ (Value::Array(_)
            | Value::Object(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)) => {
                self.0.insert(name.to_owned(), value);
            }
        }
    }

    pub(in super::super) fn set_kind(&mut self, kind: &str) {
        self.0.entry("openinference.span.kind".to_owned()).or_insert_with(|| kind.into());
    }

    fn word(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.0.get(*name)?.as_str().filter(|word| !word.is_empty()))
    }

    fn has(&self, prefix: &str) -> bool {
        let dotted = format!("{prefix}.");
        self.0.contains_key(prefix)
            || self.0.range(dotted.clone()..).next().is_some_and(|(name, _)| name.starts_with(&dotted))
    }

    /// What a span is. Its attributes decide; its name only where they say nothing.
    pub(in super::super) fn kind(&self, name: &str) -> Kind {
        let told = ["openinference.span.kind", "traceloop.span.kind", "langfuse.observation.type"];
        if let Some(kind) = self.word(&told) {
            match kind.to_ascii_uppercase().as_str() {
                "LLM" | "GENERATION" => return Kind::Model,
                "TOOL" => return Kind::Tool,
                "AGENT" => return Kind::Agent,
                // A chain and the like are what they are, whatever is recorded with them.
                "CHAIN" | "RETRIEVER" | "EMBEDDING" | "RERANKER" | "GUARDRAIL" | "EVALUATOR" | "WORKFLOW"
                | "TASK" => {
                    return Kind::Other;
                }
                _ => {}
            }
        }
        if let Some(operation) = self.word(&["gen_ai.operation.name"]) {
            return match operation {
                "execute_tool" => Kind::Tool,
                "invoke_agent" | "create_agent" | "invoke_workflow" => Kind::Agent,
                "embeddings" | "retrieval" => Kind::Other,
                _ => Kind::Model,
            };
        }
        if let Some(operation) = self.word(&["ai.operationId"]) {
            return match operation {
                "ai.toolCall" => Kind::Tool,
                operation if operation.contains("embed") => Kind::Other,
                _ => Kind::Model,
            };
        }
        if self.has("gen_ai.tool.name") {
            return Kind::Tool;
        }
        let speaks =
            ["gen_ai.prompt", "gen_ai.completion", "gen_ai.input.messages", "gen_ai.output.messages"];
        let asked = self.has("gen_ai.request.model") || self.has("llm.request.type");
        if speaks.iter().any(|prefix| self.has(prefix)) || asked || self.has("llm.input_messages") {
            return Kind::Model;
        }
        if self.has("agent_name") && (self.has("all_messages_events") || self.has("pydantic_ai.all_messages"))
        {
            return Kind::Agent;
        }
        match name.split_whitespace().next() {
            Some("execute_tool") => Kind::Tool,
            Some("invoke_agent") => Kind::Agent,
            _ => Kind::Other,
        }
    }

    pub(in super::super) fn tool_name(&self) -> Option<String> {
        self.word(&["gen_ai.tool.name", "ai.toolCall.name", "tool.name", "traceloop.entity.name"])
            .map(str::to_owned)
    }

    pub(in super::super) fn call_id(&self) -> Option<String> {
        self.word(&["gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id", "tool.id"]).map(str::to_owned)
    }

    pub(super) fn forget_tool(&mut self) {
        for name in [
            "gen_ai.tool.name",
            "ai.toolCall.name",
            "tool.name",
            "gen_ai.tool.call.id",
            "ai.toolCall.id",
            "gen_ai.output.type",
        ] {
            self.0.remove(name);
        }
    }

    pub(super) fn model(&self) -> Option<String> {
        let names = ["gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "ai.model.id"];
        self.word(&names).map(str::to_owned)
    }

    pub(super) fn response_id(&self) -> Option<String> {
        self.word(&["gen_ai.response.id", "ai.response.id"]).map(str::to_owned)
    }

    pub(super) fn usage(&self) -> Usage {
        let prefixes = ["gen_ai.usage", "llm.token_count", "ai.usage"];
        let found = prefixes.iter().find(|prefix| self.has(prefix)).map(|prefix| self.under(prefix));
        let mut usage = found.unwrap_or_default();
        if let Value::Object(counts) = &mut usage {
            for (from, to) in [("prompt", "input_tokens"), ("completion", "output_tokens")] {
                if let Some(count) = counts.remove(from) {
                    counts.insert(to.to_owned(), count);
                }
            }
        }
        usage_of(&usage)
    }

    pub(super) fn stop(&self) -> Option<Stop> {
        let list = self.0.get("gen_ai.response.finish_reasons").cloned().map(unpacked);
        let first = list.as_ref().and_then(|list| list.get(0)?.as_str());
        stop_of(first.or_else(|| self.word(&["ai.response.finishReason"])).unwrap_or_default())
    }

    /// A value under a name, or those under names that begin with it, put together.
    pub(super) fn peek(&self, name: &str) -> Option<Value> {
        match self.0.get(name) {
            Some(value) => Some(unpacked(value.clone())),
            None if self.has(name) => Some(self.under(name)),
            None => None,
        }
    }

    fn under(&self, prefix: &str) -> Value {
        let dotted = format!("{prefix}.");
        let members = self.0.range(dotted.clone()..).take_while(|(name, _)| name.starts_with(&dotted));
        nested(members.filter_map(|(name, value)| Some((name.strip_prefix(&dotted)?, value))))
    }

    pub(super) fn forget(&mut self, name: &str) {
        if self.0.remove(name).is_some() {
            return;
        }
        let dotted = format!("{name}.");
        let gone: Vec<String> = self
            .0
            .range(dotted.clone()..)
            .map(|(name, _)| name.clone())
            .take_while(|name| name.starts_with(&dotted))
            .collect();
        for name in gone {
            self.0.remove(&name);
        }
    }

    pub(super) fn taken(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    /// What nobody has taken.
    pub(in super::super) fn rest(self) -> Value {
        Value::Object(self.0.into_iter().filter(|(_, value)| !value.is_null()).collect())
    }
}

/// A value of OTLP as JSON.
pub(super) fn plain(value: Value) -> Value {
    let Value::Object(object) = value else { return value };
    let Some((kind, inner)) = object.into_iter().next() else { return Value::Null };
    match (kind.as_str(), inner) {
        ("intValue", Value::String(digits)) => {
            digits.parse::<i64>().map_or(Value::String(digits), Value::from)
        }
        ("arrayValue", Value::Object(mut list)) => match list.remove("values") {
            Some(Value::Array(values)) => values.into_iter().map(plain).collect(),
            _ => Value::Array(Vec::new()),
        },
        ("kvlistValue", Value::Object(mut list)) => match list.remove("values") {
            Some(Value::Array(pairs)) => {
                let members = pairs.into_iter().filter_map(|pair| {
                    let key = text(&pair, &["key"])?.to_owned();
                    Some((key, plain(pair.get("value").cloned().unwrap_or_default())))
                });
                Value::Object(members.collect())
            }
            _ => Value::Object(Map::new()),
        },
        (_, inner) => inner,
    }
}
