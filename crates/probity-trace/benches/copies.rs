//! How fast sources are read and searched, in bytes of sources a second.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use probity_trace::{CopyIndex, CopySource, VERBATIM_BYTES_MIN, VerbatimIndex, atoms_of_text};

const SOURCES: usize = 200;
const SOURCE_BYTES: usize = 50_000;

/// Tool results as agents have them: half of them JSON with numbers, dates and ids, half of them prose.
fn sources() -> Vec<String> {
    let mut seed = 1_u64;
    let mut next = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut source = |is_json: bool| {
        let mut text = String::from(if is_json { "[" } else { "" });
        while text.len() < SOURCE_BYTES {
            if is_json {
                let _ = write!(
                    text,
                    "{{\"flight_number\": \"HAT{:03}\", \"date\": \"2024-05-{:02}\", \"departure\": \"{:02}:30:00\", \"economy\": {}, \
                     \"note\": \"seat near\\nthe window\"}}, ",
                    next(1000),
                    1 + next(28),
                    next(24),
                    next(900)
                );
            } else {
                let word = [
                    "the",
                    "reservation",
                    "was",
                    "changed",
                    "by",
                    "customer",
                    "of",
                    "Springfield",
                    "policy",
                    "before",
                ];
                let _ =
                    write!(text, "{} ", word.get(usize::try_from(next(10)).unwrap_or(0)).unwrap_or(&"and"));
                if next(20) == 0 {
                    let _ = write!(text, "${}.{:02}. ", next(9000), next(100));
                }
            }
        }
        text.push_str(if is_json { "{}]" } else { "" });
        text
    };
    (0..SOURCES).map(|number| source(number % 2 == 0)).collect()
}

fn listed(texts: &[String]) -> impl Iterator<Item = CopySource<'_, usize>> {
    texts.iter().enumerate().map(|(key, text)| CopySource { key, text })
}

fn answer() -> String {
    let line = "Flight **HAT123** leaves on May 20th at 7:30 PM for $245.10, and Mia Li has two bags for the reservation of Springfield.\n";
    line.repeat(40)
}

fn copies(criterion: &mut Criterion) {
    let texts = sources();
    let bytes = texts.iter().map(|text| text.len() as u64).sum();
    let answer = answer();
    let mut group = criterion.benchmark_group("copies");
    group
        .throughput(Throughput::BytesDecimal(bytes))
        .sample_size(10)
        .measurement_time(Duration::from_secs(5));
    group.bench_function("read-and-find", |bencher| {
        bencher.iter(|| {
            let index = CopyIndex::new(listed(&texts));
            let atoms = atoms_of_text(&answer);
            atoms.iter().map(|atom| index.find(atom).holders.len()).sum::<usize>()
        });
    });
    group.bench_function("read", |bencher| bencher.iter(|| CopyIndex::new(listed(black_box(&texts)))));
    group.bench_function("verbatim", |bencher| {
        bencher.iter(|| VerbatimIndex::new(listed(&texts)).spans(&answer, VERBATIM_BYTES_MIN).len());
    });
    let index = CopyIndex::new(listed(&texts));
    let atoms = atoms_of_text(&answer);
    group.throughput(Throughput::Elements(atoms.len() as u64));
    group.bench_function("find", |bencher| {
        bencher.iter(|| atoms.iter().map(|atom| index.find(atom).holders.len()).sum::<usize>());
    });
    let operands = index.operands(SOURCES);
    group.bench_function("computed", |bencher| {
        bencher.iter(|| atoms.iter().map(|atom| operands.computed(atom).hits).sum::<usize>());
    });
    group.finish();
}

criterion_group!(benches, copies);
criterion_main!(benches);
