//! Redaction passes and the checked text type that every exit demands.

mod clean;
mod egress;
mod engine;
mod fence;
mod imitation;

mod known;
mod limits;
mod line;
mod pass;
mod redactor;
mod report;
mod snapshot;
mod snapshot_serializer;
mod summary;
mod thrown;
mod tier;
mod vocabulary;
mod words;

pub use egress::Egress;
pub use fence::fenced_for_human;
pub use known::register_secret;
pub use limits::{
    ERROR_CHAIN_MAX, KNOWN_SECRET_BYTES_MIN, STREAM_HOLDBACK_BYTES_MAX, VALUE_BYTES_MAX, VALUE_DEPTH_MAX,
    VALUE_MEMBERS_MAX,
};
pub use line::{extension_words, one_line_untrusted};
pub use pass::{egress_text, egress_text_reporting};
pub use redactor::Redactor;
pub use report::{Confidence, Finding, REPORT_FINDINGS_MAX, Report, ReportSummary, Source, summarize};
pub use snapshot::{EgressValue, egress_value};
pub use summary::bounded_summary;
pub use thrown::{egress_error, egress_panic};
pub use tier::{Human, SamePrincipal, Tier};
pub use words::Words;
