//! One record, entry by entry: which nodes each hangs on.
//!
//! The rules, the same everywhere: an entry has *data* edges to all that its words or values are made of, or that it has read
//! (a judgement has read the call; a refusal that an interceptor words has its words from there). It has *control* edges to
//! what has let it happen. What only let something pass is control; what has put something in place is data.

use std::collections::HashMap;

use probity_contract::{CallId, Fact, ForeignTo, ItemId, Kept, ModelCallId, PartId, ToolSpec};

use super::build::Builder;
use super::calls::{CallNodes, CallState, ModelState, Slot};
use super::node::{EdgeKind, UnknownReason};
use super::window::Places;
use crate::facts::parts_of;
use crate::line::Noted;
use crate::record::Record;

/// Edges to the tools of the start, made anew at resumptions, for each entry of the record.
const TOOL_EDGES_PER_ENTRY: usize = 16;

pub(super) type Walked = (Vec<(ModelCallId, u32)>, Vec<(CallId, CallNodes)>, Option<u32>, Option<u32>);

/// What is known of a run up to an entry.
pub(super) struct Walk<'b, 'r> {
    pub(super) graph: &'b mut Builder<'r>,
    pub(super) record: &'r Record,
    pub(super) run: usize,
    pub(super) first: u32,
    pub(super) length: u32,
    /// The entry that is looked at.
    pub(super) at: u32,
    pub(super) calls: HashMap<CallId, CallState>,
    pub(super) models: HashMap<ModelCallId, ModelState>,
    pub(super) window: Places,
    pub(super) start: Slot,
    /// Whether a call of another run has started it.
    pub(super) is_started: bool,
    pub(super) given: Option<(&'r [ToolSpec], Vec<u32>)>,
    pub(super) tools: Slot,
    pub(super) tool_edges_left: usize,
    /// The last entry that is not understood. Each hangs on the one before.
    pub(super) unread: Slot,
    /// Who has looked at the message that comes in next, and whether it was changed.
    pub(super) incoming: Option<(u32, EdgeKind)>,
    /// Who has looked at the window that is sent next. Each hangs on the one before.
    pub(super) before_sending: Slot,
    /// Items that were put in the place of others, by an interceptor whose row comes behind.
    pub(super) replacements: Vec<u32>,
    pub(super) limit: Slot,
    pub(super) stopped: Slot,
    pub(super) model_failed: Slot,
    pub(super) missed_schema: Slot,
    /// Whether each entry is one of which the run later knows nothing; empty where it knows all.
    left_behind: Vec<bool>,
    /// What a call was before such an entry has changed it.
    pub(super) undo: Vec<(u32, CallId, CallState)>,
    pub(super) answer: Option<u32>,
    pub(super) end: Option<u32>,
}

impl<'b, 'r> Walk<'b, 'r> {
    pub(super) fn new(
        graph: &'b mut Builder<'r>,
        record: &'r Record,
        run: usize,
        first: u32,
        length: u32,
    ) -> Self {
        Self {
            graph,
            record,
            run,
            first,
            length,
            at: first,
            calls: HashMap::new(),
            models: HashMap::new(),
            window: Places::default(),
            start: Slot::NONE,
            is_started: false,
            given: None,
            tools: Slot::NONE,
            tool_edges_left: (length as usize).saturating_mul(TOOL_EDGES_PER_ENTRY),
            unread: Slot::NONE,
            incoming: None,
            before_sending: Slot::NONE,
            replacements: Vec::new(),
            limit: Slot::NONE,
            stopped: Slot::NONE,
            model_failed: Slot::NONE,
            missed_schema: Slot::NONE,
            left_behind: super::span::left_behind(record, length as usize),
            undo: Vec::new(),
            answer: None,
            end: None,
        }
    }

    pub(super) fn all(&mut self) {
        let lines = self.record.lines();
        for (at, line) in (self.first..self.first + self.length).zip(lines) {
            self.at = at;
            match &line.fact {
                Noted::Known(fact) => {
                    self.texts(parts_of(fact));
                    self.fact(fact);
                }
                Noted::Opaque { kind, .. } => self.opaque(kind),
            }
        }
    }

    pub(super) fn finish(self) -> Walked {
        let mut models: Vec<_> = self.models.into_iter().map(|(call, state)| (call, state.node)).collect();
        models.sort_unstable();
        let mut calls: Vec<_> = self.calls.into_iter().map(|(call, state)| (call, state.nodes)).collect();
        calls.sort_unstable_by_key(|(call, _)| *call);
        (models, calls, self.answer, self.end)
    }

    /// A call as far as it has come.
    pub(super) fn state(&self, call: CallId) -> CallState {
        self.calls.get(&call).copied().unwrap_or(CallState::NEW)
    }

    /// Keeps what an entry has changed of a call.
    pub(super) fn keep(&mut self, call: CallId, state: CallState) {
        let before = self.calls.insert(call, state);
        if self.left_behind.get((self.at - self.first) as usize).copied().unwrap_or(false) {
            self.undo.push((self.at, call, before.unwrap_or(CallState::NEW)));
        }
    }

