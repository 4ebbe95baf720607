//! The port to models.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cancel::Cancel;
use crate::future::BoxStream;
use crate::ids::{ModelName, ToolName};
use crate::item::{Item, ReplyPart};
use crate::shown::Shown;
use crate::tool::ToolSpec;

/// Something that answers a window of context items with text and proposed calls.
pub trait Model: Send + Sync {
    /// The name as people write it.
    fn name(&self) -> &ModelName;

    /// What one million tokens cost, where known.
    fn prices(&self) -> Option<Prices> {
        None
    }

    /// Starts one call. The stream yields deltas as they come and ends with exactly one [`ModelEvent::Finished`] or one
    /// error; a stream that ends otherwise counts as cut off, and nothing of it is executed. Dropping it stops the call.
    fn call(
        &self,
        request: ModelRequest,
        cx: ModelContext,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>>;
}

/// What a run hands to a model beside the request.
#[derive(Debug, Clone)]
pub struct ModelContext {
    /// Fires when the task is cancelled.
    pub cancel: Cancel,
    /// The time that is left for the call, retries included.
    pub timeout: Duration,
}

/// One question to a model. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The window, oldest first.
    pub items: Arc<Vec<Arc<Item>>>,
    /// The tools that may be called; empty when none may.
    pub tools: Arc<[ToolSpec]>,
    /// Whether a tool must be called.
    pub tool_choice: ToolChoice,
    /// Sampling and output parameters.
    pub params: Arc<ModelParams>,
}

/// Whether and which tool must be called.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tool.
    None,
    /// At least one tool.
    Required,
    /// This tool.
    Named(ToolName),
}

/// Parameters of a model call; what is not set is left to the provider.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelParams {
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// Tokens that one reply may have.
    pub output_tokens_max: Option<u64>,
    /// Seed, where the provider takes one.
    pub seed: Option<u64>,
    /// Reasoning effort in the provider's words, for example `low`.
    pub reasoning_effort: Option<String>,
    /// JSON Schema that the answer must follow, where the provider can enforce one.
    pub output_schema: Option<Value>,
}

/// One step of a reply as it comes in.
#[derive(Clone, PartialEq)]
pub enum ModelEvent {
    /// Answer text grew.
    Text {
        /// Position of the part in the reply.
        part: u32,
        /// What was added.
        delta: String,
    },
    /// Reasoning grew.
    Reasoning {
        /// Position of the part in the reply.
        part: u32,
        /// What was added.
        delta: String,
    },
    /// A tool call was named.
    CallStarted {
        /// Position of the part in the reply.
        part: u32,
        /// The name as sent.
        name: String,
    },
    /// A tool call's arguments grew. For display only; what counts stands in the finished reply.
    CallArguments {
        /// Position of the part in the reply.
        part: u32,
        /// What was added.
        delta: String,
    },
    /// The provider ended the reply. Always the last event.
    Finished(ModelReply),
}

/// A complete reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// The parts in the provider's order.
    pub parts: Vec<ReplyPart>,
    /// Why the model stopped.
    pub stop: Stop,
    /// What it cost in tokens.
    pub usage: Usage,
    /// The model that answered, in the provider's words.
    pub model: Option<String>,
    /// The provider's id of the reply.
    pub response_id: Option<String>,
}

/// Why a model stopped.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It was done.
    EndTurn,
    /// It wants tools to be called.
    ToolCalls,
    /// The output limit cut it off.
    MaxTokens,
    /// A stop sequence came.
    StopSequence,
    /// The provider or the model refused.
    Refused,
    /// It paused and wants to be asked again with the same window.
    Paused,
    /// Another reason, in the provider's word.
    Other(String),
}

/// Token counts of one model call or of many. `None` where the provider says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input: Option<u64>,
    /// Tokens written, reasoning included.
    pub output: Option<u64>,
    /// Of `input`, tokens read from the provider's cache.
    pub cached_input: Option<u64>,
    /// Of `input`, tokens written to the provider's cache.
    pub cache_write: Option<u64>,
    /// Of `output`, tokens of reasoning.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// The sum; a count stays unknown only where both are unknown.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        Self {
            input: add(self.input, other.input),
            output: add(self.output, other.output),
            cached_input: add(self.cached_input, other.cached_input),
            cache_write: add(self.cache_write, other.cache_write),
            reasoning: add(self.reasoning, other.reasoning),
        }
    }

    /// Input and output together, unknown counts as zero.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input.unwrap_or(0).saturating_add(self.output.unwrap_or(0))
    }
}

/// US dollars for one million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Tokens read.
    pub input_usd: f64,
    /// Tokens read from the cache; `input_usd` where not set.
    #[serde(default)]
    pub cached_input_usd: Option<f64>,
    /// Tokens written.
    pub output_usd: f64,
}

impl Prices {
    /// What a usage costs in US dollars, or `None` where the counts are unknown.
    #[must_use]
    pub fn cost_usd(&self, usage: &Usage) -> Option<f64> {
        let (input, output) = (usage.input?, usage.output?);
        let cached = usage.cached_input.unwrap_or(0).min(input);
        let per_token = |usd: f64, tokens: u64| usd * tokens as f64 / 1e6;
        Some(
            per_token(self.input_usd, input - cached)
                + per_token(self.cached_input_usd.unwrap_or(self.input_usd), cached)
                + per_token(self.output_usd, output),
        )
    }
}

/// Why a model call brought no reply. `Display` and `Debug` have passed the credential pass; the fields have not.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", Shown(message))]
pub struct ModelError {
    /// The sort of failure.
    pub class: ModelErrorClass,
    /// What happened.
    pub message: String,
    /// What to do about it, in our own words.
    pub hint: Option<String>,
}

/// The sorts of model failures. Stable names; they stand in records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorClass {
    /// No key, or the provider does not accept it.
    Auth,
    /// No such model or endpoint.
    NotFound,
    /// The provider does not accept the request.
    BadRequest,
    /// Too many requests or no credit left.
    RateLimited,
    /// The provider is overloaded or erred.
    ServerError,
    /// Nobody answers at the address.
    Unreachable,
    /// It took too long.
    TimedOut,
    /// The reply broke off.
    Truncated,
    /// The reply is not in the provider's format.
    Malformed,
    /// The reply is over the size limit.
    TooLarge,
    /// The task was cancelled.
    Cancelled,
    /// The model has no answer to this window (a rule file without a matching rule).
    NoAnswer,
}

impl ModelError {
    /// An error of a class with its words.
    #[must_use]
    pub fn new(class: ModelErrorClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), hint: None }
    }

    /// The same error with advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
