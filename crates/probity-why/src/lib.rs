//! Which piece of context made an answer what it is, tested by counterfactuals.

mod confirm;
mod fork;
mod queries;
mod report;
mod search;
mod trace_tools;

pub use confirm::{
    CHAIN_STEPS_MAX, Candidate, ChainStep, Confirm, ConfirmChain, ConfirmError, Confirmed, LiveReader,
    MODEL_TIMEOUT, SENTENCES_MAX, candidates, candidates_with_replies, candidates_within, play,
};

pub use fork::{
    Asked, CallKey, Fork, ForkChange, ForkEnd, ForkError, ForkStep, Judge, Kept, KeptError, LIVE_READS_MAX,
    LiveRead, Recorded, TURNS_BEYOND_MAX, Target, Unjudged, stand_in, text_of, words_of,
};

pub use queries::{
    TRACE_ANSWER_BYTES_MAX, TRACE_ROWS_MAX, TRACE_TEXT_BYTES_MAX, TraceAnswer, TraceError, TraceQuery,
    TraceSource,
};

pub use report::{
    AskError, AskedAtom, AskedPart, Asking, AtomSource, CallPair, Chain, Composition, Counts,
    DIFFERENCES_TOLD_MAX, LEADS_MAX, Lead, Link, Place, Share, TwoRuns, UNKNOWN_MAX, WINDOW_ITEMS_MAX, Why,
    WindowPair,
};
pub use search::{
    Arm, BUDGET_MICRODOLLARS, BUDGET_MODEL_CALLS, Change, Cost, Ended, Estimate, Features, Findings,
    Interval, Next, Outcome, Reach, SUSPECTS_MAX, Search, SearchError, Settings, Shot, Suspect, SuspectKind,
    Tally, Verdict, VerdictKind, estimate, rank,
};
pub use trace_tools::trace_tools;
