//! Models over HTTP and from rule files, behind one port.
//!
//! [`HttpModel`] calls OpenAI, Anthropic, Gemini, Ollama and compatible endpoints. [`RulesModel`] answers from a file,
//! without a network. The decisions, and what lost, stand in `docs/design/models.md`.

mod call;
mod codec;
mod endpoint;
mod failure;
mod http_model;
mod key;
pub mod limits;
mod parts;
mod provider;
mod reader;
mod refused;
mod retry;
mod rules;
mod sse;
mod window;

pub use failure::refusal;
pub use http_model::{HttpModel, HttpModelConfig, ModelSetupError, Timeouts};
pub use key::{ApiKey, ApiKeyError};
pub use provider::{ModelRef, ModelRefError, Provider};
pub use reader::ReplyReader;
pub use rules::{Decided, RulesError, RulesModel};
