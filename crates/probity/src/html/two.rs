//! The page of two runs.

use probity_egress::{Egress, Tier, Words, egress_text};

use super::page::Page;
use crate::why::{ShownRun, ShownTwo};

const SIDES: [&str; 2] = ["A", "B"];

pub(crate) fn two_page<T: Tier>(two: &ShownTwo<T>) -> String {
    let [a, b] = &two.runs;
    let title: Egress<T> = Words::new().text("Two runs: ").passed(&a.run).text(" and ").passed(&b.run).done();
    let mut page = Page::begin(&title);
    page.markup("<a class=\"skip\" href=\"#main\">To the difference</a>\n<header>\n<h1>").text(&title);
    page.markup("</h1>\n<div class=\"two\">\n");
    two.runs.iter().zip(SIDES).for_each(|(run, name)| head(&mut page, run, name));
    page.markup("</div>\n</header>\n<main id=\"main\">\n<section aria-labelledby=\"h-first\">\n<h2 id=\"h-first\">Where they first differ</h2>\n");
    first(&mut page, two);
    page.markup("</section>\n<section aria-labelledby=\"h-windows\">\n<h2 id=\"h-windows\">Windows that differ</h2>\n");
    windows(&mut page, two);
    page.markup(
        "</section>\n<section aria-labelledby=\"h-calls\">\n<h2 id=\"h-calls\">Calls that differ</h2>\n",
    );
    calls(&mut page, two);
    page.markup(
        "</section>\n<section aria-labelledby=\"h-answers\">\n<h2 id=\"h-answers\">The answers</h2>\n",
    );
    page.markup(if two.is_same_answer { "<p>They are the same.</p>\n" } else { "<p>They differ.</p>\n" });
    page.markup("<div class=\"two\">\n");
    for (answer, name) in two.answers.iter().zip(SIDES) {
        page.markup("<div><h3>").markup(name).markup("</h3>\n");
        match answer {
            Some(answer) => page.markup("<pre>").text(answer).markup("</pre></div>\n"),
            None => page.markup("<p>It has none.</p></div>\n"),
        };
    }
    page.markup("</div>\n</section>\n</main>\n");
    page.end()
}

fn head<T: Tier>(page: &mut Page<T>, run: &ShownRun<T>, name: &'static str) {
    page.markup("<p><b>").markup(name).markup("</b>: run ").text(&run.run).markup(" (").text(&run.title);
    page.markup("), model ").text(&run.model).markup(", ").number(run.entries).markup(" entries</p>\n");
}

fn first<T: Tier>(page: &mut Page<T>, two: &ShownTwo<T>) {
    let Some(first) = &two.first else {
        page.markup("<p>They do not differ.</p>\n");
        return;
    };
    page.markup("<p>Equal before, whatever their times and ids: ")
        .text(&egress_text(&first.equal_before[0].to_string()));
    page.markup(" and ")
        .text(&egress_text(&first.equal_before[1].to_string()))
        .markup(" entries. They differ in ");
    page.text(&first.what).markup(".</p>\n<div class=\"two\">\n");
    for (side, name) in first.sides.iter().zip(SIDES) {
        page.markup("<div><h3>").markup(name).markup("</h3>\n<p class=\"quote\">");
        match side {
            Some(side) => {
                page.markup("entry ").text(&egress_text(&side.seq.to_string())).markup(", ").text(&side.kind);
                page.markup(": ").text(&side.words);
            }
            None => {
                page.markup("nothing more happened");
            }
        }
        page.markup("</p></div>\n");
    }
    page.markup("</div>\n");
}

fn named<T: Tier>(page: &mut Page<T>, calls: &[Option<String>; 2]) {
    for (at, call) in calls.iter().enumerate() {
        page.markup(if at > 0 { " and " } else { "" });
        page.text(&call.as_ref().map_or_else(|| Egress::fixed("none"), |call| egress_text(call)));
    }
}

fn windows<T: Tier>(page: &mut Page<T>, two: &ShownTwo<T>) {
    if two.windows.is_empty() {
        page.markup("<p>None.</p>\n");
    }
    for pair in &two.windows {
        page.markup("<details><summary>");
        named(page, &pair.calls);
        page.markup(": the first ")
            .number(pair.common)
            .markup(" items say the same</summary>\n<div class=\"two\">\n");
        for ((only, left_out), name) in pair.only.iter().zip(pair.left_out).zip(SIDES) {
            page.markup("<div><h3>Only ").markup(name).markup("</h3>\n<ul>");
            for item in only {
                page.markup("<li class=\"quote\">").text(item).markup("</li>");
            }
            if left_out > 0 {
                page.markup("<li>and ").number(left_out).markup(" more</li>");
            }
            page.markup("</ul></div>\n");
        }
        page.markup("</div></details>\n");
    }
    if two.windows_left_out > 0 {
        page.markup("<p>And ").number(two.windows_left_out).markup(" more.</p>\n");
    }
    if !two.windows_are_all {
        page.markup("<p>Those behind were not compared: there are too many items.</p>\n");
    }
}

fn calls<T: Tier>(page: &mut Page<T>, two: &ShownTwo<T>) {
    if two.calls.is_empty() {
        page.markup("<p>None.</p>\n");
    }
    for pair in &two.calls {
        page.markup("<details><summary>");
        named(page, &pair.calls);
        page.markup(" differ in ");
        for (at, what) in pair.differs.iter().enumerate() {
            page.markup(if at > 0 { ", " } else { "" }).markup(what);
        }
        page.markup("</summary>\n<div class=\"two\">\n");
        for (side, name) in pair.sides.iter().zip(SIDES) {
            page.markup("<div><h3>").markup(name).markup("</h3>\n<p class=\"quote\">");
            page.text(side.as_ref().unwrap_or(&Egress::fixed("no such call"))).markup("</p></div>\n");
        }
        page.markup("</div></details>\n");
    }
    if two.calls_left_out > 0 {
        page.markup("<p>And ").number(two.calls_left_out).markup(" more.</p>\n");
    }
}
