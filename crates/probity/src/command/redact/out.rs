//! Where the text and the report go.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::Serialize;

use super::text::{Entry, Sink, Stop};
use super::{Passed, label, trouble};
use crate::exit::{Code, Fatal};

/// Text to a file or nowhere, findings to the report or nowhere.
pub(super) struct Out<'a> {
    pub(super) text: Option<File>,
    pub(super) report: Option<&'a mut ReportFile>,
    pub(super) name: &'a Passed,
}

impl Sink for Out<'_> {
    fn text(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.text.as_mut().map_or(Ok(()), |file| file.write_all(bytes)).map_err(Stop::Write)
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), Stop> {
        let report = self.report.as_deref_mut();
        report.map_or(Ok(()), |report| report.write(self.name, entry)).map_err(Stop::Report)
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
            io::stdout().as_fd().try_clone_to_owned().map(File::from)
        } else {
            io::stderr().as_fd().try_clone_to_owned().map(File::from)
        };
        let file =
            opened.map_err(|error| trouble(Code::Usage, "write the report `", &label(path), &error))?;
        Ok(Self { file: Some(file) })
    }

    fn write(&mut self, file: &Passed, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(&Line { file, entry })?;
        line.push(b'\n');
        match self.file.as_mut().map_or(Ok(()), |file| file.write_all(&line)) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.file = None;
                Ok(())
            }
            written => written,
        }
    }
}
