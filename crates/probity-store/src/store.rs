use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use probity_contract::{BoxFuture, RunId};
use probity_trace::{HEADER_BYTES, ReadRecord, Record, RunSummary, TornTail, encode_header};

use crate::checkpoints::{Checkpoints, FileRedeemer};
use crate::children::{self, FileChildren};
use crate::dir::Dir;
use crate::error::StoreError;
use crate::index::{Index, IndexRow, Known, Place};
use crate::journal::FileJournal;
use crate::row::{Digested, ListFilter, Listing, RunRow, StoredRecord};
use crate::scan::{Scan, scan, settle};

/// The records of many runs in one directory: one file a run, and an index beside them.
///
/// Directories and files are made for their owner only. The index is a cache: it is checked against the files, and
/// built anew from them where it is missing or wrong, so nothing is lost with it. A run is live as long as the process
/// that writes its record holds the file's lock. All waiting futures need a tokio runtime.
///
/// It does not promise that records are what was written, only that accidents are noticed; who can write the directory
/// can write other records.
#[derive(Debug)]
pub struct Store {
    dir: Dir,
    index: Index,
    notices: Vec<String>,
}

/// A record that is gone on with.
#[derive(Debug)]
pub struct Reopened {
    /// Appends after the last whole line.
    pub journal: FileJournal,
    /// What stands before that.
    pub record: Record,
    /// What was cut off at the end.
    pub notice: Option<TornTail>,
}

