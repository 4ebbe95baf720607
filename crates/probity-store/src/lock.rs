//! The lock of a record file: held by the process that writes it for as long as it writes.

use std::fs::{File, TryLockError};

use probity_contract::RunId;

use crate::error::StoreError;

/// Whether a process is writing the record. Takes the lock for a moment where nobody does.
pub(crate) fn is_locked(file: &File) -> bool {
    let would_block = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    if !would_block {
        // Closing the file lets go of the lock as well.
        let _ = file.unlock();
    }
    would_block
}

/// Readers take the lock for a moment only, so a lock that is shared is waited for and one that is not means a run.
pub(crate) fn lock_to_change(file: &File, run: &RunId) -> Result<(), StoreError> {
    const TRIES_MAX: u32 = 10_000;
    for _ in 0..TRIES_MAX {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if is_locked(file) => return Err(StoreError::Running(run.clone())),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            Err(TryLockError::Error(error)) => {
                return Err(StoreError::io(format!("lock the record of run `{run}`"))(error));
            }
        }
    }
    Err(StoreError::Running(run.clone()))
}
