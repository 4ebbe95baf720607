//! One module a command.

pub(crate) mod approve;
pub(crate) mod ask;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod key;
mod live_reads;
pub(crate) mod policy;
pub(crate) mod redact;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod why;
