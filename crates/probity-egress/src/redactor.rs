use std::marker::PhantomData;

use crate::egress::Egress;
use crate::engine::Engine;
use crate::report::{Finding, Report};
use crate::tier::Tier;

/// Tier `T`'s pass over a stream.
///
/// For every way to cut a text into chunks, what [`push`](Self::push) and [`finish`](Self::finish) return, concatenated,
/// is byte for byte what [`egress_text`](crate::egress_text) returns for the whole text. At most
/// [`STREAM_HOLDBACK_BYTES_MAX`](crate::STREAM_HOLDBACK_BYTES_MAX) bytes of input are held back, however long a secret is.
/// A candidate that is open when the stream ends is redacted.
///
/// A redactor that is dropped before `finish` withholds what it held back.
#[derive(Debug)]
#[must_use]
pub struct Redactor<T: Tier> {
    engine: Engine,
    report: Report,
    tier: PhantomData<T>,
}

impl<T: Tier> Redactor<T> {
    /// A pass at the start of a stream. It consults the secrets that are registered now.
    pub fn new() -> Self {
        Self { engine: Engine::new(T::REMOVES_LOCATIONS), report: Report::new(), tier: PhantomData }
    }

    /// A pass at the start of a stream that fills `report`, for fingerprints: [`Report::with_key`].
    pub fn with_report(report: Report) -> Self {
        Self { report, ..Self::new() }
    }

    /// Takes the findings that are complete so far; for a stream with more of them than a report keeps.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        self.report.take_findings()
    }

    /// Feeds a chunk and returns what is decided so far, possibly nothing.
    pub fn push(&mut self, chunk: &str) -> Egress<T> {
        let mut out = String::new();
        self.engine.push(chunk, &mut out, &mut self.report);
        Egress::passed(out)
    }

    /// How many bytes of input wait for a decision.
    pub fn held_back_bytes(&self) -> usize {
        self.engine.held_back_bytes()
    }

    /// Ends the stream and returns the rest.
    pub fn finish(self) -> Egress<T> {
        self.finish_reporting().0
    }

    /// Ends the stream and returns the rest with the report on all of it; spans count from the start of the stream.
    pub fn finish_reporting(mut self) -> (Egress<T>, Report) {
        let mut out = String::new();
        self.engine.finish(&mut out, &mut self.report);
        (Egress::passed(out), self.report)
    }
}

impl<T: Tier> Default for Redactor<T> {
    fn default() -> Self {
        Self::new()
    }
}
