//! Traces of other frameworks, read as records.
//!
//! An importer writes the lines of a record, so that every view, the store and `why` work on another framework's run
//! without a second model of what a run is. What that costs and what lost stand in `docs/design/import.md`. This crate
//! knows nothing of files, networks or models: whoever reads a file hands over its bytes.

mod detect;
mod draft;
mod error;
mod format;
mod formats;
mod json;
mod limits;
mod messages;
mod python;
mod run;
mod view;
mod write;
mod yaml;
mod zip;

pub use error::{ImportError, Place};
pub use format::{Format, FormatError};
pub use limits::{
    ARCHIVE_FILES_MAX, ARCHIVE_RATIO_MAX, FILE_BYTES_MAX, JSON_DEPTH_MAX, MESSAGES_MAX,
    NESTED_JSON_BYTES_MAX, NOTICES_MAX, RUNS_MAX, TITLE_CHARS_MAX,
};
pub use run::{ImportOptions, ImportedRun, import};
pub use view::{ChatCall, ChatMessage, ChatRole, Exchange, exchanges, messages};
