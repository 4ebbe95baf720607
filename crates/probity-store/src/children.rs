use std::io;

use probity_contract::{ChildJournals, Journal, JournalError, ParentCall, RunId};

use crate::dir::Dir;
use crate::error::StoreError;
use crate::journal::FileJournal;

/// Keeps the records of tasks that calls start beside that of the run whose calls they are, each in a file of its own.
#[derive(Debug, Clone)]
pub struct FileChildren {
    dir: Dir,
}

impl FileChildren {
    pub(crate) const fn of(dir: Dir) -> Self {
        Self { dir }
    }
}

impl ChildJournals for FileChildren {
    fn begin(&self, run: &RunId, _parent: &ParentCall) -> Result<Box<dyn Journal>, JournalError> {
        match begin(&self.dir, run) {
            Ok(journal) => Ok(Box::new(journal)),
            Err(error) => Err(JournalError { message: error.to_string(), source: Some(Box::new(error)) }),
        }
    }
}

/// Begins the record of a new run and locks it.
pub(crate) fn begin(dir: &Dir, run: &RunId) -> Result<FileJournal, StoreError> {
    let (file, path) = dir.create(run)?;
    FileJournal::begin(file, &path).map_err(|error| {
        // A file without a header is of no use; the error that made it so is the one to report.
        let _ = std::fs::remove_file(&path);
        StoreError::io(format!("create the record `{}`", path.display()))(io::Error::other(error))
    })
}
