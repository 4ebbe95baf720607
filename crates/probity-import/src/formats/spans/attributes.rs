use std::collections::BTreeMap;

use probity_contract::{Stop, Usage};
use serde_json::{Map, Value};

use super::super::tree::Kind;
use super::super::{stop_of, usage_of};
use crate::draft::Kept;
use crate::json::{as_text, nested, text, unpacked};
use crate::messages::{Said, Side, read as read_messages};

/// The attributes of a span, flat: names with dots, values of any kind.
#[derive(Debug, Default)]
pub(in super::super) struct Attributes(BTreeMap<String, Value>);

/// Where tracers write what was sent, the most telling first.
const INPUTS: &[&str] = &[
    "gen_ai.input.messages",
    "llm.input_messages",
    "ai.prompt.messages",
    "gen_ai.prompt",
    "ai.prompt",
    "events",
    "all_messages_events",
    "pydantic_ai.all_messages",
    "langfuse.observation.input",
    "mlflow.spanInputs",
    "traceloop.entity.input",
    "lk.chat_ctx",
    "input.value",
];
/// Where tracers write what came back.
const OUTPUTS: &[&str] = &[
    "gen_ai.output.messages",
    "llm.output_messages",
    "gen_ai.completion",
    "gen_ai.output",
    "langfuse.observation.output",
    "mlflow.spanOutputs",
    "traceloop.entity.output",
    "final_result",
    "lk.response.text",
    "output.value",
];
/// The raw forms of both, which say nothing new once messages have been read.
const RAW: &[&str] =
    &["input.value", "input.mime_type", "output.value", "output.mime_type", "gen_ai.output.type"];

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

    pub(super) fn take_arguments(&mut self) -> Option<String> {
        let names = [
            "gen_ai.tool.call.arguments",
            "gen_ai.tool.args",
            "ai.toolCall.args",
            "tool_arguments",
            "tool.parameters",
            "traceloop.entity.input",
            "input.value",
        ];
        names.iter().find_map(|name| self.taken(name)).map(|value| as_text(&value))
    }

    pub(super) fn take_result(&mut self) -> Option<String> {
        let names = [
            "gen_ai.tool.call.result",
            "ai.toolCall.result",
            "tool_response",
            "gen_ai.output",
            "traceloop.entity.output",
            "output.value",
        ];
        names.iter().find_map(|name| self.taken(name)).map(|value| {
            match serde_json::from_str(&as_text(&value)) {
                // Texts that were written as JSON texts are texts.
                Ok(Value::String(words)) => words,
                _ => as_text(&value),
            }
        })
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

    /// What was sent to the model, system instructions first.
    pub(super) fn take_input(&mut self, raw: &mut Vec<Kept>) -> Option<Said> {
        let told = self.take_said(INPUTS, Side::Input, raw);
        let Some(first) = self.taken("gen_ai.system_instructions") else { return told };
        let Some(mut said) = system(&unpacked(first)) else { return told };
        if let Some(told) = told {
            said.messages.extend(told.messages);
            said.tools.extend(told.tools);
        }
        Some(said)
    }

    pub(super) fn take_output(&mut self, raw: &mut Vec<Kept>) -> Option<Said> {
        if let Some(said) = self.take_vercel_output(raw) {
            return Some(said);
        }
        self.take_said(OUTPUTS, Side::Output, raw)
    }

    fn take_vercel_output(&mut self, raw: &mut Vec<Kept>) -> Option<Said> {
        let words = self.taken("ai.response.text").or_else(|| self.taken("ai.response.object"));
        let thought = self.taken("ai.response.reasoning");
        let calls = self.taken("ai.response.toolCalls").map(unpacked);
        if words.is_none() && calls.is_none() && thought.is_none() {
            return None;
        }
        let mut message = Map::new();
        message.insert("role".to_owned(), "assistant".into());
        message.insert("content".to_owned(), words.map_or(Value::Null, |words| as_text(&words).into()));
        message.extend(thought.map(|thought| ("reasoning".to_owned(), thought)));
        message.extend(calls.map(|calls| ("tool_calls".to_owned(), calls)));
        let message = Value::Object(message);
        let said = read_messages(&message, Side::Output);
        raw.push(("/output".to_owned(), message));
        said
    }

    fn take_said(&mut self, names: &[&str], side: Side, raw: &mut Vec<Kept>) -> Option<Said> {
        for name in names {
            // A text that holds no messages is one.
            let Some(value) = self.0.get(*name).cloned().or_else(|| self.peek(name)) else { continue };
            let Some(said) = read_messages(&value, side).filter(|said| !said.messages.is_empty()) else {
                continue;
            };
            self.forget(name);
            raw.push((if side == Side::Input { "/input" } else { "/output" }.to_owned(), value));
            // What was read here need not stand there a second time.
            RAW.iter().for_each(|raw| {
                self.0.remove(*raw);
            });
            return Some(said);
        }
        None
    }

    /// Definitions of tools.
    pub(in super::super) fn tools(&self) -> Vec<Value> {
        let names = [
            "gen_ai.tool.definitions",
            "llm.tools",
            "ai.prompt.tools",
            "llm.request.functions",
            "gen_ai.request.tools",
            "llm.invocation_parameters",
            "model_request_parameters",
        ];
        names
            .iter()
            .find_map(|name| Some(listed(&self.peek(name)?)).filter(|tools| !tools.is_empty()))
            .unwrap_or_default()
    }

    pub(super) fn take_tools(&mut self) -> Vec<Value> {
        let tools = self.tools();
        if !tools.is_empty() {
            for name in ["gen_ai.tool.definitions", "llm.tools", "ai.prompt.tools", "llm.request.functions"] {
                self.forget(name);
            }
        }
        tools
    }

    /// A value under a name, or those under names that begin with it, put together.
    fn peek(&self, name: &str) -> Option<Value> {
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

    fn forget(&mut self, name: &str) {
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

    fn taken(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    /// What nobody has taken.
    pub(in super::super) fn rest(self) -> Value {
        Value::Object(self.0.into_iter().filter(|(_, value)| !value.is_null()).collect())
    }
}

/// Instructions that stand apart from the messages: a text, or parts of one.
pub(super) fn system(told: &Value) -> Option<Said> {
    let mut message = Map::new();
    message.insert("role".to_owned(), "system".into());
    message.insert("content".to_owned(), told.clone());
    read_messages(&Value::Object(message), Side::Input)
}

/// Definitions that may be packed as texts, or stand in an envelope.
pub(in super::super) fn definitions<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<Value> {
    let mut tools = Vec::new();
    for value in values {
        let value = unpacked(value.clone());
        let inner = value.get("tool").unwrap_or(&value);
        match inner.get("json_schema").cloned().map(unpacked) {
            Some(schema) if schema.is_object() => tools.push(schema),
            _ => tools.push(inner.clone()),
        }
    }
    tools
}

fn listed(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(list) => definitions(list.iter()),
        Value::Object(object) => {
            let names = ["tools", "function_tools", "functions"];
            match names.iter().find_map(|name| object.get(*name)?.as_array()) {
                Some(list) => definitions(list.iter()),
                None => Vec::new(),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
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
