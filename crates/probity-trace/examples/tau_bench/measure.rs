//! Where the atoms of recorded conversations stand in what the model had before, and in what another conversation had.

use std::collections::BTreeMap;
use std::path::Path;

use probity_trace::{
    Atom, AtomKind, CopyIndex, CopySource, Operands, Sameness, atoms_of_json, atoms_of_text,
};
use serde_json::Value;

/// Computed values that are as likely an accident as this, or less, count as computed.
pub(crate) const ACCIDENT_MAX: f64 = 0.05;

/// Upper bounds of the stated chance, for the table that checks it.
pub(crate) const CHANCE_STEPS: [f64; 5] = [0.001, 0.01, 0.1, 0.5, 1.0];

/// The runs are so far apart that another task has the other conversation.
const OTHER_RUN_AWAY: usize = 23;

/// What was counted.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) messages: usize,
    pub(crate) messages_with_atoms: usize,
    pub(crate) calls: usize,
    pub(crate) text: BTreeMap<AtomKind, Tally>,
    pub(crate) arguments: BTreeMap<AtomKind, Tally>,
    /// By step of the stated chance.
    pub(crate) steps: [Tally; CHANCE_STEPS.len()],
    pub(crate) single_digits: Tally,
    /// The atoms without a source, with how often each stood so.
    pub(crate) misses: BTreeMap<(AtomKind, String), usize>,
}

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) atoms: usize,
    pub(crate) bytes: usize,
    pub(crate) value: usize,
    pub(crate) parts: usize,
    /// Of those that stand somewhere: only in what the model itself said before.
    pub(crate) own_only: usize,
    /// Nowhere, but computed from what does.
    pub(crate) computed: usize,
    /// Nowhere, and only an accident could be found.
    pub(crate) accident: usize,
    /// Stands in another task's conversation, cut to the same length: without and with the instructions common to all.
    pub(crate) other: usize,
    pub(crate) other_with_common: usize,
    /// The sum of the stated chances.
    pub(crate) chance: f64,
}

impl Tally {
    pub(crate) fn copied(&self) -> usize {
        self.bytes + self.value + self.parts
    }

    pub(crate) fn none(&self) -> usize {
        self.atoms - self.copied() - self.computed
    }

    fn add(&mut self, other: &Self) {
        self.atoms += other.atoms;
        self.bytes += other.bytes;
        self.value += other.value;
        self.parts += other.parts;
        self.own_only += other.own_only;
        self.computed += other.computed;
        self.accident += other.accident;
        self.other += other.other;
        self.other_with_common += other.other_with_common;
        self.chance += other.chance;
    }

    pub(crate) fn sum<'t>(tallies: impl IntoIterator<Item = &'t Self>) -> Self {
        let mut sum = Self::default();
        tallies.into_iter().for_each(|tally| sum.add(tally));
        sum
    }
}

/// A text of a conversation.
struct Said {
    text: String,
    by_model: bool,
    is_arguments: bool,
    is_common: bool,
    /// Texts before the message it belongs to.
    before: usize,
}

struct Conversation {
    task: Value,
    said: Vec<Said>,
}

fn conversation(run: &Value) -> Conversation {
    let mut said: Vec<Said> = Vec::new();
    for message in run["traj"].as_array().into_iter().flatten() {
        let by_model = message["role"] == "assistant";
        let before = said.len();
        let mut push = |text: &Value, is_arguments: bool| {
            let text = text.as_str().unwrap_or_default().to_owned();
            said.push(Said { text, by_model, is_arguments, is_common: message["role"] == "system", before });
        };
        push(&message["content"], false);
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            push(&call["function"]["arguments"], true);
        }
    }
    Conversation { task: run["task_id"].clone(), said }
}

type Index<'t> = CopyIndex<'t, usize>;

fn index(said: &[Said], keep_common: bool) -> Index<'_> {
    let kept = move |said: &&Said| keep_common || !said.is_common;
    let texts = said.iter().filter(kept).enumerate();
    CopyIndex::new(texts.map(|(key, said)| CopySource { key, text: said.text.as_str() }))
}

