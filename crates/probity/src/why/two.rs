use probity_contract::{ItemId, PartId};
use probity_egress::{Egress, Tier, Words, egress_text, one_line_untrusted};
use probity_trace::{CallStory, Difference, Differs, Graph, Record, RunAt};
use probity_why::{CallPair, TwoRuns, WindowPair};
use serde::Serialize;

use super::words;

/// Code points of one side of a difference.
const SIDE_CHARS_MAX: usize = 400;

/// Items of one window that are shown.
const ITEMS_MAX: usize = 8;

/// The difference of two runs as it is shown to somebody of a tier. Every text in it is passed.
#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownTwo<T: Tier> {
    pub(crate) is_equal: bool,
    pub(crate) runs: [ShownRun<T>; 2],
    /// What differs first, in words.
    pub(crate) first: Option<ShownFirst<T>>,
    pub(crate) windows: Vec<ShownWindowPair<T>>,
    pub(crate) windows_left_out: usize,
    pub(crate) windows_are_all: bool,
    pub(crate) calls: Vec<ShownCallPair<T>>,
    pub(crate) calls_left_out: usize,
    pub(crate) is_same_answer: bool,
    pub(crate) answers: [Option<Egress<T>>; 2],
}

#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownRun<T: Tier> {
    pub(crate) run: Egress<T>,
    pub(crate) title: Egress<T>,
    pub(crate) model: Egress<T>,
    pub(crate) entries: usize,
}

#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownFirst<T: Tier> {
    pub(crate) what: Egress<T>,
    /// How many entries of each run come before.
    pub(crate) equal_before: [u64; 2],
    /// The entries themselves; `None` where a run has no more.
    pub(crate) sides: [Option<ShownSide<T>>; 2],
}

#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownSide<T: Tier> {
    pub(crate) seq: u64,
    pub(crate) kind: Egress<T>,
    pub(crate) words: Egress<T>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownWindowPair<T: Tier> {
    pub(crate) calls: [Option<String>; 2],
    pub(crate) common: usize,
    pub(crate) only: [Vec<Egress<T>>; 2],
    pub(crate) left_out: [usize; 2],
}

#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
pub(crate) struct ShownCallPair<T: Tier> {
    pub(crate) calls: [Option<String>; 2],
    /// What differs, in words.
    pub(crate) differs: Vec<&'static str>,
    /// Each call on one line.
    pub(crate) sides: [Option<Egress<T>>; 2],
}

impl<T: Tier> ShownTwo<T> {
    pub(crate) fn of(records: [&Record; 2], two: &TwoRuns) -> Self {
        let graphs = records.map(|record| Graph::of(&[record]));
        let answer = |at: usize| {
            let (record, item) = (records.get(at)?, (*two.answers.get(at)?)?);
            record.answer_text(item).map(|text| egress_text(&text.text))
        };
        Self {
            is_equal: two.is_equal(),
            runs: records.map(shown_run),
            first: two.first.as_ref().map(|first| ShownFirst {
                what: differs(&first.what),
                equal_before: [before(records[0], first.a), before(records[1], first.b)],
                sides: [side(records[0], first.a), side(records[1], first.b)],
            }),
            windows: two.windows.iter().map(|pair| window_pair(&graphs, pair)).collect(),
            windows_left_out: two.windows_left_out,
            windows_are_all: two.windows_are_all,
            calls: two.calls.iter().map(|pair| call_pair(records, pair)).collect(),
            calls_left_out: two.calls_left_out,
            is_same_answer: two.is_same_answer,
            answers: [answer(0), answer(1)],
        }
    }
}

fn shown_run<T: Tier>(record: &Record) -> ShownRun<T> {
    let start = record.start();
    let name = |text: Option<&str>| text.map_or_else(Egress::empty, words::name);
    ShownRun {
        run: name(start.map(|start| start.run.as_str())),
        title: name(start.map(|start| start.title.as_str())),
        model: name(start.map(|start| start.model.as_str())),
        entries: record.lines().len(),
    }
}

/// How many entries come before one; before the end where there is no more.
fn before(record: &Record, seq: Option<u64>) -> u64 {
    seq.unwrap_or(record.lines().len() as u64)
}

/// An entry in the words of a timeline, which were passed before they were cut.
fn side<T: Tier>(record: &Record, seq: Option<u64>) -> Option<ShownSide<T>> {
    let seq = seq?;
    let moment = record.timeline().into_iter().find(|moment| moment.seq == seq)?;
    Some(ShownSide {
        seq,
        kind: egress_text(&moment.kind.replace('_', " ")),
        words: one_line_untrusted(&moment.words, SIDE_CHARS_MAX),
    })
}

