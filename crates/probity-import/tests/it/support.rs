//! Importing in tests: the one place that knows the API.

use probity_contract::{Body, Fact, ItemId, Kept, ModelCallId, PartId, PrincipalId};
use probity_import::{Format, ImportError, ImportOptions, ImportedRun, import};
use probity_trace::{Follow, Graph, Record};

pub(crate) fn options() -> ImportOptions {
    ImportOptions { principal: PrincipalId::new("ada").unwrap(), started_at_unix_ms: 1_700_000_000_000 }
}

pub(crate) fn read(bytes: &[u8]) -> Result<Vec<ImportedRun>, ImportError> {
    import(bytes, None, &options())
}

/// Imports, and holds every run to what all of them promise.
pub(crate) fn imported(bytes: &[u8]) -> (Format, Vec<ImportedRun>) {
    let runs = read(bytes).unwrap();
    assert!(!runs.is_empty());
    for run in &runs {
        check(run);
    }
    (runs[0].format, runs)
}

/// A run reads back through the record's own reader; every reply is one of a call, and every call is proposed by one.
pub(crate) fn check(run: &ImportedRun) -> Record {
    let read = Record::read(&run.encoded().unwrap()).unwrap();
    assert!(read.notice.is_none());
    let record = read.record;
    assert_eq!(record.not_understood(), 0);
    assert!(record.dangling().is_empty(), "{:?}", record.dangling());
    let Some((_, Fact::RunStarted(started))) = record.facts().next() else { panic!("no start") };
    let told = started.imported.as_ref().unwrap();
    assert_eq!((told.format.as_str(), &started.run), (run.format.name(), &run.run));
    assert!(record.summary().is_some());
    let windows: Vec<(ModelCallId, Vec<ItemId>)> =
        record.windows_all().map(|(call, window)| (call, window.unwrap())).collect();
    let known: std::collections::HashSet<ItemId> = record.items().map(|item| item.item).collect();
    for (call, window) in &windows {
        let distinct: std::collections::HashSet<_> = window.iter().collect();
        assert_eq!(distinct.len(), window.len(), "{call} sees an item twice");
        assert!(window.iter().all(|item| known.contains(item)));
    }
    let replied: std::collections::HashSet<ItemId> = record
        .facts()
        .filter_map(|(_, fact)| match fact {
            Fact::ModelReplied { item, .. } => Some(*item),
            _ => None,
        })
        .collect();
    for item in record.items() {
        assert_eq!(matches!(item.body, Body::Reply { .. }), replied.contains(&item.item), "{}", item.item);
    }
    record
}

/// Of all replies, how many have an item behind them that is not their own.
pub(crate) fn replies_with_a_slice(record: &Record) -> (usize, usize) {
    let graph = Graph::of(&[record]);
    let run = graph.runs().next().unwrap();
    let replies = record.items().filter(|item| matches!(item.body, Body::Reply { .. }));
    let replies: Vec<bool> = replies
        .map(|reply| {
            let node = graph.item(run, reply.item).unwrap();
            let slice = graph.backward([node], Follow::Data);
            slice.items().any(|(_, item)| item != reply.item)
        })
        .collect();
    (replies.iter().filter(|has| **has).count(), replies.len())
}

/// A text of a record.
pub(crate) fn part_text(record: &Record, part: PartId) -> String {
    match record.part(part) {
        Some(Kept::Full(text)) => text.as_ref().to_owned(),
        other => panic!("{other:?}"),
    }
}
