//! What a graph of a record of a million entries costs: to read the record, to build it, to slice it from its end.
//!
//! Bytes of the graph for an entry are printed first. The figure for a slice is that of a full one: everything is reached.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark that cannot set up should stop")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use probity_contract::{
    Body, CallId, ContentSetting, Digest, Effect, Emission, Ending, Entry, Fact, ItemId, Kept, Label, Limits,
    ModelCallId, ModelName, ModelParams, Origin, Part, PartId, PrincipalId, RECORD_VERSION, Readers,
    ReplyPart, RunId, RunStarted, Seat, Stop, ToolChoice, ToolOutcomeKind, Usage, WindowDelta,
};
use probity_trace::{Follow, Graph, Record, RunAt, encode_frame, encode_header};

const ENTRIES: u64 = 1_000_000;

/// The bytes of a record as they are written.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    seq: u64,
}

impl Writer {
    fn part(&mut self, text: &str) -> PartId {
        let id = PartId::of(text);
        encode_frame(&Emission::Part(Part { id, kept: Kept::Full(text.into()) }), &mut self.bytes).unwrap();
        id
    }

    fn fact(&mut self, fact: Fact) {
        let entry = Entry { seq: self.seq, at_ms: self.seq, fact };
        encode_frame(&Emission::Entry(entry), &mut self.bytes).unwrap();
        self.seq += 1;
    }

    fn item(&mut self, item: u32, origin: Origin, body: Body) {
        self.fact(Fact::ItemAdded { item: ItemId(item), origin, label: Label::untrusted(), body });
    }
}

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

/// One run of a million entries: in each turn the whole conversation so far is sent, and one call is made.
fn bytes() -> Vec<u8> {
    let mut writer = Writer::default();
    encode_header(&mut writer.bytes);
    writer.fact(run_started());
    let text = writer.part("what does it cost?");
    writer.item(1, Origin::Principal, Body::Person { text });
    let reply = writer.part(&serde_json::to_string(&ReplyPart::call("", "read", "{}")).unwrap());
    let arguments = writer.part("{}");
    let digest = Digest::of("bench", &[]);
    let mut added = vec![ItemId(1)];
    let mut turn = 0;
    while writer.seq + 10 < ENTRIES {
        turn += 1;
        let (by, call, item) = (ModelCallId(turn), CallId(turn), 2 * turn);
        let keep = if turn == 1 { 0 } else { 2 * turn - 3 };
        writer.fact(Fact::ModelCalled {
            call: by,
            window: WindowDelta { keep, added: std::mem::take(&mut added) },
            tool_choice: ToolChoice::Auto,
            tools_offered: true,
            output_tokens_max: None,
        });
        writer.item(item, Origin::Model(by), Body::Reply { parts: vec![reply] });
        let (stop, usage) = (Stop::ToolCalls, Usage::default());
        let replied =
            Fact::ModelReplied { call: by, item: ItemId(item), stop, usage, model: None, response_id: None };
        writer.fact(replied);
        let (provider_id, tool) = (String::new(), "read".to_owned());
        writer.fact(Fact::CallProposed { call, by, provider_id, tool, arguments });
        writer.fact(Fact::CallFrozen {
            call,
            digest,
            tool_digest: digest,
            arguments,
            targets: Vec::new(),
            operands: Vec::new(),
            arguments_from: Vec::new(),
            label: Label::untrusted(),
        });
        writer.fact(Fact::Judged { call, seat: Seat::Adjudicate, opinions: Vec::new() });
        writer.fact(Fact::ToolStarted { call, effect: Effect::Pure, redeems: None });
        let output = writer.part(&format!("{turn} costs 3"));
        writer.fact(Fact::ToolFinished {
            call,
            outcome: ToolOutcomeKind::Succeeded,
            output,
            output_bytes: 1,
            ran_ms: 1,
            readers: Readers::Everyone,
            vouched: Vec::new(),
        });
        let (provider_id, tool) = (String::new(), "read".to_owned());
        let body = Body::ToolResult { call, provider_id, tool, text: output, is_error: false };
        writer.item(item + 1, Origin::Tool(call), body);
        added = vec![ItemId(item), ItemId(item + 1)];
    }
    let last = 2 * turn;
    while writer.seq + 1 < ENTRIES {
        writer.fact(Fact::FailureReported {
            call: None,
            seat: None,
            who: "sink".into(),
            error: "full".into(),
        });
    }
    let (ending, answer, usage) = (Ending::Answered, Some(ItemId(last + 1)), Usage::default());
    writer.fact(Fact::Ended { ending, answer, usage, cost_usd: None });
    writer.bytes
}

fn slice(c: &mut Criterion) {
    let bytes = bytes();
    let record = Record::read(&bytes).unwrap().record;
    let entries = record.lines().len();
    let graph = Graph::of(&[&record]);
    let all = graph.backward(graph.end(RunAt::FIRST), Follow::DataAndControl);
    println!(
        "{entries} entries: {} nodes, {} edges, {:.1} bytes of graph an entry ({:.1} of record); {} nodes reached",
        graph.len(),
        graph.edge_count(),
        graph.bytes() as f64 / entries as f64,
        bytes.len() as f64 / entries as f64,
        all.len(),
    );
    let mut group = c.benchmark_group("slice");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(5));
    group.throughput(Throughput::Elements(entries as u64));
    group.bench_function("read the record", |b| b.iter(|| Record::read(black_box(&bytes)).unwrap()));
    group.bench_function("build the graph", |b| b.iter(|| Graph::of(black_box(&[&record]))));
    for (name, follow) in [("data", Follow::Data), ("data and control", Follow::DataAndControl)] {
        let from = graph.end(RunAt::FIRST);
        group.bench_function(format!("backward, {name}"), |b| {
            b.iter(|| graph.backward(black_box(from), follow).len());
        });
    }
    let question = graph.item(RunAt::FIRST, ItemId(1));
    group.bench_function("forward, data", |b| {
        b.iter(|| graph.forward(black_box(question), Follow::Data).len());
    });
    let all = graph.backward(graph.end(RunAt::FIRST), Follow::DataAndControl);
    group.bench_function("list what is reached", |b| b.iter(|| black_box(&all).nodes().count()));
    group.finish();
}

criterion_group!(benches, slice);
criterion_main!(benches);