/// Reads the file and counts.
pub(crate) fn measure(file: &Path) -> Result<Report, Box<dyn std::error::Error>> {
    #[expect(clippy::disallowed_methods, reason = "reads the corpus in place")]
    let runs: Vec<Value> = serde_json::from_slice(&std::fs::read(file)?)?;
    let conversations: Vec<Conversation> = runs.iter().map(conversation).collect();
    let mut report = Report::default();
    for (number, here) in conversations.iter().enumerate() {
        let mut others = conversations.iter().cycle().skip(number + OTHER_RUN_AWAY).take(conversations.len());
        let other = others.find(|other| other.task != here.task).unwrap_or(here);
        report.count(here, other);
    }
    Ok(report)
}

impl Report {
    fn count(&mut self, here: &Conversation, other: &Conversation) {
        let all = index(&here.said, true);
        let (other_all, other_own) = (index(&other.said, true), index(&other.said, false));
        for said in here.said.iter().filter(|said| said.by_model && !said.text.is_empty()) {
            let atoms = if said.is_arguments { atoms_of_json(&said.text) } else { atoms_of_text(&said.text) };
            let had =
                |common: bool| here.said.iter().take(said.before).filter(move |one| common || !one.is_common);
            let as_long = |common: bool| {
                let bytes: usize = had(common).map(|said| said.text.len()).sum();
                as_long_as(bytes, other.said.iter().filter(move |one| common || !one.is_common))
            };
            let (other_first, other_own_first) = (as_long(true), as_long(false));
            self.messages += usize::from(!said.is_arguments);
            self.calls += usize::from(said.is_arguments);
            self.messages_with_atoms += usize::from(!said.is_arguments && !atoms.is_empty());
            let mut operands: Option<Operands<usize>> = None;
            for atom in &atoms {
                let mut tally = Tally { atoms: 1, ..Tally::default() };
                let copies = all.find_in_first(atom, said.before);
                tally.chance = copies.chance.probability;
                tally.other = usize::from(!other_own.find_in_first(atom, other_own_first).is_empty());
                tally.other_with_common = usize::from(!other_all.find_in_first(atom, other_first).is_empty());
                let best = copies.holders.iter().map(|holder| holder.sameness).max();
                match best {
                    Some(Sameness::Bytes) => tally.bytes = 1,
                    Some(Sameness::Value) => tally.value = 1,
                    Some(Sameness::Parts) => tally.parts = 1,
                    None => {
                        let operands = operands.get_or_insert_with(|| all.operands(said.before));
                        let computed = operands.computed(atom);
                        tally.computed = usize::from(computed.within(ACCIDENT_MAX).is_some());
                        tally.accident = usize::from(tally.computed == 0 && computed.hits > 0);
                    }
                }
                let is_own = |source: usize| here.said.get(source).is_some_and(|said| said.by_model);
                let own_only = best.is_some() && copies.holders.iter().all(|holder| is_own(holder.source));
                tally.own_only = usize::from(own_only && copies.left_out == 0);
                self.add(atom, said.is_arguments, &tally);
            }
        }
    }

    fn add(&mut self, atom: &Atom, is_arguments: bool, tally: &Tally) {
        let table = if is_arguments { &mut self.arguments } else { &mut self.text };
        table.entry(atom.kind).or_default().add(tally);
        if let Some(step) = CHANCE_STEPS.iter().position(|step| tally.chance <= *step)
            && let Some(row) = self.steps.get_mut(step)
        {
            row.add(tally);
        }
        if atom.text.len() == 1 {
            self.single_digits.add(tally);
        }
        if tally.none() > 0 {
            *self.misses.entry((atom.kind, atom.text.clone())).or_default() += 1;
        }
    }
}

/// How many texts it takes for so many bytes.
fn as_long_as<'s>(bytes: usize, texts: impl Iterator<Item = &'s Said>) -> usize {
    let mut total = 0;
    texts
        .take_while(|said| {
            let is_short = total < bytes;
            total += said.text.len();
            is_short
        })
        .count()
}
