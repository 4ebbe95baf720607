//! What attributes say went into a model or a tool, and what came out.

use serde_json::{Map, Value};

use super::attributes::Attributes;
use crate::draft::Kept;
use crate::json::{as_text, unpacked};
use crate::messages::{Said, Side, read as read_messages};

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

impl Attributes {
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
