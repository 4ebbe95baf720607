//! Every way on which something of a run can come out, and a search in all of them.

use std::collections::BTreeSet;

use probity_contract::{Emission, Fact, PartId};
use probity_testkit::{MemoryJournal, ScriptedModel, Watcher};

/// What came out, by the name of the way.
#[derive(Default)]
pub(crate) struct Channels(Vec<(&'static str, String)>);

/// Bytes of a piece that nobody may find again.
const PIECE_BYTES: usize = 8;

impl Channels {
    /// What the model was sent, what observers and the failure lane heard, and the record but for the marked "before".
    pub(crate) fn of(model: &ScriptedModel, watcher: &Watcher, journal: &MemoryJournal) -> Self {
        let wire: Vec<String> = model.asked().iter().map(|asked| asked.text()).collect();
        Self::default()
            .and("wire", wire.join("\n"))
            .and("stream", watcher.text())
            .and("events", serde_json::to_string(&watcher.events()).unwrap())
            .and("failures", serde_json::to_string(&watcher.failures()).unwrap())
            .and("record", serde_json::to_string(&without_before(&journal.lines())).unwrap())
    }

    pub(crate) fn and(mut self, name: &'static str, text: String) -> Self {
        self.0.push((name, text));
        self
    }

    /// Nothing of `refused` came out, not even eight bytes.
    pub(crate) fn hold_nothing_of(&self, refused: &str) {
        for (name, text) in &self.0 {
            for piece in refused.as_bytes().windows(PIECE_BYTES) {
                let found = text.as_bytes().windows(PIECE_BYTES).any(|window| window == piece);
                assert!(!found, "{name} holds `{}`", String::from_utf8_lossy(piece));
            }
        }
    }

    /// All of it in one.
    pub(crate) fn all(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

/// The record without the texts that stand in it as what was there before.
fn without_before(lines: &[Emission]) -> Vec<Emission> {
    let before: BTreeSet<PartId> = lines
        .iter()
        .filter_map(|line| match line {
            Emission::Entry(entry) => match &entry.fact {
                Fact::Intercepted(row) if row.before != row.after || !row.verdict.permits() => {
                    Some(row.before)
                }
                _ => None,
            },
            Emission::Part(_) => None,
        })
        .collect();
    let kept = lines.iter().filter(|line| match line {
        Emission::Part(part) => !before.contains(&part.id),
        Emission::Entry(_) => true,
    });
    kept.cloned().collect()
}
