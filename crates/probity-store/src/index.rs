//! The index: a cache of what the records tell, in SQLite. Every answer of it is checked against the files, and
//! whatever goes wrong with it is mended by building it anew, so it never makes anything fail.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use probity_contract::RunId;
use sqlx::Row as _;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
};

use crate::dir::{Dir, Stamp};
use crate::row::Digested;

/// Raised with every change of the table or of what stands in it; an index of another version is built anew.
const INDEX_VERSION: i64 = 1;
const BUSY_MS: u64 = 5_000;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IndexRow {
    pub(crate) run: RunId,
    pub(crate) started_at_unix_ms: i64,
    pub(crate) stamp: Stamp,
    pub(crate) digested: Digested,
}

/// The place of a row in the order of a list.
pub(crate) type Place = (i64, RunId);

impl IndexRow {
    pub(crate) fn new(run: RunId, stamp: Stamp, digested: Digested) -> Self {
        let started = digested.summary.as_ref().map(|summary| summary.started_at_unix_ms);
        let started_at_unix_ms = match started {
            Some(at) => i64::try_from(at).unwrap_or(i64::MAX),
            None => stamp.mtime_ns / 1_000_000,
        };
        Self { run, started_at_unix_ms, stamp, digested }
    }

    pub(crate) fn place(&self) -> Place {
        (self.started_at_unix_ms, self.run.clone())
    }
}

/// What the index knows of a record without reading its row in full.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    pub(crate) stamp: Stamp,
    pub(crate) is_settled: bool,
}

#[derive(Debug)]
pub(crate) struct Index {
    dir: Dir,
    // `None` where there is no index to be had; the files are read instead.
    pool: Mutex<Option<SqlitePool>>,
}

impl Index {
    /// Opens the index, or builds an empty one where there is none that can be used.
    pub(crate) async fn open(dir: Dir, notices: &mut Vec<String>) -> Self {
        let pool = match connect(&dir).await {
            Ok(pool) => Some(pool),
            Err(_) if !dir.is_writable => None,
            Err(error) => {
                notices.push(format!("the index of runs could not be used and is built anew: {error}"));
                fresh(&dir, notices).await
            }
        };
        Self { dir, pool: Mutex::new(pool) }
    }

    fn pool(&self) -> Option<SqlitePool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) async fn close(&self) {
        let pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(pool) = pool {
            pool.close().await;
        }
    }

    /// Throws the index away and begins an empty one.
    pub(crate) async fn rebuild(&self, notices: &mut Vec<String>) {
        self.close().await;
        if self.dir.is_writable {
            let pool = fresh(&self.dir, notices).await;
            *self.pool.lock().unwrap_or_else(PoisonError::into_inner) = pool;
        }
    }

    /// All that the index knows, or nothing where it cannot be read.
    pub(crate) async fn known(&self, notices: &mut Vec<String>) -> HashMap<RunId, Known> {
        let Some(pool) = self.pool() else { return HashMap::new() };
        let rows = sqlx::query("SELECT run, bytes, mtime_ns, settled FROM runs").fetch_all(&pool).await;
        match rows.and_then(|rows| rows.iter().map(known_of).collect()) {
            Ok(known) => known,
            Err(error) => {
                self.give_up(&error, notices).await;
                HashMap::new()
            }
        }
    }

    /// The rows before a place, newest first. `None` where there is no index or it does not make sense: then only the
    /// files can tell which runs there are.
    pub(crate) async fn page(
        &self,
        before: Option<&Place>,
        limit: i64,
        without: &HashSet<RunId>,
    ) -> Option<Vec<IndexRow>> {
        let pool = self.pool()?;
        // No run id sorts after `~`, which none may contain.
        let (started, run) = before.map_or((i64::MAX, "~"), |(started, run)| (*started, run.as_str()));
        let query = sqlx::query(
            "SELECT run, started, bytes, mtime_ns, digested FROM runs WHERE (started, run) < (?, ?) \
             ORDER BY started DESC, run DESC LIMIT ?",
        );
        let rows = query.bind(started).bind(run).bind(limit).fetch_all(&pool).await.ok()?;
        let rows: Result<Vec<_>, _> = rows.iter().map(row_of).collect();
        Some(rows.ok()?.into_iter().filter(|row| !without.contains(&row.run)).collect())
    }

    pub(crate) async fn get(&self, run: &RunId) -> Option<IndexRow> {
        let query = sqlx::query("SELECT run, started, bytes, mtime_ns, digested FROM runs WHERE run = ?");
        let row = query.bind(run.as_str()).fetch_optional(&self.pool()?).await.ok()??;
        row_of(&row).ok()
    }

    /// Writes rows and removes others. Tells whether it could.
    pub(crate) async fn put(&self, rows: &[IndexRow], gone: &[RunId]) -> bool {
        if rows.is_empty() && gone.is_empty() {
            return true;
        }
        match self.pool() {
            Some(pool) if self.dir.is_writable => write(&pool, rows, gone).await.is_ok(),
            Some(_) | None => false,
        }
    }

    async fn give_up(&self, error: &sqlx::Error, notices: &mut Vec<String>) {
        notices.push(format!("the index of runs could not be read: {error}"));
        if is_busy(error) {
            return;
        }
        self.rebuild(notices).await;
    }
}

