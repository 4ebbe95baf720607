//! Records, walked through once each, and joined.

use std::collections::HashMap;

use probity_contract::{CallId, ItemId, RunId};

use super::calls::{CallNodes, Slot};
use super::csr::EdgeList;
use super::facts::{kind_of_line, provenance_of};
use super::node::{EdgeKind, NodeKind, UnknownReason};
use super::walk::Walk;
use super::{Graph, NODES_MAX, Run};
use crate::record::Record;

/// A graph that is being built.
pub(super) struct Builder<'r> {
    runs: Vec<Run<'r>>,
    kinds: Vec<NodeKind>,
    entries: usize,
    anchors: Vec<u32>,
    edges: EdgeList,
    /// The first record of each run.
    by_id: HashMap<&'r RunId, usize>,
    starts: Vec<StartOf<'r>>,
    ends: Vec<EndOf<'r>>,
    /// The start of a tool during which a task ended.
    started_in: HashMap<(usize, &'r RunId), u32>,
}

/// A task that a call of another run has started.
struct StartOf<'r> {
    node: u32,
    run: &'r RunId,
    above: &'r RunId,
    call: CallId,
}

/// The end of a task, as the run above tells it.
struct EndOf<'r> {
    node: u32,
    run: &'r RunId,
}

impl<'r> Builder<'r> {
    pub(super) fn new(records: &[&'r Record]) -> Self {
        let mut builder = Self {
            runs: Vec::with_capacity(records.len()),
            kinds: Vec::new(),
            entries: 0,
            anchors: Vec::new(),
            edges: EdgeList::default(),
            by_id: HashMap::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            started_in: HashMap::new(),
        };
        for record in records {
            let room = (NODES_MAX / 2).saturating_sub(builder.kinds.len());
            let lines = record.lines().get(..room).unwrap_or(record.lines());
            // Both are below `NODES_MAX`.
            let first = u32::try_from(builder.kinds.len()).unwrap_or(u32::MAX);
            let length = u32::try_from(lines.len()).unwrap_or(u32::MAX);
            builder.kinds.extend(lines.iter().map(kind_of_line));
            if let Some(start) = record.start() {
                builder.by_id.entry(&start.run).or_insert(builder.runs.len());
            }
            let provenance = provenance_of(record);
            let (models, calls) = (Vec::new(), Vec::new());
            builder.runs.push(Run {
                record,
                first,
                length,
                provenance,
                models,
                calls,
                answer: None,
                end: None,
            });
        }
        builder.entries = builder.kinds.len();
        builder
    }

    pub(super) fn build(mut self) -> Graph<'r> {
        for run in 0..self.runs.len() {
            self.walk(run);
        }
        self.join();
        let backward = self.edges.into_rows(self.kinds.len());
        let Self { runs, mut kinds, entries, mut anchors, .. } = self;
        kinds.shrink_to_fit();
        anchors.shrink_to_fit();
        Graph { runs, kinds, entries, anchors, backward, forward: std::sync::OnceLock::new() }
    }

    fn walk(&mut self, at: usize) {
        let Some(Run { record, first, length, .. }) = self.runs.get(at) else { return };
        let (record, first, length) = (*record, *first, *length);
        let mut walk = Walk::new(self, record, at, first, length);
        walk.all();
        let walked = walk.finish();
        if let Some(run) = self.runs.get_mut(at) {
            (run.models, run.calls, run.answer, run.end) = walked;
        }
        if record.lines().len() > length as usize {
            self.unknown(first, UnknownReason::TooLarge);
        }
    }

