//! Two runs side by side: the first fact in which they differ, and then what differs in windows, calls and answers.

use std::collections::HashMap;

use probity_contract::{Body, CallId, ItemId, ModelCallId, PartId};
use probity_trace::{CallStory, Divergence, Fidelity, Record, first_divergence};

use super::WINDOW_ITEMS_MAX;

/// Windows, calls, and items of one window that differ and are told; more are counted.
pub const DIFFERENCES_TOLD_MAX: usize = 64;

/// How two runs differ. It refers to texts of both and holds none.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoRuns {
    /// The first fact in which they differ; `None` where they do not.
    pub first: Option<Divergence>,
    /// The model calls, paired by their order, whose windows differ.
    pub windows: Vec<WindowPair>,
    /// Such pairs beyond [`DIFFERENCES_TOLD_MAX`].
    pub windows_left_out: usize,
    /// Whether all windows were compared; together they can be as long as the square of a record.
    pub windows_are_all: bool,
    /// The calls, paired by their order, that differ.
    pub calls: Vec<CallPair>,
    /// Such pairs beyond [`DIFFERENCES_TOLD_MAX`].
    pub calls_left_out: usize,
    /// The answers, where the runs have them.
    pub answers: [Option<ItemId>; 2],
    /// Whether they say the same.
    pub is_same_answer: bool,
}

/// Two model calls whose windows differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowPair {
    /// The calls; `None` where a run has no more.
    pub calls: [Option<ModelCallId>; 2],
    /// Items at the front of both that say the same.
    pub common: usize,
    /// The items behind those that the other window does not have, in their order.
    pub only: [Vec<ItemId>; 2],
    /// Such items that are not told.
    pub left_out: [usize; 2],
}

/// Two calls that differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallPair {
    /// The calls; `None` where a run has no more.
    pub calls: [Option<CallId>; 2],
    /// Whether another tool was called.
    pub is_other_tool: bool,
    /// Whether the last form of the arguments differs.
    pub is_other_arguments: bool,
    /// Whether it was decided otherwise: denied, not understood, or by other words.
    pub is_other_verdict: bool,
    /// Whether it came back otherwise.
    pub is_other_result: bool,
}

impl TwoRuns {
    /// Compares two records. Takes time with the size of both and not faster, but for windows, of which at most
    /// [`WINDOW_ITEMS_MAX`] items are looked at.
    #[must_use]
    pub fn of(a: &Record, b: &Record) -> Self {
        let answers = [answer(a), answer(b)];
        let text = |record: &Record, item: Option<ItemId>| {
            item.and_then(|item| said(record, item).map(|(_, text)| text))
        };
        let is_same_answer = text(a, answers[0]) == text(b, answers[1]);
        let mut two = Self {
            first: first_divergence(a, b),
            windows: Vec::new(),
            windows_left_out: 0,
            windows_are_all: true,
            calls: Vec::new(),
            calls_left_out: 0,
            answers,
            is_same_answer,
        };
        two.windows(a, b);
        two.calls(a, b);
        two
    }

    /// Whether nothing differs.
    #[must_use]
    pub const fn is_equal(&self) -> bool {
        self.first.is_none()
    }

    fn windows(&mut self, a: &Record, b: &Record) {
        let mut numbers = Numbers::default();
        let names = [numbers.of(a), numbers.of(b)];
        let mut left = WINDOW_ITEMS_MAX;
        let (mut all_a, mut all_b) = (a.windows_all(), b.windows_all());
        loop {
            let (one, other) = (all_a.next(), all_b.next());
            if one.is_none() && other.is_none() {
                break;
            }
            let calls = [one.as_ref().map(|(call, _)| *call), other.as_ref().map(|(call, _)| *call)];
            let told = |window: Option<(ModelCallId, Result<Vec<ItemId>, _>)>| {
                window.and_then(|(_, window)| window.ok()).unwrap_or_default()
            };
            let windows = [told(one), told(other)];
            let items: usize = windows.iter().map(Vec::len).sum();
            let Some(rest) = left.checked_sub(items) else {
                self.windows_are_all = false;
                break;
            };
            left = rest;
            if let Some(pair) = pair_of(calls, &windows, &names) {
                if self.windows.len() < DIFFERENCES_TOLD_MAX {
                    self.windows.push(pair);
                } else {
                    self.windows_left_out += 1;
                }
            }
        }
    }

