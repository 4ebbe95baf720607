//! The page of a report.

use probity_egress::{Egress, Tier, Words, egress_text};

use super::board::board;
use super::page::Page;
use super::windows::windows;
use crate::why::{Mark, ShownAtom, ShownChain, ShownConfirmed, ShownWhy};

pub(crate) fn why_page<T: Tier>(why: &ShownWhy<T>) -> String {
    let title: Egress<T> = Words::new().text("Why: ").passed(&why.asked).done();
    let mut page = Page::begin(&title);
    page.markup("<a class=\"skip\" href=\"#main\">To the report</a>\n<header>\n<h1>")
        .text(&title)
        .markup("</h1>\n<p>Run ");
    page.text(&why.run).markup(" (").text(&why.title).markup("), model ").text(&why.model).markup(".");
    if let Some(format) = &why.imported {
        page.markup(" Imported from ").text(format).markup(": every edge is <strong>inferred</strong>.");
    }
    page.markup("</p>\n</header>\n<nav aria-label=\"Parts of the report\"><ul>");
    for part in [
        "<li><a href=\"#text\">The text</a></li>",
        "<li><a href=\"#board\">Board</a></li>",
        "<li><a href=\"#atoms\">Atoms</a></li>",
        "<li><a href=\"#chains\">How they got there</a></li>",
        "<li><a href=\"#leads\">Suspects</a></li>",
        "<li><a href=\"#windows\">Model calls</a></li>",
        "<li><a href=\"#unknown\">Not known</a></li>",
    ] {
        page.markup(part);
    }
    page.markup("</ul></nav>\n<main id=\"main\">\n");
    text(&mut page, why);
    page.markup(
        "<section id=\"board\" aria-labelledby=\"h-board\">\n<h2 id=\"h-board\">The why board</h2>\n",
    );
    board(&mut page, why);
    page.markup("</section>\n<section id=\"atoms\" aria-labelledby=\"h-atoms\">\n<h2 id=\"h-atoms\">Where each atom is from</h2>\n");
    if why.atoms.is_empty() {
        page.markup("<p>No number, date, name, id or quoted phrase stands in it.</p>\n");
    }
    why.atoms.iter().for_each(|one| atom(&mut page, one));
    page.markup("</section>\n<section id=\"chains\" aria-labelledby=\"h-chains\">\n<h2 id=\"h-chains\">How the sources reached it</h2>\n<ol>\n");
    why.chains.iter().for_each(|one| chain(&mut page, one));
    page.markup("</ol>\n");
    tested_edges(&mut page, why);
    page.markup("</section>\n");
    leads(&mut page, why);
    tested(&mut page, why);
    page.markup("<section id=\"windows\" aria-labelledby=\"h-windows\">\n<h2 id=\"h-windows\">What each model call was sent</h2>\n");
    page.markup("<p>Hatched: untrusted, anybody may have written it.</p>\n");
    windows(&mut page, &why.windows);
    page.markup("</section>\n");
    unknown(&mut page, why);
    page.markup("</main>\n");
    page.end()
}

const fn class(mark: Mark) -> &'static str {
    match mark {
        Mark::Copied => "copied",
        Mark::Computed => "computed",
        Mark::Repeated => "repeated",
        Mark::NoSource => "no_source",
    }
}

/// What tests of suspects came to.
fn tested<T: Tier>(page: &mut Page<T>, why: &ShownWhy<T>) {
    let Some(first) = &why.confirmed else { return };
    page.markup("<section id=\"tested\" aria-labelledby=\"h-tested\">\n<h2 id=\"h-tested\">Tested by counterfactuals</h2>\n");
    test(page, first);
    why.confirmed_further.iter().for_each(|one| test(page, one));
    page.markup("</section>\n");
}