async fn connect(dir: &Dir) -> Result<SqlitePool, sqlx::Error> {
    let path = dir.prepare_index().map_err(sqlx::Error::Io)?;
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(Duration::from_millis(BUSY_MS));
    if !dir.is_writable && dir.index_is_in_use() {
        return Err(sqlx::Error::Protocol("another process is using it".to_owned()));
    }
    let options = if dir.is_writable {
        options.journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Normal)
    } else {
        options.read_only(true).immutable(true)
    };
    let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await?;
    let version: i64 = sqlx::query("PRAGMA user_version").fetch_one(&pool).await?.try_get(0)?;
    let tables: i64 = sqlx::query("SELECT count(*) FROM sqlite_schema").fetch_one(&pool).await?.try_get(0)?;
    match (version, tables) {
        (INDEX_VERSION, _) => Ok(pool),
        (0, 0) if dir.is_writable => {
            create(&pool).await?;
            Ok(pool)
        }
        _ => {
            pool.close().await;
            Err(sqlx::Error::Protocol("it is of another version".to_owned()))
        }
    }
}

async fn create(pool: &SqlitePool) -> Result<(), sqlx::Error> {
    // Two processes may both find it empty.
    let statements = [
        "CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, started INTEGER NOT NULL, bytes INTEGER NOT NULL, \
         mtime_ns INTEGER NOT NULL, settled INTEGER NOT NULL, digested TEXT NOT NULL) STRICT, WITHOUT ROWID",
        "CREATE INDEX IF NOT EXISTS runs_by_start ON runs (started DESC, run DESC)",
        "PRAGMA user_version = 1",
    ];
    const { assert!(INDEX_VERSION == 1, "the pragma above names the version") };
    for statement in statements {
        sqlx::query(statement).execute(pool).await?;
    }
    Ok(())
}

async fn fresh(dir: &Dir, notices: &mut Vec<String>) -> Option<SqlitePool> {
    let removed = dir.remove_index().map_err(sqlx::Error::Io);
    let made = match removed {
        Ok(()) => connect(dir).await,
        Err(error) => Err(error),
    };
    made.map_err(|error| notices.push(format!("there is no index of runs, lists are slower: {error}"))).ok()
}

async fn write(pool: &SqlitePool, rows: &[IndexRow], gone: &[RunId]) -> Result<(), sqlx::Error> {
    let mut all = pool.begin().await?;
    for row in rows {
        let digested = serde_json::to_string(&row.digested).map_err(|e| sqlx::Error::Encode(e.into()))?;
        sqlx::query(
            "INSERT OR REPLACE INTO runs (run, started, bytes, mtime_ns, settled, digested) VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(row.run.as_str())
        .bind(row.started_at_unix_ms)
        .bind(i64::try_from(row.stamp.bytes).unwrap_or(i64::MAX))
        .bind(row.stamp.mtime_ns)
        .bind(row.digested.is_settled())
        .bind(digested)
        .execute(&mut *all)
        .await?;
    }
    for run in gone {
        sqlx::query("DELETE FROM runs WHERE run = ?").bind(run.as_str()).execute(&mut *all).await?;
    }
    all.commit().await
}

fn run_of(row: &SqliteRow) -> Result<RunId, sqlx::Error> {
    RunId::new(row.try_get::<&str, _>("run")?).map_err(|error| sqlx::Error::Decode(error.into()))
}

fn stamp_of(row: &SqliteRow) -> Result<Stamp, sqlx::Error> {
    let bytes = u64::try_from(row.try_get::<i64, _>("bytes")?).unwrap_or(0);
    Ok(Stamp { bytes, mtime_ns: row.try_get("mtime_ns")? })
}

fn known_of(row: &SqliteRow) -> Result<(RunId, Known), sqlx::Error> {
    Ok((run_of(row)?, Known { stamp: stamp_of(row)?, is_settled: row.try_get("settled")? }))
}

fn row_of(row: &SqliteRow) -> Result<IndexRow, sqlx::Error> {
    let digested = serde_json::from_str(row.try_get("digested")?);
    Ok(IndexRow {
        run: run_of(row)?,
        started_at_unix_ms: row.try_get("started")?,
        stamp: stamp_of(row)?,
        digested: digested.map_err(|error| sqlx::Error::Decode(error.into()))?,
    })
}

/// Another process holds the index; it is not broken.
fn is_busy(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    let primary = code.and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff);
    matches!(primary, Some(5 | 6)) || matches!(error, sqlx::Error::PoolTimedOut)
}
