//! The difference of two runs for a terminal.

use probity_egress::{Egress, SamePrincipal, Words, egress_text, fenced_for_human};

use crate::why::{ShownRun, ShownTwo};

type Passed = Egress<SamePrincipal>;

/// Code points of one answer.
const ANSWER_CHARS_MAX: usize = 4_000;

/// Windows and calls that have lines of their own; `--json` has all that the report has.
const PAIRS_MAX: usize = 12;

pub(crate) fn two_lines(two: &ShownTwo<SamePrincipal>) -> Vec<Passed> {
    let [a, b] = &two.runs;
    let mut lines = vec![run_line("a: ", a), run_line("b: ", b), Egress::fixed("")];
    let Some(first) = &two.first else {
        lines.push(Egress::fixed("the runs do not differ"));
        return lines;
    };
    let words = Words::new().text("equal before: ").number(first.equal_before[0]).text(" and ");
    lines.push(words.number(first.equal_before[1]).text(" entries, whatever their times and ids").done());
    lines.push(Words::new().text("they first differ in ").passed(&first.what).done());
    for (name, side) in ["  a: ", "  b: "].into_iter().zip(&first.sides) {
        lines.push(match side {
            Some(side) => {
                let words = Words::new().text(name).text("entry ").number(side.seq).text(" ");
                words.passed(&side.kind).text(": ").passed(&side.words).done()
            }
            None => Words::new().text(name).text("nothing more happened").done(),
        });
    }
    lines.push(Egress::fixed(""));
    windows(two, &mut lines);
    calls(two, &mut lines);
    if two.is_same_answer {
        lines.push(Egress::fixed("the answers are the same"));
        return lines;
    }
    lines.push(Egress::fixed("the answers differ"));
    for (name, answer) in ["a", "b"].into_iter().zip(&two.answers) {
        lines.push(match answer {
            Some(answer) => fenced_for_human(name, answer.as_str(), ANSWER_CHARS_MAX),
            None => Words::new().text("  ").text(name).text(" has none").done(),
        });
    }
    lines
}

fn run_line(name: &'static str, run: &ShownRun<SamePrincipal>) -> Passed {
    let words = Words::new().text(name).text("run ").passed(&run.run).text(" (").passed(&run.title);
    words.text("), ").passed(&run.model).text(", ").number(run.entries as u64).text(" entries").done()
}

fn named(call: Option<&String>) -> Passed {
    call.map_or_else(|| Egress::fixed("none"), |call| egress_text(call))
}

fn windows(two: &ShownTwo<SamePrincipal>, lines: &mut Vec<Passed>) {
    for pair in two.windows.iter().take(PAIRS_MAX) {
        let [a, b] = &pair.calls;
        let words = Words::new().text("windows of ").passed(&named(a.as_ref())).text(" and ");
        let words = words.passed(&named(b.as_ref())).text(": the first ").number(pair.common as u64);
        lines.push(words.text(" items say the same").done());
        for (at, name) in ["  only a: ", "  only b: "].into_iter().enumerate() {
            for item in pair.only.get(at).into_iter().flatten() {
                lines.push(Words::new().text(name).passed(item).done());
            }
            if let Some(more) = pair.left_out.get(at).filter(|more| **more > 0) {
                lines.push(Words::new().text(name).number(*more as u64).text(" more").done());
            }
        }
    }
    more(two.windows.len() + two.windows_left_out, "windows", lines);
    if !two.windows_are_all {
        lines.push(Egress::fixed("the windows behind these were not compared: there are too many items"));
    }
    if !two.windows.is_empty() {
        lines.push(Egress::fixed(""));
    }
}

fn calls(two: &ShownTwo<SamePrincipal>, lines: &mut Vec<Passed>) {
    for pair in two.calls.iter().take(PAIRS_MAX) {
        let [a, b] = &pair.calls;
        let what = Egress::join(pair.differs.iter().map(|what| Egress::fixed(what)), ", ");
        let words = Words::new().text("calls ").passed(&named(a.as_ref())).text(" and ");
        lines.push(words.passed(&named(b.as_ref())).text(" differ in ").passed(&what).done());
        for (name, side) in ["  a: ", "  b: "].into_iter().zip(&pair.sides) {
            lines.extend(side.as_ref().map(|side| Words::new().text(name).passed(side).done()));
        }
    }
    more(two.calls.len() + two.calls_left_out, "calls", lines);
    if !two.calls.is_empty() {
        lines.push(Egress::fixed(""));
    }
}

fn more(all: usize, what: &'static str, lines: &mut Vec<Passed>) {
    if let Some(left) = all.checked_sub(PAIRS_MAX).filter(|left| *left > 0) {
        let words = Words::new().text("and ").number(left as u64).text(" more ").text(what);
        lines.push(words.text(" that differ").done());
    }
}
