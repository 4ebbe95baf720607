//! How fast the pass is, beside scans of the same text in the same run: `cargo xtask redaction-bench` prints one table
//! of CPU time, `cargo bench` has Criterion measure.
#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints, and breaks where it cannot run"
)]

mod inputs;
mod scans;
mod table;

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};

use inputs::INPUTS;
use scans::{Scan, pass_streamed, pass_text};

const CRITERION_BYTES: usize = 64_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if arguments.first().is_some_and(|first| first == "table") {
        table::print(&arguments[1..]);
        return;
    }
    let mut criterion = Criterion::default().configure_from_args();
    throughput(&mut criterion);
    criterion.final_summary();
}

fn throughput(criterion: &mut Criterion) {
    let scan = Scan::new();
    for input in INPUTS {
        let text = (input.make)(CRITERION_BYTES);
        let mut group = criterion.benchmark_group(input.name);
        group
            .sampling_mode(SamplingMode::Flat)
            .sample_size(10)
            .warm_up_time(Duration::from_millis(200))
            .measurement_time(Duration::from_secs(3))
            .throughput(Throughput::BytesDecimal(text.len() as u64));
        let mut measure = |name, work: &dyn Fn(&str) -> usize| {
            group.bench_with_input(BenchmarkId::from_parameter(name), &text, |bencher, text| {
                bencher.iter(|| work(text));
            });
        };
        measure("pass", &pass_text);
        if !input.is_hostile {
            measure("pass-streamed", &pass_streamed);
        }
        measure("memchr", &|text| scan.equals(text));
        measure("aho-corasick", &|text| scan.literals(text));
        measure("copy", &|text| scan.copy(text));
        group.finish();
    }
}
