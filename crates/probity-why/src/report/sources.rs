//! The texts that may have been copied from: what has reached the part asked about, the oldest first.

use probity_contract::{Body, Fact, ItemId, ToolSpec};
use probity_trace::{Fidelity, Graph, NodeId, NodeKind, Noted, Record, RecordedText, RunAt, Slice};

use super::Place;
use super::ask::Target;
use crate::search::SuspectKind;

#[derive(Debug)]
pub(super) struct Sources {
    /// The oldest first.
    pub(super) texts: Vec<Source>,
}

#[derive(Debug)]
pub(super) struct Source {
    pub(super) place: Place,
    pub(super) node: NodeId,
    pub(super) kind: SuspectKind,
    pub(super) text: RecordedText,
}

impl Sources {
    pub(super) fn of(graph: &Graph<'_>, slice: &Slice<'_>, target: &Target) -> Self {
        let mut texts: Vec<(u64, Source)> = Vec::new();
        let reached = slice.of_kind(NodeKind::Item);
        let items = reached.filter_map(|node| {
            let (run, item) = graph.item_of(node)?;
            let record = graph.record(run)?;
            let is_itself = run == RunAt::FIRST && Some(item) == target.itself;
            if is_itself {
                return None;
            }
            let at_ms = graph.place(node).map_or(0, |(_, line)| line.at_ms);
            let kind = kind_of(record.item(item)?.body);
            let text = record.item_text(item)?;
            Some((when(record, at_ms), Source { place: Place::Item { run, item }, node, kind, text }))
        });
        texts.extend(items);
        texts.extend(tools(graph, slice));
        // Of one moment, in the order of the records.
        texts.sort_by_key(|(at, source)| (*at, source.node));
        Self { texts: texts.into_iter().map(|(_, source)| source).collect() }
    }
}

fn when(record: &Record, at_ms: u64) -> u64 {
    record.start().map_or(0, |start| start.started_at_unix_ms).saturating_add(at_ms)
}

/// The definitions of tools that were offered. Those that a run was taken up with stand at its beginning, too.
fn tools<'g>(graph: &'g Graph<'_>, slice: &'g Slice<'_>) -> impl Iterator<Item = (u64, Source)> {
    let mut last = None;
    let mut position = 0;
    slice.of_kind(NodeKind::Tool).filter_map(move |node| {
        let (run, line) = graph.place(node)?;
        // The nodes of the tools of one entry follow each other, in their order.
        if last != Some((run, line.seq)) {
            (last, position) = (Some((run, line.seq)), 0);
        }
        let Noted::Known(Fact::RunStarted(start)) = &line.fact else { return None };
        let tool = start.tools.get(position)?;
        let place = Place::Tool { run, tool: u32::try_from(position).ok()? };
        position += 1;
        let text = RecordedText { text: tool_text(tool), fidelity: Fidelity::Full };
        let at = when(graph.record(run)?, line.at_ms);
        Some((at, Source { place, node, kind: SuspectKind::ToolDefinition, text }))
    })
}

/// What the model reads of a tool.
pub(super) fn tool_text(tool: &ToolSpec) -> String {
    format!("{}\n{}\n{}", tool.name, tool.description, tool.input_schema)
}

pub(super) const fn kind_of(body: &Body) -> SuspectKind {
    match body {
        Body::Instructions { .. } | Body::Notice { .. } => SuspectKind::Instructions,
        Body::Person { .. } => SuspectKind::Person,
        Body::Context { .. } => SuspectKind::Context,
        Body::Reply { .. } => SuspectKind::Reply,
        Body::ToolResult { .. } => SuspectKind::ToolResult,
    }
}

/// The text of a place, as it is searched.
pub(super) fn text_of(graph: &Graph<'_>, place: Place) -> Option<RecordedText> {
    match place {
        Place::Item { run, item } => graph.record(run)?.item_text(item),
        Place::Tool { run, tool } => {
            let text = tool_text(spec_of(graph, run, tool)?);
            Some(RecordedText { text, fidelity: Fidelity::Full })
        }
    }
}

fn spec_of<'g>(graph: &'g Graph<'_>, run: RunAt, tool: u32) -> Option<&'g ToolSpec> {
    let line = graph.record(run)?.lines().first()?;
    let Noted::Known(Fact::RunStarted(start)) = &line.fact else { return None };
    start.tools.get(tool as usize)
}

impl Place {
    /// The whole text in which atoms were looked for there; `None` for a place of another graph.
    #[must_use]
    pub fn text(self, graph: &Graph<'_>) -> Option<RecordedText> {
        text_of(graph, self)
    }

    /// The tool whose definition it is.
    #[must_use]
    pub fn tool<'g>(self, graph: &'g Graph<'_>) -> Option<&'g ToolSpec> {
        match self {
            Self::Tool { run, tool } => spec_of(graph, run, tool),
            Self::Item { .. } => None,
        }
    }

    /// The run that it belongs to.
    #[must_use]
    pub const fn run(self) -> RunAt {
        match self {
            Self::Item { run, .. } | Self::Tool { run, .. } => run,
        }
    }

    /// The item that it is.
    #[must_use]
    pub const fn item(self) -> Option<ItemId> {
        match self {
            Self::Item { item, .. } => Some(item),
            Self::Tool { .. } => None,
        }
    }
}
