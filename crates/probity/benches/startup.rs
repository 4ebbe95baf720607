//! How long a person waits for the program itself: to start, and to list what it has stored.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set up should stop")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};

/// Runs in the directory that is listed.
const RUNS: usize = 100;

fn command(data: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_probity"));
    command.args(args).env_clear().env("PROBITY_DATA_DIR", data);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn startup(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let run = |args: &[&str]| assert!(command(&data, args).status().unwrap().success());
    let mut group = c.benchmark_group("startup");
    group.sample_size(20).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    group.bench_function("--version", |b| b.iter(|| run(&["--version"])));
    (0..RUNS).for_each(|_| run(&["demo"]));
    group.bench_function("runs list of 100 runs", |b| b.iter(|| run(&["runs", "list", "--limit", "100"])));
    group.finish();
}

criterion_group!(benches, startup);
criterion_main!(benches);
