use std::collections::HashMap;

use probity_contract::{Fact, ItemId, Kept, Part, PartId, RECORD_VERSION};

use crate::facts::parts_of;
use crate::frame::{Frame, FrameError, FrameReader, KIND_ENTRY, KIND_PART, TornTail};
use crate::line::{Line, Noted, Start, malformed, read_line, read_start};
use crate::order::{EntryOrder, OrderError};
use crate::window::Windows;

/// One run's record: its entries in order and its texts by digest. Everything in it has been checked.
///
/// The checks: every checksum; entries counted without a gap, in time that never goes back; the first entry is
/// `run_started` of a version that this program reads; every text that is kept in full has the digest under which it
/// stands. That the record is complete, or that nobody has rewritten it with new checksums, is not promised.
#[derive(Debug, Clone, Default)]
pub struct Record {
    // INVARIANT: `lines` are as the type's text says; the other fields are computed from them and from `parts`.
    lines: Vec<Line>,
    parts: HashMap<PartId, Kept>,
    start: Option<Start>,
    items: HashMap<ItemId, usize>,
    windows: Windows,
    dangling: Vec<Dangling>,
    frames_unknown: u64,
    order: EntryOrder,
}

/// A text that an entry refers to and that did not come before it. Views show it as unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dangling {
    /// The entry.
    pub seq: u64,
    /// The text.
    pub part: PartId,
}

/// A record, and whether its last append broke off.
#[derive(Debug, Clone)]
pub struct ReadRecord {
    /// All that was whole.
    pub record: Record,
    /// What was left out at the end.
    pub notice: Option<TornTail>,
}

/// Why a record cannot be read to its end.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub struct RecordError {
    /// What is wrong, and where.
    #[source]
    pub cause: RecordErrorKind,
    /// What stands before that. Checked, but the rest of the run is missing.
    pub before: Box<Record>,
}

/// What can be wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordErrorKind {
    /// The frames cannot be read.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The facts are of a later version.
    #[error("read the record: its facts have version {found}, and this program reads up to {RECORD_VERSION}")]
    LaterVersion {
        /// The version in the first entry.
        found: u32,
    },
    /// A frame is whole, and what it holds is no part or entry.
    #[error("read the record: the frame at byte {at} does not hold what its kind says: {why}")]
    Malformed {
        /// Where the frame begins.
        at: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Entries are missing or stand in another order.
    #[error("read the record: at byte {at}, {order}")]
    Order {
        /// Where the frame begins.
        at: u64,
        /// What is out of order.
        order: OrderError,
    },
    /// The first entry is not `run_started`.
    #[error("read the record: the entry at byte {at} does not say what run this is")]
    NoStart {
        /// Where the frame begins.
        at: u64,
    },
    /// A text is not the one that its digest names.
    #[error("read the record: the text at byte {at} is not the one whose digest it stands under")]
    WrongText {
        /// Where the frame begins.
        at: u64,
    },
}

impl Record {
    /// Reads and checks a whole record.
    ///
    /// Time and memory grow with its size and not faster.
    ///
    /// # Errors
    /// When it is no record, is of a later version, or has changed since it was written. The error carries what stands
    /// before the place in question.
    pub fn read(bytes: &[u8]) -> Result<ReadRecord, RecordError> {
        let mut record = Self::default();
        let mut notice = None;
        for frame in FrameReader::new(bytes) {
            let taken = match frame {
                Ok(frame) => record.take(frame),
                Err(FrameError::Torn(tail)) => {
                    notice = Some(tail);
                    Ok(())
                }
                Err(error) => Err(error.into()),
            };
            if let Err(cause) = taken {
                return Err(RecordError { cause, before: Box::new(record) });
            }
        }
        Ok(ReadRecord { record, notice })
    }

    fn take(&mut self, frame: Frame<'_>) -> Result<(), RecordErrorKind> {
        match frame.kind {
            KIND_PART => self.take_part(frame),
            KIND_ENTRY => self.take_entry(frame),
            _ => {
                self.frames_unknown += 1;
                Ok(())
            }
        }
    }

    fn take_part(&mut self, frame: Frame<'_>) -> Result<(), RecordErrorKind> {
        let part: Part = serde_json::from_slice(frame.payload).map_err(|error| malformed(frame, &error))?;
        match &part.kept {
            Kept::Full(text) if PartId::of(text) != part.id => {
                return Err(RecordErrorKind::WrongText { at: frame.offset });
            }
            Kept::Full(_) | Kept::Redacted(_) | Kept::Length(_) => {}
        }
        self.parts.entry(part.id).or_insert(part.kept);
        Ok(())
    }

    fn take_entry(&mut self, frame: Frame<'_>) -> Result<(), RecordErrorKind> {
        let line = read_line(frame)?;
        let mut order = self.order;
        order
            .take(line.seq, line.at_ms)
            .map_err(|order| RecordErrorKind::Order { at: frame.offset, order })?;
        if line.seq == 0 {
            self.start = Some(read_start(frame, &line)?);
        }
        self.order = order;
        match &line.fact {
            Noted::Known(fact) => {
                let missing = parts_of(fact).iter().filter(|part| !self.parts.contains_key(part));
                self.dangling.extend(missing.map(|part| Dangling { seq: line.seq, part: *part }));
                if let Fact::ItemAdded { item, .. } = fact {
                    self.items.entry(*item).or_insert(self.lines.len());
                } else if let Fact::ModelCalled { call, window, .. } = fact {
                    self.windows.push(*call, window);
                }
            }
            Noted::Opaque { kind, .. } if kind == "model_called" => self.windows.push_unknown(),
            Noted::Opaque { .. } => {}
        }
        self.lines.push(line);
        Ok(())
    }

    /// The entries in order.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The facts that this program knows, in order.
    pub fn facts(&self) -> impl Iterator<Item = (&Line, &Fact)> {
        self.lines.iter().filter_map(|line| match &line.fact {
            Noted::Known(fact) => Some((line, fact)),
            Noted::Opaque { .. } => None,
        })
    }

    /// What is kept of a text; `None` where the record does not hold it.
    #[must_use]
    pub fn part(&self, id: PartId) -> Option<&Kept> {
        self.parts.get(&id)
    }

    /// All texts, in no order.
    pub fn parts(&self) -> impl Iterator<Item = (PartId, &Kept)> {
        self.parts.iter().map(|(id, kept)| (*id, kept))
    }

    /// What the first entry says; `None` where the run broke off before it.
    #[must_use]
    pub const fn start(&self) -> Option<&Start> {
        self.start.as_ref()
    }

    /// The texts that entries refer to and that did not come before them.
    #[must_use]
    pub fn dangling(&self) -> &[Dangling] {
        &self.dangling
    }

    /// How many entries and frames were written by a later program and are not understood. Views leave them out.
    #[must_use]
    pub fn not_understood(&self) -> u64 {
        let opaque = self.lines.iter().filter(|line| matches!(line.fact, Noted::Opaque { .. })).count();
        self.frames_unknown.saturating_add(opaque as u64)
    }

    /// Where the next entry belongs; for a writer that goes on with this record.
    #[must_use]
    pub const fn order(&self) -> EntryOrder {
        self.order
    }

    pub(crate) const fn windows(&self) -> &Windows {
        &self.windows
    }

    /// The place among the entries at which an item is added.
    pub(crate) fn item_place(&self, item: ItemId) -> Option<usize> {
        self.items.get(&item).copied()
    }

    pub(crate) fn item_line(&self, item: ItemId) -> Option<&Line> {
        self.items.get(&item).and_then(|at| self.lines.get(*at))
    }
}
