use probity_contract::{Ending, RunId};
use probity_trace::{Record, RecordError, RunSummary, TornTail};
use serde::{Deserialize, Serialize};

/// One run in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunRow {
    /// The run.
    pub run: RunId,
    /// Where it stands.
    pub state: RunState,
    /// What its record tells, as far as it can be read. Its `answer` is always none here: answers can be large.
    pub summary: Option<RunSummary>,
    /// Size of the record.
    pub bytes: u64,
    /// Whether the last write of the record broke off. Of a run that goes on this says nothing.
    pub is_torn: bool,
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum RunState {
    /// A process is writing the record.
    Running,
    /// It ended; `None` in a way that is new to this program.
    Ended {
        /// How.
        ending: Option<Ending>,
    },
    /// It did not end, no process is writing the record any more, and there is a checkpoint to go on from: it waits for a
    /// person, or broke off.
    AtRest,
    /// It did not end, no process is writing the record any more, and nobody can go on with it.
    BrokenOff,
    /// The record cannot be read to its end.
    Unreadable {
        /// Why.
        why: String,
    },
}

/// Which runs a list shows: the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListFilter {
    /// At most so many.
    pub limit: u32,
    /// Only runs older than this one.
    pub before: Option<RunId>,
}

impl Default for ListFilter {
    fn default() -> Self {
        Self { limit: 20, before: None }
    }
}

/// A list of runs, and what was odd about the store while it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// The runs, the newest first.
    pub rows: Vec<RunRow>,
    /// Sentences for people.
    pub notices: Vec<String>,
}

/// What the index keeps of a record beside its stamp.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Digested {
    pub(crate) summary: Option<RunSummary>,
    pub(crate) damage: Option<String>,
    pub(crate) is_torn: bool,
}

impl Digested {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        match Record::read(bytes) {
            Ok(read) => {
                Self { summary: summary_of(&read.record), damage: None, is_torn: read.notice.is_some() }
            }
            Err(RecordError { cause, before }) => {
                Self { summary: summary_of(&before), damage: Some(cause.to_string()), is_torn: false }
            }
        }
    }

    pub(crate) fn of_summary(summary: &RunSummary) -> Self {
        Self { summary: Some(RunSummary { answer: None, ..summary.clone() }), damage: None, is_torn: false }
    }

    pub(crate) const fn unreadable(why: String) -> Self {
        Self { summary: None, damage: Some(why), is_torn: false }
    }

    /// Whether the record can only change by being replaced.
    pub(crate) fn is_settled(&self) -> bool {
        self.damage.is_none() && !self.is_torn && self.summary.as_ref().is_some_and(|summary| summary.ended)
    }

    pub(crate) fn row(self, run: RunId, bytes: u64, is_running: bool, has_checkpoint: bool) -> RunRow {
        let ending =
            self.summary.as_ref().filter(|summary| summary.ended).map(|summary| summary.ending.clone());
        let state = match (is_running, self.damage, ending) {
            (true, ..) => RunState::Running,
            (false, Some(why), _) => RunState::Unreadable { why },
            (false, None, Some(ending)) => RunState::Ended { ending },
            (false, None, None) if has_checkpoint => RunState::AtRest,
            (false, None, None) => RunState::BrokenOff,
        };
        RunRow { run, state, summary: self.summary, bytes, is_torn: self.is_torn && !is_running }
    }
}

fn summary_of(record: &Record) -> Option<RunSummary> {
    record.summary().map(|summary| RunSummary { answer: None, ..summary })
}

/// A record that was read, and whether its run goes on.
#[derive(Debug, Clone)]
pub struct StoredRecord {
    /// The record.
    pub record: Record,
    /// What is left out at the end because the last write broke off. Of a run that goes on always none: there the last
    /// write may simply be under way.
    pub notice: Option<TornTail>,
    /// Whether a process is writing it.
    pub is_running: bool,
}
