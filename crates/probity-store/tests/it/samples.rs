//! Runs for the store to keep.

use std::path::{Path, PathBuf};

use probity_contract::{
    Body, ContentSetting, Durability, Emission, Ending, Entry, Fact, ItemId, Journal as _, Kept, Label,
    Limits, ModelCallId, ModelName, ModelParams, Origin, Part, PartId, PrincipalId, RECORD_VERSION,
    ReplyPart, RunId, RunStarted, Usage,
};
use probity_store::{FileJournal, ListFilter, Listing, RunState, Store};
use tempfile::TempDir;

pub(crate) fn id(run: &str) -> RunId {
    RunId::new(run).unwrap()
}

fn run_started(run: &str, started_at_unix_ms: u64) -> Fact {
    Fact::RunStarted(Box::new(RunStarted {
        version: RECORD_VERSION,
        run: id(run),
        title: format!("title of {run}"),
        principal: PrincipalId::new("ada").unwrap(),
        parent: None,
        imported: None,
        model: ModelName::new("rules/desk.toml").unwrap(),
        prices: None,
        params: ModelParams::default(),
        tools: vec![],
        policies: vec![],
        inherited: Vec::new(),
        limits: Limits::default(),
        content: ContentSetting::Full,
        output_schema: None,
        started_at_unix_ms,
    }))
}

/// A run that starts and answers; without its last entry, one that broke off.
pub(crate) fn emissions(run: &str, started_at_unix_ms: u64) -> Vec<Emission> {
    let text = serde_json::to_string(&ReplyPart::text("forty-two")).unwrap();
    let id = PartId::of(&text);
    let body = Body::Reply { parts: vec![id] };
    let origin = Origin::Model(ModelCallId(1));
    let usage = Usage::default();
    let facts = [
        run_started(run, started_at_unix_ms),
        Fact::ItemAdded { item: ItemId(1), origin, label: Label::system(), body },
        Fact::Ended { ending: Ending::Answered, answer: Some(ItemId(1)), usage, cost_usd: None },
    ];
    let entries = (0..).zip(facts).map(|(seq, fact)| Emission::Entry(Entry { seq, at_ms: seq, fact }));
    let mut emissions: Vec<_> = entries.collect();
    emissions.insert(1, Emission::Part(Part { id, kept: Kept::Full(text.into()) }));
    emissions
}

pub(crate) struct Place {
    pub(crate) parent: TempDir,
    pub(crate) root: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let parent = tempfile::tempdir().unwrap();
        let root = parent.path().join("store");
        Self { parent, root }
    }

    pub(crate) async fn open(&self) -> Store {
        Store::open(&self.root).await.unwrap()
    }

    pub(crate) fn file(&self, run: &str) -> PathBuf {
        self.root.join("runs").join(format!("{run}.prob"))
    }
}

/// Writes a whole run.
pub(crate) fn write(store: &Store, run: &str, started_at_unix_ms: u64) {
    let mut journal = store.begin(&id(run)).unwrap();
    journal.append(&emissions(run, started_at_unix_ms), Durability::Handed).unwrap();
}

/// Writes a run without its end, and lets it go on.
pub(crate) fn write_part(store: &Store, run: &str, started_at_unix_ms: u64) -> FileJournal {
    let mut journal = store.begin(&id(run)).unwrap();
    let mut emissions = emissions(run, started_at_unix_ms);
    emissions.truncate(3);
    journal.append(&emissions, Durability::Durable).unwrap();
    journal
}

pub(crate) async fn list(store: &Store) -> Listing {
    store.list(ListFilter { limit: 1000, before: None }).await.unwrap()
}

pub(crate) async fn listed(store: &Store) -> Vec<(String, RunState)> {
    list(store).await.rows.into_iter().map(|row| (row.run.to_string(), row.state)).collect()
}

pub(crate) fn answered(run: &str) -> (String, RunState) {
    (run.to_owned(), RunState::Ended { ending: Some(Ending::Answered) })
}

/// Every file under a directory with its bytes.
pub(crate) fn content(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(content(&path));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            files.push((path, bytes));
        }
    }
    files.sort();
    files
}
