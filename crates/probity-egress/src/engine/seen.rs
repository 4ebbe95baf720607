use std::cell::Cell;

use super::visible::Visible;
use crate::vocabulary::{Name, classify_name};

/// What was looked through already, so that candidates that stand close together do not look through the same text again.
///
/// Nothing in it decides: it says of a piece of the input whether it has a byte, as looking again would.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// What may be of a line break.
    pub(super) breaks: Without,
    /// What is not plain: invisible, or not ASCII.
    pub(super) odd: Without,
    pub(super) digits: Without,
    /// `@`.
    pub(super) at_signs: Without,
    pub(super) names: Names,
    pub(super) visible: Visible,
}

/// What names say that were asked about before: texts have few names, and those often.
#[derive(Debug, Default)]
pub(super) struct Names([Cell<([u64; 2], Option<Name>)>; NAMES]);

const NAMES: usize = 32;

impl Names {
    /// The same as [`classify_name`].
    pub(super) fn classify(&self, name: &str) -> Option<Name> {
        let Some(key) = key(name.as_bytes()) else { return classify_name(name) };
        let [low, high] = key;
        let place = (low ^ high).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - NAMES.ilog2());
        let Some(slot) = usize::try_from(place).ok().and_then(|place| self.0.get(place)) else {
            return classify_name(name);
        };
        let (known, said) = slot.get();
        if known == key {
            return said;
        }
        let said = classify_name(name);
        slot.set((key, said));
        said
    }
}

/// A short name as two numbers, different for any two names, and not both zero.
fn key(name: &[u8]) -> Option<[u64; 2]> {
    let mut bytes = [0; 16];
    bytes.get_mut(..name.len()).filter(|room| !room.is_empty())?.copy_from_slice(name);
    // No name has a zero in it, so where it ends is told as well.
    let (halves, _) = bytes.as_chunks();
    Some([u64::from_le_bytes(*halves.first()?), u64::from_le_bytes(*halves.get(1)?)])
}

/// A piece of the text that is known to be without some bytes.
#[derive(Debug, Default)]
pub(super) struct Without(Cell<(usize, usize)>);

impl Without {
    /// Whether `bytes`, which stand at `at` of the text, have nothing that `find` finds.
    pub(super) fn is_without(&self, at: usize, bytes: &[u8], find: impl Fn(&[u8]) -> Option<usize>) -> bool {
        let (from, to) = self.0.get();
        let (from, start) = if (from..=to).contains(&at) { (from, to) } else { (at, at) };
        let Some(rest) = bytes.get(start - at..).filter(|rest| !rest.is_empty()) else { return true };
        let found = find(rest);
        self.0.set((from, start + found.unwrap_or(rest.len())));
        found.is_none()
    }
}

#[cfg(test)]
#[path = "seen_tests.rs"]
mod tests;
