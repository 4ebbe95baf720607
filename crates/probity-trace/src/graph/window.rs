//! Windows as lists that share their fronts.
//!
//! A node stands for the front of a window up to an item: it leads to the item and to the front before it. All windows that
//! begin alike have it in common, so the edges of all windows together are as many as the differences in the record, not as
//! many as items in windows.

use probity_contract::{ItemId, WindowDelta};

/// The window as it would be sent now.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// A beginning that is not told: its node, and how many items it has.
    untold: Option<(u32, usize)>,
    // INVARIANT: together with `untold` at least as many as `sent`.
    path: Vec<Place>,
    /// How long the last window was that was sent.
    sent: usize,
    /// Whether the last window that was sent is not understood.
    is_lost: bool,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    item: ItemId,
    node: u32,
}

impl Places {
    /// The node of the whole window.
    pub(super) fn tip(&self) -> Option<u32> {
        self.path.last().map(|place| place.node).or(self.untold.map(|(node, _)| node))
    }

    pub(super) fn push(&mut self, item: ItemId, node: u32) {
        self.path.push(Place { item, node });
    }

    /// Takes back an item that is in the place of another: the next window tells where.
    pub(super) fn take_back(&mut self, item: ItemId) {
        if self.has_unsent() && self.path.last().is_some_and(|last| last.item == item) {
            self.path.pop();
        }
    }

    /// Takes back what was not sent yet, as long as it is to be taken back.
    pub(super) fn take_back_while(&mut self, mut is_meant: impl FnMut(ItemId) -> bool) {
        while self.has_unsent() && self.path.last().is_some_and(|last| is_meant(last.item)) {
            self.path.pop();
        }
    }

    fn has_unsent(&self) -> bool {
        self.path.len().saturating_add(self.untold.map_or(0, |(_, length)| length)) > self.sent
    }

    /// A window was sent and is not understood.
    pub(super) const fn lose(&mut self) {
        self.is_lost = true;
    }

    /// Goes over to a window that was sent and gives the items that are still to be pushed. `untold` makes a node for a
    /// beginning that is not told.
    pub(super) fn send<'d>(&mut self, window: &'d WindowDelta, untold: impl FnOnce() -> u32) -> &'d [ItemId] {
        let keep = usize::try_from(window.keep).unwrap_or(usize::MAX);
        let is_linked = keep == 0 || (!self.is_lost && keep <= self.sent);
        self.sent = keep.saturating_add(window.added.len());
        self.is_lost = false;
        let length = self.untold.map_or(0, |(_, length)| length);
        if !is_linked {
            self.untold = Some((untold(), keep));
            self.path.clear();
            return &window.added;
        }
        if keep < length {
            self.path.clear();
            self.untold = self.untold.filter(|_| keep > 0).map(|(node, _)| (node, keep));
        }
        let kept = keep.saturating_sub(length);
        // What has come since the last window mostly is what is sent now.
        let since = self.path.iter().skip(kept).zip(&window.added);
        let common = since.take_while(|(place, item)| place.item == **item).count();
        self.path.truncate(kept + common);
        window.added.get(common..).unwrap_or_default()
    }
}
