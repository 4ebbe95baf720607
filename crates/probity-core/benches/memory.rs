//! How many bytes a run holds while it waits for its model.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and breaks where it cannot run"
)]

use std::alloc::System;
use std::sync::Arc;

use probity_contract::{Cancel, Durability, Effect, Emission, Journal, JournalError, Limits};
use probity_core::{Host, SystemClock, Task, run_task};
use probity_testkit::{Acts, ScriptedModel, ScriptedPolicy, ScriptedTool, Turn, principal, run_id};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const RUNS: usize = 1_000;
const BYTES_PER_RUN_MAX: usize = 20 * 1024;

/// A run that has one tool call behind it and waits for the model's second answer.
fn waiting_task(model: &ScriptedModel) -> Task {
    Task::new(Arc::new(model.clone()), principal("ada"), "do it")
        .tool(Arc::new(ScriptedTool::new("act", Effect::Once, Acts::Echoes)))
        .policy(Arc::new(ScriptedPolicy::allowing()))
        .limits(Limits::default())
}

/// Keeps nothing: what a record holds is not the run's.
struct Nowhere;

impl Journal for Nowhere {
    fn append(&mut self, _lines: &[Emission], _durability: Durability) -> Result<(), JournalError> {
        Ok(())
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let model = ScriptedModel::by(|request| match request.items.len() {
            1 => Turn::calls(&[("act", r#"{"path":"notes/today.md"}"#)]),
            _ => Turn::hangs(),
        });
        let model = model.forgetful();
        let before = Region::new(ALLOCATOR);
        let mut running = tokio::task::JoinSet::new();
        for _ in 0..RUNS {
            let host = Host {
                journal: Box::new(Nowhere),
                clock: Arc::new(SystemClock::new()),
                observer: None,
                failures: None,
                approver: None,
                consultant: None,
                redeemer: None,
                children: None,
                keeper: None,
                cancel: Cancel::new(),
            };
            running.spawn(run_task(waiting_task(&model), run_id("bench"), host));
        }
        while model.streams().started() < 2 * RUNS {
            tokio::task::yield_now().await;
        }
        let change = before.change();
        let held = change.bytes_allocated.saturating_sub(change.bytes_deallocated);
        println!("{RUNS} runs that wait for their model hold {} bytes each", held / RUNS);
        assert!(held / RUNS <= BYTES_PER_RUN_MAX, "more than {BYTES_PER_RUN_MAX} bytes each");
    });
}
