//! Where records live: owner-only files and an index.
//!
//! One append-only file a run is the truth, and an SQLite index beside the files only makes lists quick. What a record
//! looks like inside is the business of `probity-trace`; why it is so stands in `docs/design/record.md`.

mod checkpoints;
mod children;
mod dir;
mod error;
mod index;
mod journal;
mod lock;
mod owner;
mod row;
mod scan;
mod store;

pub use checkpoints::{Checkpoints, FileRedeemer, KeptCheckpoint};
pub use children::FileChildren;
pub use dir::RECORD_BYTES_MAX;
pub use error::StoreError;
pub use journal::FileJournal;
pub use row::{ListFilter, Listing, RunRow, RunState, StoredRecord};
pub use store::{Reopened, Store};
