//! Which piece of context made an answer what it is, tested by counterfactuals.

mod search;

pub use search::{
    Arm, BUDGET_MICRODOLLARS, BUDGET_MODEL_CALLS, Change, Cost, Ended, Estimate, Features, Findings,
    Interval, Next, Outcome, Reach, SUSPECTS_MAX, Search, SearchError, Settings, Shot, Suspect, SuspectKind,
    Tally, Verdict, VerdictKind, estimate, rank,
};
