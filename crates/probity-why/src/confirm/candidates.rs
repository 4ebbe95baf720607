//! Who may be to blame, and in which order they are tried. Leads only.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use probity_contract::{Content, Item, ItemId};
use probity_trace::{Atom, CopyIndex, CopySource};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::fork::{Asked, ForkChange, ForkError, Recorded, Target, text_of};
use crate::search::{Change, Features, Suspect, SuspectKind, rank};

/// The chance of an accident up to which the values that an asked one was computed from count as its holders.
const COMPUTED_CHANCE_MAX: f64 = 0.05;

/// Sentences of one item that are suspects of their own.
pub const SENTENCES_MAX: usize = 256;

/// A line of so many characters that ends without an end of a sentence was wrapped; a shorter one is a line of its own.
const WRAPPED_CHARS_MIN: usize = 60;

/// The shortest word that says what a text is about; figures always do.
const WORD_CHARS_MIN: usize = 4;

/// A suspect, and what a fork does to it.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// What is done.
    pub change: ForkChange,
    /// As the search sees it.
    pub suspect: Suspect,
    /// What its lead was made of.
    pub features: Features,
}

/// Everything that may have made a reply what it is: what stood in the window of its call, and what was there and never sent. The
/// model's own replies and the engine's notices are left out: they follow from the rest. So are the last words of a person: they are the
/// question, and without it no answer could be compared.
///
/// The leads come from the texts alone. Time grows with the window's length.
///
/// # Errors
/// When the window of the call is not known whole.
pub fn candidates(
    recorded: &Recorded<'_>,
    asked: &Asked,
    atoms: &[Atom],
) -> Result<Vec<Candidate>, ForkError> {
    among(recorded, asked, atoms, false)
}

/// The same with the model's own replies and the definitions of its tools among the suspects, as
/// [`ConfirmChain`](crate::ConfirmChain) asks: what acted earlier acts through a reply, so at the call that was asked about nothing is
/// missed.
///
/// # Errors
/// When the window of the call is not known whole.
pub fn candidates_with_replies(
    recorded: &Recorded<'_>,
    asked: &Asked,
    atoms: &[Atom],
) -> Result<Vec<Candidate>, ForkError> {
    let mut all = among(recorded, asked, atoms, true)?;
    let place = asked.place();
    let tools = recorded.settings(place).map(|(tools, _, _)| tools);
    for tool in tools.iter().flat_map(|tools| tools.iter()) {
        let features = Features {
            copied: 0.0,
            alike: 0.0,
            distance: 0,
            kind: SuspectKind::ToolDefinition,
            recency: 0.0,
        };
        let change = ForkChange::StandIn(Target::Tool(tool.name.clone()));
        all.push(candidate(change, Change::Neutralise, place, features));
    }
    Ok(all)
}

/// The sentences of an item that the asked call saw, each as a suspect of its own.
///
/// None where the item is one sentence, or a JSON value: with words out of its middle it would be none any more. What comes behind
/// the first [`SENTENCES_MAX`] is one suspect more.
///
/// # Errors
/// When the text of the item is not known.
pub fn candidates_within(
    recorded: &Recorded<'_>,
    asked: &Asked,
    atoms: &[Atom],
    item: ItemId,
) -> Result<Vec<Candidate>, ForkError> {
    let text = text_of(recorded.item(item).ok_or(ForkError::TextNotKept(item))?);
    let ranges = sentences(&text);
    if ranges.len() < 2 {
        return Ok(Vec::new());
    }
    let texts: Vec<String> =
        ranges.iter().filter_map(|range| text.get(range.clone())).map(str::to_owned).collect();
    let words = recorded.reply(asked.place()).map(|reply| reply.flat_text()).unwrap_or_default();
    let (copied, alike) = (copied(&texts, atoms), alike(&texts, &words));
    let count = ranges.len().max(2) as f64 - 1.0;
    let all = ranges.into_iter().enumerate().zip(copied).zip(alike);
    let made = all.map(|(((at, range), copied), alike)| {
        let recency = at as f64 / count;
        let features = Features { copied, alike, distance: 0, kind: SuspectKind::Context, recency };
        let target = Target::Passage { item, start: range.start, end: range.end };
        candidate(ForkChange::StandIn(target), Change::Neutralise, asked.place(), features)
    });
    Ok(made.collect())
}

fn candidate(change: ForkChange, what: Change, first_seen: usize, features: Features) -> Candidate {
    let first_seen = u32::try_from(first_seen).unwrap_or(u32::MAX);
    Candidate { change, suspect: Suspect { change: what, first_seen, lead: rank(&features) }, features }
}

/// The same text, byte by byte, with a space for each line break that only wraps a long line.
fn unwrapped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n').filter(|itself| itself.chars().count() >= WRAPPED_CHARS_MIN) {
            Some(itself) => {
                out.push_str(itself);
                out.push(' ');
            }
            None => out.push_str(line),
        }
    }
    out
}

/// Where the sentences of a text stand, in bytes, without the white space around them (Unicode, annex 29).
fn sentences(text: &str) -> Vec<Range<usize>> {
    if text.trim_start().starts_with(['{', '[']) {
        return Vec::new();
    }
    let unwrapped = unwrapped(text);
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (start, sentence) in unwrapped.split_sentence_bound_indices() {
        let itself = sentence.trim();
        if itself.is_empty() {
            continue;
        }
        let start = start + (sentence.len() - sentence.trim_start().len());
        let range = start..start + itself.len();
        let is_full = ranges.len() > SENTENCES_MAX;
        match ranges.last_mut() {
            // What holds no word belongs to the sentence before it.
            Some(last) if is_full || !itself.chars().any(char::is_alphanumeric) => last.end = range.end,
            _ => ranges.push(range),
        }
    }
    ranges
}

