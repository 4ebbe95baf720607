//! A run as a whole: what it was given, that it was taken up, and how it ended.

use probity_contract::{Ending, Fact, ItemId, RunStarted, ToolSpec};

use super::calls::Slot;
use super::walk::Walk;
use crate::line::Noted;
use crate::record::Record;

impl<'r> Walk<'_, 'r> {
    pub(super) fn run_started(&mut self, started: &'r RunStarted) {
        self.start = self.start.or(Slot::some(self.at));
        let (tools, nodes) = self.graph.tools(self.at, started.tools.len(), &[]);
        self.tools = tools;
        self.given = Some((&started.tools, nodes));
        if let Some(parent) = &started.parent {
            self.is_started = true;
            self.graph.child_started(self.at, &started.run, &parent.run, parent.call);
        }
    }

    /// What stands in the record behind the checkpoint is unknown to the run that goes on: calls are what they were before,
    /// but for what came of them, which the run is told.
    pub(super) fn resumed(&mut self, left_behind: u64, tools: &'r [ToolSpec]) {
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

    pub(super) fn ended(&mut self, ending: &Ending, answer: Option<ItemId>) {
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
pub(super) fn left_behind(record: &Record, length: usize) -> Vec<bool> {
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
