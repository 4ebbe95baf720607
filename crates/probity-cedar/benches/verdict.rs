//! What one verdict costs with 50 policies, from frozen call to words.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot set up should stop, and it prints what it found"
)]

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use probity_cedar::{CedarPolicy, CedarSource};
use probity_contract::{
    Access, Arguments, CallFacts, CallId, Effect, FrozenCall, Label, PolicyName, PrincipalId, RunId, Seat,
    Target, ToolName, ToolSpec,
};
use serde_json::json;

const POLICIES: usize = 50;
const TOOLS: usize = 10;
const SAMPLES: usize = 20_000;

fn tools() -> Vec<ToolSpec> {
    let schema = json!({ "type": "object", "required": ["amount", "to"], "properties": {
        "amount": { "type": "number" },
        "to": { "type": "string" },
        "memo": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
        "tags": { "type": "array", "items": { "type": "string" } },
        "options": { "type": "object", "properties": { "retries": { "type": "integer" }, "any": {} } },
    } });
    let tool = |number| ToolSpec {
        name: ToolName::new(format!("tool-{number}")).unwrap(),
        description: "A tool.".to_owned(),
        input_schema: schema.clone(),
        effect: Effect::Once,
        server: None,
        sandbox: None,
        endorses: Vec::new(),
    };
    (0..TOOLS).map(tool).collect()
}

/// Half of the policies speak of every tool, half of one each.
fn policies() -> String {
    let policy = |number: usize| {
        match number % 4 {
        0 => format!(
            "permit(principal, action == Probity::Action::\"tool-{}\", resource) when {{ \
             context.arguments.amount.lessThan(decimal(\"{number}.5\")) && context.arguments.to like \"acme-*\" }};",
            number % TOOLS
        ),
        1 => format!(
            "forbid(principal, action, resource is Probity::Path) when {{ resource.path like \"secret-{number}/*\" }};"
        ),
        2 => format!(
            "@ask(\"look\") permit(principal, action == Probity::Action::\"tool-{}\", resource) when {{ \
             [\"a\", \"b\", \"c{number}\"].containsAny(context.arguments.tags) }} unless {{ !(context.arguments has tags) }};",
            number % TOOLS
        )
        .replace("when { [", "when { context.arguments has tags && ["),
        _ => format!(
            "forbid(principal, action, resource) when {{ \
             context.labels.integrity == Probity::Integrity::\"untrusted\" && principal.id == \"eve-{number}\" }};"
        ),
    }
    };
    (0..POLICIES).map(policy).collect()
}

fn call(tool: &ToolSpec, targets: Vec<Target>) -> FrozenCall {
    let arguments = json!({
        "amount": 12.25, "to": "acme-7", "memo": null, "tags": ["x", "y"],
        "options": { "retries": 3, "any": { "deep": [1, 2, 3] } },
    });
    FrozenCall::freeze(CallFacts {
        run: RunId::new("r").unwrap(),
        call: CallId(1),
        principal: PrincipalId::new("ada").unwrap(),
        tool: tool.name.clone(),
        tool_digest: tool.digest(),
        arguments: Arguments::from_value(&arguments).unwrap(),
        targets,
        label: Label::system(),
        operands: Vec::new(),
        arguments_from: Vec::new(),
    })
    .unwrap()
}

fn path(path: &str) -> Target {
    Target::Path {
        root: "work".to_owned(),
        path: path.to_owned(),
        resolved: path.to_owned(),
        access: Access::Write,
        recursive: false,
    }
}

fn verdict(c: &mut Criterion) {
    let tools = tools();
    let source = CedarSource { name: "bench.cedar".to_owned(), text: policies() };
    let load = || {
        CedarPolicy::new(PolicyName::new("cedar").unwrap(), std::slice::from_ref(&source), &tools).unwrap()
    };
    let policy = load();
    let first = tools.first().unwrap();
    let calls = [
        ("no target", call(first, Vec::new())),
        ("one path", call(first, vec![path("docs/a.md")])),
        ("four paths", call(first, ["a", "b", "c", "d"].map(path).to_vec())),
    ];
    let mut group = c.benchmark_group("50 policies");
    for (name, call) in &calls {
        group
            .bench_function(*name, |b| b.iter(|| policy.verdict(black_box(call), Seat::Adjudicate).unwrap()));
        let mut micros: Vec<f64> = (0..SAMPLES)
            .map(|_| {
                let start = Instant::now();
                black_box(policy.verdict(black_box(call), Seat::Adjudicate)).unwrap();
                start.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        micros.sort_by(f64::total_cmp);
        let [p50, p99] = [50, 99].map(|percent| micros[SAMPLES * percent / 100]);
        println!("{name}: p50 {p50:.1} µs, p99 {p99:.1} µs");
    }
    group.sample_size(10).bench_function("load", |b| b.iter(load));
    group.finish();
}

criterion_group!(benches, verdict);
criterion_main!(benches);
