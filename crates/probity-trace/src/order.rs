/// The order that the entries of one record keep: counted from 0 without a gap, in time that never goes back.
///
/// A writer asks it before it writes, a reader after it has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntryOrder {
    next_seq: u64,
    last_at_ms: u64,
}

/// An entry that is not the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// An entry is missing or stands twice.
    #[error("entry {found} stands where entry {expected} belongs")]
    Gap {
        /// The number that is next.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// Time went back.
    #[error("entry {seq} is from {found_ms} ms, after one from {last_ms} ms")]
    Back {
        /// The entry.
        seq: u64,
        /// The time of the entry before.
        last_ms: u64,
        /// The time of this one.
        found_ms: u64,
    },
}

impl EntryOrder {
    /// Takes the next entry.
    ///
    /// # Errors
    /// When it is not the next one; the order is then as before.
    pub fn take(&mut self, seq: u64, at_ms: u64) -> Result<(), OrderError> {
        if seq != self.next_seq {
            return Err(OrderError::Gap { expected: self.next_seq, found: seq });
        }
        if at_ms < self.last_at_ms {
            return Err(OrderError::Back { seq, last_ms: self.last_at_ms, found_ms: at_ms });
        }
        *self = Self { next_seq: seq.saturating_add(1), last_at_ms: at_ms };
        Ok(())
    }

    /// The number of the next entry.
    #[must_use]
    pub const fn next_seq(&self) -> u64 {
        self.next_seq
    }
}
