//! One module a format: from its envelope to drafts.

mod atif;
mod claude_code;
mod codex;
mod inspect;
mod langfuse;
mod message_lists;
mod openhands;
mod spans;
mod swe_agent;
mod tau_bench;
mod tree;
mod vcr;
mod who_and_when;

use probity_contract::{Stop, Usage};
use serde_json::Value;

use crate::detect::Source;
use crate::draft::Draft;
use crate::error::ImportError;
use crate::format::Format;
use crate::json::{first, text};

/// Reads the drafts of a file.
pub(crate) fn read(format: Format, source: Source) -> Result<Vec<Draft>, ImportError> {
    let values = match source {
        Source::Zip(bytes) if format == Format::Inspect => return inspect::read_archive(&bytes),
        Source::Zip(_) => {
            return Err(ImportError::at("", format!("it is an archive, which `{format}` is not")));
        }
        Source::Json(value) => vec![Located { place: String::new(), value }],
        Source::Yaml(value) => vec![Located { place: String::new(), value }],
        Source::Lines(lines) => {
            lines.into_iter().map(|(line, value)| Located { place: format!("line {line}"), value }).collect()
        }
    };
    match format {
        Format::Spans => spans::read(values),
        Format::Langfuse => langfuse::read(values),
        Format::ClaudeCode => claude_code::read(values),
        Format::Codex => codex::read(values),
        Format::Messages => message_lists::read(values),
        Format::SweAgent => each(values, swe_agent::read),
        Format::OpenHands => openhands::read(values),
        Format::Inspect => each(values, inspect::read),
        Format::Atif => each(values, atif::read),
        Format::WhoAndWhen => each(values, who_and_when::read),
        Format::Vcr => each(values, vcr::read),
        Format::TauBench => each(values, tau_bench::read),
    }
}

/// A value and the line that it begins in, where the file is one of lines.
pub(crate) struct Located {
    pub(crate) place: String,
    pub(crate) value: Value,
}

impl Located {
    /// The place of something within the value.
    pub(crate) fn within(&self, pointer: &str) -> String {
        match (self.place.is_empty(), pointer.is_empty()) {
            (true, _) => pointer.to_owned(),
            (false, true) => self.place.clone(),
            (false, false) => format!("{} {pointer}", self.place),
        }
    }
}

/// Reads values that stand alone or in a list.
fn each(
    values: Vec<Located>,
    read: impl Fn(Value, String) -> Result<Vec<Draft>, ImportError>,
) -> Result<Vec<Draft>, ImportError> {
    let mut drafts = Vec::new();
    for located in values {
        match located.value {
            Value::Array(list) => {
                for (index, value) in list.into_iter().enumerate() {
                    let pointer = format!("/{index}");
                    let place = if located.place.is_empty() {
                        pointer
                    } else {
                        format!("{} {pointer}", located.place)
                    };
                    drafts.extend(read(value, place)?);
                }
            }
            value @ (Value::Object(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)) => drafts.extend(read(value, located.place)?),
        }
    }
    Ok(drafts)
}

/// Token counts in the words of any provider.
pub(crate) fn usage_of(value: &Value) -> Usage {
    let count = |names: &[&str]| {
        let found = first(value, names)?;
        found.as_u64().or_else(|| found.as_str()?.parse().ok()).or_else(|| Some(found.as_f64()? as u64))
    };
    Usage {
        input: count(&[
            "input_tokens",
            "prompt_tokens",
            "promptTokens",
            "inputTokens",
            "promptTokenCount",
            "input",
        ]),
        output: count(&[
            "output_tokens",
            "completion_tokens",
            "completionTokens",
            "outputTokens",
            "candidatesTokenCount",
            "output",
        ]),
        cached_input: count(&[
            "cached_tokens",
            "cache_read_input_tokens",
            "cachedInputTokens",
            "cached_input_tokens",
        ])
        .or_else(|| value.pointer("/prompt_tokens_details/cached_tokens")?.as_u64())
        .or_else(|| value.pointer("/input_tokens_details/cached_tokens")?.as_u64()),
        cache_write: count(&["cache_creation_input_tokens"]),
        reasoning: count(&["reasoning_tokens", "reasoning_output_tokens"])
            .or_else(|| value.pointer("/completion_tokens_details/reasoning_tokens")?.as_u64())
            .or_else(|| value.pointer("/output_tokens_details/reasoning_tokens")?.as_u64()),
    }
}

/// Why a model stopped, in the words of any provider.
pub(crate) fn stop_of(word: &str) -> Option<Stop> {
    let lower = word.to_ascii_lowercase();
    Some(match lower.as_str() {
        "" => return None,
        "stop" | "end_turn" | "complete" | "completed" | "done" | "finished" => Stop::EndTurn,
        "tool_calls" | "tool_call" | "tool_use" | "tool-calls" | "function_call" => Stop::ToolCalls,
        "length" | "max_tokens" | "max_output_tokens" => Stop::MaxTokens,
        "stop_sequence" => Stop::StopSequence,
        "content_filter" | "refusal" | "safety" | "content-filter" => Stop::Refused,
        "pause_turn" => Stop::Paused,
        _ => Stop::Other(word.chars().take(80).collect()),
    })
}

/// What a response says of itself beside its message.
pub(crate) struct Response {
    pub(crate) model: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) usage: Usage,
    pub(crate) stop: Option<Stop>,
}

pub(crate) fn response_of(value: &Value) -> Response {
    let word = |pointers: &[&str]| {
        pointers.iter().find_map(|pointer| value.pointer(pointer)?.as_str()).unwrap_or_default().to_owned()
    };
    let usage = first(value, &["usage", "usageMetadata", "usage_metadata"]);
    let stop = word(&[
        "/choices/0/finish_reason",
        "/choices/0/stop_reason",
        "/stop_reason",
        "/stopReason",
        "/candidates/0/finishReason",
        "/candidates/0/finish_reason",
        "/finish_reason",
    ]);
    Response {
        model: text(value, &["model", "modelVersion", "model_version"]).map(str::to_owned),
        id: text(value, &["id", "responseId"]).map(str::to_owned),
        usage: usage.map(usage_of).unwrap_or_default(),
        stop: stop_of(&stop),
    }
}
