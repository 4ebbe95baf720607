use std::fmt;
use std::str::FromStr;

/// A format of traces that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Spans: OpenTelemetry GenAI, OpenInference, the Vercel AI SDK; as OTLP JSON or as lists of spans.
    Spans,
    /// A trace exported from Langfuse, with its observations.
    Langfuse,
    /// A session of Claude Code, one JSON object a line.
    ClaudeCode,
    /// A rollout of Codex, one JSON object a line.
    Codex,
    /// Messages of a chat or responses API.
    Messages,
    /// A trajectory of SWE-agent.
    SweAgent,
    /// Events of OpenHands.
    OpenHands,
    /// A log of Inspect, packed (`.eval`) or not (`.json`).
    Inspect,
    /// A trajectory in the Agent Trajectory Interchange Format.
    Atif,
    /// A log of several agents with the annotated mistake, as Who&When has them.
    WhoAndWhen,
    /// Recorded HTTP exchanges with a model's provider.
    Vcr,
    /// Runs of tau-bench.
    TauBench,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 12] = [
        Self::Spans,
        Self::Langfuse,
        Self::ClaudeCode,
        Self::Codex,
        Self::Messages,
        Self::SweAgent,
        Self::OpenHands,
        Self::Inspect,
        Self::Atif,
        Self::WhoAndWhen,
        Self::Vcr,
        Self::TauBench,
    ];

    /// The name, as it stands in records and on command lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spans => "spans",
            Self::Langfuse => "langfuse",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Messages => "messages",
            Self::SweAgent => "swe-agent",
            Self::OpenHands => "openhands",
            Self::Inspect => "inspect",
            Self::Atif => "atif",
            Self::WhoAndWhen => "who-and-when",
            Self::Vcr => "vcr",
            Self::TauBench => "tau-bench",
        }
    }

    pub(crate) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

/// A text that names no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("use `{0}` as a format: known are {names}", names = Format::names())]
pub struct FormatError(String);

impl FromStr for Format {
    type Err = FormatError;
    fn from_str(text: &str) -> Result<Self, FormatError> {
        // OpenTelemetry and OpenInference people look for their own name.
        let alias =
            matches!(text, "otel" | "otlp" | "openinference" | "opentelemetry").then_some(Self::Spans);
        let named = Self::ALL.into_iter().find(|format| format.name() == text);
        named.or(alias).ok_or_else(|| FormatError(text.chars().take(80).collect()))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
