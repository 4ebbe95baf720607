//! What was asked of one child and is not answered yet. No I/O: lines come in, verdicts go to whoever waits for them.

use std::collections::HashMap;

use probity_contract::{HookVerdict, NotAVerdict};
use tokio::sync::oneshot;

use super::Fault;
use super::answer::Answer;

/// Questions that one child has before it at once.
const OPEN_MAX: usize = 64;
/// Questions whose askers have gone, by a deadline or a cancellation, before the child counts as stuck.
const ABANDONED_MAX: usize = 8;

/// What comes of a question.
pub(super) type Told = Result<HookVerdict, Fault>;

/// The open questions to one child.
#[derive(Default)]
pub(super) struct Talk {
    /// Who waits for which answer; nobody where the asker has gone.
    open: HashMap<u64, Option<oneshot::Sender<Told>>>,
    is_over: bool,
}

impl Talk {
    /// Opens a question under a fresh id.
    pub(super) fn ask(&mut self, id: u64) -> Result<oneshot::Receiver<Told>, Fault> {
        if self.open.len() >= OPEN_MAX || self.open.contains_key(&id) {
            return Err(Fault::broke(format!("it has {OPEN_MAX} questions before it and answers none")));
        }
        let (asker, told) = oneshot::channel();
        self.open.insert(id, Some(asker));
        Ok(told)
    }

    /// Nobody waits for this answer any more. When it comes it is dropped.
    pub(super) fn abandon(&mut self, id: u64) {
        if let Some(asker) = self.open.get_mut(&id) {
            *asker = None;
        }
    }

    /// Whether this question needs no asking any more.
    pub(super) fn is_abandoned(&self, id: u64) -> bool {
        self.open.get(&id).is_none_or(Option::is_none)
    }

    /// Forgets a question that the child has never seen.
    pub(super) fn forget(&mut self, id: u64) {
        self.open.remove(&id);
    }

    /// Whether another question can be put to this child.
    pub(super) fn is_usable(&self) -> bool {
        !self.is_over && self.open.values().filter(|asker| asker.is_none()).count() <= ABANDONED_MAX
    }

    /// Takes the lines that came at once. Nothing of them counts unless each answers one open question, and no two the same:
    /// a child that says something else is out of step, and which of its answers belongs to what is not known any more.
    ///
    /// # Errors
    /// What is wrong with the first line that is.
    pub(super) fn hear<'a>(&mut self, lines: impl Iterator<Item = &'a [u8]>) -> Result<(), NotAVerdict> {
        let mut answers: HashMap<u64, Told> = HashMap::new();
        for line in lines {
            let Answer { id, said } = Answer::read(line)?;
            if !self.open.contains_key(&id) {
                return Err(NotAVerdict::of_shape("an answer to a question that was not open"));
            }
            if answers.insert(id, said.map_err(Fault::NotAVerdict)).is_some() {
                return Err(NotAVerdict::of_shape("two answers to one question"));
            }
        }
        for (id, told) in answers {
            if let Some(Some(asker)) = self.open.remove(&id) {
                // Whoever has just gone away needs no answer.
                let _gone = asker.send(told);
            }
        }
        Ok(())
    }

    /// Nothing more will be answered.
    pub(super) fn end(&mut self, fault: &Fault) {
        self.is_over = true;
        for asker in self.open.drain().filter_map(|(_, asker)| asker) {
            let _gone = asker.send(Err(fault.clone()));
        }
    }
}

#[cfg(test)]
#[path = "talk_tests.rs"]
mod tests;
