//! One record, entry by entry: which nodes each hangs on.
//!
//! The rules, the same everywhere: an entry has *data* edges to all that its words or values are made of, or that it has read
//! (a judgement has read the call; a refusal that an interceptor words has its words from there). It has *control* edges to
//! what has let it happen. What only let something pass is control; what has put something in place is data.

use std::collections::HashMap;

use probity_contract::{
    Body, CallId, Fact, ForeignTo, ItemId, Kept, ModelCallId, Origin, PartId, RunStarted, ToolSpec,
    WindowDelta,
};

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
    run: usize,
    first: u32,
    length: u32,
    /// The entry that is looked at.
    pub(super) at: u32,
    pub(super) calls: HashMap<CallId, CallState>,
    pub(super) models: HashMap<ModelCallId, ModelState>,
    pub(super) window: Places,
    pub(super) start: Slot,
    given: Option<(&'r [ToolSpec], Vec<u32>)>,
    tools: Slot,
    tool_edges_left: usize,
    /// The last entry that is not understood. Each hangs on the one before.
    unread: Slot,
    /// Who has looked at the message that comes in next, and whether it was changed.
    pub(super) incoming: Option<(u32, EdgeKind)>,
    /// Who has looked at the window that is sent next. Each hangs on the one before.
    pub(super) before_sending: Slot,
    /// Items that were put in the place of others, by an interceptor whose row comes behind.
    pub(super) replacements: Vec<u32>,
    pub(super) limit: Slot,
    pub(super) stopped: Slot,
    model_failed: Slot,
    missed_schema: Slot,
    /// Whether each entry is one of which the run later knows nothing; empty where it knows all.
    left_behind: Vec<bool>,
    /// What a call was before such an entry has changed it.
    undo: Vec<(u32, CallId, CallState)>,
    answer: Option<u32>,
    end: Option<u32>,
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
            left_behind: left_behind(record, length as usize),
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
    fn next(&self) -> Option<&'r Fact> {
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

    fn run_started(&mut self, started: &'r RunStarted) {
        self.start = self.start.or(Slot::some(self.at));
        let (tools, nodes) = self.graph.tools(self.at, started.tools.len(), &[]);
        self.tools = tools;
        self.given = Some((&started.tools, nodes));
        if let Some(parent) = &started.parent {
            self.graph.child_started(self.at, &started.run, &parent.run, parent.call);
        }
    }

    fn item_added(&mut self, item: ItemId, origin: Origin, body: &Body) {
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

    fn item_replaced(&mut self, item: ItemId, by: ItemId) {
        let (old, new) = (self.item(item), self.item(by));
        self.data(old);
        self.data(new);
        if let (Some(old), Some(new)) = (old.get(), new.get()) {
            self.graph.edge(new, old, EdgeKind::Data);
            self.replacements.push(new);
        }
        self.window.take_back(by);
    }

    fn model_called(&mut self, call: ModelCallId, window: &WindowDelta, tools_offered: bool) {
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

    /// What stands in the record behind the checkpoint is unknown to the run that goes on: calls are what they were before,
    /// but for what came of them, which the run is told.
    fn resumed(&mut self, left_behind: u64, tools: &'r [ToolSpec]) {
        let behind = u64::from(self.at - self.first).saturating_sub(left_behind);
        let behind = self.first.saturating_add(u32::try_from(behind).unwrap_or(u32::MAX));
        while let Some((_, call, before)) = self.undo.pop_if(|(at, ..)| *at >= behind) {
            self.calls.entry(call).and_modify(|state| *state = state.taken_back(&before));
        }
        self.incoming.take_if(|(at, _)| *at >= behind);
        self.before_sending = self.before_sending.before(behind);
        self.replacements.retain(|at| *at < behind);
        let (record, first) = (self.record, self.first);
        self.window.take_back_while(|item| {
            record.item_place(item).is_some_and(|place| place >= (behind - first) as usize)
        });
        if !tools.is_empty() {
            self.offer(tools);
        }
    }

    /// Offers the tools of the start, these in place of those that are called alike.
    fn offer(&mut self, tools: &[ToolSpec]) {
        let Some((given, nodes)) = &self.given else { return };
        if given.len() > self.tool_edges_left {
            // No run is taken up so often. What was offered before is more than what is offered now, and not less.
            let before: Vec<u32> = self.tools.get().into_iter().collect();
            (self.tools, _) = self.graph.tools(self.at, tools.len(), &before);
            return;
        }
        self.tool_edges_left -= given.len();
        let changed: std::collections::HashSet<_> = tools.iter().map(|tool| &tool.name).collect();
        let kept = given.iter().zip(nodes).filter(|(tool, _)| !changed.contains(&tool.name));
        let kept: Vec<u32> = kept.map(|(_, node)| *node).collect();
        (self.tools, _) = self.graph.tools(self.at, tools.len(), &kept);
    }

    fn ended(&mut self, ending: &probity_contract::Ending, answer: Option<ItemId>) {
        use probity_contract::Ending;
        self.end = Some(self.at);
        let answer = answer.map_or(Slot::NONE, |answer| self.item(answer));
        self.answer = answer.get();
        self.data(answer);
        match ending {
            Ending::Answered | Ending::Refused | Ending::Cancelled | Ending::RecordFailed { .. } => {}
            Ending::WrappedUp { .. } | Ending::LimitReached { .. } | Ending::Incomplete => {
                self.control(self.limit);
            }
            Ending::OutputInvalid => self.data(self.missed_schema),
            Ending::ModelFailed { .. } => self.data(self.model_failed),
            Ending::MessageDenied(_) => self.data(self.stopped),
        }
    }
}

/// Which entries stand behind a checkpoint from which the run was taken up later.
fn left_behind(record: &Record, length: usize) -> Vec<bool> {
    let mut begins: Vec<usize> = Vec::new();
    for (at, line) in record.lines().iter().take(length).enumerate() {
        if let Noted::Known(Fact::Resumed { left_behind: count @ 1.., .. }) = &line.fact {
            let begin = at.saturating_sub(usize::try_from(*count).unwrap_or(usize::MAX));
            begins.resize(at, usize::MAX);
            begins.push(begin);
        }
    }
    // From the end: an entry is left behind where a later resumption begins at it or before it.
    let mut earliest = usize::MAX;
    let mut left: Vec<bool> = Vec::with_capacity(begins.len());
    for (at, begin) in begins.iter().enumerate().rev() {
        left.push(earliest <= at);
        earliest = earliest.min(*begin);
    }
    left.reverse();
    left
}
