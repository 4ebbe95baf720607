use std::collections::HashMap;

use probity_contract::{ItemId, ModelCallId, WindowDelta};

use crate::record::Record;

/// A window that cannot be told: the record does not hold, or this program does not understand, what it builds on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("rebuild the window of `{0}`: the record does not say what it builds on")]
pub struct WindowError(pub ModelCallId);

/// The windows of a run as they stand in the record: differences, with the length that each comes to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Windows {
    steps: Vec<Step>,
    by_call: HashMap<ModelCallId, usize>,
    unknown_before: bool,
}

#[derive(Debug, Clone)]
struct Step {
    call: ModelCallId,
    keep: usize,
    added: Vec<ItemId>,
    /// Whether the first `keep` items are those of the step before.
    is_linked: bool,
}

impl Step {
    fn len(&self) -> usize {
        self.keep.saturating_add(self.added.len())
    }
}

impl Windows {
    pub(crate) fn push(&mut self, call: ModelCallId, window: &WindowDelta) {
        let keep = usize::try_from(window.keep).unwrap_or(usize::MAX);
        let before = self.steps.last().map_or(0, Step::len);
        let is_linked = keep == 0 || (!self.unknown_before && keep <= before);
        self.unknown_before = false;
        self.by_call.entry(call).or_insert(self.steps.len());
        self.steps.push(Step { call, keep, added: window.added.clone(), is_linked });
    }

    /// A model was called, and what was sent is not understood.
    pub(crate) const fn push_unknown(&mut self) {
        self.unknown_before = true;
    }

    /// Goes back from the call in question and takes from each window before only what still stood at the front:
    /// the work is the length of the window and the number of calls before it.
    fn of(&self, call: ModelCallId) -> Result<Vec<ItemId>, WindowError> {
        let at = *self.by_call.get(&call).ok_or(WindowError(call))?;
        let mut front = usize::MAX;
        let mut pieces = Vec::new();
        for step in self.steps.iter().take(at.saturating_add(1)).rev() {
            if front > step.keep {
                pieces.push(step.added.get(..(front - step.keep).min(step.added.len())).unwrap_or_default());
                front = step.keep;
            }
            if front == 0 {
                break;
            }
            if !step.is_linked {
                return Err(WindowError(call));
            }
        }
        if front != 0 {
            return Err(WindowError(call));
        }
        Ok(pieces.into_iter().rev().flatten().copied().collect())
    }
}

impl Record {
    /// The calls to the model, in order.
    pub fn model_calls(&self) -> impl Iterator<Item = ModelCallId> {
        self.windows().steps.iter().map(|step| step.call)
    }

    /// The items that one model call was sent, in order.
    ///
    /// # Errors
    /// When the record has no such call, or does not say what its window builds on.
    pub fn window(&self, call: ModelCallId) -> Result<Vec<ItemId>, WindowError> {
        self.windows().of(call)
    }

    /// The windows of all model calls, in order.
    ///
    /// Together they can be as long as the square of the record; each is made when it is asked for, from the one before.
    pub fn windows_all(&self) -> impl Iterator<Item = (ModelCallId, Result<Vec<ItemId>, WindowError>)> {
        let mut current = Some(Vec::new());
        self.windows().steps.iter().map(move |step| {
            let before =
                if step.keep == 0 { Some(Vec::new()) } else { current.take().filter(|_| step.is_linked) };
            current = before.map(|mut window| {
                window.truncate(step.keep);
                window.extend_from_slice(&step.added);
                window
            });
            (step.call, current.clone().ok_or(WindowError(step.call)))
        })
    }
}
