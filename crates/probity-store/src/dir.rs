use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use probity_contract::RunId;
use probity_egress::{SamePrincipal, bounded_summary, egress_text};
use rustix::fs::OFlags;

use crate::error::StoreError;
use crate::lock::{is_locked, lock_to_change};
use crate::owner::{FILE_MODE, OTHERS_MASK, check_is_dir, ensure, sync_dir};

/// Bytes of one record that this program reads.
pub const RECORD_BYTES_MAX: u64 = 512 * 1024 * 1024;

pub(crate) const INDEX_FILE: &str = "index.sqlite";
pub(crate) const RUNS_DIR: &str = "runs";
pub(crate) const SUFFIX: &str = ".prob";
const NOTICES_MAX: usize = 20;
const NAME_CHARS_MAX: usize = 80;

/// The directories of a store, whose files only their owner may read.
#[derive(Debug, Clone)]
pub(crate) struct Dir {
    pub(crate) root: PathBuf,
    pub(crate) runs: PathBuf,
    pub(crate) is_writable: bool,
}

/// The size and time of a file, by which a change is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) bytes: u64,
    pub(crate) mtime_ns: i64,
}

/// A record file as it was found.
pub(crate) struct Found {
    pub(crate) bytes: Vec<u8>,
    pub(crate) stamp: Stamp,
    pub(crate) is_running: bool,
}

impl Dir {
    /// Creates what is missing; takes the rights of others away where the directory is ours.
    pub(crate) fn open(root: &Path, notices: &mut Vec<String>) -> Result<Self, StoreError> {
        let runs = root.join(RUNS_DIR);
        let is_writable = ensure(root, notices)? && ensure(&runs, notices)?;
        Ok(Self { root: root.to_owned(), runs, is_writable })
    }

    /// Changes nothing.
    pub(crate) fn open_read_only(root: &Path) -> Result<Self, StoreError> {
        let found =
            fs::metadata(root).map_err(StoreError::io(format!("open the store `{}`", root.display())))?;
        check_is_dir(root, &found)?;
        Ok(Self { root: root.to_owned(), runs: root.join(RUNS_DIR), is_writable: false })
    }

    pub(crate) fn check_writable(&self) -> Result<(), StoreError> {
        if self.is_writable { Ok(()) } else { Err(StoreError::ReadOnly { path: self.root.clone() }) }
    }

    pub(crate) fn path_of(&self, run: &RunId) -> PathBuf {
        self.runs.join(format!("{run}{SUFFIX}"))
    }

