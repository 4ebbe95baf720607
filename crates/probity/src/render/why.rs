//! A report for a terminal.

use probity_egress::{Egress, SamePrincipal, Words, egress_text, fenced_for_human, one_line_untrusted};

use crate::why::{Mark, ShownAtom, ShownChain, ShownHolder, ShownLead, ShownUnknown, ShownWhy};

type Passed = Egress<SamePrincipal>;

/// Code points of the text that was asked about.
const TEXT_CHARS_MAX: usize = 8_000;

/// Code points of an atom, and of an excerpt.
const ATOM_CHARS_MAX: usize = 60;
const EXCERPT_CHARS_MAX: usize = 120;

/// Atoms, chains, leads and unknown nodes that have lines of their own; `--json` has all that the report has.
const ATOMS_MAX: usize = 40;
const CHAINS_MAX: usize = 12;
const LEADS_MAX: usize = 8;
const UNKNOWN_MAX: usize = 12;

/// Brackets of marks. They are taken out of the text itself, so that nothing in it can look like a mark.
const OPEN: char = '⟦';
const CLOSE: char = '⟧';

pub(crate) fn why_lines(why: &ShownWhy<SamePrincipal>) -> Vec<Passed> {
    let mut lines = head(why);
    lines.push(marked(why));
    lines.push(legend());
    for row in why.origin.iter().flat_map(|step| &step.let_in_by) {
        lines.push(Words::new().text("it went on by leave of ").passed(row).done());
    }
    lines.push(Egress::fixed(""));
    atoms(why, &mut lines);
    chains(why, &mut lines);
    leads(why, &mut lines);
    unknown(why, &mut lines);
    lines
}

fn head(why: &ShownWhy<SamePrincipal>) -> Vec<Passed> {
    let words = Words::new().text("why: ").passed(&why.asked).text(" of run ").passed(&why.run);
    let mut lines = vec![words.text(" (").passed(&why.title).text("), ").passed(&why.model).done()];
    if let Some(format) = &why.imported {
        let words = Words::new().text("imported from ").passed(format);
        lines.push(
            words.text(": every edge is inferred from content, none was recorded as it happened").done(),
        );
    }
    if why.text_is != "whole" {
        lines.push(Words::new().text("its text is ").text(why.text_is).done());
    }
    lines
}

/// The text with its atoms marked, in a fence.
fn marked(why: &ShownWhy<SamePrincipal>) -> Passed {
    let text = why.text.as_str();
    let mut marked = String::with_capacity(text.len() * 2);
    let mut at = 0;
    let plain = |part: &str| part.replace(OPEN, "[").replace(CLOSE, "]");
    for atom in &why.atoms {
        let Some(range) = atom.range_shown.clone().filter(|range| range.start >= at) else { continue };
        let (Some(before), Some(itself)) = (text.get(at..range.start), text.get(range.clone())) else {
            continue;
        };
        marked.push_str(&plain(before));
        marked.push_str(&format!("{OPEN}{}{} {}{CLOSE}", atom.signs(), atom.number, plain(itself)));
        at = range.end;
    }
    marked.push_str(&plain(text.get(at..).unwrap_or_default()));
    fenced_for_human(why.asked.as_str(), &marked, TEXT_CHARS_MAX)
}

fn legend() -> Passed {
    let marks = Mark::ALL.map(|mark| Words::new().text(mark.sign()).text(" ").text(mark.words()).done());
    let marks = Egress::join(marks, " · ");
    Words::new().text("marks: ").passed(&marks).text(" · ! confirmed cause (only with --confirm)").done()
}