    fn calls(&mut self, a: &Record, b: &Record) {
        let (stories_a, stories_b) = (a.calls(), b.calls());
        for at in 0..stories_a.len().max(stories_b.len()) {
            let (one, other) = (stories_a.get(at), stories_b.get(at));
            let pair = CallPair {
                calls: [one.map(|story| story.call), other.map(|story| story.call)],
                is_other_tool: one.map(tool) != other.map(tool),
                is_other_arguments: one.map(arguments) != other.map(arguments),
                is_other_verdict: one.map(verdict) != other.map(verdict),
                is_other_result: one.map(result) != other.map(result),
            };
            if pair.is_other_tool || pair.is_other_arguments || pair.is_other_verdict || pair.is_other_result
            {
                if self.calls.len() < DIFFERENCES_TOLD_MAX {
                    self.calls.push(pair);
                } else {
                    self.calls_left_out += 1;
                }
            }
        }
    }
}

fn answer(record: &Record) -> Option<ItemId> {
    use probity_contract::Fact;
    record.facts().find_map(|(_, fact)| if let Fact::Ended { answer, .. } = fact { *answer } else { None })
}

/// What an item says, without what differs from run to run: its role, and its text where it is kept.
fn said(record: &Record, item: ItemId) -> Option<(String, String)> {
    let body = record.item(item)?.body;
    let (role, parts): (String, &[PartId]) = match body {
        Body::Instructions { text } => ("instructions".to_owned(), std::slice::from_ref(text)),
        Body::Person { text } => ("person".to_owned(), std::slice::from_ref(text)),
        Body::Context { name, text } => (format!("context {name}"), std::slice::from_ref(text)),
        Body::Reply { parts } => ("reply".to_owned(), parts),
        Body::ToolResult { tool, text, is_error, .. } => {
            (format!("result {is_error} {tool}"), std::slice::from_ref(text))
        }
        Body::Notice { text } => ("notice".to_owned(), std::slice::from_ref(text)),
    };
    let text = record.item_text(item).filter(|text| text.fidelity <= Fidelity::Redacted);
    let text = text.map_or_else(|| parts.iter().map(PartId::to_string).collect(), |text| text.text);
    Some((role, text))
}

/// One number for all items of both runs that say the same.
#[derive(Debug, Default)]
struct Numbers {
    known: HashMap<(String, String), u32>,
}

impl Numbers {
    fn of(&mut self, record: &Record) -> HashMap<ItemId, u32> {
        let mut named = HashMap::new();
        for item in record.items() {
            let Some(said) = said(record, item.item) else { continue };
            let next = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
            named.insert(item.item, *self.known.entry(said).or_insert(next));
        }
        named
    }
}

fn pair_of(
    calls: [Option<ModelCallId>; 2],
    windows: &[Vec<ItemId>; 2],
    names: &[HashMap<ItemId, u32>; 2],
) -> Option<WindowPair> {
    let [one, other] = windows;
    let [names_one, names_other] = names;
    let (said_one, said_other): (Vec<_>, Vec<_>) = (
        one.iter().map(|item| names_one.get(item)).collect(),
        other.iter().map(|item| names_other.get(item)).collect(),
    );
    if said_one == said_other && calls[0].is_some() == calls[1].is_some() {
        return None;
    }
    let common = said_one.iter().zip(&said_other).take_while(|(one, other)| one == other).count();
    let only = |items: &[ItemId], said: &[Option<&u32>], others: &[Option<&u32>]| {
        let mut left: HashMap<Option<&u32>, usize> = HashMap::new();
        others.iter().skip(common).for_each(|said| *left.entry(*said).or_default() += 1);
        let behind = items.iter().zip(said).skip(common);
        let only: Vec<ItemId> = behind
            .filter(|(_, said)| match left.get_mut(*said) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                Some(_) | None => true,
            })
            .map(|(item, _)| *item)
            .collect();
        only
    };
    let mut only = [only(one, &said_one, &said_other), only(other, &said_other, &said_one)];
    let left_out = only.each_ref().map(|items| items.len().saturating_sub(DIFFERENCES_TOLD_MAX));
    only.iter_mut().for_each(|items| items.truncate(DIFFERENCES_TOLD_MAX));
    Some(WindowPair { calls, common, only, left_out })
}

fn tool(story: &CallStory) -> Option<&str> {
    story.proposed.as_ref().map(|proposed| proposed.tool.as_str())
}

fn arguments(story: &CallStory) -> Option<PartId> {
    let frozen = story.frozen.as_ref().map(|frozen| frozen.arguments);
    frozen.or_else(|| story.proposed.as_ref().map(|proposed| proposed.arguments))
}

fn verdict(story: &CallStory) -> (Option<&probity_contract::Denial>, Option<&str>, usize) {
    (story.denied.as_ref(), story.rejected.as_deref(), story.asked.len())
}

fn result(story: &CallStory) -> Option<(probity_contract::ToolOutcomeKind, PartId)> {
    let end = story.attempts.iter().rev().find_map(|attempt| attempt.end.as_ref())?;
    Some((end.outcome, end.output))
}
