use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use probity_contract::{Digest, Durability, RedeemError, Redeemer, RunId};
use rustix::fs::OFlags;

use crate::error::StoreError;
use crate::owner::{FILE_MODE, ensure, sync_dir};

/// Bytes of one checkpoint that this program reads.
const CHECKPOINT_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Digits of a generation in its file: always as many, so that a new one takes the place of the old one in one write.
const GENERATION_DIGITS: usize = 20;

pub(crate) const CHECKPOINTS_DIR: &str = "checkpoints";
pub(crate) const APPROVALS_DIR: &str = "approvals";

/// The last checkpoint of each run, sealed, one file a run; and the number of the last one that was kept.
///
/// A checkpoint takes the place of the one before in one step: whoever reads sees either whole. It does not promise that
/// what is read is the last that was kept by anybody but this program: who can write the directory can put both files back.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    dir: PathBuf,
}

/// A checkpoint as it was kept.
#[derive(Debug)]
pub struct KeptCheckpoint {
    /// The sealed bytes.
    pub sealed: Vec<u8>,
    /// The number of the last one that was kept; an older one is not to be opened.
    pub generation: u64,
}

impl Checkpoints {
    /// Opens the directory of a store, and makes it where it is missing.
    pub(crate) fn open(root: &Path) -> Result<Self, StoreError> {
        let dir = root.join(CHECKPOINTS_DIR);
        writable(&dir)?;
        Ok(Self { dir })
    }

    /// Looks into the directory of a store without changing anything.
    pub(crate) fn at(root: &Path) -> Self {
        Self { dir: root.join(CHECKPOINTS_DIR) }
    }

    /// Keeps checkpoint number `generation` of a run in place of the one before. To be called by whoever holds the lock of
    /// the run's record.
    ///
    /// # Errors
    /// When it cannot be written. The one before is still there then, or this one is, whole.
    pub fn keep(
        &self,
        run: &RunId,
        generation: u64,
        sealed: &[u8],
        durability: Durability,
    ) -> Result<(), StoreError> {
        let path = self.sealed(run);
        let doing = || format!("keep the checkpoint `{}`", path.display());
        let durable = durability == Durability::Durable;
        replace(&path, sealed, durable).map_err(StoreError::io(doing()))?;
        if durable {
            sync_dir(&self.dir).map_err(StoreError::io(doing()))?;
        }
        // Behind the checkpoint itself: of a number that nobody has there would be no way back.
        self.note(run, generation, durable).map_err(StoreError::io(doing()))
    }

    /// The checkpoint of a run; `None` where there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self, run: &RunId) -> Result<Option<KeptCheckpoint>, StoreError> {
        let path = self.sealed(run);
        let doing = || format!("read the checkpoint `{}`", path.display());
        let file = match open_plain(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(StoreError::io(doing()))?,
        };
        let mut sealed = Vec::new();
        let bounded = file.take(CHECKPOINT_BYTES_MAX + 1).read_to_end(&mut sealed);
        bounded.map_err(StoreError::io(doing()))?;
        if sealed.len() as u64 > CHECKPOINT_BYTES_MAX {
            return Err(StoreError::io(doing())(io::Error::other("it is too large")));
        }
        let generation = self.noted(run).map_err(StoreError::io(doing()))?;
        Ok(Some(KeptCheckpoint { sealed, generation }))
    }

    /// Whether a run has a checkpoint.
    #[must_use]
    pub fn has(&self, run: &RunId) -> bool {
        fs::symlink_metadata(self.sealed(run)).is_ok_and(|found| found.is_file())
    }

    /// Removes the checkpoint of a run that has ended. The number of the last one stays: a copy of an older one is not good
    /// again.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self, run: &RunId) -> Result<(), StoreError> {
        let path = self.sealed(run);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::io(format!("remove the checkpoint `{}`", path.display()))(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn sealed(&self, run: &RunId) -> PathBuf {
        self.dir.join(format!("{run}.sealed"))
    }

    fn last(&self, run: &RunId) -> PathBuf {
        self.dir.join(format!("{run}.last"))
    }

    fn note(&self, run: &RunId, generation: u64, durable: bool) -> io::Result<()> {
        let path = self.last(run);
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        let mut how = OpenOptions::new();
        how.write(true).create(true).truncate(false).mode(FILE_MODE).custom_flags(flags);
        let is_new = !path.try_exists()?;
        let file = how.open(&path)?;
        file.write_all_at(format!("{generation:0width$}\n", width = GENERATION_DIGITS).as_bytes(), 0)?;
        if durable {
            file.sync_data()?;
            if is_new {
                sync_dir(&self.dir)?;
            }
        }
        Ok(())
    }

    /// A note that cannot be understood is an error and not a zero: it would let every older checkpoint in.
    fn noted(&self, run: &RunId) -> io::Result<u64> {
        let mut text = String::new();
        match open_plain(&self.last(run)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(error),
            Ok(file) => file.take(GENERATION_DIGITS as u64 + 2).read_to_string(&mut text)?,
        };
        let digits = text.strip_suffix('\n').filter(|digits| digits.len() == GENERATION_DIGITS);
        digits
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| io::Error::other("the number of the last checkpoint cannot be read"))
    }
}

/// Counts used approvals as files that one process alone can make, for all processes on one store.
///
/// It does not promise anything over several stores: a run that is copied is two runs.
#[derive(Debug, Clone)]
pub struct FileRedeemer {
    dir: PathBuf,
}

impl FileRedeemer {
    pub(crate) fn open(root: &Path) -> Result<Self, StoreError> {
        let dir = root.join(APPROVALS_DIR);
        writable(&dir)?;
        Ok(Self { dir })
    }
}

impl Redeemer for FileRedeemer {
    fn redeem(&self, run: &RunId, binding: Digest) -> Result<(), RedeemError> {
        let path = self.dir.join(format!("{run}.{binding}"));
        let failed =
            |error: &io::Error| RedeemError::Failed(format!("write down that an approval was used: {error}"));
        // The system makes the file for one of all who try.
        match OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(RedeemError::Used),
            Err(error) => Err(failed(&error)),
            Ok(file) => {
                // Used, whether it reaches the medium or not; but only what has reached it may be built on.
                file.sync_all().and_then(|()| sync_dir(&self.dir)).map_err(|error| failed(&error))
            }
        }
    }
}

fn writable(dir: &Path) -> Result<(), StoreError> {
    let is_writable = ensure(dir, &mut Vec::new())?;
    if is_writable { Ok(()) } else { Err(StoreError::ReadOnly { path: dir.to_owned() }) }
}

/// Puts a file in the place of another in one step.
fn replace(path: &Path, bytes: &[u8], durable: bool) -> io::Result<()> {
    let new = path.with_extension("new");
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let mut how = OpenOptions::new();
    how.write(true).create(true).truncate(true).mode(FILE_MODE).custom_flags(flags);
    let mut file = how.open(&new)?;
    file.write_all(bytes)?;
    if durable {
        file.sync_all()?;
    }
    fs::rename(&new, path)
}

/// Neither follows a link nor waits for a pipe.
fn open_plain(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is no plain file")) }
}