impl Store {
    /// Opens the store in a directory, and makes both where they are missing.
    ///
    /// # Errors
    /// When the directory cannot be made or read, or others may look into it and it is not clearly a store's own.
    pub fn open(dir: &Path) -> BoxFuture<'static, Result<Self, StoreError>> {
        let root = dir.to_owned();
        Box::pin(async move {
            let (dir, mut notices) = blocking(move || {
                let mut notices = Vec::new();
                Dir::open(&root, &mut notices).map(|dir| (dir, notices))
            })
            .await?;
            let index = Index::open(dir.clone(), &mut notices).await;
            Ok(Self { dir, index, notices })
        })
    }

    /// Opens a store without changing anything in it; whatever would write fails.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn open_read_only(dir: &Path) -> BoxFuture<'static, Result<Self, StoreError>> {
        let root = dir.to_owned();
        Box::pin(async move {
            let dir = blocking(move || Dir::open_read_only(&root)).await?;
            let mut notices = Vec::new();
            let index = Index::open(dir.clone(), &mut notices).await;
            Ok(Self { dir, index, notices })
        })
    }

    /// What was odd about the store when it was opened, in sentences for people.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Lets go of the index. A store that is only dropped does so a moment later, on another thread.
    #[must_use]
    pub fn close(self) -> BoxFuture<'static, ()> {
        Box::pin(async move { self.index.close().await })
    }

    /// Begins the record of a new run and locks it.
    ///
    /// # Errors
    /// When there is one already, or it cannot be made.
    pub fn begin(&self, run: &RunId) -> Result<FileJournal, StoreError> {
        children::begin(&self.dir, run)
    }

    /// A place for the records of tasks that a run's calls start.
    #[must_use]
    pub fn children(&self) -> FileChildren {
        FileChildren::of(self.dir.clone())
    }

    /// The checkpoints of runs, to be kept.
    ///
    /// # Errors
    /// When their directory cannot be made or written.
    pub fn checkpoints(&self) -> Result<Checkpoints, StoreError> {
        self.dir.check_writable()?;
        Checkpoints::open(&self.dir.root)
    }

    /// The checkpoints of runs, to be looked at.
    #[must_use]
    pub fn kept_checkpoints(&self) -> Checkpoints {
        Checkpoints::at(&self.dir.root)
    }

    /// The count of used approvals.
    ///
    /// # Errors
    /// When its directory cannot be made or written.
    pub fn redeemer(&self) -> Result<FileRedeemer, StoreError> {
        self.dir.check_writable()?;
        FileRedeemer::open(&self.dir.root)
    }

    /// Goes on with the record of a run that broke off or paused. A last line that broke off is cut.
    ///
    /// # Errors
    /// When there is none, a process is writing it, or it is damaged.
    pub fn reopen(&self, run: &RunId) -> BoxFuture<'static, Result<Reopened, StoreError>> {
        let (dir, run) = (self.dir.clone(), run.clone());
        Box::pin(blocking(move || reopen(&dir, &run)))
    }

    /// Cuts a last line that broke off. `None` where the record is whole.
    ///
    /// # Errors
    /// When there is none, a process is writing it, or it is damaged before its end, which nothing can mend.
    pub fn repair(&self, run: &RunId) -> BoxFuture<'static, Result<Option<TornTail>, StoreError>> {
        let (dir, run) = (self.dir.clone(), run.clone());
        Box::pin(blocking(move || reopen(&dir, &run).map(|reopened| reopened.notice)))
    }

    /// Reads a record. Nothing is changed: a last line that broke off is left out and said.
    ///
    /// # Errors
    /// When there is none, it is too large, or it is damaged; what stands before the damage is in the error.
    pub fn read(&self, run: &RunId) -> BoxFuture<'static, Result<StoredRecord, StoreError>> {
        let (dir, run) = (self.dir.clone(), run.clone());
        Box::pin(blocking(move || {
            let found = dir.read(&run)?;
            let read = Record::read(&found.bytes).map_err(|source| StoreError::Record { run, source })?;
            let ReadRecord { record, notice } = read;
            let notice = notice.filter(|_| !found.is_running);
            Ok(StoredRecord { record, notice, is_running: found.is_running })
        }))
    }

    /// The one run that has this id, or whose id begins like this.
    ///
    /// # Errors
    /// When there is none, or several begin like this.
    pub fn find(&self, prefix: &str) -> BoxFuture<'static, Result<RunId, StoreError>> {
        let (dir, prefix) = (self.dir.clone(), prefix.to_owned());
        Box::pin(blocking(move || {
            let mut candidates = dir.runs(&mut Vec::new())?;
            candidates.retain(|run| run.as_str().starts_with(&prefix));
            if let Some(exact) = candidates.iter().find(|run| run.as_str() == prefix) {
                return Ok(exact.clone());
            }
            let only = if candidates.len() == 1 { candidates.pop() } else { None };
            only.ok_or(match candidates.is_empty() {
                true => StoreError::NotFound(prefix),
                false => StoreError::Ambiguous { prefix, candidates },
            })
        }))
    }

    /// Deletes the record of a run, and its checkpoint.
    ///
    /// # Errors
    /// When there is none, or a process is writing it.
    pub fn delete(&self, run: &RunId) -> BoxFuture<'_, Result<(), StoreError>> {
        let (dir, run) = (self.dir.clone(), run.clone());
        Box::pin(async move {
            let deleted = run.clone();
            blocking(move || {
                dir.delete(&deleted)?;
                Checkpoints::at(&dir.root).remove(&deleted)
            })
            .await?;
            // Should the index keep it, the next list notices that the file is gone.
            self.index.put(&[], &[run]).await;
            Ok(())
        })
    }

    /// Puts a run that has just ended into the index, so that the next list need not read its record.
    ///
    /// Never fails: the index is a cache, and the next list reads what is missing in it from the files.
    pub fn index_finished<'a>(&'a self, summary: &'a RunSummary) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Some(stamp) = self.dir.stamp(&summary.run) {
                let row = IndexRow::new(summary.run.clone(), stamp, Digested::of_summary(summary));
                self.index.put(&[row], &[]).await;
            }
        })
    }

    /// Builds the index anew from the files and tells how many records there are.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn reindex(&self) -> BoxFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move {
            self.dir.check_writable()?;
            let mut notices = Vec::new();
            self.index.rebuild(&mut notices).await;
            let dir = self.dir.clone();
            let scan = blocking(move || scan(&dir, &HashMap::new(), &mut Vec::new())).await?;
            self.index.put(&scan.changed, &[]).await;
            Ok(scan.changed.len())
        })
    }

    /// Lists runs, the newest first. Works where the store cannot be written, and whatever state the index is in.
    ///
    /// # Errors
    /// When the directory cannot be read, or the run to begin after is not there.
    pub fn list(&self, filter: ListFilter) -> BoxFuture<'_, Result<Listing, StoreError>> {
        Box::pin(async move {
            let mut notices = self.notices.clone();
            let known = self.index.known(&mut notices).await;
            let scan = self.scan(known, &mut notices).await?;
            let rows = match self.page(&filter, scan).await? {
                Some(rows) => rows,
                // The index went wrong on the way. What the files say stands by itself.
                None => {
                    let scan = self.scan(HashMap::new(), &mut Vec::new()).await?;
                    self.page(&filter, scan).await?.unwrap_or_default()
                }
            };
            Ok(Listing { rows, notices })
        })
    }

    async fn scan(
        &self,
        known: HashMap<RunId, Known>,
        notices: &mut Vec<String>,
    ) -> Result<Scan, StoreError> {
        let dir = self.dir.clone();
        let (mut scan, found) = blocking(move || {
            let mut notices = Vec::new();
            scan(&dir, &known, &mut notices).map(|scan| (scan, notices))
        })
        .await?;
        notices.extend(found);
        if self.index.put(&scan.changed, &scan.gone).await {
            scan.gone.clear();
        }
        Ok(scan)
    }

    /// Takes a page from the index, with what the scan knows better. `None` where the index was needed and failed.
    async fn page(&self, filter: &ListFilter, scan: Scan) -> Result<Option<Vec<RunRow>>, StoreError> {
        let before = match &filter.before {
            Some(run) => Some(self.place_of(run, &scan).await?),
            None => None,
        };
        let without: HashSet<RunId> =
            scan.changed.iter().map(|row| &row.run).chain(&scan.gone).cloned().collect();
        let limit = usize::try_from(filter.limit).unwrap_or(usize::MAX);
        let wanted = i64::try_from(limit.saturating_add(without.len())).unwrap_or(i64::MAX);
        let mut rows = match self.index.page(before.as_ref(), wanted, &without).await {
            Some(rows) => rows,
            None if scan.is_whole => Vec::new(),
            None => return Ok(None),
        };
        let is_older = |row: &IndexRow| before.as_ref().is_none_or(|before| row.place() < *before);
        rows.extend(scan.changed.into_iter().filter(is_older));
        rows.sort_by_key(|row| std::cmp::Reverse(row.place()));
        rows.truncate(limit);
        let dir = self.dir.clone();
        let (rows, mended) = blocking(move || Ok(settle(&dir, rows))).await?;
        self.index.put(&mended, &[]).await;
        Ok(Some(rows))
    }

    async fn place_of(&self, run: &RunId, scan: &Scan) -> Result<Place, StoreError> {
        if let Some(row) = scan.changed.iter().find(|row| row.run == *run) {
            return Ok(row.place());
        }
        let row = self.index.get(run).await;
        row.map(|row| row.place()).ok_or_else(|| StoreError::NotFound(run.to_string()))
    }
}