fn test<T: Tier>(page: &mut Page<T>, confirmed: &ShownConfirmed<T>) {
    page.markup("<h3>").text(&confirmed.about).markup("</h3>\n<p>Forks of the run with ");
    page.text(&confirmed.model).markup(", compared by ").markup(confirmed.compared_by);
    page.markup(if confirmed.is_exact { "." } else { " (<strong>fuzzy</strong>)." });
    page.markup(" ").text(&egress_text(&confirmed.spent())).markup(".</p>\n");
    page.markup("<table><thead><tr><th scope=\"col\">Suspect</th><th scope=\"col\">Verdict</th><th scope=\"col\">Stayed, changed</th><th scope=\"col\">Stayed, unchanged</th></tr></thead><tbody>\n");
    for verdict in &confirmed.verdicts {
        page.markup("<tr><th scope=\"row\">")
            .text(&verdict.id)
            .markup(" ")
            .text(&verdict.what)
            .markup("</th><td>");
        page.markup(if verdict.is_conviction { "<strong>! " } else { "" }).markup(verdict.verdict);
        for with in &verdict.with {
            page.markup(" ").text(with);
        }
        page.markup(if verdict.is_conviction { "</strong>" } else { "" });
        page.markup(if verdict.is_sufficient { " (sufficient)" } else { "" });
        for arm in [verdict.changed, verdict.unchanged] {
            page.markup("</td><td>").text(&egress_text(&arm.words()));
        }
        page.markup("</td></tr>\n");
    }
    page.markup("</tbody></table>\n");
    for words in confirmed.without_conviction().into_iter().chain(confirmed.cut_short()) {
        page.markup("<p>").markup(words).markup(".</p>\n");
    }
    if let Some([tool, arguments]) = &confirmed.diverged_at {
        page.markup("<p>Diverged at ").text(tool).markup(" ").text(arguments);
        page.markup(": a call that was never made; nothing was run.</p>\n");
    }
    if let Some(failure) = &confirmed.failure {
        page.markup("<p>The model failed: ").text(failure).markup("</p>\n");
    }
}

/// The tested edges of the board, as a list.
fn tested_edges<T: Tier>(page: &mut Page<T>, why: &ShownWhy<T>) {
    if why.convictions().next().is_none() {
        return;
    }
    page.markup("<h3>What a test has confirmed</h3>\n<ul>\n");
    for test in why.tests() {
        for verdict in test.verdicts.iter().filter(|verdict| verdict.is_conviction) {
            page.markup("<li>").text(&test.about).markup(" ← (tested) <strong>! ").markup(verdict.verdict);
            page.markup("</strong> <b>")
                .text(&verdict.id)
                .markup("</b> ")
                .text(&verdict.what)
                .markup("</li>\n");
        }
    }
    page.markup("</ul>\n");
}

fn text<T: Tier>(page: &mut Page<T>, why: &ShownWhy<T>) {
    page.markup(
        "<section id=\"text\" aria-labelledby=\"h-text\">\n<h2 id=\"h-text\">The text, with its atoms</h2>\n",
    );
    if why.text_is != "whole" {
        page.markup("<p>The text is ").markup(why.text_is).markup(".</p>\n");
    }
    page.markup("<pre>");
    let whole = why.text.as_str();
    let mut at = 0;
    for atom in &why.atoms {
        let Some(range) = atom.range_shown.clone().filter(|range| range.start >= at) else { continue };
        let (Some(before), Some(itself)) = (whole.get(at..range.start), whole.get(range.clone())) else {
            continue;
        };
        page.text(&egress_text(before)).markup("<mark class=\"").markup(class(atom.mark)).markup("\">");
        page.text(&egress_text(itself)).markup("<a href=\"#atom-").number(atom.number).markup("\" title=\"");
        page.markup(atom.mark.words()).markup(if atom.is_confirmed { ", confirmed cause\">" } else { "\">" });
        page.text(&egress_text(&atom.signs())).number(atom.number);
        page.markup("</a></mark>");
        at = range.end;
    }
    page.text(&egress_text(whole.get(at..).unwrap_or_default())).markup("</pre>\n");
    let decided: Vec<_> = why.origin.iter().flat_map(|step| &step.let_in_by).collect();
    if !decided.is_empty() {
        page.markup("<p>It went on by leave of: ").text(&Egress::join(decided.into_iter().cloned(), "; "));
        page.markup(".</p>\n");
    }
    page.markup("<p>");
    for mark in Mark::ALL {
        page.text(&egress_text(mark.sign())).markup(" ").markup(mark.words()).markup(" · ");
    }
    page.markup("! confirmed cause (only after a test)</p>\n</section>\n");
}

fn atom<T: Tier>(page: &mut Page<T>, atom: &ShownAtom<T>) {
    page.markup("<details id=\"atom-").number(atom.number).markup("\"><summary>");
    page.text(&egress_text(&atom.signs())).number(atom.number).markup(" ").markup(atom.kind).markup(" <b>");
    page.text(&atom.text).markup("</b>").markup(if atom.unit.is_some() { " " } else { "" });
    page.markup(atom.unit.unwrap_or_default()).markup(": ").markup(atom.mark.words());
    page.markup(if atom.is_confirmed { ", a confirmed cause" } else { "" });
    if let Some(operation) = atom.operation {
        page.markup(", ").markup(operation);
    }
    page.markup("</summary>\n");
    if let Some(chance) = atom.chance {
        page.markup("<p>By chance alone: ").decimal(chance * 100.0).markup(" %.</p>\n");
    }
    if !atom.is_complete {
        page.markup("<p>Not every place was looked at.</p>\n");
    }
    if !atom.holders.is_empty() {
        page.markup("<table><caption>Places, the oldest source first</caption><thead><tr><th scope=\"col\">Source</th>");
        page.markup("<th scope=\"col\">Bytes</th><th scope=\"col\">What is the same</th><th scope=\"col\">There</th></tr></thead><tbody>\n");
    }
    for holder in &atom.holders {
        page.markup("<tr><td>").text(&holder.id).markup(" ").text(&holder.what).markup("</td><td>");
        page.number(holder.range.start)
            .markup("–")
            .number(holder.range.end)
            .markup("</td><td>")
            .markup(holder.same);
        let [before, itself, behind] = &holder.excerpt;
        page.markup("</td><td>").text(before).markup("<mark>").text(itself).markup("</mark>").text(behind);
        page.markup("</td></tr>\n");
    }
    if !atom.holders.is_empty() {
        page.markup("</tbody></table>\n");
    }
    if atom.holders_left_out > 0 {
        page.markup("<p>And up to ").number(atom.holders_left_out).markup(" more places.</p>\n");
    }
    page.markup("</details>\n");
}

