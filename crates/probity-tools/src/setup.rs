//! Why a tool could not be set up.

use std::io;

use probity_contract::NameError;

/// A tool that cannot be offered as it was configured.
#[derive(Debug, thiserror::Error)]
#[error("set up the tool `{tool}`: {kind}")]
pub struct ToolSetupError {
    tool: String,
    kind: Kind,
}

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error("{0}")]
    Config(String),
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
    #[error(transparent)]
    Name(#[from] NameError),
}

impl ToolSetupError {
    pub(crate) fn config(tool: &str, message: impl Into<String>) -> Self {
        Self { tool: tool.to_owned(), kind: Kind::Config(message.into()) }
    }

    pub(crate) fn io(tool: &str, what: impl Into<String>, source: io::Error) -> Self {
        Self { tool: tool.to_owned(), kind: Kind::Io { what: what.into(), source } }
    }

    pub(crate) fn name(tool: &str, source: NameError) -> Self {
        Self { tool: tool.to_owned(), kind: Kind::Name(source) }
    }
}
