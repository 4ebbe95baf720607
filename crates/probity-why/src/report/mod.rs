//! What is known of where something came from, from records alone: no model is called, and nothing here is a verdict.
//!
//! A report holds ids, places and ranges, and the whole text that was asked about. It holds no piece cut out of a text
//! of a run: a piece of a credential is known to no pass. Whoever shows it passes whole texts first and cuts then.

mod ask;
mod atoms;
mod chain;
mod leads;
mod pointer;
mod sources;
mod two;
mod windows;

use std::ops::Range;

use probity_contract::{CallId, ItemId, ModelCallId};
use probity_trace::{
    Atom, Authorship, Chance, Computed, Fidelity, Follow, Graph, Holder, NodeId, NodeKind, Provenance,
    RecordedText, RunAt, UnknownNode,
};

use crate::search::SuspectKind;
pub(crate) use atoms::CHANCE_MAX;
use sources::Sources;

pub use ask::{AskError, Asking};
pub use two::{CallPair, DIFFERENCES_TOLD_MAX, TwoRuns, WindowPair};
pub use windows::WINDOW_ITEMS_MAX;

/// Leads that are told; more are counted.
pub const LEADS_MAX: usize = 64;

/// Unknown nodes that are told; more are counted.
pub const UNKNOWN_MAX: usize = 64;

/// Where a part of an answer, or of the arguments of a call, came from.
///
/// The texts in it are those of the record and have passed no exit.
#[derive(Debug, Clone)]
pub struct Why {
    /// What was asked about.
    pub asked: AskedPart,
    /// Its node in the graph.
    pub node: NodeId,
    /// The whole text that it is, or is a part of.
    pub text: RecordedText,
    /// The part of the text that was asked about.
    pub span: Range<usize>,
    /// Who worded it, and who let it go on: of a call, who decided that it may run.
    pub wrote: Authorship,
    /// The atoms of that part, in their order, and where each is from.
    pub atoms: Vec<AskedAtom>,
    /// How what holds the atoms reached what was asked about, and who let it in; the oldest first.
    pub chains: Vec<Chain>,
    /// What to look at first: the best lead first. No verdicts.
    pub leads: Vec<Lead>,
    /// Leads beyond [`LEADS_MAX`].
    pub leads_left_out: usize,
    /// What has gone in and is not known.
    pub unknown: Vec<UnknownNode>,
    /// Such nodes beyond [`UNKNOWN_MAX`].
    pub unknown_left_out: usize,
    /// What each model call of the first run was sent.
    pub windows: Vec<Composition>,
    /// How much there is.
    pub counts: Counts,
}

/// What was asked about. It belongs to the first run of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedPart {
    /// The answer of the run.
    Answer(ItemId),
    /// Another reply.
    Reply(ItemId),
    /// The arguments of a call in their last form.
    Call(CallId),
}

/// An atom of what was asked about, and where it is from.
#[derive(Debug, Clone)]
pub struct AskedAtom {
    /// The atom; its range is of [`Why::text`].
    pub atom: Atom,
    /// Where it is from.
    pub source: AtomSource,
}

/// Where an atom is from.
#[derive(Debug, Clone)]
pub enum AtomSource {
    /// It stands in what had reached the part.
    Copied {
        /// Where, oldest source first.
        holders: Vec<Holder<Place>>,
        /// Places beyond those.
        left_out: usize,
        /// How likely such a value stands in an unrelated text of this length.
        chance: Chance,
    },
    /// It stands nowhere, and comes out of values that do.
    Computed(Computed<Place>),
    /// It stands in nothing but what the model had said before.
    Repeated {
        /// Where, oldest first.
        said: Vec<Holder<Place>>,
    },
    /// No source.
    None,
}

/// What can hold an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// An item of a run.
    Item {
        /// The run.
        run: RunAt,
        /// The item.
        item: ItemId,
    },
    /// The definition of a tool, as the run was given it.
    Tool {
        /// The run.
        run: RunAt,
        /// Its position among the tools of the run.
        tool: u32,
    },
}

/// How one source reached what was asked about, and who let it in.
#[derive(Debug, Clone)]
pub struct Chain {
    /// The source.
    pub place: Place,
    /// The atoms that it holds or that were computed from it, as positions in [`Why::atoms`].
    pub atoms: Vec<usize>,
    /// From what was asked about to the source, the shortest way: replies, model calls, calls.
    pub links: Vec<Link>,
    /// From the source to whoever worded it; empty for the definition of a tool, which the task has given.
    pub wrote: Option<Authorship>,
}

/// One step of a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The node.
    pub node: NodeId,
    /// What it is.
    pub kind: NodeKind,
    /// How it is known that it has gone into the step before; of the first step, that it is what it is.
    pub provenance: Provenance,
}

/// Something that may be to blame. A lead, no verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lead {
    /// What.
    pub place: Place,
    /// Its node.
    pub node: NodeId,
    /// What it is.
    pub kind: SuspectKind,
    /// The higher, the sooner it is worth a look. See [`rank`](crate::rank).
    pub score: f64,
    /// How many of the atoms it holds, or helped to compute.
    pub atoms: usize,
    /// The first model call of the first run whose window held it; `None` where none did.
    pub first_seen: Option<ModelCallId>,
}

