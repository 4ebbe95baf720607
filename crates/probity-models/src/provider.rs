//! Providers by name, and models as people write them.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::codec::Dialect;

/// A provider, or a kind of endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// OpenAI over its Responses API; with a base URL of one's own over Chat Completions, which is what servers that
    /// call themselves OpenAI-compatible serve.
    OpenAi,
    /// OpenAI over its Chat Completions API.
    OpenAiChat,
    /// Anthropic over its Messages API.
    Anthropic,
    /// Gemini over `generateContent`.
    Gemini,
    /// Ollama over its OpenAI-compatible API.
    Ollama,
    /// Any endpoint that serves Chat Completions, by base URL.
    Compatible,
}

/// Which model a run shall use: `PROVIDER/NAME`, or `rules/FILE` for answers from a rule file.
///
/// A provider's model may itself have a slash in its name: only the first one separates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelRef {
    /// A model over HTTP.
    Http {
        /// Who serves it.
        provider: Provider,
        /// Its name there.
        model: String,
    },
    /// A rule file.
    Rules(PathBuf),
}

/// Why a text names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelRefError {
    /// There is no such provider.
    #[error("find the provider `{0}`: the providers are {names}", names = Provider::NAMES.join(", "))]
    UnknownProvider(String),
    /// The part before the slash or the part after it is missing.
    #[error("read `{0}` as PROVIDER/NAME")]
    NotAPair(String),
}

impl Provider {
    /// The names that [`FromStr`] reads.
    pub const NAMES: [&'static str; 6] =
        ["openai", "openai-chat", "anthropic", "gemini", "ollama", "compatible"];

    /// The provider's name, as people write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiChat => "openai-chat",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::Compatible => "compatible",
        }
    }

    /// The environment variables that may hold its key, the first one first.
    #[must_use]
    pub const fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi | Self::OpenAiChat => &["OPENAI_API_KEY"],
            // Not OpenAI's: a key is never sent to another company because it happens to be set.
            Self::Compatible => &["COMPATIBLE_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Ollama => &["OLLAMA_API_KEY"],
        }
    }

    /// Whether the provider's own endpoint refuses calls without a key.
    #[must_use]
    pub const fn needs_key(self) -> bool {
        match self {
            Self::OpenAi | Self::OpenAiChat | Self::Anthropic | Self::Gemini => true,
            Self::Ollama | Self::Compatible => false,
        }
    }

    /// Where its API is served, if the caller names no base URL.
    #[must_use]
    pub const fn base_url(self) -> Option<&'static str> {
        match self {
            Self::OpenAi | Self::OpenAiChat => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com/v1"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com/v1beta"),
            Self::Ollama => Some("http://127.0.0.1:11434/v1"),
            Self::Compatible => None,
        }
    }

    /// The path that a base URL without one gets.
    pub(crate) const fn version_path(self) -> &'static str {
        match self {
            Self::Gemini => "/v1beta",
            Self::OpenAi | Self::OpenAiChat | Self::Anthropic | Self::Ollama | Self::Compatible => "/v1",
        }
    }

    /// The format at the provider's own endpoint.
    pub(crate) const fn dialect(self) -> Dialect {
        match self {
            Self::OpenAi => Dialect::Responses,
            Self::OpenAiChat | Self::Ollama | Self::Compatible => Dialect::Chat,
            Self::Anthropic => Dialect::Anthropic,
            Self::Gemini => Dialect::Gemini,
        }
    }
}

impl FromStr for Provider {
    type Err = ModelRefError;

    fn from_str(name: &str) -> Result<Self, ModelRefError> {
        match name {
            "openai" => Ok(Self::OpenAi),
            "openai-chat" => Ok(Self::OpenAiChat),
            "anthropic" => Ok(Self::Anthropic),
            "gemini" => Ok(Self::Gemini),
            "ollama" => Ok(Self::Ollama),
            "compatible" => Ok(Self::Compatible),
            other => Err(ModelRefError::UnknownProvider(printable(other))),
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ModelRef {
    type Err = ModelRefError;

    fn from_str(text: &str) -> Result<Self, ModelRefError> {
        match text.split_once('/') {
            Some(("rules", file)) if !file.is_empty() => Ok(Self::Rules(PathBuf::from(file))),
            Some((provider, model)) if !provider.is_empty() && !model.trim().is_empty() => {
                Ok(Self::Http { provider: provider.parse()?, model: model.to_owned() })
            }
            _ => Err(ModelRefError::NotAPair(printable(text))),
        }
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http { provider, model } => write!(f, "{provider}/{model}"),
            Self::Rules(file) => write!(f, "rules/{}", file.display()),
        }
    }
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(64).collect()
}

#[cfg(test)]
#[path = "provider_tests.rs"]
mod tests;
