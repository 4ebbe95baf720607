use std::collections::{HashMap, HashSet};
use std::ops::Range;

use probity_contract::{Body, Fact, Integrity};
use probity_egress::{Egress, Tier, Words, egress_text};
use probity_trace::{
    Fidelity, Graph, Holder, NodeId, Operation, Provenance, RunAt, Sameness, Step, UnknownNode, UnknownReason,
};
use probity_why::{AskedAtom, AskedPart, AtomSource, Chain, Composition, Lead, Link, Place, Why};
use serde::Serialize;

use super::words;
use super::{PassedText, ShownConfirmed, ShownVerdict};

/// Places of one atom that are shown; the others are counted.
const HOLDERS_SHOWN_MAX: usize = 8;

/// Bytes before and behind a place that are shown of its text.
const AROUND_BYTES: usize = 40;

/// A report as it is shown to somebody of a tier: to a person, to a script, or on a page. Every text in it is passed.
#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownWhy<T: Tier> {
    pub(crate) run: Egress<T>,
    pub(crate) title: Egress<T>,
    pub(crate) model: Egress<T>,
    /// The format that the record was imported from: then every edge is inferred.
    pub(crate) imported: Option<Egress<T>>,
    /// What was asked about, in words.
    pub(crate) asked: Egress<T>,
    pub(crate) id: Egress<T>,
    /// The whole text.
    pub(crate) text: Egress<T>,
    pub(crate) text_is: &'static str,
    /// The part that was asked about, in bytes of `text`; `None` where it cannot be told.
    pub(crate) span: Option<Range<usize>>,
    /// Who worded it, and who let it go on.
    pub(crate) origin: Vec<ShownStep<T>>,
    pub(crate) atoms: Vec<ShownAtom<T>>,
    pub(crate) chains: Vec<ShownChain<T>>,
    pub(crate) leads: Vec<ShownLead<T>>,
    pub(crate) leads_left_out: usize,
    pub(crate) unknown: Vec<ShownUnknown<T>>,
    pub(crate) unknown_left_out: usize,
    pub(crate) windows: Vec<ShownWindow<T>>,
    pub(crate) counts: ShownCounts,
    /// What a test of suspects came to, where one was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) confirmed: Option<ShownConfirmed<T>>,
    /// Tests that followed from it: of replies that it convicted, and of sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) confirmed_further: Vec<ShownConfirmed<T>>,
}

/// Where an atom is from, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mark {
    Copied,
    Computed,
    Repeated,
    NoSource,
}

impl Mark {
    pub(crate) const ALL: [Self; 4] = [Self::Copied, Self::Computed, Self::Repeated, Self::NoSource];

    /// The sign that tells it without colour.
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Copied => "=",
            Self::Computed => "~",
            Self::Repeated => "\"",
            Self::NoSource => "?",
        }
    }

    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Copied => "copied",
            Self::Computed => "computed",
            Self::Repeated => "only the model's own words before",
            Self::NoSource => "no source",
        }
    }
}

#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownAtom<T: Tier> {
    /// Counted from 1.
    pub(crate) number: usize,
    pub(crate) mark: Mark,
    /// Whether a test has convicted something that holds it.
    pub(crate) is_confirmed: bool,
    pub(crate) kind: &'static str,
    pub(crate) text: Egress<T>,
    pub(crate) unit: Option<&'static str>,
    /// In bytes of the recorded text.
    pub(crate) range: Range<usize>,
    /// In bytes of the text as shown.
    pub(crate) range_shown: Option<Range<usize>>,
    /// The places that hold it, oldest source first.
    pub(crate) holders: Vec<ShownHolder<T>>,
    pub(crate) holders_left_out: usize,
    pub(crate) is_complete: bool,
    /// How likely it stands there, or comes out so, by accident.
    pub(crate) chance: Option<f64>,
    /// By what it was computed, from the holders.
    pub(crate) operation: Option<&'static str>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownHolder<T: Tier> {
    pub(crate) id: Egress<T>,
    pub(crate) what: Egress<T>,
    /// In bytes of the recorded text of the source.
    pub(crate) range: Range<usize>,
    /// What is the same there.
    pub(crate) same: &'static str,
    /// What stands before it, there, and behind it.
    pub(crate) excerpt: [Egress<T>; 3],
}

#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownChain<T: Tier> {
    pub(crate) id: Egress<T>,
    pub(crate) what: Egress<T>,
    pub(crate) integrity: Option<Integrity>,
    /// The numbers of the atoms.
    pub(crate) atoms: Vec<usize>,
    /// From what was asked about to the source.
    pub(crate) way: Vec<ShownLink<T>>,
    /// From the source to whoever worded it.
    pub(crate) origin: Vec<ShownStep<T>>,
    pub(crate) is_cut: bool,
    /// Whether nobody is asked of such a source: what a model says is judged by what it does, and the principal asks.
    pub(crate) needs_no_leave: bool,
}

