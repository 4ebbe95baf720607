//! Scripted models, policies, people and tools, a clock that tests move, a journal in memory, and the corpora.
//!
//! Used as a dev-dependency only. Everything here is deterministic and belongs to no runtime: what waits, waits for a
//! value that the test holds ([`probity_contract::Cancel`] as a starting signal, [`Blocker`] for a blocked thread), never
//! for time. Handles are cheap to clone and share what they collect.

mod approver;
mod blocker;
mod children;
mod clock;
mod corpora;
mod gauge;
mod journal;
mod meeting;
mod model;
mod names;
mod policy;
mod redaction;
mod scenarios;
mod tool;
mod watcher;

pub use approver::ScriptedApprover;
pub use blocker::Blocker;
pub use children::MemoryChildren;
pub use clock::FakeClock;
pub use corpora::{corpora_dir, corpus};
pub use gauge::{Gauge, Guard};
pub use journal::MemoryJournal;
pub use meeting::Meeting;
pub use model::{Asked, ScriptedModel, Turn};
pub use names::{fake_token, model_name, policy_name, principal, run_id, tool_name};
pub use policy::{Judges, ScriptedPolicy};
pub use redaction::{
    RedactionFigure, RedactionLabel, RedactionOutcome, RedactionRow, RedactionScore, RedactionTarget, Share,
    redaction_figures, redaction_rows, removed_by_pass,
};
pub use scenarios::{ScenarioRow, scenario_rows};
pub use tool::{Acts, ScriptedTool, Start};
pub use watcher::Watcher;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks what a panicking test double may have left poisoned; the collected values are still whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Panics, where a test wants something to panic.
#[expect(clippy::panic, reason = "a test double breaks when it is told to")]
fn break_down(words: String) -> ! {
    std::panic::panic_any(words)
}
