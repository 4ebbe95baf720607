//! What it costs to append to the record of a live run, handed to the operating system.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set up should stop")]

use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use probity_contract::{
    CallId, Durability, Emission, Entry, Fact, Journal as _, Kept, Part, PartId, RunId, ToolOutcomeKind,
};
use probity_store::{FileJournal, Store};

const LINES: u64 = 1_000;

fn append(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = runtime.block_on(Store::open(&dir.path().join("store"))).unwrap();
    let mut runs = 0_u32;
    let mut begin = || -> FileJournal {
        runs += 1;
        store.begin(&RunId::new(format!("r{runs}")).unwrap()).unwrap()
    };

    let text = "a line of a file that a tool has read\n".repeat(54);
    let id = PartId::of(&text);
    let part = Emission::Part(Part { id, kept: Kept::Full(text.into()) });
    let entry = |seq| {
        let outcome = ToolOutcomeKind::Succeeded;
        let fact = Fact::ToolFinished {
            call: CallId(1),
            outcome,
            output: id,
            output_bytes: 2048,
            ran_ms: 3,
            readers: Default::default(),
            vouched: Vec::new(),
        };
        Emission::Entry(Entry { seq, at_ms: seq, fact })
    };
    let entries: Vec<_> = (0..LINES).map(entry).collect();
    let parts = vec![part; usize::try_from(LINES).unwrap()];

    let mut group = c.benchmark_group("append");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group.throughput(Throughput::Elements(LINES));
    for (name, lines) in [("entry", &entries), ("part of 2 kB", &parts)] {
        group.bench_function(name, |b| {
            let append_all = |mut journal: FileJournal| {
                for line in lines {
                    journal.append(std::slice::from_ref(line), Durability::Handed).unwrap();
                }
            };
            b.iter_batched(&mut begin, append_all, BatchSize::PerIteration);
        });
    }
    group.finish();
}

criterion_group!(benches, append);
criterion_main!(benches);
