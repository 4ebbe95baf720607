//! What one call costs at the gate with 50 rules: frozen, digested, judged, and permitted.
//!
//! Also how many bytes that allocates, for arguments of three sizes.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot set up should stop, and it prints what it found"
)]

use std::alloc::System;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use probity_contract::{
    Access, Arguments, Bench, CallFacts, CallId, Effect, FrozenCall, Judgement, Label, Opinion, Permit,
    Policy, PolicyName, PrincipalId, Roster, RunId, Said, Seat, Target, ToolName, ToolSpec,
};
use probity_core::{LayeredRules, Mode, RuleFile, RuleLayer, RuleSource};
use serde_json::json;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const RULES: usize = 50;
const SAMPLES: usize = 20_000;

fn tools() -> Vec<ToolSpec> {
    let tool = |(name, effect): (&str, Effect)| ToolSpec {
        name: ToolName::new(name).unwrap(),
        description: "A tool.".to_owned(),
        input_schema: json!({ "type": "object", "properties": {
            "path": { "type": "string" }, "content": { "type": "string" }, "command": { "type": "string" },
            "url": { "type": "string" }, "to": { "type": "string" },
        } }),
        effect,
        server: None,
        sandbox: None,
        endorses: Vec::new(),
    };
    [
        ("fs_write", Effect::Idempotent),
        ("run", Effect::Once),
        ("http_get", Effect::Pure),
        ("pay", Effect::Once),
    ]
    .map(tool)
    .to_vec()
}

/// Half of the rules deny or ask, and the one that allows each call comes last, so that all of them are read.
fn rules() -> LayeredRules {
    let narrowing = |number: usize| match number % 4 {
        0 => format!("*(work/secret-{number}/**)"),
        1 => format!("run(rm-{number} *)"),
        2 => format!("http_get(*.evil-{number}.example)"),
        _ => format!("pay(to=MALLORY-{number}*)"),
    };
    let widening = |number: usize| match number % 3 {
        0 => format!("fs_write(work/docs-{number}/**)"),
        1 => format!("run(tool-{number} *)"),
        _ => format!("http_get(https://h-{number}.example/**)"),
    };
    let half = RULES / 2;
    let deny: Vec<String> = (0..half - 5).map(narrowing).collect();
    let ask: Vec<String> = (half - 5..half).map(narrowing).collect();
    let mut allow: Vec<String> = (0..half - 3).map(widening).collect();
    allow.extend(
        ["fs_write(work/docs/**)", "run(git *)", "http_get(https://h.example/**)"].map(str::to_owned),
    );
    assert_eq!(deny.len() + ask.len() + allow.len(), RULES);
    let file: RuleFile = serde_json::from_value(json!({ "allow": allow, "ask": ask, "deny": deny })).unwrap();
    let layer = RuleLayer { source: RuleSource::Task, file_name: "bench".to_owned(), file, may_widen: true };
    LayeredRules::new(PolicyName::new("rules").unwrap(), &[layer], &tools(), Mode::DENY).unwrap()
}

/// What is known of a call before it is frozen.
fn facts(tool: &ToolSpec, arguments: &serde_json::Value, targets: Vec<Target>) -> CallFacts {
    CallFacts {
        run: RunId::new("r").unwrap(),
        call: CallId(1),
        principal: PrincipalId::new("ada").unwrap(),
        tool: tool.name.clone(),
        tool_digest: tool.digest(),
        arguments: Arguments::from_value(arguments).unwrap(),
        targets,
        label: Label::untrusted(),
        operands: Vec::new(),
        arguments_from: Vec::new(),
    }
}

fn written(path: &str) -> Target {
    let (root, path, resolved) = ("work".to_owned(), path.to_owned(), path.to_owned());
    Target::Path { root, path, resolved, access: Access::Write, recursive: false }
}

/// From the facts to the permit, as a run does it: frozen with its digest, heard at both seats, ruled on.
fn admit(facts: CallFacts, bench: &Bench, rules: &LayeredRules) -> Permit {
    let mut judgement = Judgement::open(Arc::new(FrozenCall::freeze(facts).unwrap()), bench.clone());
    for seat in [Seat::Adjudicate, Seat::ExecuteRecheck] {
        let said = Said::Verdict(rules.verdict(judgement.call()));
        let opinion = Opinion { epoch: Some(rules.epoch()), ..Opinion::own(rules.name().clone(), said) };
        judgement.hear(seat, &[opinion]);
    }
    judgement.permit(0).unwrap()
}

fn gate(c: &mut Criterion) {
    let (tools, rules) = (tools(), rules());
    let bench = Bench::of(Roster::new(vec![rules.name().clone()]).unwrap());
    let argv = |words: &str| Target::Command { argv: words.split(' ').map(str::to_owned).collect() };
    let url = "https://h.example/a/b?c=d";
    let address = Target::Url {
        url: url.to_owned(),
        host: "h.example".to_owned(),
        port: 443,
        method: "GET".to_owned(),
    };
    let calls = [
        (
            "path",
            facts(
                &tools[0],
                &json!({ "path": "work/docs/a.md", "content": "hello" }),
                vec![written("docs/a.md")],
            ),
        ),
        (
            "command",
            facts(&tools[1], &json!({ "command": "git log --oneline" }), vec![argv("git log --oneline")]),
        ),
        ("address", facts(&tools[2], &json!({ "url": url }), vec![address])),
    ];
    let mut group = c.benchmark_group("50 rules, to a permit");
    for (name, facts) in &calls {
        group.bench_function(*name, |b| b.iter(|| admit(black_box(facts.clone()), &bench, &rules)));
        let mut micros: Vec<f64> = (0..SAMPLES)
            .map(|_| {
                let facts = facts.clone();
                let start = Instant::now();
                let permit = black_box(admit(black_box(facts), &bench, &rules));
                let took = start.elapsed().as_secs_f64() * 1e6;
                drop(permit);
                took
            })
            .collect();
        micros.sort_by(f64::total_cmp);
        let [p50, p99] = [50, 99].map(|percent| micros[SAMPLES * percent / 100]);
        println!("{name}: p50 {p50:.1} µs, p99 {p99:.1} µs");
    }
    group.finish();
    let mut each = Vec::new();
    for kib in [1, 16, 256] {
        let content = "x".repeat(kib * 1024);
        let facts = facts(
            &tools[0],
            &json!({ "path": "work/docs/a.md", "content": content }),
            vec![written("docs/a.md")],
        );
        let before = Region::new(ALLOCATOR);
        let permit = admit(facts, &bench, &rules);
        let bytes = before.change().bytes_allocated;
        println!("arguments of {kib} KiB: {bytes} bytes allocated");
        each.push(bytes);
        drop(permit);
    }
    // In proportion to the call, beside what the rules cost whatever its size.
    assert!(each[2] <= each[1] * 17, "{each:?}");
}

criterion_group!(benches, gate);
criterion_main!(benches);