/// What one model call was sent, by kind and trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composition {
    /// The call.
    pub call: ModelCallId,
    /// Its shares, in the order in which their first items stand in the window. Empty where the window is not told.
    pub shares: Vec<Share>,
    /// Items of the window.
    pub items: usize,
    /// Bytes of the texts that are kept of them.
    pub bytes: usize,
    /// Whether the call had an influence on what was asked about.
    pub is_in_slice: bool,
    /// Why there are no shares.
    pub is_told: bool,
}

/// The items of a window that are of one kind and one trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// What they are.
    pub kind: SuspectKind,
    /// How far they may be believed.
    pub integrity: probity_contract::Integrity,
    /// How many.
    pub items: usize,
    /// Bytes of the texts that are kept of them.
    pub bytes: usize,
    /// How many of them hold atoms of what was asked about.
    pub holders: usize,
}

/// How much a report is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Runs whose records were given.
    pub runs: usize,
    /// Entries and other nodes in all.
    pub nodes: usize,
    /// Those that have reached what was asked about.
    pub reached: usize,
    /// Items in all.
    pub items: usize,
    /// Those that have reached what was asked about.
    pub items_reached: usize,
    /// Texts in which atoms were looked for, and their bytes.
    pub sources: usize,
    /// Bytes of them.
    pub source_bytes: usize,
    /// Texts that could not be looked into, since they are not kept as they were.
    pub sources_not_whole: usize,
}

impl Why {
    /// What is known of where the part came from.
    ///
    /// The first run of the graph is the one asked about. Takes time with the size of what has reached the part and not
    /// faster, but for a logarithm; windows are summed up to [`WINDOW_ITEMS_MAX`] items.
    ///
    /// # Errors
    /// When there is no such part.
    pub fn of(graph: &Graph<'_>, asking: &Asking) -> Result<Self, AskError> {
        let target = ask::target(graph, asking)?;
        let slice = graph.backward([target.node], Follow::Data);
        let sources = Sources::of(graph, &slice, &target);
        let atoms = atoms::atoms(&target, &sources);
        let chains = chain::chains(graph, &target, &atoms);
        let (leads, leads_left_out) = leads::leads(graph, &target, &sources, &atoms);
        let windows = windows::compositions(graph, &slice, &atoms);
        let mut unknown: Vec<UnknownNode> = slice.unknown().collect();
        let unknown_left_out = unknown.len().saturating_sub(UNKNOWN_MAX);
        unknown.truncate(UNKNOWN_MAX);
        let items = graph.nodes().filter(|node| graph.kind(*node) == Some(NodeKind::Item)).count();
        let counts = Counts {
            runs: graph.runs().count(),
            nodes: graph.len(),
            reached: slice.len(),
            items,
            items_reached: slice.of_kind(NodeKind::Item).count(),
            sources: sources.texts.len(),
            source_bytes: sources.texts.iter().map(|source| source.text.text.len()).sum(),
            sources_not_whole: sources.texts.iter().filter(|s| s.text.fidelity != Fidelity::Full).count(),
        };
        let ask::Target { asked, node, text, span, .. } = target;
        Ok(Self {
            asked,
            node,
            text,
            span,
            wrote: graph.who_wrote(decided(graph, asked, node)),
            atoms,
            chains,
            leads,
            leads_left_out,
            unknown,
            unknown_left_out,
            windows,
            counts,
        })
    }
}

/// The node whose decisions tell who let the part go on: of a call that ran, its start.
fn decided(graph: &Graph<'_>, asked: AskedPart, node: NodeId) -> NodeId {
    match asked {
        AskedPart::Call(call) => {
            graph.execution(RunAt::FIRST, call).or_else(|| graph.outcome(RunAt::FIRST, call)).unwrap_or(node)
        }
        AskedPart::Answer(_) | AskedPart::Reply(_) => node,
    }
}

impl AskedAtom {
    /// The places that it was copied from or computed from, oldest first.
    pub fn places(&self) -> impl Iterator<Item = Place> {
        let (holders, operands) = match &self.source {
            AtomSource::Copied { holders, .. } | AtomSource::Repeated { said: holders } => {
                (holders.as_slice(), None)
            }
            AtomSource::Computed(computed) => (&[] as &[Holder<Place>], computed.within(CHANCE_MAX)),
            AtomSource::None => (&[] as &[Holder<Place>], None),
        };
        let operands = operands.map(|computation| computation.operands.as_slice()).unwrap_or_default();
        holders.iter().map(|holder| holder.source).chain(operands.iter().map(|operand| operand.source))
    }

    /// The computation that it is taken for, and how likely one so close is found by accident.
    #[must_use]
    pub fn computation(&self) -> Option<&probity_trace::Computation<Place>> {
        match &self.source {
            AtomSource::Computed(computed) => computed.within(CHANCE_MAX),
            AtomSource::Copied { .. } | AtomSource::Repeated { .. } | AtomSource::None => None,
        }
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