#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownLink<T: Tier> {
    pub(crate) id: Egress<T>,
    pub(crate) what: &'static str,
    /// How it is known that it went into the one before.
    pub(crate) edge: &'static str,
}

#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownStep<T: Tier> {
    pub(crate) id: Egress<T>,
    pub(crate) what: &'static str,
    pub(crate) by: Option<Egress<T>>,
    pub(crate) let_in_by: Vec<Egress<T>>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownLead<T: Tier> {
    pub(crate) id: Egress<T>,
    pub(crate) what: Egress<T>,
    pub(crate) kind: &'static str,
    pub(crate) integrity: Option<Integrity>,
    pub(crate) score: f64,
    pub(crate) atoms: usize,
    pub(crate) first_seen: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownUnknown<T: Tier> {
    pub(crate) id: Egress<T>,
    pub(crate) reason: UnknownReason,
    pub(crate) words: String,
    pub(crate) seq: u64,
}

#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownWindow<T: Tier> {
    pub(crate) call: Egress<T>,
    pub(crate) items: usize,
    pub(crate) bytes: usize,
    pub(crate) is_in_slice: bool,
    pub(crate) is_told: bool,
    pub(crate) shares: Vec<ShownShare>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct ShownShare {
    pub(crate) kind: &'static str,
    pub(crate) integrity: Integrity,
    pub(crate) items: usize,
    pub(crate) bytes: usize,
    pub(crate) holders: usize,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct ShownCounts {
    pub(crate) runs: usize,
    pub(crate) nodes: usize,
    pub(crate) reached: usize,
    pub(crate) items: usize,
    pub(crate) items_reached: usize,
    pub(crate) sources: usize,
    pub(crate) source_bytes: usize,
    pub(crate) sources_not_whole: usize,
}

pub(crate) const fn edge_words(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Exact => "exact",
        Provenance::Inferred => "inferred",
    }
}

impl<T: Tier> ShownAtom<T> {
    /// The signs that tell where it is from, and whether that is a confirmed cause, without colour.
    pub(crate) fn signs(&self) -> String {
        format!("{}{}", if self.is_confirmed { "!" } else { "" }, self.mark.sign())
    }
}

impl<T: Tier> ShownWhy<T> {
    pub(crate) fn of(graph: &Graph<'_>, why: &Why) -> Self {
        let mut texts = Texts { graph, passed: HashMap::new() };
        let record = graph.record(RunAt::FIRST);
        let start = record.and_then(probity_trace::Record::start);
        let text = PassedText::<T>::of(&why.text.text);
        let atoms = why.atoms.iter().enumerate();
        let counts = why.counts;
        let asked_id = match why.asked {
            AskedPart::Answer(item) | AskedPart::Reply(item) => item.to_string(),
            AskedPart::Call(call) => call.to_string(),
        };
        Self {
            run: start.map_or_else(Egress::empty, |start| egress_text(start.run.as_str())),
            title: start.map_or_else(Egress::empty, |start| words::name(&start.title)),
            model: start.map_or_else(Egress::empty, |start| words::name(start.model.as_str())),
            imported: imported(graph),
            asked: words::asked(why.asked),
            id: egress_text(&asked_id),
            span: text.range(&why.span),
            origin: why.wrote.steps.iter().map(|step| shown_step(graph, step)).collect(),
            text_is: match why.text.fidelity {
                Fidelity::Full => "whole",
                Fidelity::Redacted => "without credentials, as it was recorded",
                Fidelity::Withheld => "not kept",
                Fidelity::Unknown => "not known as it was",
            },
            atoms: atoms.map(|(at, atom)| shown_atom(&mut texts, &text, at + 1, atom)).collect(),
            text: text.text().clone(),
            chains: why.chains.iter().map(|chain| shown_chain(graph, chain)).collect(),
            leads: why.leads.iter().map(|lead| shown_lead(graph, lead)).collect(),
            leads_left_out: why.leads_left_out,
            unknown: shown_unknowns(graph, &why.unknown),
            unknown_left_out: why.unknown_left_out,
            windows: why.windows.iter().map(shown_window).collect(),
            counts: ShownCounts {
                runs: counts.runs,
                nodes: counts.nodes,
                reached: counts.reached,
                items: counts.items,
                items_reached: counts.items_reached,
                sources: counts.sources,
                source_bytes: counts.source_bytes,
                sources_not_whole: counts.sources_not_whole,
            },
            confirmed: None,
            confirmed_further: Vec::new(),
        }
    }

    /// Takes in what tests came to: the first is about what was asked.
    pub(crate) fn tell_tested(&mut self, tests: Vec<ShownConfirmed<T>>) {
        let mut tests = tests.into_iter();
        (self.confirmed, self.confirmed_further) = (tests.next(), tests.collect());
        let convicted: HashSet<Egress<T>> = self.convictions().map(|verdict| verdict.id.clone()).collect();
        for atom in &mut self.atoms {
            atom.is_confirmed = atom.holders.iter().any(|holder| convicted.contains(&holder.id));
        }
    }

    /// Whom tests have convicted.
    pub(crate) fn convictions(&self) -> impl Iterator<Item = &ShownVerdict<T>> {
        self.tests().flat_map(|test| &test.verdicts).filter(|verdict| verdict.is_conviction)
    }

    /// All tests, the one of what was asked about first.
    pub(crate) fn tests(&self) -> impl Iterator<Item = &ShownConfirmed<T>> {
        self.confirmed.iter().chain(&self.confirmed_further)
    }
}

fn imported<T: Tier>(graph: &Graph<'_>) -> Option<Egress<T>> {
    let line = graph.record(RunAt::FIRST)?.lines().first()?;
    let probity_trace::Noted::Known(Fact::RunStarted(start)) = &line.fact else { return None };
    start.imported.as_ref().map(|imported| words::name(&imported.format))
}

/// The texts of sources, each passed once and whole.
struct Texts<'g, 'r, T: Tier> {
    graph: &'g Graph<'r>,
    passed: HashMap<Place, PassedText<T>>,
}

impl<T: Tier> Texts<'_, '_, T> {
    fn holder(&mut self, place: Place, range: &Range<usize>, same: &'static str) -> ShownHolder<T> {
        let graph = self.graph;
        let passed = self
            .passed
            .entry(place)
            .or_insert_with(|| PassedText::of(&place.text(graph).map(|text| text.text).unwrap_or_default()));
        let excerpt = passed.excerpt(range, AROUND_BYTES);
        let (id, what) = words::place(graph, place);
        ShownHolder { id, what, range: range.clone(), same, excerpt }
    }
}

fn shown_atom<T: Tier>(
    texts: &mut Texts<'_, '_, T>,
    text: &PassedText<T>,
    number: usize,
    asked: &AskedAtom,
) -> ShownAtom<T> {
    let atom = &asked.atom;
    let mut shown = ShownAtom {
        number,
        mark: Mark::NoSource,
        is_confirmed: false,
        kind: atom.kind.name(),
        text: text.piece(&atom.range),
        unit: atom.unit.map(probity_trace::Unit::name),
        range: atom.range.clone(),
        range_shown: text.range(&atom.range),
        holders: Vec::new(),
        holders_left_out: 0,
        is_complete: true,
        chance: None,
        operation: None,
    };
    match &asked.source {
        AtomSource::Copied { holders, left_out, chance } => {
            shown.mark = Mark::Copied;
            shown.chance = Some(chance.probability);
            shown.hold(texts, holders, *left_out);
        }
        AtomSource::Repeated { said } => {
            shown.mark = Mark::Repeated;
            shown.hold(texts, said, 0);
        }
        AtomSource::Computed(computed) => {
            shown.is_complete = computed.is_complete;
            if let Some(computation) = asked.computation() {
                shown.mark = Mark::Computed;
                shown.chance = Some(computation.chance);
                shown.operation = Some(operation_words(computation.operation));
                let operands = computation.operands.iter().take(HOLDERS_SHOWN_MAX);
                shown.holders =
                    operands.map(|operand| texts.holder(operand.source, &operand.range, "operand")).collect();
                shown.holders_left_out = computation.operands.len().saturating_sub(HOLDERS_SHOWN_MAX);
            }
        }
        AtomSource::None => {}
    }
    shown
}

impl<T: Tier> ShownAtom<T> {
    fn hold(&mut self, texts: &mut Texts<'_, '_, T>, holders: &[Holder<Place>], left_out: usize) {
        let shown = holders.iter().take(HOLDERS_SHOWN_MAX);
        self.holders = shown
            .map(|holder| texts.holder(holder.source, &holder.range, same_words(holder.sameness)))
            .collect();
        self.holders_left_out = left_out + holders.len().saturating_sub(HOLDERS_SHOWN_MAX);
    }
}

const fn same_words(sameness: Sameness) -> &'static str {
    match sameness {
        Sameness::Bytes => "the very bytes",
        Sameness::Value => "the same value",
        Sameness::Parts => "its words, with others between",
    }
}

