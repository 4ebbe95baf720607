//! JSON Schema checks of arguments and answers, compiled once per run.

use std::fmt;

use jsonschema::Validator;
use probity_egress::{SamePrincipal, bounded_summary, egress_text};
use serde_json::Value;

/// Problems named in one report; the rest is counted.
const PROBLEMS_MAX: usize = 5;
/// Code points of one problem.
const PROBLEM_CHARS_MAX: usize = 300;

/// A compiled schema. It never fetches anything: a reference to another document is an error at compilation.
pub(crate) struct Schema {
    validator: Validator,
}

/// A schema that cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("compile the schema of {what}: {why}")]
pub struct SchemaError {
    what: String,
    why: String,
}

impl Schema {
    /// Compiles `schema`, the schema of `what`.
    ///
    /// # Errors
    /// When it is no valid JSON Schema or refers to another document.
    pub(crate) fn compile(what: &str, schema: &Value) -> Result<Self, SchemaError> {
        let validator = jsonschema::validator_for(schema)
            .map_err(|error| SchemaError { what: what.to_owned(), why: error.to_string() })?;
        Ok(Self { validator })
    }

    /// What is wrong with `value`, worst first; empty where nothing is. A problem may quote the value; it has passed the
    /// credential pass.
    pub(crate) fn problems(&self, value: &Value) -> Vec<String> {
        if self.validator.is_valid(value) {
            return Vec::new();
        }
        let mut errors = self.validator.iter_errors(value);
        let describe = |error: jsonschema::ValidationError<'_>| {
            let at = error.instance_path().to_string();
            let at = if at.is_empty() { "the value".to_owned() } else { format!("`{at}`") };
            // Passed before the cut: half a credential is none that the pass knows.
            let whole = egress_text::<SamePrincipal>(&format!("{at}: {error}"));
            bounded_summary(&whole, PROBLEM_CHARS_MAX).as_str().to_owned()
        };
        let mut problems: Vec<String> = errors.by_ref().take(PROBLEMS_MAX).map(describe).collect();
        let more = errors.count();
        if more > 0 {
            problems.push(format!("and {more} more"));
        }
        problems
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Schema")
    }
}
