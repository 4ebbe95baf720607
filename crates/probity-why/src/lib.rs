//! Which piece of context made an answer what it is, tested by counterfactuals.

mod report;
mod search;

pub use report::{
    AskError, Asked, AskedAtom, Asking, AtomSource, Chain, Composition, Counts, LEADS_MAX, Lead, Link, Place,
    Share, UNKNOWN_MAX, WINDOW_ITEMS_MAX, Why,
};
pub use search::{
    Arm, BUDGET_MICRODOLLARS, BUDGET_MODEL_CALLS, Change, Cost, Ended, Estimate, Features, Findings,
    Interval, Next, Outcome, Reach, SUSPECTS_MAX, Search, SearchError, Settings, Shot, Suspect, SuspectKind,
    Tally, Verdict, VerdictKind, estimate, rank,
};
