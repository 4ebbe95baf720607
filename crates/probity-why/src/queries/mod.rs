//! Bounded questions about the record of a run, for a model that looks for what went wrong. No model is called, and
//! nothing is changed.
//!
//! Every answer is one JSON object of at most [`TRACE_ANSWER_BYTES_MAX`] bytes. It gives ids that the other questions take,
//! says of what it tells whether it is `exact` or `inferred`, what it left out, and with which `offset` that is told.
//! Texts of the run stand in members named `untrusted`, and are looked into only after the credential pass: to find bytes in a
//! text that is not shown would tell, question by question, what they are.

mod answer;
mod call;
mod find;
mod name;
mod node;
mod texts;
mod told;
mod value;

use std::sync::OnceLock;

use probity_contract::{Fact, Readers, RunId};
use probity_trace::{Graph, Noted, Record};
use serde::Deserialize;

use answer::Page;
pub use answer::{TRACE_ANSWER_BYTES_MAX, TRACE_ROWS_MAX, TraceAnswer};
pub use texts::TRACE_TEXT_BYTES_MAX;
use texts::Texts;

/// Records that can be asked: that of the run in question, and those of tasks that it started or that started it.
#[derive(Debug)]
pub struct TraceSource {
    records: Vec<Record>,
    // INVARIANT: made of all items of the records.
    readers: Readers,
    texts: OnceLock<Texts>,
}

/// A question. `offset` counts from 0 what is passed over; `limit` is how much is told, 20 where it is not said and at
/// most [`TRACE_ROWS_MAX`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "query", rename_all = "snake_case", deny_unknown_fields)]
pub enum TraceQuery {
    /// What the run was, and its model calls, tool calls and limits in order.
    TraceOverview {
        /// Which of the runs, as `r1`; the one in question where it is not said.
        run: Option<String>,
        /// Rows passed over.
        offset: Option<u32>,
        /// Rows told.
        limit: Option<u32>,
    },
    /// Lines of items in which something stands.
    TraceFind {
        /// Words, as they stand there.
        text: Option<String>,
        /// A regular expression, in place of words.
        regex: Option<String>,
        /// Whether upper and lower case are one.
        #[serde(default)]
        ignore_case: bool,
        /// Rows passed over.
        offset: Option<u32>,
        /// Rows told.
        limit: Option<u32>,
    },
    /// One thing: what it says, and what it hangs on directly.
    TraceNode {
        /// Its id.
        id: String,
        /// Bytes of its text that are passed over.
        offset: Option<u32>,
    },
    /// What something hung on, or what hung on it.
    TraceSlice {
        /// Its id: an item, a call, `answer`.
        id: String,
        /// The other way: what hung on it.
        #[serde(default)]
        forward: bool,
        /// Whether decisions are followed too.
        #[serde(default)]
        control: bool,
        /// Only things of this kind.
        kind: Option<String>,
        /// Rows passed over.
        offset: Option<u32>,
        /// Rows told.
        limit: Option<u32>,
    },
    /// Where a value stands, what it was computed from, or that it has no source.
    TraceValue {
        /// The value, with its unit where it has one.
        value: String,
        /// Only in what had reached this.
        reached: Option<String>,
        /// Rows passed over.
        offset: Option<u32>,
        /// Rows told.
        limit: Option<u32>,
    },
    /// A tool call from its proposal to its result.
    TraceCall {
        /// Its id.
        id: String,
        /// Rows passed over.
        offset: Option<u32>,
        /// Rows told.
        limit: Option<u32>,
    },
    /// What one model call was sent.
    TraceWindow {
        /// Its id.
        id: String,
        /// Rows passed over.
        offset: Option<u32>,
        /// Rows told.
        limit: Option<u32>,
    },
    /// Who worded something, and who let it in.
    TraceWhoWrote {
        /// Its id.
        id: String,
        /// Rows passed over.
        offset: Option<u32>,
        /// Rows told.
        limit: Option<u32>,
    },
    /// Failures, denials, errors and limits of all runs.
    TraceErrors {
        /// Rows passed over.
        offset: Option<u32>,
        /// Rows told.
        limit: Option<u32>,
    },
}