    /// The runs that have a record, sorted. Whatever else stands in the directory is passed over with a notice.
    pub(crate) fn runs(&self, notices: &mut Vec<String>) -> Result<Vec<RunId>, StoreError> {
        let doing = || format!("list the records in `{}`", self.runs.display());
        let entries = match fs::read_dir(&self.runs) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.is_writable => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(StoreError::io(doing())(error)),
        };
        let (mut runs, mut strange) = (Vec::new(), 0_usize);
        for entry in entries {
            let entry = entry.map_err(StoreError::io(doing()))?;
            let name = entry.file_name();
            let run =
                name.to_str().and_then(|name| name.strip_suffix(SUFFIX)).and_then(|id| RunId::new(id).ok());
            match (run, entry.file_type()) {
                (Some(run), Ok(kind)) if kind.is_file() => runs.push(run),
                _ => {
                    strange += 1;
                    if strange <= NOTICES_MAX {
                        // Passed before its characters are written out and before the cut.
                        let shown = egress_text::<SamePrincipal>(&name.to_string_lossy());
                        let shown: String = bounded_summary(&shown, NAME_CHARS_MAX)
                            .as_str()
                            .chars()
                            .flat_map(char::escape_debug)
                            .collect();
                        notices.push(format!("`{shown}` is no record of a run and is passed over"));
                    }
                }
            }
        }
        if strange > NOTICES_MAX {
            notices.push(format!("{} more files are no records", strange - NOTICES_MAX));
        }
        runs.sort();
        Ok(runs)
    }

    /// Creates the file of a new run, locked. There must be none.
    pub(crate) fn create(&self, run: &RunId) -> Result<(File, PathBuf), StoreError> {
        self.check_writable()?;
        let path = self.path_of(run);
        let doing = || format!("create the record `{}`", path.display());
        let created = OpenOptions::new().append(true).read(true).create_new(true).mode(FILE_MODE).open(&path);
        let file = created.map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                StoreError::Exists(run.clone())
            } else {
                StoreError::io(doing())(error)
            }
        })?;
        // Nobody else writes a file that has just been made; at most a reader looks whether it is locked.
        let secured = file.lock().and_then(|()| sync_dir(&self.runs));
        match secured {
            Ok(()) => Ok((file, path)),
            Err(error) => {
                // The empty file is of no use to anybody; that it could not be secured is the error to report.
                let _ = fs::remove_file(&path);
                Err(StoreError::io(doing())(error))
            }
        }
    }

    /// Opens a record to change it, locked.
    pub(crate) fn open_to_change(&self, run: &RunId) -> Result<File, StoreError> {
        self.check_writable()?;
        let file = self.open_file(run, OpenOptions::new().read(true).append(true))?;
        lock_to_change(&file, run)?;
        Ok(file)
    }

    /// Reads a record whole. One that a process is writing may end within a line.
    pub(crate) fn read(&self, run: &RunId) -> Result<Found, StoreError> {
        let mut file = self.open_file(run, OpenOptions::new().read(true))?;
        let is_running = is_locked(&file);
        self.read_file(run, &mut file, is_running)
    }

    pub(crate) fn read_file(
        &self,
        run: &RunId,
        file: &mut File,
        is_running: bool,
    ) -> Result<Found, StoreError> {
        let doing = || format!("read the record `{}`", self.path_of(run).display());
        // The stamp is older than the bytes: a change in between is noticed the next time.
        let stamp = Stamp::of(&file.metadata().map_err(StoreError::io(doing()))?);
        if stamp.bytes > RECORD_BYTES_MAX {
            return Err(StoreError::TooLarge { run: run.clone(), bytes: stamp.bytes });
        }
        let mut bytes = Vec::new();
        let mut bounded = file.take(RECORD_BYTES_MAX);
        bounded.read_to_end(&mut bytes).map_err(StoreError::io(doing()))?;
        Ok(Found { bytes, stamp, is_running })
    }

    pub(crate) fn stamp(&self, run: &RunId) -> Option<Stamp> {
        fs::symlink_metadata(self.path_of(run)).ok().filter(Metadata::is_file).map(|found| Stamp::of(&found))
    }

    pub(crate) fn is_running(&self, run: &RunId) -> bool {
        self.open_file(run, OpenOptions::new().read(true)).is_ok_and(|file| is_locked(&file))
    }

    pub(crate) fn delete(&self, run: &RunId) -> Result<(), StoreError> {
        let locked = self.open_to_change(run)?;
        let removed = fs::remove_file(self.path_of(run)).and_then(|()| sync_dir(&self.runs));
        drop(locked);
        removed.map_err(StoreError::io(format!("delete the record of run `{run}`")))
    }

    /// Neither follows a link nor waits for a pipe that has the name of a record.
    fn open_file(&self, run: &RunId, how: &OpenOptions) -> Result<File, StoreError> {
        let path = self.path_of(run);
        let doing = || format!("open the record `{}`", path.display());
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let file = how.clone().custom_flags(flags).open(&path).map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound {
                StoreError::NotFound(run.to_string())
            } else {
                StoreError::io(doing())(error)
            }
        })?;
        let found = file.metadata().map_err(StoreError::io(doing()))?;
        if found.is_file() {
            Ok(file)
        } else {
            Err(StoreError::io(doing())(io::Error::other("it is no plain file")))
        }
    }

    /// Makes sure that the index is a plain file that only its owner may read.
    pub(crate) fn prepare_index(&self) -> io::Result<PathBuf> {
        let path = self.root.join(INDEX_FILE);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_file() => {
                if self.is_writable && found.mode() & OTHERS_MASK != 0 {
                    fs::set_permissions(&path, fs::Permissions::from_mode(FILE_MODE))?;
                }
                Ok(path)
            }
            Ok(_) => Err(io::Error::other("it is no plain file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.is_writable => {
                // SQLite would create it for everyone to read. Two processes may both want to be first.
                OpenOptions::new().write(true).create(true).truncate(false).mode(FILE_MODE).open(&path)?;
                Ok(path)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether changes to the index may stand beside it, where a reader that may not write cannot follow them.
    pub(crate) fn index_is_in_use(&self) -> bool {
        fs::metadata(self.root.join(format!("{INDEX_FILE}-wal"))).is_ok_and(|found| found.len() > 0)
    }

    pub(crate) fn remove_index(&self) -> io::Result<()> {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            match fs::remove_file(self.root.join(format!("{INDEX_FILE}{suffix}"))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }
}

impl Stamp {
    fn of(found: &Metadata) -> Self {
        let mtime_ns = found.mtime().saturating_mul(1_000_000_000).saturating_add(found.mtime_nsec());
        Self { bytes: found.len(), mtime_ns }
    }
}