fn differs<T: Tier>(what: &Differs) -> Egress<T> {
    match what {
        Differs::Given(parts) => {
            let parts = Egress::join(parts.iter().map(|part| words::name(&part.replace('_', " "))), ", ");
            Words::new().text("what the runs were given: ").passed(&parts).done()
        }
        Differs::Item { a, b } => {
            let ids = egress_text(&format!("{a} and {b}"));
            Words::new().text("what an item says, or is: ").passed(&ids).done()
        }
        Differs::Window { position, .. } => {
            Words::new().text("the window of a model call, from place ").number(*position as u64 + 1).done()
        }
        Differs::Parameters => Egress::fixed("the parameters of a model call"),
        Differs::Reply => Egress::fixed("how the model answered"),
        Differs::Tool => Egress::fixed("the tool that was proposed"),
        Differs::Arguments(difference) => {
            Words::new().text("the arguments of a call").passed(&places(difference)).done()
        }
        Differs::Targets => Egress::fixed("what a call touches"),
        Differs::Verdict => Egress::fixed("what was decided: by policies, interceptors or a person"),
        Differs::Result => Egress::fixed("how a tool came back"),
        Differs::Ending => Egress::fixed("how the runs ended"),
        Differs::Happened { a, b } => {
            let kind = |kind: &Option<String>| match kind {
                Some(kind) => words::name(&kind.replace('_', " ")),
                None => Egress::fixed("nothing more"),
            };
            Words::new().text("what happened: ").passed(&kind(a)).text(" against ").passed(&kind(b)).done()
        }
    }
}

fn places<T: Tier>(difference: &Difference) -> Egress<T> {
    match difference {
        Difference::At { pointers, is_cut } => {
            let all = Egress::join(pointers.iter().take(ITEMS_MAX).map(|at| words::name(at)), ", ");
            let words = Words::new().text(", at ").passed(&all);
            if *is_cut || pointers.len() > ITEMS_MAX { words.text(" and more").done() } else { words.done() }
        }
        Difference::None => Egress::empty(),
        Difference::NotJson => Egress::fixed(", which are no JSON"),
        Difference::NotKept => Egress::fixed(", which were not kept"),
        Difference::TooLarge => Egress::fixed(", which are too large to compare"),
    }
}

fn window_pair<T: Tier>(graphs: &[Graph<'_>; 2], pair: &WindowPair) -> ShownWindowPair<T> {
    let items = |graph: &Graph<'_>, items: &[ItemId]| {
        let shown = items.iter().take(ITEMS_MAX);
        shown.map(|item| item_line(graph, *item)).collect::<Vec<_>>()
    };
    let [one, other] = graphs;
    let [only_one, only_other] = &pair.only;
    let left = |at: usize, items: &[ItemId]| {
        pair.left_out.get(at).copied().unwrap_or_default() + items.len().saturating_sub(ITEMS_MAX)
    };
    ShownWindowPair {
        calls: pair.calls.map(|call| call.map(|call| call.to_string())),
        common: pair.common,
        left_out: [left(0, only_one), left(1, only_other)],
        only: [items(one, only_one), items(other, only_other)],
    }
}

/// An item on one line, its text passed whole before it is cut.
fn item_line<T: Tier>(graph: &Graph<'_>, item: ItemId) -> Egress<T> {
    let text = graph.record(RunAt::FIRST).and_then(|record| record.item_text(item));
    let text = one_line_untrusted(&text.map(|text| text.text).unwrap_or_default(), SIDE_CHARS_MAX);
    let words = Words::new().passed(&egress_text(&item.to_string())).text(" ");
    words.passed(&words::item_words(graph, RunAt::FIRST, item)).text(": ").passed(&text).done()
}

fn call_pair<T: Tier>(records: [&Record; 2], pair: &CallPair) -> ShownCallPair<T> {
    let differs = [
        (pair.is_other_tool, "the tool"),
        (pair.is_other_arguments, "the arguments"),
        (pair.is_other_verdict, "the verdict"),
        (pair.is_other_result, "the result"),
    ];
    let [one, other] = pair.calls.map(|call| call.map(|call| call.to_string()));
    let [record_one, record_other] = records;
    let line = |record: &Record, call: Option<probity_contract::CallId>| {
        call.and_then(|call| record.call(call)).map(|story| call_line(record, &story))
    };
    ShownCallPair {
        differs: differs.into_iter().filter(|(differs, _)| *differs).map(|(_, what)| what).collect(),
        sides: [line(record_one, pair.calls[0]), line(record_other, pair.calls[1])],
        calls: [one, other],
    }
}

fn call_line<T: Tier>(record: &Record, story: &CallStory) -> Egress<T> {
    let text = |part: PartId| one_line_untrusted(&record.part_text(part).text, SIDE_CHARS_MAX);
    let proposed = story.proposed.as_ref();
    let tool = proposed.map_or_else(Egress::empty, |proposed| words::name(&proposed.tool));
    let frozen = story.frozen.as_ref().map(|frozen| frozen.arguments);
    let arguments = frozen.or_else(|| proposed.map(|proposed| proposed.arguments));
    let words = Words::new().passed(&tool).text(" ").passed(&arguments.map_or_else(Egress::empty, text));
    if let Some(denial) = &story.denied {
        let reason = one_line_untrusted(&denial.reason, SIDE_CHARS_MAX);
        return words.text(": denied: ").passed(&reason).done();
    }
    if let Some(reason) = &story.rejected {
        let reason = one_line_untrusted(reason, SIDE_CHARS_MAX);
        return words.text(": not understood: ").passed(&reason).done();
    }
    match story.attempts.iter().rev().find_map(|attempt| attempt.end.as_ref()) {
        Some(end) => words.text(": came back with ").passed(&text(end.output)).done(),
        None => words.text(": did not come back").done(),
    }
}