fn reopen(dir: &Dir, run: &RunId) -> Result<Reopened, StoreError> {
    let mut file = dir.open_to_change(run)?;
    let found = dir.read_file(run, &mut file, false)?;
    let read =
        Record::read(&found.bytes).map_err(|source| StoreError::Record { run: run.clone(), source })?;
    let mut good_bytes = found.bytes.len() as u64;
    if let Some(torn) = read.notice {
        let cut = cut(&mut file, torn.at);
        cut.map_err(StoreError::io(format!("cut the torn end of the record of run `{run}`")))?;
        good_bytes = torn.at.max(HEADER_BYTES as u64);
    }
    let journal = FileJournal::resume(file, dir.path_of(run), good_bytes, read.record.order());
    Ok(Reopened { journal, record: read.record, notice: read.notice })
}

/// Cuts the file, and gives it the header that it never got if it was torn within that.
fn cut(file: &mut std::fs::File, at: u64) -> io::Result<()> {
    file.set_len(at)?;
    if at == 0 {
        let mut header = Vec::new();
        encode_header(&mut header);
        io::Write::write_all(file, &header)?;
    }
    file.sync_data()
}

/// Runs file work where it does not hold up the runtime.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        Err(StoreError::io("work on the files of the store")(io::Error::other(error)))
    })
}
