//! What it costs to have what passes looked at: by nobody, by ten interceptors at one point, by one that holds the stream.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and breaks where it cannot run"
)]

use std::alloc::System;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use probity_contract::{
    Durability, Effect, Emission, Event, FnInterceptor, HookVerdict, Interceptor, InterceptorName, Journal,
    JournalError, Limits, Observer, Point, Points,
};
use probity_core::{Host, Task, run_task};
use probity_testkit::{Acts, ScriptedModel, ScriptedPolicy, ScriptedTool, Turn, principal, run_id};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const TURNS: u32 = 200;
const ROUNDS: u32 = 51;

struct Nowhere;

impl Journal for Nowhere {
    fn append(&mut self, lines: &[Emission], _durability: Durability) -> Result<(), JournalError> {
        black_box(lines);
        Ok(())
    }
}

struct Listening;

impl Observer for Listening {
    fn on_event(&self, event: &Event) {
        black_box(event);
    }
}

fn letting_through(number: usize, points: Points) -> Arc<dyn Interceptor> {
    let name = InterceptorName::new(format!("number {number}")).unwrap();
    Arc::new(FnInterceptor::new(name, points, |_| Ok(HookVerdict::allow())))
}

/// A task of `TURNS` turns with one call each.
async fn run(interceptors: usize, points: Points) {
    let model = ScriptedModel::by(|request| match request.tools.is_empty() {
        true => Turn::text("done"),
        false => Turn::calls(&[("act", r#"{"path":"notes/today.md","limit":20}"#)]),
    });
    let limits = Limits { turns_max: TURNS, tool_calls_max: TURNS + 1, ..Limits::default() };
    let task = Task::new(Arc::new(model.forgetful()), principal("ada"), "do it")
        .title("a bench")
        .tool(Arc::new(ScriptedTool::new("act", Effect::Once, Acts::Echoes)))
        .policy(Arc::new(ScriptedPolicy::allowing()))
        .limits(limits);
    let task = (0..interceptors).fold(task, |task, number| task.interceptor(letting_through(number, points)));
    run_task(task, run_id("bench"), Host::new(Box::new(Nowhere))).await.unwrap();
}

/// One answer of a megabyte, streamed.
async fn stream(held: bool) {
    let turn = Turn::text(&"a word and another ".repeat(55_000)).streamed_by(64);
    let task = Task::new(Arc::new(ScriptedModel::new([turn]).forgetful()), principal("ada"), "do it");
    let task = if held { task.interceptor(letting_through(1, Points::one(Point::Output))) } else { task };
    let host = Host { observer: Some(Arc::new(Listening)), ..Host::new(Box::new(Nowhere)) };
    run_task(task, run_id("bench"), host).await.unwrap();
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

fn points(criterion: &mut Criterion) {
    let runtime = runtime();
    let mut group = criterion.benchmark_group("boundary");
    group.measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_millis(500)).sample_size(10);
    let at_calls = Points::one(Point::PreToolCall);
    for (name, interceptors, points) in [
        ("nobody", 0, Points::NONE),
        ("one at pre_tool_call", 1, at_calls),
        ("ten at pre_tool_call", 10, at_calls),
        ("one everywhere", 1, Points::ALL),
    ] {
        group.bench_function(BenchmarkId::new("200 turns", name), |bencher| {
            bencher.iter(|| runtime.block_on(run(interceptors, points)));
        });
    }
    for held in [false, true] {
        group.bench_with_input(BenchmarkId::new("1 MB streamed, held", held), &held, |bencher, held| {
            bencher.iter(|| runtime.block_on(stream(*held)));
        });
    }
    group.finish();
}

/// The figures in plain words: what a point costs, and what is allocated.
fn told(_criterion: &mut Criterion) {
    // A profile is to show the benchmark that was asked for and nothing else.
    if std::env::args().any(|argument| argument == "--profile-time") {
        return;
    }
    let runtime = runtime();
    let timed = |interceptors: usize, points: Points| {
        let began = Instant::now();
        runtime.block_on(run(interceptors, points));
        began.elapsed() / TURNS
    };
    let allocated = |interceptors: usize, points: Points| {
        let region = Region::new(ALLOCATOR);
        runtime.block_on(run(interceptors, points));
        region.change().allocations
    };
    let at_calls = Points::one(Point::PreToolCall);
    // Side by side in each round, so that a neighbour on the machine slows all of them down alike.
    let rounds: Vec<[Duration; 3]> =
        (0..ROUNDS).map(|_| [timed(0, Points::NONE), timed(1, at_calls), timed(10, at_calls)]).collect();
    let median = |of: &dyn Fn(&[Duration; 3]) -> Duration| {
        let mut times: Vec<Duration> = rounds.iter().map(of).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    };
    let (nobody, elsewhere) = (allocated(0, Points::NONE), allocated(1, Points::one(Point::AgentShutdown)));
    println!("a turn with nobody: {:?}, {nobody} allocations in {TURNS} turns", median(&|round| round[0]));
    let more = elsewhere.saturating_sub(nobody);
    println!("with one who is heard at the end only: {more} allocations more in all, none of them in a turn");
    println!("one at pre_tool_call: {:?} more a point", median(&|round| round[1].saturating_sub(round[0])));
    println!("ten at pre_tool_call: {:?} more a point", median(&|round| round[2].saturating_sub(round[0])));
    let bytes = |held: bool| {
        let region = Region::new(ALLOCATOR);
        runtime.block_on(stream(held));
        region.change().bytes_allocated
    };
    let (free, held) = (bytes(false), bytes(true));
    println!("1 MB streamed: {free} bytes allocated, held: {held}");
}

criterion_group!(benches, points, told);
criterion_main!(benches);