const fn operation_words(operation: Operation) -> &'static str {
    match operation {
        Operation::Rounded => "rounded",
        Operation::Count => "count of",
        Operation::Sum => "sum of",
        Operation::Difference => "difference of",
        Operation::Product => "product of",
        Operation::Percentage => "share in percent of",
        Operation::PercentOf => "percent of",
        Operation::Change => "change in percent from",
        Operation::Ratio => "ratio of",
        Operation::DaysBetween => "time between",
        Operation::DaysAfter => "days after",
        Operation::DaysBefore => "days before",
        Operation::TimeBetween => "time between",
    }
}

fn integrity(graph: &Graph<'_>, place: Place) -> Option<Integrity> {
    let item = graph.record(place.run())?.item(place.item()?)?;
    Some(item.label.integrity)
}

fn needs_no_leave(graph: &Graph<'_>, place: Place) -> bool {
    let record = graph.record(place.run());
    let item = record.zip(place.item()).and_then(|(record, item)| record.item(item));
    item.is_some_and(|item| matches!(item.body, Body::Reply { .. } | Body::Person { .. }))
}

fn shown_chain<T: Tier>(graph: &Graph<'_>, chain: &Chain) -> ShownChain<T> {
    let (id, what) = words::place(graph, chain.place);
    let link = |link: &Link| ShownLink {
        id: words::id(graph, link.node),
        what: words::kind_of_node(link.kind),
        edge: edge_words(link.provenance),
    };
    let origin = chain.wrote.iter().flat_map(|wrote| &wrote.steps).map(|step| shown_step(graph, step));
    ShownChain {
        id,
        what,
        integrity: integrity(graph, chain.place),
        atoms: chain.atoms.iter().map(|at| at + 1).collect(),
        way: chain.links.iter().map(link).collect(),
        origin: origin.collect(),
        is_cut: chain.wrote.as_ref().is_some_and(|wrote| wrote.is_cut),
        needs_no_leave: needs_no_leave(graph, chain.place),
    }
}