fn among(
    recorded: &Recorded<'_>,
    asked: &Asked,
    atoms: &[Atom],
    with_replies: bool,
) -> Result<Vec<Candidate>, ForkError> {
    let place = asked.place();
    let window = recorded.window(place)?;
    let absent = recorded.never_sent(place);
    let sent: BTreeSet<ItemId> = window.iter().copied().collect();
    let in_order: Vec<&Item> =
        window.iter().chain(&absent).filter_map(|item| recorded.item(*item)).map(AsRef::as_ref).collect();
    let is_person = |item: &&&Item| matches!(item.content, Content::Person(_));
    let question = in_order.iter().rfind(is_person).map(|item| item.id);
    let suspects: Vec<(&Item, SuspectKind)> = in_order
        .iter()
        .filter(|item| Some(item.id) != question)
        .filter_map(|item| Some((*item, kind_of(item, with_replies)?)))
        .collect();
    let texts: Vec<String> = suspects.iter().map(|(item, _)| text_of(item)).collect();
    let copied = copied(&texts, atoms);
    let words: String = in_order
        .iter()
        .filter(is_person)
        .map(|item| text_of(item))
        .chain(recorded.reply(place).map(|reply| reply.flat_text()))
        .collect::<Vec<_>>()
        .join(" ");
    let alike = alike(&texts, &words);
    let count = suspects.len().max(2) as f64 - 1.0;
    let all = suspects.iter().enumerate().zip(copied).zip(alike);
    let made = all.map(|(((at, (item, kind)), copied), alike)| {
        let was_sent = sent.contains(&item.id);
        let features = Features {
            copied,
            alike,
            // What stood in the window reached the reply in one step.
            distance: u32::from(!was_sent),
            kind: *kind,
            recency: at as f64 / count,
        };
        let (change, what) = if was_sent {
            (ForkChange::StandIn(Target::Item(item.id)), Change::Neutralise)
        } else {
            (ForkChange::Restore(item.id), Change::Restore)
        };
        let first_seen = recorded.first_seen(item.id).filter(|_| was_sent).unwrap_or(place);
        candidate(change, what, first_seen, features)
    });
    Ok(made.collect())
}

fn kind_of(item: &Item, with_replies: bool) -> Option<SuspectKind> {
    match &item.content {
        Content::Instructions(_) => Some(SuspectKind::Instructions),
        Content::Person(_) => Some(SuspectKind::Person),
        Content::Context { .. } => Some(SuspectKind::Context),
        Content::ToolResult { .. } => Some(SuspectKind::ToolResult),
        Content::Reply(_) if with_replies => Some(SuspectKind::Reply),
        Content::Reply(_) | Content::Notice(_) => None,
    }
}

/// The share of the asked atoms that stand in each text, of those that stand in any, each weighed by how few texts hold it. What an atom
/// was computed from holds it too.
fn copied(texts: &[String], atoms: &[Atom]) -> Vec<f64> {
    let mut shares = vec![0.0; texts.len()];
    if atoms.is_empty() {
        return shares;
    }
    let sources = texts.iter().enumerate().map(|(key, text)| CopySource { key, text: text.as_str() });
    let index = CopyIndex::new(sources);
    let operands = index.operands(texts.len());
    let mut whole = 0.0;
    for atom in atoms {
        let mut holders: BTreeSet<usize> =
            index.find(atom).holders.iter().map(|holder| holder.source).collect();
        if holders.is_empty()
            && let Some(computation) = operands.computed(atom).within(COMPUTED_CHANCE_MAX)
        {
            holders.extend(computation.operands.iter().map(|operand| operand.source));
        }
        if holders.is_empty() {
            continue;
        }
        let weight = 1.0 / holders.len() as f64;
        whole += weight;
        for holder in holders {
            if let Some(share) = shares.get_mut(holder) {
                *share += weight;
            }
        }
    }
    shares.iter().map(|share| share / f64::max(whole, f64::MIN_POSITIVE)).collect()
}

/// How much of the question's words stands in each text, rare ones counting more; the text with the most of them has 1.
fn alike(texts: &[String], question: &str) -> Vec<f64> {
    let words_of = |text: &str| -> BTreeSet<String> {
        let words = text.split(|character: char| !character.is_alphanumeric());
        let long =
            words.filter(|word| word.chars().count() >= WORD_CHARS_MIN || word.contains(char::is_numeric));
        long.map(str::to_lowercase).collect()
    };
    let asked = words_of(question);
    let texts: Vec<BTreeSet<String>> =
        texts.iter().map(|text| words_of(text).intersection(&asked).cloned().collect()).collect();
    let mut holders: BTreeMap<&str, usize> = BTreeMap::new();
    for word in texts.iter().flatten() {
        *holders.entry(word).or_insert(0) += 1;
    }
    let weight = |word: &str| {
        let held = holders.get(word).copied().unwrap_or(0) as f64;
        (1.0 + texts.len() as f64 / (1.0 + held)).ln()
    };
    let shares: Vec<f64> =
        texts.iter().map(|words| words.iter().map(|word| weight(word)).sum::<f64>()).collect();
    let most = shares.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    shares.iter().map(|share| share / most).collect()
}
