//! How fast a record is read and checked, in bytes a second, and what one line costs to encode.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot set up should stop"
)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use probity_contract::{
    Body, CallId, ContentSetting, Effect, Emission, Entry, Fact, ItemId, Kept, Label, Limits, ModelName,
    ModelParams, Origin, Part, PartId, PrincipalId, RECORD_VERSION, RunId, RunStarted, ToolOutcomeKind,
};
use probity_trace::{FRAME_HEAD_BYTES, FrameReader, Record, encode_frame, encode_header};
use sha2::{Digest as _, Sha256};

const TURNS: u32 = 500;

fn run_started() -> Fact {
    Fact::RunStarted(Box::new(RunStarted {
        version: RECORD_VERSION,
        run: RunId::new("bench").unwrap(),
        title: "bench".into(),
        principal: PrincipalId::new("bench").unwrap(),
        parent: None,
        imported: None,
        model: ModelName::new("rules/bench").unwrap(),
        prices: None,
        params: ModelParams::default(),
        tools: vec![],
        policies: vec![],
        inherited: Vec::new(),
        limits: Limits::default(),
        content: ContentSetting::Full,
        output_schema: None,
        started_at_unix_ms: 0,
    }))
}

/// A run whose every turn has a tool result of 2 kB, its item, a start and an end.
fn emissions() -> Vec<Emission> {
    let mut emissions = vec![Emission::Entry(Entry { seq: 0, at_ms: 0, fact: run_started() })];
    let mut seq = 0;
    for turn in 1..=TURNS {
        let text = format!("{turn} {}", "a line of a file that a tool has read\n".repeat(54));
        let id = PartId::of(&text);
        emissions.push(Emission::Part(Part { id, kept: Kept::Full(text.into()) }));
        let call = CallId(turn);
        let item = Fact::ItemAdded {
            item: ItemId(turn),
            origin: Origin::Tool(call),
            label: Label::untrusted(),
            body: Body::Notice { text: id },
        };
        let started = Fact::ToolStarted { call, effect: Effect::Pure, redeems: None };
        let finished = Fact::ToolFinished {
            call,
            outcome: ToolOutcomeKind::Succeeded,
            output: id,
            output_bytes: 2048,
            ran_ms: 3,
            readers: Default::default(),
            vouched: Vec::new(),
        };
        for fact in [item, started, finished] {
            seq += 1;
            emissions.push(Emission::Entry(Entry { seq, at_ms: seq, fact }));
        }
    }
    emissions
}

fn read(c: &mut Criterion) {
    let emissions = emissions();
    let mut bytes = Vec::new();
    encode_header(&mut bytes);
    emissions.iter().for_each(|emission| encode_frame(emission, &mut bytes).unwrap());

    let mut group = c.benchmark_group("record");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("frames", |b| b.iter(|| FrameReader::new(black_box(&bytes)).count()));
    group.bench_function("read", |b| b.iter(|| Record::read(black_box(&bytes)).unwrap()));
    let record = Record::read(&bytes).unwrap().record;
    group.bench_function("summary", |b| b.iter(|| black_box(&record).summary()));
    group.throughput(Throughput::Elements(emissions.len() as u64));
    let mut out = Vec::with_capacity(bytes.len());
    group.bench_function("encode", |b| {
        b.iter(|| {
            out.clear();
            emissions.iter().for_each(|emission| encode_frame(emission, &mut out).unwrap());
        });
    });
    // What it costs to append an entry with its leaf of a Merkle tree (RFC 6962): the hash of a digest, since leaves hold
    // digests only. Texts are no leaves: entries name them by digest. No record has leaves yet.
    let entries: Vec<_> = emissions.iter().filter(|line| matches!(line, Emission::Entry(_))).collect();
    group.throughput(Throughput::Elements(1));
    let mut at = 0;
    group.bench_function("append with leaf hash", |b| {
        b.iter(|| {
            out.clear();
            encode_frame(entries[at], &mut out).unwrap();
            at = (at + 1) % entries.len();
            let digest = blake3::hash(&out[FRAME_HEAD_BYTES..]);
            Sha256::new().chain_update([0]).chain_update(digest.as_bytes()).finalize()
        });
    });
    group.finish();
}

criterion_group!(benches, read);
criterion_main!(benches);
