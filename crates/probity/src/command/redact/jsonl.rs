//! One input as lines of JSON.
//!
//! A line that is JSON leaves as its snapshot; of what is between such lines, all goes through one text pass, so that a
//! key block of many lines is one there, too.

use std::io::Read;

use probity_egress::{Report, Tier, egress_json};

use super::text::{CHUNK_BYTES, Place, Reading, Sink, Stop, Tally, TextPass};

/// A longer line is not read: a line is held in memory.
pub(super) const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Passes all of `input` to `sink`. A line goes out before more is read.
pub(super) fn pass<T: Tier>(
    input: &mut impl Read,
    reading: &Reading<'_>,
    sink: &mut impl Sink,
) -> Result<Tally, Stop> {
    let mut lines = Lines::<T>::new(reading.key);
    reading.all(input, |bytes| lines.push(bytes, sink))?;
    lines.finish(sink)
}

struct Lines<T: Tier> {
    key: [u8; 32],
    report: Report,
    tally: Tally,
    /// The beginning of the line whose end has not come.
    line: Vec<u8>,
    /// Its number, from 1.
    number: u64,
    /// Bytes of the input before it.
    before: usize,
    /// The text that is under way.
    text: Option<TextPass<T>>,
    /// What goes out with the next write.
    out: Vec<u8>,
}

impl<T: Tier> Lines<T> {
    fn new(key: [u8; 32]) -> Self {
        let report = Report::with_key(key);
        let (line, out) = (Vec::new(), Vec::new());
        Self { key, report, tally: Tally::default(), line, number: 1, before: 0, text: None, out }
    }

    fn push(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<(), Stop> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + part.len() > LINE_BYTES_MAX {
                self.flush(sink)?;
                return Err(Stop::LongLine(self.number));
            }
            if self.line.is_empty() && part.ends_with(b"\n") {
                self.take(part, sink)?;
                continue;
            }
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.take(&line, sink)?;
            }
        }
        self.flush(sink)
    }

    fn finish(mut self, sink: &mut impl Sink) -> Result<Tally, Stop> {
        let line = std::mem::take(&mut self.line);
        self.take(&line, sink)?;
        self.end_text(sink)?;
        self.flush(sink)?;
        Ok(self.tally)
    }

    /// A whole line, with its end.
    fn take(&mut self, line: &[u8], sink: &mut impl Sink) -> Result<(), Stop> {
        let is_blank = line.trim_ascii().is_empty();
        if is_blank && self.text.is_none() {
            self.out.extend_from_slice(line);
        } else if is_blank || !self.json(line, sink)? {
            if !is_blank {
                self.tally.text_lines += 1;
                self.tally.first_text_line.get_or_insert(self.number);
            }
            self.flush(sink)?;
            let (key, before) = (self.key, self.before);
            let text = self.text.get_or_insert_with(|| TextPass::new(key, before));
            text.push(line, &mut self.tally, sink)?;
        }
        self.number += 1;
        self.before += line.len();
        if self.out.len() >= CHUNK_BYTES { self.flush(sink) } else { Ok(()) }
    }

    /// False where the line is not JSON. A number or a word alone between lines of text is one of them.
    fn json(&mut self, line: &[u8], sink: &mut impl Sink) -> Result<bool, Stop> {
        let opens = matches!(line.trim_ascii_start().first(), Some(b'{' | b'['));
        if self.text.is_some() && !opens {
            return Ok(false);
        }
        let Ok(line) = str::from_utf8(line) else { return Ok(false) };
        let mut findings = Vec::new();
        let Some(passed) = egress_json::<T>(line, &mut self.report, &mut |found| findings.push(found)) else {
            return Ok(false);
        };
        self.end_text(sink)?;
        self.out.extend_from_slice(passed.as_str().as_bytes());
        for found in findings {
            let mut finding = found.finding;
            finding.input = self.before + finding.input.start..self.before + finding.input.end;
            let place = Place { line: self.number, path: found.path.as_str().to_owned() };
            self.tally.take(finding, Some(place), sink)?;
        }
        Ok(true)
    }

    fn end_text(&mut self, sink: &mut impl Sink) -> Result<(), Stop> {
        match self.text.take() {
            Some(text) => text.finish(&mut self.tally, sink),
            None => Ok(()),
        }
    }

    fn flush(&mut self, sink: &mut impl Sink) -> Result<(), Stop> {
        if self.out.is_empty() {
            return Ok(());
        }
        let written = sink.text(&self.out);
        self.out.clear();
        self.out.shrink_to(2 * CHUNK_BYTES);
        written
    }
}
