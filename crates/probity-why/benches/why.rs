//! How long it takes to say where an answer came from, without a model, in a run of 200 messages.

#![expect(clippy::unwrap_used, reason = "a bench")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use probity_contract::{
    Body, CallId, ContentSetting, Emission, Ending, Entry, Fact, ItemId, Kept, Label, Limits, ModelCallId,
    ModelName, ModelParams, Origin, Part, PartId, PrincipalId, RECORD_VERSION, ReplyPart, RunId, RunStarted,
    Stop, ToolChoice, Usage, WindowDelta,
};
use probity_trace::{Graph, Record, encode_frame, encode_header};
use probity_why::{Asking, Why};

/// Messages of the run, half of them results of about two kilobytes, each with numbers, dates and ids.
const MESSAGES: u32 = 200;

struct Writer {
    bytes: Vec<u8>,
    seq: u64,
}

impl Writer {
    fn fact(&mut self, fact: Fact) {
        let entry = Entry { seq: self.seq, at_ms: self.seq, fact };
        encode_frame(&Emission::Entry(entry), &mut self.bytes).unwrap();
        self.seq += 1;
    }

    fn part(&mut self, text: &str) -> PartId {
        let id = PartId::of(text);
        let part = Part { id, kept: Kept::Full(Arc::from(text)) };
        encode_frame(&Emission::Part(part), &mut self.bytes).unwrap();
        id
    }

    fn item(&mut self, item: u32, origin: Origin, body: Body) {
        self.fact(Fact::ItemAdded { item: ItemId(item), origin, label: Label::untrusted(), body });
    }
}

fn result(turn: u32) -> String {
    let lines = (0..20).map(|line| {
        let number = turn * 131 + line * 17;
        format!("{{\"order\": \"W{number:07}\", \"price\": {number}.{line:02}, \"city\": \"Port {number}\", \"day\": \"2024-05-{:02}\"}}", line + 1)
    });
    format!("[{}]", lines.collect::<Vec<_>>().join(",\n"))
}

fn record() -> Vec<u8> {
    let mut writer = Writer { bytes: Vec::new(), seq: 0 };
    encode_header(&mut writer.bytes);
    writer.fact(Fact::RunStarted(Box::new(RunStarted {
        version: RECORD_VERSION,
        run: RunId::new("run-1").unwrap(),
        title: "orders".into(),
        principal: PrincipalId::new("ada").unwrap(),
        parent: None,
        imported: None,
        model: ModelName::new("rules/m").unwrap(),
        prices: None,
        params: ModelParams::default(),
        tools: Vec::new(),
        policies: Vec::new(),
        inherited: Vec::new(),
        limits: Limits::default(),
        content: ContentSetting::Full,
        output_schema: None,
        started_at_unix_ms: 0,
    })));
    let text = writer.part("Which orders of Port 1310 are due, and what do they come to?");
    writer.item(1, Origin::Principal, Body::Person { text });
    let mut items = 1;
    let mut sent = 0;
    for turn in 1..=MESSAGES / 2 {
        let call = ModelCallId(turn);
        let added = (sent + 1..=items).map(ItemId).collect();
        writer.fact(Fact::ModelCalled {
            call,
            window: WindowDelta { keep: sent, added },
            tool_choice: ToolChoice::Auto,
            tools_offered: true,
            output_tokens_max: None,
        });
        sent = items;
        let is_last = turn == MESSAGES / 2;
        let arguments = format!("{{\"order\": \"W{:07}\"}}", turn * 131);
        let part = if is_last {
            ReplyPart::text(format!(
                "Order W{:07} of Port 1310 is due on 2024-05-07 with 1,310.00 EUR, order W0002637 on May 3rd; together they \
                 come to 3,947.17 EUR, 12.5 % more than in Rosenheim. Write to orders@port.example about \"late delivery\".",
                1310
            ))
        } else {
            ReplyPart::call(format!("call-{turn}"), "order_read", arguments.clone())
        };
        let part = writer.part(&serde_json::to_string(&part).unwrap());
        items += 1;
        writer.item(items, Origin::Model(call), Body::Reply { parts: vec![part] });
        writer.fact(Fact::ModelReplied {
            call,
            item: ItemId(items),
            stop: Stop::EndTurn,
            usage: Usage::default(),
            model: None,
            response_id: None,
        });
        if !is_last {
            let (id, arguments) = (CallId(turn), writer.part(&arguments));
            let provider_id = format!("call-{turn}");
            writer.fact(Fact::CallProposed {
                call: id,
                by: call,
                provider_id: provider_id.clone(),
                tool: "order_read".into(),
                arguments,
            });
            let text = writer.part(&result(turn));
            items += 1;
            let body =
                Body::ToolResult { call: id, provider_id, tool: "order_read".into(), text, is_error: false };
            writer.item(items, Origin::Tool(id), body);
        }
    }
    let (usage, answer) = (Usage::default(), Some(ItemId(items)));
    writer.fact(Fact::Ended { ending: Ending::Answered, answer, usage, cost_usd: None });
    writer.bytes
}

fn why(c: &mut Criterion) {
    let bytes = record();
    let read = Record::read(&bytes).unwrap().record;
    c.bench_function("why/200 messages", |b| {
        b.iter(|| {
            let graph = Graph::of(&[&read]);
            black_box(Why::of(&graph, &Asking::Answer).unwrap())
        });
    });
    c.bench_function("why/200 messages, the record read first", |b| {
        b.iter(|| {
            let read = Record::read(&bytes).unwrap().record;
            let graph = Graph::of(&[&read]);
            black_box(Why::of(&graph, &Asking::Answer).unwrap())
        });
    });
}

criterion_group!(benches, why);
criterion_main!(benches);
