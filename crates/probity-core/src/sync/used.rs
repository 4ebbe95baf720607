use std::collections::HashSet;
use std::hash::Hash;

use super::atomics::Mutex;

/// What was used up, for all threads that share it and as long as it lives.
///
/// Of any number who use one thing, at once or one after the other, exactly one is the first.
#[derive(Debug)]
pub(crate) struct Used<K> {
    used: Mutex<HashSet<K>>,
}

impl<K: Eq + Hash> Used<K> {
    /// Nothing was used.
    pub(crate) fn new() -> Self {
        Self { used: Mutex::new(HashSet::new()) }
    }

    /// Uses it. Tells whether this was the first time.
    pub(crate) fn is_first(&self, what: K) -> bool {
        match self.used.lock() {
            Ok(mut used) => used.insert(what),
            // A set is whole whatever panicked beside it.
            Err(poisoned) => poisoned.into_inner().insert(what),
        }
    }
}

impl<K: Eq + Hash> Default for Used<K> {
    fn default() -> Self {
        Self::new()
    }
}