fn atoms(why: &ShownWhy<SamePrincipal>, lines: &mut Vec<Passed>) {
    if why.atoms.is_empty() {
        lines.push(Egress::fixed("no number, date, name, id or quoted phrase stands in it"));
    } else {
        lines.push(Egress::fixed(
            "where each is from, oldest source first (exact: what is said to be the same was compared)",
        ));
    }
    for atom in why.atoms.iter().take(ATOMS_MAX) {
        lines.push(atom_line(atom));
        lines.extend(atom.holders.first().map(excerpt_line));
        if atom.mark == Mark::Computed {
            lines.extend(atom.holders.iter().skip(1).map(excerpt_line));
        }
    }
    more(why.atoms.len(), ATOMS_MAX, lines);
    lines.push(Egress::fixed(""));
}

fn atom_line(atom: &ShownAtom<SamePrincipal>) -> Passed {
    let signs: Passed = egress_text(&atom.signs());
    let words = Words::new().text("  ").passed(&signs).number(atom.number as u64).text(" ");
    let text = one_line_untrusted(atom.text.as_str(), ATOM_CHARS_MAX);
    let words = words.text(atom.kind).text(" ").passed(&text);
    let words = words.text(atom.unit.map_or("", |_| " ")).text(atom.unit.unwrap_or_default()).text(": ");
    let words = match atom.mark {
        Mark::Computed => words.text("computed, ").text(atom.operation.unwrap_or("from")),
        Mark::Copied | Mark::Repeated | Mark::NoSource => words.text(atom.mark.words()),
    };
    let ids = ids(&atom.holders);
    let words = if ids.is_empty() { words } else { words.text(" ").text(from(atom.mark)).passed(&ids) };
    let words = match atom.holders_left_out {
        0 => words,
        more => words.text(" and up to ").number(more as u64).text(" more places"),
    };
    let words = match atom.chance {
        Some(chance) => words.text("; by chance ").passed(&percent(chance)),
        None => words,
    };
    if atom.is_complete { words.done() } else { words.text("; not every place was looked at").done() }
}

const fn from(mark: Mark) -> &'static str {
    match mark {
        Mark::Copied => "from ",
        Mark::Computed => "values in ",
        Mark::Repeated => "in ",
        Mark::NoSource => "",
    }
}

/// The sources, each once.
fn ids(holders: &[ShownHolder<SamePrincipal>]) -> Passed {
    let mut ids: Vec<Passed> = Vec::new();
    for holder in holders {
        if !ids.contains(&holder.id) {
            ids.push(holder.id.clone());
        }
    }
    Egress::join(ids, ", ")
}

fn excerpt_line(holder: &ShownHolder<SamePrincipal>) -> Passed {
    let excerpt = one_line_untrusted(holder.excerpt_text().as_str(), EXCERPT_CHARS_MAX);
    let words =
        Words::new().text("       ").passed(&holder.id).text(" ").passed(&holder.what).text(", bytes ");
    let words = words.number(holder.range.start as u64).text("..").number(holder.range.end as u64);
    words.text(", ").text(holder.same).text(": ").passed(&excerpt).done()
}

fn percent(share: f64) -> Passed {
    let percent = share * 100.0;
    egress_text(&if percent < 0.1 { "< 0.1 %".to_owned() } else { format!("{percent:.1} %") })
}

fn chains(why: &ShownWhy<SamePrincipal>, lines: &mut Vec<Passed>) {
    if why.chains.is_empty() {
        return;
    }
    lines.push(Egress::fixed("how the sources reached it, oldest first: what was asked about <- what it came from <- who let it in"));
    why.chains.iter().take(CHAINS_MAX).for_each(|chain| chain_lines(chain, lines));
    more(why.chains.len(), CHAINS_MAX, lines);
    lines.push(Egress::fixed(""));
}

