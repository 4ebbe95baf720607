//! Traces that nobody here wrote, read in place.

#![expect(clippy::print_stderr, reason = "figures are shown")]

mod expected;

use std::path::{Path, PathBuf};

use probity_import::Format;
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
