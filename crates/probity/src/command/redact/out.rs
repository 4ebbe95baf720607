//! Where the text and the report go: each input's in its turn, however many are worked on at once.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tempfile::SpooledTempFile;

use super::inputs::{self, FileId};
use super::text::{Entry, Sink, Stop};
use super::{Passed, label, trouble};
use crate::exit::{Code, Fatal};
use crate::render::screen;

/// What an input that waits for its turn keeps in memory; more goes to a file without a name.
const SPOOL_BYTES: usize = 1024 * 1024;

/// Whose turn it is to write.
#[derive(Default)]
pub(super) struct Turns {
    turn: Mutex<Turn>,
    moved: Condvar,
    /// Locked by whose turn it is, and by nobody else.
    outputs: Mutex<Outputs>,
    /// Which file the text goes to, if it is one.
    text_id: Option<FileId>,
}

#[derive(Default)]
struct Turn {
    at: usize,
    over: bool,
}

/// What all inputs share.
#[derive(Default)]
pub(super) struct Outputs {
    pub(super) text: Option<File>,
    pub(super) report: Option<ReportFile>,
}

impl Turns {
    pub(super) fn new(outputs: Outputs) -> Self {
        let text_id = outputs.text.as_ref().and_then(inputs::file_id);
        Self { outputs: Mutex::new(outputs), text_id, ..Self::default() }
    }

    /// Waits for a turn, false where there will be none.
    pub(super) fn wait(&self, index: usize) -> bool {
        let turn = lock(&self.turn);
        let turn = self.moved.wait_while(turn, |turn| !turn.over && turn.at != index);
        !turn.unwrap_or_else(PoisonError::into_inner).over
    }

    /// Gives the turn to the next.
    pub(super) fn pass_on(&self) {
        lock(&self.turn).at += 1;
        self.moved.notify_all();
    }

    /// There are no more turns.
    pub(super) fn end(&self) {
        lock(&self.turn).over = true;
        self.moved.notify_all();
    }

    /// An input must not be the output: it would never end.
    pub(super) fn refuse_loop(&self, input: &File, name: &Passed) -> Result<(), Fatal> {
        self.text_id.map_or(Ok(()), |output| inputs::refuse_loop(input, output, name))
    }

    fn is_at(&self, index: usize) -> bool {
        lock(&self.turn).at == index
    }
}

/// Nothing that is guarded here is half changed where a thread ends early.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The outputs as one input sees them.
pub(super) struct Out<'a> {
    turns: &'a Turns,
    index: usize,
    name: &'a Passed,
    text: SpooledTempFile,
    report: SpooledTempFile,
    waits: bool,
}

impl<'a> Out<'a> {
    pub(super) fn new(turns: &'a Turns, index: usize, name: &'a Passed) -> Self {
        let spool = || SpooledTempFile::new(SPOOL_BYTES);
        Self { turns, index, name, text: spool(), report: spool(), waits: false }
    }

    /// Writes what waited for its turn, which must have come.
    pub(super) fn settle(&mut self) -> Result<(), Stop> {
        if !std::mem::take(&mut self.waits) {
            return Ok(());
        }
        let mut outputs = lock(&self.turns.outputs);
        if let Some(report) = &mut outputs.report {
            self.report.rewind().and_then(|()| report.copy(&mut self.report)).map_err(Stop::Report)?;
        }
        if let Some(text) = &mut outputs.text {
            let copied = self.text.rewind().and_then(|()| io::copy(&mut self.text, text));
            copied.map_err(Stop::Write)?;
        }
        Ok(())
    }
}

impl Sink for Out<'_> {
    fn text(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        if !self.turns.is_at(self.index) {
            self.waits = true;
            return self.text.write_all(bytes).map_err(Stop::Write);
        }
        self.settle()?;
        let mut outputs = lock(&self.turns.outputs);
        outputs.text.as_mut().map_or(Ok(()), |file| file.write_all(bytes)).map_err(Stop::Write)
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), Stop> {
        let mut line = serde_json::to_vec(&Line { file: self.name, entry })
            .map_err(|error| Stop::Report(io::Error::from(error)))?;
        line.push(b'\n');
        if !self.turns.is_at(self.index) {
            self.waits = true;
            return self.report.write_all(&line).map_err(Stop::Report);
        }
        self.settle()?;
        let mut outputs = lock(&self.turns.outputs);
        let report = outputs.report.as_mut();
        report.map_or(Ok(()), |report| report.copy(&mut line.as_slice())).map_err(Stop::Report)
    }
}

/// JSON lines, one a removal.
pub(super) struct ReportFile {
    // Nothing once its reader is gone: that must not change what the command finds.
    file: Option<File>,
}

#[derive(Serialize)]
struct Line<'a> {
    file: &'a Passed,
    #[serde(flatten)]
    entry: &'a Entry,
}

impl ReportFile {
    /// A new file that only its owner reads; `-` is standard output if that is free, and standard error if not.
    pub(super) fn open(path: &Path, stdout_is_free: bool) -> Result<Self, Fatal> {
        let opened = if path != Path::new("-") {
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
        } else if stdout_is_free {
            screen::raw_out()
        } else {
            screen::raw_err()
        };
        let file =
            opened.map_err(|error| trouble(Code::Usage, "write the report `", &label(path), &error))?;
        Ok(Self { file: Some(file) })
    }

    fn copy(&mut self, lines: &mut impl io::Read) -> io::Result<()> {
        match self.file.as_mut().map_or(Ok(0), |file| io::copy(lines, file)) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.file = None;
                Ok(())
            }
            written => written.map(drop),
        }
    }
}
