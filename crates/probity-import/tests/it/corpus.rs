//! Traces that nobody here wrote, read in place.

#![expect(clippy::print_stderr, reason = "figures are shown")]

mod expected;

use std::path::{Path, PathBuf};

use probity_import::{ChatMessage, Exchange, Format, ImportedRun, exchanges};
use probity_testkit::corpus;

use crate::support::{check, imported, read, replies_with_a_slice};

/// All files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Imports the files that `is_trace` picks; the backward slice of nearly every reply must hold something. Says how many
/// files, runs and replies there were.
fn import_all(folder: &str, format: Format, is_trace: impl Fn(&str) -> bool) {
    let Some(folder) = corpus(folder) else { return };
    let (mut count, mut runs, mut with, mut all) = (0, 0, 0, 0);
    for path in files(&folder) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !is_trace(&name) {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let found = read(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        count += 1;
        for run in &found {
            assert_eq!(run.format, format, "{}", path.display());
            let record = check(run);
            let (some, every) = replies_with_a_slice(&record);
            (runs, with, all) = (runs + 1, with + some, all + every);
        }
    }
    eprintln!("{}: {count} files, {runs} runs, {with} of {all} replies with a slice", folder.display());
    assert!(count > 0);
    assert!(with * 100 >= all * 95, "{with} of {all} replies have a slice");
}

#[test]
fn corpus_traces_spans_import() {
    import_all("traces/openinference", Format::Spans, |_| true);
    import_all("traces/otel-any-agent", Format::Spans, |_| true);
}

#[test]
fn corpus_traces_sessions_import() {
    import_all("traces/claude-code", Format::ClaudeCode, |_| true);
    import_all("traces/swe-agent", Format::SweAgent, |_| true);
    import_all("traces/openhands", Format::OpenHands, |_| true);
    import_all("traces/inspect", Format::Inspect, |_| true);
}

#[test]
fn corpus_traces_langfuse_imports() {
    import_all("traces/langfuse", Format::Langfuse, |name| name.ends_with(".trace.json"));
}

#[test]
fn corpus_traces_attribution_imports() {
    import_all("attribution/who-and-when/data", Format::WhoAndWhen, |name| name.ends_with(".json"));
    import_all("attribution/agentrx/tau_retail", Format::TauBench, |name| name.ends_with(".json"));
    import_all("attribution/tau-bench", Format::TauBench, |name| name.ends_with(".json"));
}

#[test]
fn corpus_traces_cassettes_import() {
    import_all("providers/pydantic-ai", Format::Vcr, |name| name.ends_with(".yaml"));
}

#[test]
fn corpus_traces_langfuse_messages_are_those_expected() {
    let Some(folder) = corpus("traces/langfuse") else { return };
    let mut failures = Vec::new();
    let (mut equal, mut names) = (0, 0);
    let mut silent = Vec::new();
    for path in files(&folder) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".trace.json") else { continue };
        names += 1;
        let (_, runs) = imported(&std::fs::read(&path).unwrap());
        let chatml = std::fs::read(folder.join(format!("{stem}.chatml.json"))).unwrap();
        let told = expected::compare(&serde_json::from_slice(&chatml).unwrap(), &runs);
        equal += told.equal;
        silent.extend(told.silent.into_iter().map(|words| format!("{stem}: {words}")));
        failures.extend(told.different.into_iter().map(|words| format!("{stem}: {words}")));
    }
    eprintln!("langfuse: {names} traces, {equal} message lists equal, {} different", failures.len());
    // The exceptions: the other program wrote down a message there and none of what it says.
    for words in &silent {
        eprintln!("nothing to compare with: {words}");
    }
    for words in failures.iter().take(40) {
        eprintln!("{}", words.chars().take(700).collect::<String>());
    }
    assert!(failures.is_empty(), "{} message lists differ", failures.len());
    assert!(equal > 0);
}

/// One span of each model call with its whole prompt, in the smallest OTLP JSON that holds it.
fn spans_with_full_prompts(run: &ImportedRun) -> usize {
    let text = |value: &serde_json::Value| serde_json::json!({ "stringValue": value.to_string() });
    let span = |(number, exchange): (usize, &Exchange)| {
        let messages = |all: &[ChatMessage]| -> serde_json::Value {
            all.iter().map(|one| serde_json::json!({ "role": one.role, "parts": [{ "type": "text", "content": one.content }] })).collect()
        };
        serde_json::json!({
            "traceId": "5b8efff798038103d269b633813fc60c",
            "spanId": format!("{number:016x}"),
            "name": "chat model",
            "kind": 3,
            "startTimeUnixNano": "1700000000000000000",
            "endTimeUnixNano": "1700000001000000000",
            "attributes": [
                { "key": "gen_ai.operation.name", "value": { "stringValue": "chat" } },
                { "key": "gen_ai.input.messages", "value": text(&messages(&exchange.input)) },
                { "key": "gen_ai.output.messages", "value": text(&messages(&exchange.output)) },
            ],
        })
    };
    let exchanges = exchanges(run);
    let calls = exchanges.iter().filter(|exchange| exchange.call.is_some());
    let spans: Vec<serde_json::Value> = calls.enumerate().map(span).collect();
    serde_json::json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] }).to_string().len()
}

#[test]
fn corpus_attribution_records_are_small_beside_full_prompts() {
    let Some(folder) = corpus("attribution/who-and-when/data/Hand-Crafted") else { return };
    let (mut records, mut traces) = (0, 0);
    for path in files(&folder).into_iter().filter(|path| path.extension().is_some_and(|end| end == "json")) {
        for run in read(&std::fs::read(&path).unwrap()).unwrap() {
            records += run.encoded().unwrap().len();
            traces += spans_with_full_prompts(&run);
        }
    }
    eprintln!(
        "records: {records} bytes, spans with full prompts: {traces} bytes, 1/{:.1}",
        traces as f64 / records as f64
    );
    assert!(records > 0 && traces >= 20 * records, "{records} beside {traces}");
}
