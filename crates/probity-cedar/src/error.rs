//! Why policies could not be loaded.

use std::fmt;

use cedar_policy::ParseErrors;
use miette::Diagnostic;

use crate::depth::TooDeep;

/// Why policies were refused: every problem that was found, with its place in the sources.
///
/// `Display` gives one line for each. It quotes policies and names of tools; it is redacted before it leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CedarError {
    // INVARIANT: not empty.
    problems: Vec<Problem>,
    hint: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Problem {
    /// Source, line and column, the latter two counted from 1; nowhere for what concerns no place.
    place: Option<String>,
    what: String,
}

/// The text that spans of an error lie in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Located<'a> {
    pub(crate) source: &'a str,
    pub(crate) text: &'a str,
}

impl CedarError {
    /// The next step.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        self.hint
    }

    /// The tools cannot stand together in a schema.
    pub(crate) fn tools(what: String) -> Self {
        Self::one(None, what, "give every tool of a task its own name")
    }

    /// The schema that was built from the tools is none.
    pub(crate) fn schema(error: impl std::error::Error) -> Self {
        let what = format!("build the schema of the tools: {}", chain(&error));
        Self::one(None, what, "look at the names of the tools' arguments")
    }

    pub(crate) fn limit(what: String) -> Self {
        Self::one(None, what, "split the policies over several policies of the task, or drop some")
    }

    /// Something in a source that no span tells.
    pub(crate) fn source(source: &str, what: String, hint: &'static str) -> Self {
        Self::one(Some(source.to_owned()), what, hint)
    }

    /// Something at one place of a source.
    pub(crate) fn at(at: Located<'_>, offset: usize, what: String, hint: &'static str) -> Self {
        Self::one(Some(at.place(Some(offset))), what, hint)
    }

    pub(crate) fn too_deep(at: Located<'_>, found: TooDeep) -> Self {
        Self::at(at, found.offset, found.what, "write several policies, or a set in place of a chain of `||`")
    }

    pub(crate) fn parse(at: Located<'_>, errors: &ParseErrors) -> Self {
        let problems = errors.iter().map(|error| problem(at, error)).collect();
        Self { problems, hint: "correct the policy's text" }
    }

    /// All findings of a validation, each once.
    pub(crate) fn validation<'e>(
        findings: impl IntoIterator<Item = (Located<'e>, &'e dyn Diagnostic)>,
    ) -> Option<Self> {
        let mut problems: Vec<Problem> = Vec::new();
        for (at, finding) in findings {
            let found = problem(at, finding);
            // A policy is checked once for each tool and kind of resource, and says the same each time.
            if !problems.contains(&found) {
                problems.push(found);
            }
        }
        let hint = "compare the policy with the schema of this task's tools; optional members need `has` before them";
        (!problems.is_empty()).then_some(Self { problems, hint })
    }

    fn one(place: Option<String>, what: String, hint: &'static str) -> Self {
        Self { problems: vec![Problem { place, what }], hint }
    }
}

impl Located<'_> {
    /// The source, and line and column of a byte in it.
    fn place(&self, offset: Option<usize>) -> String {
        let Some(before) = offset.and_then(|offset| self.text.get(..offset)) else {
            return self.source.to_owned();
        };
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
        format!("{}:{line}:{column}", self.source)
    }
}

fn problem(at: Located<'_>, error: &dyn Diagnostic) -> Problem {
    let offset = error.labels().and_then(|mut labels| labels.next()).map(|label| label.offset());
    let what = match error.help() {
        Some(help) => format!("{} ({help})", chain(&error)),
        None => chain(&error),
    };
    Problem { place: Some(at.place(offset)), what }
}

/// An error and what caused it, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !words.ends_with(&more) {
            words = format!("{words}: {more}");
        }
        cause = error.source();
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl fmt::Display for CedarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("load the Cedar policies")?;
        for (index, Problem { place, what }) in self.problems.iter().enumerate() {
            f.write_str(if index == 0 { ": " } else { "\n" })?;
            match place {
                Some(place) => write!(f, "{place}: {what}")?,
                None => f.write_str(what)?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for CedarError {}
