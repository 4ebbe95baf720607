//! Comparing the index with the files, which are right wherever the two differ.

use std::collections::{HashMap, HashSet};

use probity_contract::RunId;

use crate::checkpoints::Checkpoints;
use crate::dir::Dir;
use crate::error::StoreError;
use crate::index::{IndexRow, Known};
use crate::row::{Digested, RunRow};

/// What the files say that the index does not know.
pub(crate) struct Scan {
    pub(crate) changed: Vec<IndexRow>,
    pub(crate) gone: Vec<RunId>,
    /// Whether `changed` is every record there is.
    pub(crate) is_whole: bool,
}

/// Reads every record that the index does not know or that may have changed. A record that ended is taken as the index
/// has it; should it have been replaced, that is noticed when it is shown.
pub(crate) fn scan(
    dir: &Dir,
    known: &HashMap<RunId, Known>,
    notices: &mut Vec<String>,
) -> Result<Scan, StoreError> {
    let runs = dir.runs(notices)?;
    let changed = runs.iter().filter_map(|run| {
        let is_current = known
            .get(run)
            .is_some_and(|known| known.is_settled || dir.stamp(run).is_none_or(|stamp| stamp == known.stamp));
        if is_current { None } else { digest(dir, run) }
    });
    let changed = changed.collect();
    let present: HashSet<&RunId> = runs.iter().collect();
    let gone = known.keys().filter(|run| !present.contains(run)).cloned().collect();
    Ok(Scan { changed, gone, is_whole: known.is_empty() })
}

/// What the index should know of a record; `None` where it is gone.
fn digest(dir: &Dir, run: &RunId) -> Option<IndexRow> {
    let stamp = dir.stamp(run)?;
    let (stamp, digested) = match dir.read(run) {
        Ok(found) => (found.stamp, Digested::of(&found.bytes)),
        Err(error) => (stamp, Digested::unreadable(error.to_string())),
    };
    Some(IndexRow::new(run.clone(), stamp, digested))
}

/// Makes rows to show, after a last look at the files, and tells which of them the index had wrong.
pub(crate) fn settle(dir: &Dir, rows: Vec<IndexRow>) -> (Vec<RunRow>, Vec<IndexRow>) {
    let mut mended = Vec::new();
    let checkpoints = Checkpoints::at(&dir.root);
    let rows = rows.into_iter().filter_map(|row| {
        let stamp = dir.stamp(&row.run)?;
        let row = if stamp == row.stamp {
            row
        } else {
            let current = digest(dir, &row.run)?;
            mended.push(current.clone());
            current
        };
        let is_open = !row.digested.is_settled();
        let is_running = is_open && dir.is_running(&row.run);
        let has_checkpoint = is_open && checkpoints.has(&row.run);
        Some(row.digested.row(row.run, row.stamp.bytes, is_running, has_checkpoint))
    });
    (rows.collect(), mended)
}
