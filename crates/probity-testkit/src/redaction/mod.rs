//! The redaction corpus, and how a pass is scored on it: by the tests of the pass, by the report on it, and by anybody
//! who wants to compare another one.

mod figures;
mod row;
mod score;

pub use figures::{RedactionFigure, RedactionTarget, redaction_figures};
pub use row::{RedactionLabel, RedactionRow, redaction_rows};
pub use score::{RedactionOutcome, RedactionScore, Share, removed_by_pass};
