//! Items as they come in, and the windows in which they are sent.

use probity_contract::{Body, Fact, ItemId, ModelCallId, Origin, WindowDelta};

use super::calls::{ModelState, Slot};
use super::node::{EdgeKind, UnknownReason};
use super::walk::Walk;

impl Walk<'_, '_> {
    pub(super) fn item_added(&mut self, item: ItemId, origin: Origin, body: &Body) {
        self.may_hang_on_unread();
        match self.next() {
            // What it was is that item's matter, and what it is the interceptor's.
            Some(Fact::ItemReplaced { by, .. }) if *by == item => {}
            Some(_) | None => self.come_from(origin, body),
        }
        self.push(item);
    }

    /// One more item at the end of the window.
    fn push(&mut self, item: ItemId) {
        let node = self.item(item).get().unwrap_or(self.at);
        let front = self.graph.front(self.at, self.window.tip(), node);
        self.window.push(item, front);
    }

    fn come_from(&mut self, origin: Origin, body: &Body) {
        if matches!(body, Body::Person { .. })
            && let Some((looked, kind)) = self.incoming.take()
        {
            self.edge(Slot::some(looked), kind);
        }
        match origin {
            Origin::Task => {
                self.data(self.start);
                if matches!(body, Body::Reply { .. } | Body::ToolResult { .. }) {
                    self.unknown(UnknownReason::EarlierRun);
                }
            }
            // In a task that a call has started nobody else asks.
            Origin::Principal if self.is_started => self.data(self.start),
            Origin::Principal => {}
            Origin::Model(call) => {
                let at = Slot::some(self.at);
                let state = self.models.get_mut(&call).map(|state| {
                    state.item = at;
                    *state
                });
                self.made_of(state.map_or(Slot::NONE, |state| state.said()));
                self.control(state.map_or(Slot::NONE, |state| state.passed));
            }
            Origin::Tool(call) => self.result_added(call),
            Origin::Engine => {
                // The engine's words are about what it wrote down right before.
                let before = self.at.checked_sub(1).map_or(Slot::NONE, Slot::some);
                if before == self.limit || before == self.missed_schema {
                    self.data(before);
                }
            }
        }
    }

    pub(super) fn item_replaced(&mut self, item: ItemId, by: ItemId) {
        let (old, new) = (self.item(item), self.item(by));
        self.data(old);
        self.data(new);
        if let (Some(old), Some(new)) = (old.get(), new.get()) {
            self.graph.edge(new, old, EdgeKind::Data);
            self.replacements.push(new);
        }
        self.window.take_back(by);
    }

    pub(super) fn model_called(&mut self, call: ModelCallId, window: &WindowDelta, tools_offered: bool) {
        self.may_hang_on_unread();
        let (graph, at) = (&mut *self.graph, self.at);
        let added = self.window.send(window, || graph.not_told(at, UnknownReason::WindowNotTold));
        for item in added {
            self.push(*item);
        }
        self.data(self.window.tip().map_or(Slot::NONE, Slot::some));
        self.data(self.start);
        if tools_offered {
            self.data(self.tools);
        } else {
            self.control(self.limit);
        }
        let looked_at_by = std::mem::replace(&mut self.before_sending, Slot::NONE);
        self.control(looked_at_by);
        self.models.entry(call).or_insert(ModelState::of(at));
    }
}
