//! One thing, what it hung on and what hung on it, who worded it, and what a model call was sent.

use probity_contract::ItemId;
use probity_egress::{SamePrincipal, egress_text, fenced_for_human};
use probity_trace::{Author, EdgeKind, Fidelity, Follow, LetIn, NodeId, NodeKind, Provenance, RunAt, Step};
use serde_json::Value;

use super::answer::{Page, Row, TraceAnswer};
use super::told::{INNER_MAX, role, words};
use super::{Asked, TraceError, known};

/// Bytes of a text on one page.
const TEXT_PAGE_BYTES: usize = 2 * 1024;

/// Bytes of arguments or of an output that are passed to be shown by pages. Such a text is bounded by the engine; one of an odd
/// record is not.
const PART_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Edges that a thing is told with.
const EDGES_MAX: usize = 16;

/// What a slice does not know, as far as it is named.
const UNKNOWN_MAX: usize = 16;

impl Asked<'_> {
    pub(super) fn node(&self, id: &str, offset: u32) -> Result<TraceAnswer, TraceError> {
        let node = self.node_of(id)?;
        let mut row = self.tell(node);
        let edges = self.graph.edges(node).filter(|edge| self.graph.kind(edge.to) != Some(NodeKind::Front));
        row = row.list(("hangs_on", "hangs_on_left_out"), EDGES_MAX, edges, |edge| {
            let kind = match edge.kind {
                EdgeKind::Data => "data",
                EdgeKind::Control => "control",
            };
            let to = Row::new().id("id", &self.name(edge.to)).fixed("edge", kind);
            to.fixed("known", provenance(edge.provenance)).value()
        });
        if self.graph.kind(node) == Some(NodeKind::ModelCall) {
            row = row.fixed("note", "trace_window tells what it was sent");
        }
        let Some(text) = self.whole_text(node) else { return Ok(TraceAnswer::whole(row)) };
        let start = text.floor_char_boundary((offset as usize).min(text.len()));
        let end = text.floor_char_boundary(start.saturating_add(TEXT_PAGE_BYTES).min(text.len()));
        let page = text.get(start..end).unwrap_or_default();
        row = row.count("text_bytes", text.len()).range(&(start..end));
        row = row.passed("untrusted", &fenced_for_human("text of the run", page, 2 * TEXT_PAGE_BYTES));
        row = row.count("left_out_before", start).count("left_out_after", text.len() - end);
        if end < text.len() {
            row =
                row.list(("more", "more_left_out"), 1, [end], |end| Row::new().count("offset", end).value());
        }
        Ok(TraceAnswer::whole(row))
    }

    /// The passed text of a node, whole; `None` where it has none or too much.
    fn whole_text(&self, node: NodeId) -> Option<String> {
        let (run, line) =
            self.graph.place(node).filter(|(run, line)| self.graph.entry(*run, line.seq) == Some(node))?;
        if let Some((run, item)) = self.graph.item_of(node) {
            let at = self.graph.runs().position(|other| other == run)?;
            return self
                .texts()
                .item(at, item)
                .filter(|shown| shown.text.is_some())
                .map(|shown| shown.as_str().to_owned());
        }
        let text = self.graph.record(run)?.part_text(*line.texts().first()?);
        let is_shown = text.fidelity <= Fidelity::Redacted && text.text.len() <= PART_BYTES_MAX;
        is_shown.then(|| egress_text::<SamePrincipal>(&text.text).as_str().to_owned())
    }

    pub(super) fn slice(
        &self,
        id: &str,
        is_forward: bool,
        with_control: bool,
        kind: Option<&str>,
        page: Page,
    ) -> Result<TraceAnswer, TraceError> {
        let node = self.node_of(id)?;
        let follow = if with_control { Follow::DataAndControl } else { Follow::Data };
        let slice =
            if is_forward { self.graph.forward([node], follow) } else { self.graph.backward([node], follow) };
        let is_meant = |node: &NodeId| {
            kind.is_none_or(|kind| {
                let found = self.graph.kind(*node).map(|kind| match kind.unknown() {
                    Some(_) => "unknown".into(),
                    None => serde_json::to_value(kind).unwrap_or_default(),
                });
                found.is_some_and(|found: Value| found.as_str() == Some(kind))
            })
        };
        let reached: Vec<NodeId> = slice.nodes().filter(is_meant).collect();
        let head = Row::new()
            .id("of", &self.name(node))
            .fixed(
                "direction",
                if is_forward { "forward: what hung on it" } else { "backward: what it hung on" },
            )
            .fixed("follows", if with_control { "data and control" } else { "data" })
            .fixed("known", provenance(slice.provenance()))
            .count("reached", slice.len())
            .count("reached_items", slice.of_kind(NodeKind::Item).count())
            .fixed("note", "nothing else was reached, but for what stands under unknown")
            .list(("unknown", "unknown_left_out"), UNKNOWN_MAX, slice.unknown(), |unknown| {
                Row::new().id("id", &self.name(unknown.node)).word("why", &unknown.reason).value()
            });
        Ok(TraceAnswer::rows(head, &reached, page, |node| self.tell(*node)))
    }

    pub(super) fn who_wrote(&self, id: &str, page: Page) -> Result<TraceAnswer, TraceError> {
        let node = self.node_of(id)?;
        let wrote = self.graph.who_wrote(node);
        let head = Row::new()
            .id("of", &self.name(node))
            .fixed("rows_are", "steps from it back to whoever worded it")
            .flag("chain_is_longer", wrote.is_cut);
        Ok(TraceAnswer::rows(head, &wrote.steps, page, |step| self.step(step)))
    }

    fn step(&self, step: &Step) -> Row {
        let row = self.tell(step.node);
        let row = match &step.by {
            None => row.fixed("by", "nobody: only passed on"),
            Some(Author::Task) => row.fixed("by", "task"),
            Some(Author::Engine) => row.fixed("by", "engine"),
            Some(Author::Principal(who)) => row.fixed("by", "principal").named("who", who.as_str()),
            Some(Author::Model { call, .. }) => {
                row.fixed("by", "model").id("who", &self.model_call_name(step.run, *call))
            }
            Some(Author::Tool { call }) => {
                row.fixed("by", "tool").id("who", &self.call_name(step.run, *call))
            }
            Some(Author::Interceptors(who)) => {
                let row = row.fixed("by", "interceptors");
                row.list(("who", "who_left_out"), INNER_MAX, who, |name| words(name.as_str()))
            }
            Some(Author::Person(who)) => {
                let row = row.fixed("by", "person");
                who.as_ref().map_or(row.clone(), |who| row.named("who", who.as_str()))
            }
            Some(Author::Policies(who)) => {
                let row = row.fixed("by", "policies");
                row.list(("who", "who_left_out"), INNER_MAX, who, |name| words(name.as_str()))
            }
        };
        row.list(("let_in", "let_in_left_out"), INNER_MAX, &step.let_in, |let_in| self.let_in(let_in).value())
    }

    fn let_in(&self, let_in: &LetIn) -> Row {
        match let_in {
            LetIn::Interceptors { node, point, heard } => Row::new()
                .id("id", &self.name(*node))
                .named("point", &point.to_string())
                .list(("interceptors", "interceptors_left_out"), INNER_MAX, heard, |name| {
                    words(name.as_str())
                }),
            LetIn::Policies { node, allowed } => Row::new().id("id", &self.name(*node)).list(
                ("policies", "policies_left_out"),
                INNER_MAX,
                allowed,
                |name| words(name.as_str()),
            ),
            LetIn::Person { node, by } => {
                let row = Row::new().id("id", &self.name(*node)).fixed("by", "person");
                by.as_ref().map_or(row.clone(), |by| row.named("who", by.as_str()))
            }
        }
    }

    pub(super) fn window(&self, id: &str, page: Page) -> Result<TraceAnswer, TraceError> {
        let (run, call) = self.model_call_of(id)?;
        let node = self.graph.model_call(run, call).ok_or(TraceError::NoSuchId)?;
        let record = self.graph.record(run).ok_or(TraceError::NoSuchId)?;
        let head = self.tell(node).fixed("known", known(record));
        let Ok(window) = record.window(call) else {
            let note = "the record does not tell what this window begins with";
            return Ok(TraceAnswer::whole(head.fixed("note", note)));
        };
        let at = self.graph.runs().position(|other| other == run).unwrap_or_default();
        let mut start: usize = 0;
        let mut placed: Vec<(ItemId, std::ops::Range<usize>)> = Vec::with_capacity(window.len());
        for item in window {
            let bytes = self.texts().item(at, item).map_or(0, |shown| shown.as_str().len());
            placed.push((item, start..start.saturating_add(bytes)));
            // A line feed stands between two items.
            start = start.saturating_add(bytes).saturating_add(1);
        }
        let head = head.count("window_bytes", start.saturating_sub(1)).fixed(
            "rows_are",
            "items in the order in which they were sent; bytes is their place in the window as one text, as it is shown",
        );
        Ok(TraceAnswer::rows(head, &placed, page, |(item, range)| self.sent(run, *item, range)))
    }

    fn sent(&self, run: RunAt, item: ItemId, range: &std::ops::Range<usize>) -> Row {
        let row = Row::new().id("id", &self.item_name(run, item)).range(range);
        let Some(found) = self.graph.record(run).and_then(|record| record.item(item)) else {
            return row.fixed("note", "the record does not tell of this item");
        };
        let row = row
            .fixed("role", role(found.body))
            .word("origin", &found.origin)
            .word("trust", &found.label.integrity);
        self.graph.item(run, item).map_or(row.clone(), |node| self.with_item_text(row, node))
    }
}

pub(super) const fn provenance(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Exact => "exact",
        Provenance::Inferred => "inferred",
    }
}
