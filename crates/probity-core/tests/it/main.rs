//! The machine and its driver, from outside.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::wildcard_enum_match_arm,
    reason = "tests"
)]

mod agent_hooks;
mod answers;
mod approvals;
mod bindings;
mod boundary;
mod breaking;
mod canaries;
mod cancel;
mod checkpoints;
mod children;
mod children_boundary;
mod children_budgets;
mod children_ends;
mod children_laws;
mod content;
mod desk;
mod effects;
mod exploring;
mod faults;
mod faults_resumed;
mod gate;
mod graph;
mod inquiry;
mod interleavings;
mod journal;
mod labels;
mod limits;
mod machine;
mod machine_endings;
mod machine_order;
mod model;
mod observer;
mod output;
mod parallel;
mod peer;
mod record_check;
mod reference;
mod replays;
mod resuming;
mod rule_files;
mod scene;
mod seats;
mod shell;
mod simulator;
mod snapshot;
mod tools;
mod ui;

/// Counts the memory that is asked for.
#[global_allocator]
static ALLOCATOR: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;
