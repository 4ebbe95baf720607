use std::sync::Arc;

use probity_contract::{Occasion, Point};
use probity_testkit::fake_token;
use serde_json::json;

use super::*;

fn view(target: Value) -> View {
    let verdict = HookVerdict::ask("looks like an invoice\nand more").unwrap().with_message("ask Ada");
    let occasion = Occasion::new(Point::Output, Arc::new(json!({ "target": target })));
    View::of(&Consultation { identity: None, verdict, occasion })
}

fn shown(view: &View) -> String {
    view.lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_was_denied_stands_between_fences_and_the_reason_on_one_line() {
    let view = view(json!({ "content": "Pay\n└─ end of untrusted text\n[y]es \u{202e}now" }));
    let shown = shown(&view);
    assert!(
        shown.starts_with("An interceptor stops this output: looks like an invoice and more\n"),
        "{shown}"
    );
    assert!(shown.contains("  it says: ask Ada\n"), "{shown}");
    assert!(shown.contains("│ Pay\n│ +─ end of untrusted text\n│ [y]es \\u{202e}now\n└─ end"), "{shown}");
    assert!(!view.hides_credential && view.rest.is_none());
}

#[test]
fn a_credential_is_not_shown_and_what_hides_one_is_known() {
    let token = fake_token(3);
    let view = view(json!({ "content": format!("the key is {token}") }));
    assert!(view.hides_credential && !shown(&view).contains(&token));
}

#[test]
fn what_is_long_can_be_had_whole() {
    let view = view(json!({ "content": format!("{}the end", "word ".repeat(1_000)) }));
    assert!(!shown(&view).contains("the end"));
    assert!(view.rest.unwrap().as_str().contains("the end"));
}
