use probity_egress::{Human, egress_text};

use super::*;

#[test]
fn hostile_markup_is_text() {
    let hostile = [
        "<script>alert(1)</script>",
        "</title><img src=x onerror=alert(1)>",
        "\" onmouseover=\"alert(1)",
        "' onfocus='alert(1)",
        "&lt;script&gt;",
        "<!-- -->",
        "]]><svg/onload=alert(1)>",
        "</style><style>*{display:none}",
        "\u{202e}gnp.exe\u{0}\u{1b}[2J",
    ];
    for text in hostile {
        let mut page = Page::<Human>::begin(&egress_text(text));
        page.markup("<p title=\"")
            .text(&egress_text(text))
            .markup("\">")
            .text(&egress_text(text))
            .markup("</p>");
        let html = page.end();
        let ours = Page::<Human>::begin(&Egress::empty()).end();
        let tags = |html: &str| html.matches('<').count();
        assert_eq!(tags(&html), tags(&ours) + 2, "{text}");
        assert_eq!(html.matches('"').count(), ours.matches('"').count() + 2, "{text}");
        assert!(!html.contains('\u{202e}') && !html.contains('\u{1b}') && !html.contains('\0'));
    }
}

#[test]
fn nothing_runs_and_nothing_is_loaded() {
    let html = Page::<Human>::begin(&Egress::empty()).end();
    assert!(html.contains("default-src 'none'"));
    for word in ["<script", "http:", "https:", "url(", "@import", "<link", "<iframe", "<object"] {
        assert!(!html.contains(word), "{word}");
    }
}