fn shown_step<T: Tier>(graph: &Graph<'_>, step: &Step) -> ShownStep<T> {
    ShownStep {
        id: words::id(graph, step.node),
        what: words::kind_of_node(step.kind),
        by: step.by.as_ref().map(words::author),
        let_in_by: step.let_in.iter().map(|row| words::let_in(graph, row)).collect(),
    }
}

fn shown_lead<T: Tier>(graph: &Graph<'_>, lead: &Lead) -> ShownLead<T> {
    let (id, what) = words::place(graph, lead.place);
    ShownLead {
        id,
        what,
        kind: words::kind(lead.kind),
        integrity: integrity(graph, lead.place),
        score: (lead.score * 100.0).round() / 100.0,
        atoms: lead.atoms,
        first_seen: lead.first_seen.map(|call| call.to_string()),
    }
}

/// By what they are about: which of two calls came back first is chance.
fn shown_unknowns<T: Tier>(graph: &Graph<'_>, unknown: &[UnknownNode]) -> Vec<ShownUnknown<T>> {
    let mut shown: Vec<ShownUnknown<T>> = unknown.iter().map(|one| shown_unknown(graph, one)).collect();
    shown.sort_by(|one, other| {
        let key = |shown: &ShownUnknown<T>| (shown.id.as_str().len(), shown.id.as_str().to_owned());
        key(one).cmp(&key(other))
    });
    shown
}

fn shown_unknown<T: Tier>(graph: &Graph<'_>, unknown: &UnknownNode) -> ShownUnknown<T> {
    let entry: Option<NodeId> = graph.entry(unknown.run, unknown.seq);
    ShownUnknown {
        id: entry.map_or_else(Egress::empty, |entry| words::id(graph, entry)),
        reason: unknown.reason,
        words: unknown.reason.to_string(),
        seq: unknown.seq,
    }
}

fn shown_window<T: Tier>(window: &Composition) -> ShownWindow<T> {
    let shares = window.shares.iter().map(|share| ShownShare {
        kind: words::kind(share.kind),
        integrity: share.integrity,
        items: share.items,
        bytes: share.bytes,
        holders: share.holders,
    });
    ShownWindow {
        call: egress_text(&window.call.to_string()),
        items: window.items,
        bytes: window.bytes,
        is_in_slice: window.is_in_slice,
        is_told: window.is_told,
        shares: shares.collect(),
    }
}

impl<T: Tier> ShownChain<T> {
    /// Who worded the source.
    pub(crate) fn author(&self) -> Option<&Egress<T>> {
        self.origin.iter().find_map(|step| step.by.as_ref())
    }

    /// Because of whom the author did; `None` where nobody stands behind.
    pub(crate) fn cause(&self) -> Option<&Egress<T>> {
        let last = self.origin.iter().rev().find_map(|step| step.by.as_ref());
        last.filter(|last| Some(*last) != self.author())
    }
}

impl<T: Tier> ShownHolder<T> {
    /// The excerpt as one text, the place between brackets.
    pub(crate) fn excerpt_text(&self) -> Egress<T> {
        let [before, itself, behind] = &self.excerpt;
        Words::new().passed(before).text("[").passed(itself).text("]").passed(behind).done()
    }
}
