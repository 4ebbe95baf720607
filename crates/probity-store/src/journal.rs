use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use probity_contract::{Durability, Emission, Journal, JournalError};
use probity_trace::{EntryOrder, encode_frame, encode_header};

/// The journal of one live run: appends whole batches to its file and holds the file's lock until it is dropped.
///
/// A batch is one write. After a write or a flush that failed the file is cut back to the last batch that succeeded, as
/// far as the system lets it, and every later append fails: what a failed flush leaves on the medium cannot be known,
/// so going on would build on sand. It does not promise that a batch of [`Durability::Handed`] outlives the machine.
#[derive(Debug)]
pub struct FileJournal(Appender<File>);

/// What a journal needs of a file; tests put failing ones in its place.
pub(crate) trait Medium: Send {
    fn write_whole(&mut self, bytes: &[u8]) -> io::Result<()>;
    fn flush_to_medium(&mut self) -> io::Result<()>;
    fn cut_to(&mut self, bytes: u64) -> io::Result<()>;
}

impl Medium for File {
    fn write_whole(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn flush_to_medium(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut_to(&mut self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)
    }
}

/// Bytes of buffer that are kept between batches.
const BUFFER_KEPT_BYTES: usize = 256 * 1024;

#[derive(Debug)]
pub(crate) struct Appender<M> {
    medium: M,
    path: PathBuf,
    buffer: Vec<u8>,
    // INVARIANT: everything before this is whole batches that were written without an error.
    good_bytes: u64,
    order: EntryOrder,
    is_poisoned: bool,
}

impl FileJournal {
    /// Begins an empty file with the header of a record.
    pub(crate) fn begin(file: File, path: &Path) -> Result<Self, JournalError> {
        let mut appender = Appender::new(file, path.to_owned(), 0, EntryOrder::default());
        appender.begin()?;
        Ok(Self(appender))
    }

    /// Goes on after `good_bytes` of a file that is positioned at its end.
    pub(crate) const fn resume(file: File, path: PathBuf, good_bytes: u64, order: EntryOrder) -> Self {
        Self(Appender::new(file, path, good_bytes, order))
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }
}

impl Journal for FileJournal {
    fn append(&mut self, lines: &[Emission], durability: Durability) -> Result<(), JournalError> {
        self.0.append(lines, durability)
    }
}

impl<M: Medium> Appender<M> {
    pub(crate) const fn new(medium: M, path: PathBuf, good_bytes: u64, order: EntryOrder) -> Self {
        Self { medium, path, buffer: Vec::new(), good_bytes, order, is_poisoned: false }
    }

    pub(crate) fn begin(&mut self) -> Result<(), JournalError> {
        self.buffer.clear();
        encode_header(&mut self.buffer);
        self.write_buffer(Durability::Handed)
    }

    pub(crate) fn append(&mut self, lines: &[Emission], durability: Durability) -> Result<(), JournalError> {
        if self.is_poisoned {
            let message = format!(
                "write the record `{}`: an earlier write failed, so it takes no more; start the task again",
                self.path.display()
            );
            return Err(JournalError { message, source: None });
        }
        self.buffer.clear();
        for line in lines {
            self.encode(line).inspect_err(|_| self.is_poisoned = true)?;
        }
        self.write_buffer(durability)
    }

    fn encode(&mut self, line: &Emission) -> Result<(), JournalError> {
        let refused = |message: String, source: Box<dyn std::error::Error + Send + Sync>| JournalError {
            message,
            source: Some(source),
        };
        if let Emission::Entry(entry) = line {
            let taken = self.order.take(entry.seq, entry.at_ms);
            taken
                .map_err(|error| refused(self.said("keep the order of", &error.to_string()), error.into()))?;
        }
        let encoded = encode_frame(line, &mut self.buffer);
        encoded.map_err(|error| refused(self.said("encode a line of", &error.to_string()), error.into()))
    }

    fn said(&self, doing: &str, what: &str) -> String {
        format!("{doing} the record `{}`: {what}", self.path.display())
    }

    fn write_buffer(&mut self, durability: Durability) -> Result<(), JournalError> {
        let written = self.medium.write_whole(&self.buffer).and_then(|()| match durability {
            Durability::Handed => Ok(()),
            Durability::Durable => self.medium.flush_to_medium(),
        });
        match written {
            Ok(()) => {
                self.good_bytes = self.good_bytes.saturating_add(self.buffer.len() as u64);
                self.buffer.clear();
                self.buffer.shrink_to(BUFFER_KEPT_BYTES);
                Ok(())
            }
            Err(error) => Err(self.poison(error)),
        }
    }

    fn poison(&mut self, error: io::Error) -> JournalError {
        self.is_poisoned = true;
        let end = match self.medium.cut_to(self.good_bytes) {
            Ok(()) => "it ends with what was written before",
            Err(_) => "its end may be broken and will be cut when it is read",
        };
        let no_room = matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        );
        let first = if no_room { "free some space" } else { "check the disk" };
        let message = self.said("write", &format!("{error}; {end}; {first} and start the task again"));
        JournalError { message, source: Some(error.into()) }
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