fn chain<T: Tier>(page: &mut Page<T>, chain: &ShownChain<T>) {
    page.markup("<li><b>").text(&chain.id).markup("</b> ").text(&chain.what);
    if let Some(integrity) = chain.integrity {
        page.markup(", ").text(&egress_text(&integrity.to_string()));
    }
    page.markup(", for ");
    for (at, number) in chain.atoms.iter().enumerate() {
        page.markup(if at > 0 { ", " } else { "" }).markup("<a href=\"#atom-").number(*number).markup("\">");
        page.number(*number).markup("</a>");
    }
    page.markup(": ");
    for (at, link) in chain.way.iter().enumerate() {
        if at > 0 {
            page.markup(" ← (").markup(link.edge).markup(") ");
        }
        page.text(&link.id).markup(" ").markup(link.what);
    }
    page.markup("<ul>");
    for step in &chain.origin {
        if step.by.is_none() && step.let_in_by.is_empty() {
            continue;
        }
        page.markup("<li>").text(&step.id).markup(" ").markup(step.what);
        if let Some(by) = &step.by {
            page.markup(", by ").text(by);
        }
        for row in &step.let_in_by {
            page.markup("; let in by ").text(row);
        }
        page.markup("</li>");
    }
    if !chain.needs_no_leave && chain.origin.iter().all(|step| step.let_in_by.is_empty()) {
        page.markup("<li>nobody was asked whether it may come in</li>");
    }
    page.markup("</ul></li>\n");
}

fn leads<T: Tier>(page: &mut Page<T>, why: &ShownWhy<T>) {
    page.markup("<section id=\"leads\" aria-labelledby=\"h-leads\">\n<h2 id=\"h-leads\">Suspects</h2>\n");
    page.markup("<p>Leads in the order in which to look at them. None is a verdict: ");
    page.markup(match why.confirmed {
        Some(_) => "those are in the <a href=\"#tested\">test</a>.</p>\n<ol>\n",
        None => "nothing was tested.</p>\n<ol>\n",
    });
    for lead in &why.leads {
        page.markup("<li>").text(&lead.id).markup(" ").text(&lead.what);
        if let Some(integrity) = lead.integrity {
            page.markup(", ").text(&egress_text(&integrity.to_string()));
        }
        page.markup(", holds ").number(lead.atoms).markup(" of the atoms");
        if let Some(call) = &lead.first_seen {
            page.markup(", first seen by ").text(&egress_text(call));
        }
        page.markup("</li>\n");
    }
    page.markup("</ol>\n");
    if why.leads_left_out > 0 {
        page.markup("<p>And ").number(why.leads_left_out).markup(" more.</p>\n");
    }
    page.markup("</section>\n");
}

fn unknown<T: Tier>(page: &mut Page<T>, why: &ShownWhy<T>) {
    let counts = &why.counts;
    page.markup("<section id=\"unknown\" aria-labelledby=\"h-unknown\">\n<h2 id=\"h-unknown\">What is not known</h2>\n<p>");
    page.number(counts.items_reached).markup(" of ").number(counts.items).markup(" items had reached it");
    page.markup(if why.unknown.is_empty() {
        ", and nothing else had.</p>\n"
    } else {
        "; beside them:</p>\n<ul>\n"
    });
    for unknown in &why.unknown {
        page.markup("<li>").text(&unknown.id).markup(", entry ").text(&egress_text(&unknown.seq.to_string()));
        page.markup(": ").text(&egress_text(&unknown.words)).markup("</li>\n");
    }
    if !why.unknown.is_empty() {
        page.markup("</ul>\n");
    }
    if why.unknown_left_out > 0 {
        page.markup("<p>And ").number(why.unknown_left_out).markup(" more.</p>\n");
    }
    page.markup("</section>\n");
}
