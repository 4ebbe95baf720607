//! What each model call was sent, as bars with their text beside them.

use probity_contract::Integrity;
use probity_egress::{Tier, egress_text};

use super::page::Page;
use crate::why::ShownWindow;

pub(super) fn windows<T: Tier>(page: &mut Page<T>, windows: &[ShownWindow<T>]) {
    if windows.is_empty() {
        page.markup("<p>No model was called.</p>\n");
    }
    for window in windows {
        window_of(page, window);
    }
}

fn window_of<T: Tier>(page: &mut Page<T>, window: &ShownWindow<T>) {
    page.markup("<h3>").text(&window.call).markup("</h3>\n<p>");
    if !window.is_told {
        page.markup(
            "What it was sent is not told here: the record does not say it, or there is too much.</p>\n",
        );
        return;
    }
    page.number(window.items).markup(" items, ").number(window.bytes).markup(" bytes of text");
    page.markup(if window.is_in_slice { "." } else { "; it had no influence on what was asked about." });
    page.markup("</p>\n<div class=\"bar\" aria-hidden=\"true\">");
    for share in &window.shares {
        page.markup(if share.integrity == Integrity::Untrusted {
            "<span class=\"untrusted\""
        } else {
            "<span"
        });
        page.markup(" style=\"flex:")
            .number(share.bytes.max(1))
            .markup(" 0 0\">")
            .text(&egress_text(share.kind));
        page.markup("</span>");
    }
    page.markup(
        "</div>\n<details><summary>As a table</summary><table>\n<thead><tr><th scope=\"col\">What</th>",
    );
    page.markup("<th scope=\"col\">Trust</th><th scope=\"col\">Items</th><th scope=\"col\">Bytes</th>");
    page.markup("<th scope=\"col\">Hold atoms</th></tr></thead><tbody>\n");
    for share in &window.shares {
        page.markup("<tr><td>").text(&egress_text(share.kind)).markup("</td><td>");
        page.text(&egress_text(&share.integrity.to_string())).markup("</td><td>").number(share.items);
        page.markup("</td><td>").number(share.bytes).markup("</td><td>").number(share.holders);
        page.markup("</td></tr>\n");
    }
    page.markup("</tbody></table></details>\n");
}