/// Why a question has no answer. The words hold nothing of the record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// There is no such id.
    #[error("find what the id names: the record has none such")]
    NoSuchId,
    /// The id is of another sort.
    #[error("take the id: this asks for that of a {0}")]
    WrongSort(&'static str),
    /// Neither words nor an expression, or both.
    #[error("look for it: either `text` or `regex` is needed, and not empty")]
    NothingToFind,
    /// The expression cannot be read, or is too large.
    #[error("read the regular expression: it is malformed or too large")]
    Regex,
    /// The value is too long or empty.
    #[error("look for the value: it must have 1 to {VALUE_BYTES_MAX} bytes")]
    Value,
}

/// Bytes of a value that is looked for.
const VALUE_BYTES_MAX: usize = 1024;

impl TraceError {
    /// The next step to take.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoSuchId | Self::WrongSort(_) => {
                "ids are i5 (item), m2 (model call), c3 (tool call), e17 (entry), n9 (other), answer, end; of another run r1/i5; \
                 trace_overview and trace_find give them"
            }
            Self::NothingToFind => {
                "give words as they stand in the text, or an expression of Rust's regex crate"
            }
            Self::Regex => "no look-around and no back-references; escape . ( ) [ ] with a backslash",
            Self::Value => "give one number, date, id or name",
        }
    }
}

impl TraceSource {
    /// What can be asked of these records. The first is that of the run in question.
    #[must_use]
    pub fn new(records: Vec<Record>) -> Self {
        let labels = records.iter().flat_map(Record::items).map(|item| &item.label.readers);
        let readers = labels.fold(Readers::Everyone, |all, readers| all.join(readers));
        Self { records, readers, texts: OnceLock::new() }
    }

    /// The run in question; `None` where its record is empty.
    #[must_use]
    pub fn run(&self) -> Option<&RunId> {
        self.records.first()?.start().map(|start| &start.run)
    }

    /// Who may read every item of the records, and so what is told of them.
    #[must_use]
    pub const fn readers(&self) -> &Readers {
        &self.readers
    }

    /// Answers one question. Takes time with the size of the records (and its logarithm, where a value is looked for), whatever
    /// they hold.
    ///
    /// # Errors
    /// When the question names nothing that there is, or cannot be read.
    pub fn ask(&self, query: &TraceQuery) -> Result<TraceAnswer, TraceError> {
        let records: Vec<&Record> = self.records.iter().collect();
        let asked = Asked { source: self, graph: Graph::of(&records) };
        let page = |offset: &Option<u32>, limit: &Option<u32>| Page::of(*offset, *limit);
        match query {
            TraceQuery::TraceOverview { run, offset, limit } => {
                asked.overview(run.as_deref(), page(offset, limit))
            }
            TraceQuery::TraceFind { text, regex, ignore_case, offset, limit } => {
                let regex = find::regex(text.as_deref(), regex.as_deref(), *ignore_case)?;
                Ok(asked.find(&regex, page(offset, limit)))
            }
            TraceQuery::TraceNode { id, offset } => asked.node(id, offset.unwrap_or(0)),
            TraceQuery::TraceSlice { id, forward, control, kind, offset, limit } => {
                asked.slice(id, *forward, *control, kind.as_deref(), page(offset, limit))
            }
            TraceQuery::TraceValue { value, reached, offset, limit } => {
                asked.value(value, reached.as_deref(), page(offset, limit))
            }
            TraceQuery::TraceCall { id, offset, limit } => asked.call(id, page(offset, limit)),
            TraceQuery::TraceWindow { id, offset, limit } => asked.window(id, page(offset, limit)),
            TraceQuery::TraceWhoWrote { id, offset, limit } => asked.who_wrote(id, page(offset, limit)),
            TraceQuery::TraceErrors { offset, limit } => Ok(asked.errors(page(offset, limit))),
        }
    }
}

/// A question that is being answered.
struct Asked<'a> {
    source: &'a TraceSource,
    graph: Graph<'a>,
}

impl Asked<'_> {
    fn texts(&self) -> &Texts {
        self.source.texts.get_or_init(|| Texts::of(&self.source.records))
    }
}

/// How the edges of a record are known.
fn known(record: &Record) -> &'static str {
    let first = record.lines().first().map(|line| &line.fact);
    match first {
        Some(Noted::Known(Fact::RunStarted(start))) if start.imported.is_some() => "inferred",
        _ => "exact",
    }
}
