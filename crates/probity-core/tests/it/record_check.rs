//! What holds of every record, whatever happened.

use std::collections::{BTreeMap, BTreeSet};

use probity_contract::{Body, CallId, Emission, Entry, Fact, ItemId, PartId};

/// The texts that a fact refers to.
fn parts_of(fact: &Fact) -> Vec<PartId> {
    match fact {
        Fact::ItemAdded { body, .. } => match body {
            Body::Instructions { text }
            | Body::Person { text }
            | Body::Context { text, .. }
            | Body::ToolResult { text, .. }
            | Body::Notice { text } => vec![*text],
            Body::Reply { parts } => parts.clone(),
        },
        Fact::CallProposed { arguments, .. } | Fact::CallFrozen { arguments, .. } => vec![*arguments],
        Fact::ToolFinished { output, .. } => vec![*output],
        _ => Vec::new(),
    }
}

/// The call that a fact is about.
pub(crate) fn call_of(fact: &Fact) -> Option<CallId> {
    match fact {
        Fact::CallProposed { call, .. }
        | Fact::CallRejected { call, .. }
        | Fact::CallFrozen { call, .. }
        | Fact::Judged { call, .. }
        | Fact::Denied { call, .. }
        | Fact::Asked { call, .. }
        | Fact::Answered { call, .. }
        | Fact::ToolStarted { call, .. }
        | Fact::ToolFinished { call, .. }
        | Fact::Reconciled { call, .. }
        | Fact::ChildEnded { call, .. }
        | Fact::Shadowed { call, .. } => Some(*call),
        Fact::FailureReported { call, .. } => *call,
        _ => None,
    }
}

pub(crate) fn entries(lines: &[Emission]) -> Vec<Entry> {
    let entries = lines.iter().filter_map(|line| match line {
        Emission::Entry(entry) => Some(entry.clone()),
        Emission::Part(_) => None,
    });
    entries.collect()
}

/// Entries are numbered without a gap, time never goes back, and every text stands before its use, once.
pub(crate) fn check_lines(lines: &[Emission]) {
    let (mut known, mut seq, mut at_ms) = (BTreeSet::new(), 0, 0);
    // A run that was taken up does not know what was written behind its checkpoint.
    let mut resumed = false;
    for line in lines {
        match line {
            Emission::Part(part) => {
                assert!(known.insert(part.id) || resumed, "a text stands twice: {part:?}")
            }
            Emission::Entry(entry) => {
                assert_eq!(entry.seq, seq, "{entry:?}");
                assert!(entry.at_ms >= at_ms, "{entry:?}");
                (seq, at_ms) = (seq + 1, entry.at_ms);
                resumed |= matches!(entry.fact, Fact::Resumed { .. });
                for part in parts_of(&entry.fact) {
                    assert!(known.contains(&part), "a text is missing: {entry:?}");
                }
            }
        }
    }
}

/// S2: every proposed call has exactly one result, in the order of proposal and before anything else is said.
pub(crate) fn check_results(lines: &[Emission]) {
    let (mut proposed, mut answered) = (Vec::new(), Vec::new());
    for entry in entries(lines) {
        match entry.fact {
            Fact::CallProposed { call, .. } => proposed.push(call),
            Fact::ItemAdded { body: Body::ToolResult { call, .. }, .. } => answered.push(call),
            Fact::ModelCalled { .. } => assert_eq!(answered, proposed, "the model was asked with open calls"),
            _ => {}
        }
    }
    assert_eq!(answered, proposed);
}

/// A record that came to its end: the checks above, one end and nothing after it, every started tool with its outcome.
pub(crate) fn check_whole(lines: &[Emission]) {
    check_lines(lines);
    check_results(lines);
    let entries = entries(lines);
    let ends = entries.iter().filter(|entry| matches!(entry.fact, Fact::Ended { .. })).count();
    assert_eq!(ends, 1);
    assert!(matches!(entries.last().unwrap().fact, Fact::Ended { .. }));
    let mut running = BTreeSet::new();
    for entry in &entries {
        match entry.fact {
            Fact::ToolStarted { call, .. } => assert!(running.insert(call), "{call} was started twice"),
            Fact::ToolFinished { call, .. } => assert!(running.remove(&call), "{call} was not running"),
            _ => {}
        }
    }
    assert!(running.is_empty(), "without an outcome: {running:?}");
}

/// The window of the last model call, put together from the differences.
pub(crate) fn window(lines: &[Emission]) -> Vec<ItemId> {
    let mut window: Vec<ItemId> = Vec::new();
    for entry in entries(lines) {
        if let Fact::ModelCalled { window: delta, .. } = entry.fact {
            window.truncate(delta.keep as usize);
            window.extend(delta.added);
        }
    }
    window
}

/// A record without what may differ between two orders of independent events: the facts of each call by call, all others
/// in their order. Numbers and times of entries are left out, and texts are a set.
#[derive(Debug, PartialEq)]
pub(crate) struct Canonical {
    run: Vec<Fact>,
    calls: BTreeMap<CallId, Vec<Fact>>,
    parts: BTreeMap<PartId, Emission>,
}

pub(crate) fn canonical(lines: &[Emission]) -> Canonical {
    let mut canonical = Canonical { run: Vec::new(), calls: BTreeMap::new(), parts: BTreeMap::new() };
    for line in lines {
        match line {
            Emission::Part(part) => {
                canonical.parts.insert(part.id, line.clone());
            }
            Emission::Entry(entry) => match call_of(&entry.fact) {
                Some(call) => canonical.calls.entry(call).or_default().push(entry.fact.clone()),
                None => canonical.run.push(entry.fact.clone()),
            },
        }
    }
    canonical
}
