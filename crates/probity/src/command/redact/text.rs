//! One input through the text pass.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Read};

use probity_contract::Cancel;
use probity_egress::{Confidence, Egress, Finding, Redactor, Report, Source, Tier};
use serde::Serialize;

use super::bytes::{Decoder, restore};
use super::progress::Progress;

/// How much is read at a time.
pub(super) const CHUNK_BYTES: usize = 64 * 1024;
/// How much is fed at a time: so little that a report takes all the findings that can be in it.
const PIECE_BYTES: usize = 16 * 1024;

/// One removal as a report tells it: never the text.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    rule: &'static str,
    kind: &'static str,
    source: Source,
    confidence: Confidence,
    start: usize,
    end: usize,
    length: usize,
    fingerprint: Option<String>,
    /// Where in a JSON line it stood; the path is of passed names.
    #[serde(flatten)]
    place: Option<Place>,
}

/// A place in lines of JSON.
#[derive(Debug, Serialize)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) path: String,
}

/// Where text and findings go.
pub(super) trait Sink {
    /// Takes bytes of the output, at once.
    fn text(&mut self, bytes: &[u8]) -> Result<(), Stop>;
    /// Takes what was removed.
    fn entry(&mut self, entry: &Entry) -> Result<(), Stop>;
}

/// Why an input was not read to its end.
#[derive(Debug)]
pub(super) enum Stop {
    Read(io::Error),
    Write(io::Error),
    Report(io::Error),
    /// The line of this number is longer than is taken.
    LongLine(u64),
    Cancelled,
    /// The sink has what it wanted to know.
    Enough,
}

/// How many of which kind were removed.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) total: u64,
    pub(super) by_kind: BTreeMap<&'static str, u64>,
    /// The first line that should have been JSON and was not.
    pub(super) first_text_line: Option<u64>,
    /// How many such lines there were.
    pub(super) text_lines: u64,
}

impl Tally {
    /// Counts a finding and tells it.
    pub(super) fn take(
        &mut self,
        finding: Finding,
        place: Option<Place>,
        sink: &mut impl Sink,
    ) -> Result<(), Stop> {
        *self.by_kind.entry(finding.kind).or_default() += 1;
        self.total += 1;
        let Finding { rule, kind, source, confidence, fingerprint, input, .. } = finding;
        let (start, end, length) = (input.start, input.end, input.len());
        sink.entry(&Entry { rule, kind, source, confidence, start, end, length, fingerprint, place })
    }
}

/// One reading of one input.
pub(super) struct Reading<'a> {
    pub(super) key: [u8; 32],
    pub(super) cancel: &'a Cancel,
    pub(super) progress: &'a Progress,
    bytes: Cell<u64>,
}

impl<'a> Reading<'a> {
    pub(super) const fn new(key: [u8; 32], cancel: &'a Cancel, progress: &'a Progress) -> Self {
        Self { key, cancel, progress, bytes: Cell::new(0) }
    }

    /// Feeds all of `input`, chunk by chunk.
    pub(super) fn all(
        &self,
        input: &mut impl Read,
        mut feed: impl FnMut(&[u8]) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            if self.cancel.is_fired() {
                return Err(Stop::Cancelled);
            }
            let count = match input.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Stop::Read(error)),
            };
            feed(buffer.get(..count).unwrap_or_default())?;
            let count = u64::try_from(count).unwrap_or_default();
            self.bytes.set(self.bytes.get() + count);
            self.progress.advance(count);
        }
    }

    /// The same input will be read once more.
    pub(super) fn again(&self) {
        self.progress.back(self.bytes.take());
    }
}

/// Passes all of `input` to `sink`. What is decided goes out before more is read.
pub(super) fn pass<T: Tier>(
    input: &mut impl Read,
    reading: &Reading<'_>,
    sink: &mut impl Sink,
) -> Result<Tally, Stop> {
    let (mut pass, mut tally) = (TextPass::<T>::new(reading.key, 0), Tally::default());
    reading.all(input, |bytes| pass.push(bytes, &mut tally, sink))?;
    pass.finish(&mut tally, sink)?;
    Ok(tally)
}

/// The pass over bytes that belong together.
pub(super) struct TextPass<T: Tier> {
    decoder: Decoder,
    redactor: Redactor<T>,
    // How far the pass has decided, in bytes of the decoded text.
    decided: usize,
    // Bytes of the input that came before.
    before: usize,
}

impl<T: Tier> TextPass<T> {
    pub(super) fn new(key: [u8; 32], before: usize) -> Self {
        let redactor = Redactor::with_report(Report::with_key(key));
        Self { decoder: Decoder::default(), redactor, decided: 0, before }
    }

    pub(super) fn push(&mut self, bytes: &[u8], tally: &mut Tally, sink: &mut impl Sink) -> Result<(), Stop> {
        bytes.chunks(PIECE_BYTES).try_for_each(|piece| self.piece(piece, tally, sink))
    }

    fn piece(&mut self, bytes: &[u8], tally: &mut Tally, sink: &mut impl Sink) -> Result<(), Stop> {
        let text = self.decoder.push(bytes);
        let out = self.redactor.push(&text);
        let findings = self.redactor.take_findings();
        let decided = self.decoder.text_len().saturating_sub(self.redactor.held_back_bytes());
        write(&self.decoder, &out, sink)?;
        self.tell(findings, tally, sink)?;
        // Without output, all that was decided lies inside one finding. With output, a finding that still grows began
        // after the last decision.
        let (from, to) = if out.is_empty() { (self.decided + 1, decided) } else { (0, self.decided) };
        self.decoder.forget(from, to);
        self.decided = decided;
        Ok(())
    }

    pub(super) fn finish(mut self, tally: &mut Tally, sink: &mut impl Sink) -> Result<(), Stop> {
        let rest = self.decoder.finish();
        let out = self.redactor.push(&rest);
        let (last, mut report) = std::mem::take(&mut self.redactor).finish_reporting();
        write(&self.decoder, &out, sink)?;
        write(&self.decoder, &last, sink)?;
        self.tell(report.take_findings(), tally, sink)
    }

    fn tell(&self, findings: Vec<Finding>, tally: &mut Tally, sink: &mut impl Sink) -> Result<(), Stop> {
        findings.into_iter().try_for_each(|finding| {
            let place = |at| self.before + self.decoder.input_of(at);
            let input = place(finding.input.start)..place(finding.input.end);
            tally.take(Finding { input, ..finding }, None, sink)
        })
    }
}

fn write<T: Tier>(decoder: &Decoder, passed: &Egress<T>, sink: &mut impl Sink) -> Result<(), Stop> {
    let text = passed.as_str();
    if text.is_empty() {
        return Ok(());
    }
    if !decoder.has_stand_ins {
        return sink.text(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    restore(text, &mut bytes);
    sink.text(&bytes)
}