fn chain_lines(chain: &ShownChain<SamePrincipal>, lines: &mut Vec<Passed>) {
    let numbers: Vec<Passed> =
        chain.atoms.iter().take(ATOMS_MAX).map(|at| egress_text(&at.to_string())).collect();
    let words = Words::new().text("  ").passed(&chain.id).text(" ").passed(&chain.what);
    let words = match chain.integrity {
        Some(integrity) => words.text(", ").passed(&egress_text(&integrity.to_string())),
        None => words,
    };
    lines.push(words.text(", for ").passed(&Egress::join(numbers, ", ")).done());
    let mut words = Words::new().text("     ");
    for (at, link) in chain.way.iter().enumerate() {
        if at > 0 {
            words = words.text(" <-").text(link.edge).text("- ");
        }
        words = words.passed(&link.id);
        if link.what != "item" && link.what != "model call" {
            words = words.text(" ").text(link.what);
        }
    }
    if let Some(by) = chain.author() {
        words = words.text(" <- worded by ").passed(by);
    }
    if let Some(cause) = chain.cause() {
        words = words.text(" <- called by ").passed(cause);
    }
    lines.push(words.done());
    let mut is_let_in = false;
    for step in &chain.origin {
        for row in &step.let_in_by {
            is_let_in = true;
            let words = Words::new().text("       let in by ").passed(row).text(", at ").passed(&step.id);
            lines.push(words.text(" ").text(step.what).done());
        }
    }
    if !is_let_in && !chain.needs_no_leave {
        lines.push(Egress::fixed("       nobody was asked whether it may come in"));
    }
}

fn leads(why: &ShownWhy<SamePrincipal>, lines: &mut Vec<Passed>) {
    if why.leads.is_empty() {
        return;
    }
    lines.push(Egress::fixed(match why.confirmed {
        None => "suspects: leads in the order in which to look at them, no verdicts; nothing was tested",
        Some(_) => {
            "suspects: leads in the order in which to look at them, no verdicts; what was tested stands below"
        }
    }));
    for (at, lead) in why.leads.iter().take(LEADS_MAX).enumerate() {
        lines.push(lead_line(at + 1, lead));
    }
    more(why.leads.len() + why.leads_left_out, LEADS_MAX, lines);
    lines.push(Egress::fixed(""));
}

fn lead_line(at: usize, lead: &ShownLead<SamePrincipal>) -> Passed {
    let words =
        Words::new().text("  ").number(at as u64).text(". ").passed(&lead.id).text(" ").passed(&lead.what);
    let words = match lead.integrity {
        Some(integrity) => words.text(", ").passed(&egress_text(&integrity.to_string())),
        None => words,
    };
    let words = words.text(", holds ").number(lead.atoms as u64);
    let words = words.text(" of the atoms");
    match &lead.first_seen {
        Some(call) => words.text(", first seen by ").passed(&egress_text(call)).done(),
        None => words.done(),
    }
}

fn unknown(why: &ShownWhy<SamePrincipal>, lines: &mut Vec<Passed>) {
    let counts = &why.counts;
    let words = Words::new().text("what is known: ").number(counts.items_reached as u64).text(" of ");
    let words = words.number(counts.items as u64).text(" items had reached it");
    if why.unknown.is_empty() {
        lines.push(words.text(", and nothing else had").done());
        return;
    }
    lines.push(words.text(", and nothing else had, but for what is not known:").done());
    let mut told: Vec<(Passed, usize)> = Vec::new();
    for unknown in &why.unknown {
        let line = unknown_words(unknown);
        match told.iter_mut().find(|(known, _)| *known == line) {
            Some((_, times)) => *times += 1,
            None => told.push((line, 1)),
        }
    }
    for (line, times) in told.iter().take(UNKNOWN_MAX) {
        let words = Words::new().text("  ").passed(line);
        lines.push(if *times > 1 {
            words.text(" (").number(*times as u64).text(" times)").done()
        } else {
            words.done()
        });
    }
    more(told.len() + why.unknown_left_out, UNKNOWN_MAX, lines);
}

fn unknown_words(unknown: &ShownUnknown<SamePrincipal>) -> Passed {
    Words::new().passed(&unknown.id).text(": ").passed(&egress_text(&unknown.words)).done()
}

fn more(all: usize, told: usize, lines: &mut Vec<Passed>) {
    if let Some(left) = all.checked_sub(told).filter(|left| *left > 0) {
        lines.push(Words::new().text("  and ").number(left as u64).text(" more").done());
    }
}
