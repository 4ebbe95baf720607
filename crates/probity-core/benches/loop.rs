//! What a step of the loop costs with record and gate on, and whether it stays the same over a long run.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and breaks where it cannot run"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use probity_contract::{
    Durability, Effect, Emission, Ending, Event, Journal, JournalError, Limits, Observer,
};
use probity_core::{Host, Task, run_task};
use probity_testkit::{Acts, ScriptedModel, ScriptedPolicy, ScriptedTool, Turn, principal, run_id};

/// Takes the record and keeps nothing of it but its size.
#[derive(Default)]
struct Counting {
    lines: usize,
}

impl Journal for Counting {
    fn append(&mut self, lines: &[Emission], _durability: Durability) -> Result<(), JournalError> {
        self.lines += black_box(lines).len();
        Ok(())
    }
}

/// Notes when each turn began.
#[derive(Default)]
struct Stopwatch {
    turns: std::sync::Mutex<Vec<Instant>>,
}

impl Observer for Stopwatch {
    fn on_event(&self, event: &Event) {
        if matches!(event, Event::ModelStarted { .. }) {
            self.turns.lock().unwrap().push(Instant::now());
        }
    }
}

/// A task of `turns` turns, each with one call that is judged at both seats, run and recorded.
fn task(turns: u32) -> Task {
    let model = ScriptedModel::by(|request| match request.tools.is_empty() {
        true => Turn::text("done"),
        false => Turn::calls(&[("act", r#"{"path":"notes/today.md","limit":20}"#)]),
    });
    let limits = Limits { turns_max: turns, tool_calls_max: turns + 1, ..Limits::default() };
    Task::new(Arc::new(model.forgetful()), principal("ada"), "do it")
        .tool(Arc::new(ScriptedTool::new("act", Effect::Once, Acts::Echoes)))
        .policy(Arc::new(ScriptedPolicy::allowing()))
        .limits(limits)
}

async fn run(turns: u32, observer: Option<Arc<dyn Observer>>) {
    let host = Host { observer, ..Host::new(Box::new(Counting::default())) };
    let finished = run_task(task(turns), run_id("bench"), host).await;
    assert!(matches!(finished.map(|finished| finished.ending), Ok(Ending::WrappedUp { .. })));
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

fn turns(criterion: &mut Criterion) {
    let runtime = runtime();
    let mut group = criterion.benchmark_group("loop");
    group.measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_millis(500)).sample_size(10);
    for turns in [10_u32, 400] {
        group.throughput(Throughput::Elements(u64::from(turns)));
        group.bench_with_input(BenchmarkId::new("turns", turns), &turns, |bencher, turns| {
            bencher.iter(|| runtime.block_on(run(*turns, None)));
        });
    }
    group.finish();
}

/// The median time of the turns around the second and around the 200th, over several runs.
fn early_and_late(_criterion: &mut Criterion) {
    let runtime = runtime();
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        let watch = Arc::new(Stopwatch::default());
        runtime.block_on(run(400, Some(Arc::clone(&watch) as Arc<dyn Observer>)));
        let began = watch.turns.lock().unwrap().clone();
        let took: Vec<Duration> =
            began.windows(2).filter_map(|pair| Some(*pair.get(1)? - *pair.first()?)).collect();
        early.extend(took.iter().skip(1).take(5));
        late.extend(took.iter().skip(198).take(5));
    }
    println!(
        "turn 2: {:?}, turn 200: {:?} (medians of {})",
        median(&mut early),
        median(&mut late),
        early.len()
    );
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

criterion_group!(benches, turns, early_and_late);
criterion_main!(benches);
