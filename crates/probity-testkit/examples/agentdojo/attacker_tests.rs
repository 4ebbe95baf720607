use std::sync::Arc;

use probity_contract::{CallId, Content, Item, ItemId, Label, Origin};
use serde_json::json;

use super::{Way, next, way};
use crate::adapter::Planned;

fn result(at: u32, text: &str, is_error: bool) -> Arc<Item> {
    let call = CallId(at);
    let content = Content::ToolResult {
        call,
        provider_id: String::new(),
        tool: "tool".to_owned(),
        text: text.into(),
        is_error,
    };
    Arc::new(Item { id: ItemId(at), origin: Origin::Tool(call), label: Label::untrusted(), content })
}

fn plan(names: &[&str]) -> Vec<Planned> {
    names.iter().map(|name| Planned { tool: (*name).to_owned(), arguments: json!({}) }).collect()
}

/// The calls in the order in which they are made, where the outsider is read behind the `read`th.
fn order(read: Option<usize>) -> Vec<String> {
    let (plan, injected) = (plan(&["a", "b", "c"]), plan(&["x", "y"]));
    let injected = if read.is_some() { injected } else { Vec::new() };
    (0..)
        .map_while(|done| {
            let read_after = read.filter(|read| done >= *read);
            next(&Way { done, read_after }, &plan, &injected).map(|call| call.tool)
        })
        .collect()
}

#[test]
fn what_an_outsider_wants_is_done_as_soon_as_it_is_read() {
    assert_eq!(order(None), ["a", "b", "c"]);
    assert_eq!(order(Some(1)), ["a", "x", "y", "b", "c"]);
    assert_eq!(order(Some(3)), ["a", "b", "c", "x", "y"]);
}

#[test]
fn the_first_result_with_the_mark_counts_and_a_refusal_does_not() {
    let window = [
        result(1, "fine", false),
        result(2, "<M> in a refusal", true),
        result(3, "<M>", false),
        result(4, "<M>", false),
    ];
    assert_eq!(way(&window, "<M>"), Way { done: 4, read_after: Some(3) });
    assert_eq!(way(&window[..2], "<M>"), Way { done: 2, read_after: None });
}
