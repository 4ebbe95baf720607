use std::sync::{Arc, Mutex};

use probity_contract::{Durability, Emission, Entry, Fact, Journal, JournalError, Kept, PartId};

use crate::lock;

/// A journal in memory. A clone is the same journal: one goes to the run, one stays with the test.
#[derive(Debug, Clone, Default)]
pub struct MemoryJournal {
    shared: Arc<Mutex<Shared>>,
    breaks: Breaks,
}

#[derive(Debug, Default)]
struct Shared {
    lines: Vec<Emission>,
    appends: Vec<Durability>,
    refused: Vec<Vec<Emission>>,
}

#[derive(Debug, Clone, Copy, Default)]
enum Breaks {
    #[default]
    Never,
    From(usize),
    Once(usize),
}

impl MemoryJournal {
    /// A journal that takes everything.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A journal whose `nth` append (counted from 1) and all later ones fail, as on a full disk.
    #[must_use]
    pub fn failing_from(nth: usize) -> Self {
        Self { breaks: Breaks::From(nth), ..Self::default() }
    }

    /// A journal whose `nth` append (counted from 1) fails, and no other.
    #[must_use]
    pub fn failing_once_at(nth: usize) -> Self {
        Self { breaks: Breaks::Once(nth), ..Self::default() }
    }

    /// All lines taken, in order.
    #[must_use]
    pub fn lines(&self) -> Vec<Emission> {
        lock(&self.shared).lines.clone()
    }

    /// All entries taken, in order.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        let entries = self.lines().into_iter().filter_map(|line| match line {
            Emission::Entry(entry) => Some(entry),
            Emission::Part(_) => None,
        });
        entries.collect()
    }

    /// The facts of all entries taken, in order.
    #[must_use]
    pub fn facts(&self) -> Vec<Fact> {
        self.entries().into_iter().map(|entry| entry.fact).collect()
    }

    /// What is kept of a text.
    #[must_use]
    pub fn text(&self, id: PartId) -> Option<String> {
        lock(&self.shared).lines.iter().find_map(|line| match line {
            Emission::Part(part) if part.id == id => match &part.kept {
                Kept::Full(text) | Kept::Redacted(text) => Some(text.as_ref().to_owned()),
                Kept::Length(_) => None,
            },
            Emission::Part(_) | Emission::Entry(_) => None,
        })
    }

    /// How durable each append had to be, failed ones included.
    #[must_use]
    pub fn appends(&self) -> Vec<Durability> {
        lock(&self.shared).appends.clone()
    }

    /// The lines of the appends that failed.
    #[must_use]
    pub fn refused(&self) -> Vec<Vec<Emission>> {
        lock(&self.shared).refused.clone()
    }
}

impl Journal for MemoryJournal {
    fn append(&mut self, lines: &[Emission], durability: Durability) -> Result<(), JournalError> {
        let mut shared = lock(&self.shared);
        shared.appends.push(durability);
        let nth = shared.appends.len();
        let fails = match self.breaks {
            Breaks::Never => false,
            Breaks::From(first) => nth >= first,
            Breaks::Once(only) => nth == only,
        };
        if fails {
            shared.refused.push(lines.to_vec());
            return Err(JournalError {
                message: "no space left on the test's device".to_owned(),
                source: None,
            });
        }
        shared.lines.extend_from_slice(lines);
        Ok(())
    }
}
