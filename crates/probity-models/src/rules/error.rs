//! Why a rule file cannot be used.

use std::fmt;

/// Why a rule file cannot be used.
///
/// `Display` names the file and, where they are known, the line and the rule. It may quote the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct RulesError {
    file: String,
    line: Option<usize>,
    rule: Option<String>,
    words: String,
}

impl RulesError {
    pub(super) fn new(file: &str, words: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, rule: None, words: words.into() }
    }

    pub(super) fn at(self, line: usize, rule: Option<String>) -> Self {
        Self { line: Some(line), rule, ..self }
    }

    /// The line, counted from 1.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// The name of the rule.
    #[must_use]
    pub fn rule(&self) -> Option<&str> {
        self.rule.as_deref()
    }
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "load rules from `{}`: ", self.file)?;
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if let Some(rule) = &self.rule {
            write!(f, "rule `{rule}`: ")?;
        }
        f.write_str(&self.words)
    }
}
