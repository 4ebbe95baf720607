//! One input through the text pass.

use std::collections::BTreeMap;
use std::io::{self, Read};

use probity_contract::Cancel;
use probity_egress::{Confidence, Egress, Finding, Redactor, Report, Source, Tier};
use serde::Serialize;

use super::bytes::{Decoder, restore};

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
    Cancelled,
    /// The sink has what it wanted to know.
    Enough,
}

/// How many of which kind were removed.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) total: u64,
    pub(super) by_kind: BTreeMap<&'static str, u64>,
}

/// Passes all of `input` to `sink`. What is decided goes out before more is read.
pub(super) fn pass<T: Tier>(
    input: &mut impl Read,
    key: [u8; 32],
    cancel: &Cancel,
    sink: &mut impl Sink,
) -> Result<Tally, Stop> {
    let mut pass = TextPass::<T>::new(key);
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        if cancel.is_fired() {
            return Err(Stop::Cancelled);
        }
        let count = match input.read(&mut buffer) {
            Ok(0) => return pass.finish(sink),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Stop::Read(error)),
        };
        for piece in buffer.get(..count).unwrap_or_default().chunks(PIECE_BYTES) {
            pass.push(piece, sink)?;
        }
    }
}

struct TextPass<T: Tier> {
    decoder: Decoder,
    redactor: Redactor<T>,
    tally: Tally,
    // How far the pass has decided, in bytes of the decoded text.
    decided: usize,
}

impl<T: Tier> TextPass<T> {
    fn new(key: [u8; 32]) -> Self {
        let redactor = Redactor::with_report(Report::with_key(key));
        Self { decoder: Decoder::default(), redactor, tally: Tally::default(), decided: 0 }
    }

    fn push(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<(), Stop> {
        let text = self.decoder.push(bytes);
        let out = self.redactor.push(&text);
        let findings = self.redactor.take_findings();
        let decided = self.decoder.text_len().saturating_sub(self.redactor.held_back_bytes());
        write(&self.decoder, &out, sink)?;
        self.tally.take(&self.decoder, &findings, sink)?;
        // Without output, all that was decided lies inside one finding. With output, a finding that still grows began
        // after the last decision.
        let (from, to) = if out.is_empty() { (self.decided + 1, decided) } else { (0, self.decided) };
        self.decoder.forget(from, to);
        self.decided = decided;
        Ok(())
    }

    fn finish(mut self, sink: &mut impl Sink) -> Result<Tally, Stop> {
        let rest = self.decoder.finish();
        let out = self.redactor.push(&rest);
        let (last, report) = self.redactor.finish_reporting();
        write(&self.decoder, &out, sink)?;
        write(&self.decoder, &last, sink)?;
        self.tally.take(&self.decoder, report.findings(), sink)?;
        self.tally.total = report.total();
        Ok(self.tally)
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

impl Tally {
    fn take(&mut self, decoder: &Decoder, findings: &[Finding], sink: &mut impl Sink) -> Result<(), Stop> {
        for finding in findings {
            *self.by_kind.entry(finding.kind).or_default() += 1;
            self.total += 1;
            let (start, end) = (decoder.input_of(finding.input.start), decoder.input_of(finding.input.end));
            let Finding { rule, kind, source, confidence, fingerprint, .. } = finding.clone();
            let length = end.saturating_sub(start);
            sink.entry(&Entry { rule, kind, source, confidence, start, end, length, fingerprint })?;
        }
        Ok(())
    }
}