    pub(super) fn data(&mut self, to: Slot) {
        self.edge(to, EdgeKind::Data);
    }

    pub(super) fn control(&mut self, to: Slot) {
        self.edge(to, EdgeKind::Control);
    }

    pub(super) fn edge(&mut self, to: Slot, kind: EdgeKind) {
        if let Some(to) = to.get() {
            self.graph.edge(self.at, to, kind);
        }
    }

    pub(super) fn unknown(&mut self, reason: UnknownReason) {
        self.graph.unknown(self.at, reason);
    }

    /// The data edge to something that must be there.
    pub(super) fn made_of(&mut self, to: Slot) {
        match to.get() {
            Some(_) => self.data(to),
            None => self.unknown(UnknownReason::NotInRecord),
        }
    }

    pub(super) fn item(&mut self, item: ItemId) -> Slot {
        Slot::some(self.graph.item(self.record, self.first, self.length, item, self.at))
    }

    /// The next entry, if it is a fact that is known.
    pub(super) fn next(&self) -> Option<&'r Fact> {
        match &self.record.lines().get((self.at - self.first) as usize + 1)?.fact {
            Noted::Known(fact) => Some(fact),
            Noted::Opaque { .. } => None,
        }
    }

    /// What entries of a later program may have put in.
    pub(super) fn may_hang_on_unread(&mut self) {
        self.data(self.unread);
    }

    fn texts(&mut self, parts: &[PartId]) {
        let (mut not_kept, mut missing) = (false, false);
        for part in parts {
            match self.record.part(*part) {
                Some(Kept::Full(_) | Kept::Redacted(_)) => {}
                Some(Kept::Length(_)) => not_kept = true,
                None => missing = true,
            }
        }
        if not_kept {
            self.unknown(UnknownReason::TextNotKept);
        }
        if missing {
            self.unknown(UnknownReason::TextMissing);
        }
    }

    fn opaque(&mut self, kind: &str) {
        self.data(self.unread);
        self.unread = Slot::some(self.at);
        if kind == "model_called" {
            self.window.lose();
        } else if kind == "run_started" {
            self.start = self.start.or(Slot::some(self.at));
        }
    }

    fn fact(&mut self, fact: &'r Fact) {
        match fact {
            Fact::RunStarted(started) => self.run_started(started),
            Fact::ItemAdded { item, origin, body, .. } => self.item_added(*item, *origin, body),
            Fact::ModelCalled { call, window, tools_offered, .. } => {
                self.model_called(*call, window, *tools_offered);
            }
            Fact::ModelReplied { call, item, .. } => {
                let item = self.item(*item);
                self.data(item);
                self.of_model(*call);
            }
            Fact::ReplyRefused { call, .. } => {
                self.of_model(*call);
                self.control(self.stopped);
            }
            Fact::ModelFailed { call, .. } => {
                self.of_model(*call);
                self.model_failed = Slot::some(self.at);
            }
            Fact::Resumed { left_behind, tools, .. } => self.resumed(*left_behind, tools),
            Fact::Intercepted(row) => self.intercepted(row),
            Fact::ItemReplaced { item, by } => self.item_replaced(*item, *by),
            Fact::LimitHit { .. } => self.limit = Slot::some(self.at),
            Fact::OutputRejected { item, .. } => {
                let item = self.item(*item);
                self.data(item);
                self.missed_schema = Slot::some(self.at);
            }
            Fact::Ended { ending, answer, .. } => self.ended(ending, *answer),
            Fact::ChildEnded { call, run, .. } => {
                let execution = self.calls.get(call).map_or(Slot::NONE, |state| state.nodes.execution);
                self.graph.child_ended(self.at, run, self.run, execution);
                self.of_call(*call, fact);
            }
            Fact::Foreign { about, .. } => self.foreign(*about),
            Fact::FailureReported { call: None, .. } => {}
            Fact::FailureReported { call: Some(call), .. }
            | Fact::CallProposed { call, .. }
            | Fact::CallRejected { call, .. }
            | Fact::CallFrozen { call, .. }
            | Fact::Judged { call, .. }
            | Fact::Shadowed { call, .. }
            | Fact::Denied { call, .. }
            | Fact::Asked { call, .. }
            | Fact::Answered { call, .. }
            | Fact::ToolStarted { call, .. }
            | Fact::ToolFinished { call, .. }
            | Fact::Reconciled { call, .. } => self.of_call(*call, fact),
        }
    }

    /// A piece of an imported trace hangs on what it belongs to; nothing hangs on it.
    fn foreign(&mut self, about: ForeignTo) {
        let about = match about {
            ForeignTo::Run => self.start,
            ForeignTo::Item(item) => self.item(item),
            ForeignTo::ModelCall(call) => {
                self.models.get(&call).map_or(Slot::NONE, |state| Slot::some(state.node))
            }
            ForeignTo::Call(call) => self.calls.get(&call).map_or(Slot::NONE, |state| state.nodes.proposal),
        };
        self.data(about);
    }

    fn of_model(&mut self, call: ModelCallId) {
        self.made_of(self.models.get(&call).map_or(Slot::NONE, |state| Slot::some(state.node)));
    }
}