    /// Joins tasks to the calls that have started them.
    fn join(&mut self) {
        for StartOf { node, run, above, call } in std::mem::take(&mut self.starts) {
            let Some(above) = self.by_id.get(above).copied() else {
                self.unknown(node, UnknownReason::RecordNotGiven);
                continue;
            };
            let known = self.started_in.get(&(above, run)).copied();
            let of_call = |nodes: &CallNodes| nodes.execution.or(nodes.frozen).or(nodes.proposal).get();
            let started = known.or_else(|| self.call_of(above, call).and_then(of_call));
            match started {
                Some(execution) => self.edge(node, execution, EdgeKind::Data),
                None => self.unknown(node, UnknownReason::NotInRecord),
            }
        }
        for EndOf { node, run } in std::mem::take(&mut self.ends) {
            match self.by_id.get(run).and_then(|at| self.runs.get(*at)).map(|run| run.end) {
                Some(Some(end)) => self.edge(node, end, EdgeKind::Data),
                Some(None) => self.unknown(node, UnknownReason::RecordBrokeOff),
                None => self.unknown(node, UnknownReason::RecordNotGiven),
            }
        }
    }

    fn call_of(&self, run: usize, call: CallId) -> Option<&CallNodes> {
        let calls = &self.runs.get(run)?.calls;
        let at = calls.binary_search_by_key(&call, |(call, _)| *call).ok()?;
        calls.get(at).map(|(_, nodes)| nodes)
    }

    pub(super) fn edge(&mut self, from: u32, to: u32, kind: EdgeKind) {
        if from != to {
            self.edges.push(from, to, kind);
        }
    }

    /// A node that is no entry, for this entry; `None` where there is no room for more.
    fn helper(&mut self, kind: NodeKind, entry: u32) -> Option<u32> {
        if self.kinds.len() >= NODES_MAX {
            return None;
        }
        let node = u32::try_from(self.kinds.len()).ok()?;
        self.kinds.push(kind);
        self.anchors.push(entry);
        Some(node)
    }

    /// Something has gone into an entry that was not recorded.
    pub(super) fn unknown(&mut self, entry: u32, reason: UnknownReason) {
        if let Some(node) = self.helper(NodeKind::Unknown(reason), entry) {
            self.edge(entry, node, EdgeKind::Data);
        }
    }

    /// Something that is not recorded, with nothing that it has gone into yet.
    pub(super) fn not_told(&mut self, entry: u32, reason: UnknownReason) -> u32 {
        self.helper(NodeKind::Unknown(reason), entry).unwrap_or(entry)
    }

    /// The front of a list: one thing more behind the front before it.
    pub(super) fn front(&mut self, entry: u32, before: Option<u32>, last: u32) -> u32 {
        let Some(node) = self.helper(NodeKind::Front, entry) else { return last };
        self.edge(node, last, EdgeKind::Data);
        if let Some(before) = before {
            self.edge(node, before, EdgeKind::Data);
        }
        node
    }

    /// The tools that are offered from this entry on: `count` definitions that it brings, and what is offered of those before.
    pub(super) fn tools(&mut self, entry: u32, count: usize, before: &[u32]) -> (Slot, Vec<u32>) {
        let new: Vec<u32> = (0..count).filter_map(|_| self.helper(NodeKind::Tool, entry)).collect();
        let Some(all) = self.helper(NodeKind::Tools, entry) else { return (Slot::NONE, new) };
        for tool in new.iter().chain(before) {
            self.edge(all, *tool, EdgeKind::Data);
        }
        for tool in &new {
            self.edge(*tool, entry, EdgeKind::Data);
        }
        (Slot::some(all), new)
    }

    pub(super) fn child_started(&mut self, node: u32, run: &'r RunId, above: &'r RunId, call: CallId) {
        self.starts.push(StartOf { node, run, above, call });
    }

    pub(super) fn child_ended(&mut self, node: u32, run: &'r RunId, above: usize, execution: Slot) {
        self.ends.push(EndOf { node, run });
        if let Some(execution) = execution.get() {
            self.started_in.entry((above, run)).or_insert(execution);
        }
    }

    /// The node of an item, or one that says that the record does not tell of it.
    pub(super) fn item(&mut self, record: &Record, first: u32, length: u32, item: ItemId, entry: u32) -> u32 {
        let place = record.item_place(item).and_then(|place| u32::try_from(place).ok());
        match place.filter(|place| *place < length) {
            Some(place) => first + place,
            None => self.not_told(entry, UnknownReason::NotInRecord),
        }
    }
}
