//! Which values of a call's arguments may be believed further than the window that the call was proposed from.
//!
//! A window is believed as far as the least of its items, so after one foreign page every call is untrusted as a whole. A value
//! that stands word for word in an item which may be believed further keeps that item's integrity: nobody but its author can
//! have made it up. Whoever wrote the page can still have *chosen* it among all that stands there; that is what remains, and
//! why the label says where a value stands and not that anybody meant it. `docs/design/labels.md` has the rest.

use std::sync::Arc;

use probity_contract::{
    ArgumentSource, Arguments, Content, Integrity, Item, ItemId, Label, Origin, ReplyPart, ReplyPartKind,
    ToolSpec, argument_values,
};
use serde_json::Value;

use super::declared::Declared;
use super::standing::{Numbers, Standing};

/// Values of one call that are looked for; the others have the label of the window.
const VALUES_MAX: usize = 256;
/// Bytes of items that are looked through for one call, counted once for each value. What is not found within is not found.
const SCAN_BYTES_MAX: usize = 64 << 20;

/// An item's label, and never more than whoever brought it can give: what was stored when there were two levels calls a
/// person's words and those of the task the same.
pub(super) fn held(item: &Item) -> Label {
    let most = match item.origin {
        Origin::Task | Origin::Engine | Origin::Model(_) => Integrity::System,
        Origin::Principal => Integrity::Person,
        Origin::Tool(_) => Integrity::ToolTrusted,
    };
    Label { integrity: item.label.integrity.min(most), readers: item.label.readers.clone() }
}

/// The values of `arguments` that may be believed further than `window`, the integrity of all items together, each with the
/// best reason for it: the highest integrity, and of those the oldest item.
///
/// A pure function of what it is given. Where the model has read nothing but the task's and the person's words there is nothing
/// to find. Otherwise work is linear in the items that may be believed further than the window and in the model's replies, and
/// bounded.
pub(crate) fn sources(
    items: &[Arc<Item>],
    window: Integrity,
    tool: &ToolSpec,
    arguments: &Arguments,
) -> Vec<ArgumentSource> {
    if window >= Integrity::Person {
        return Vec::new();
    }
    let value = arguments.to_value();
    let values = argument_values(&value).into_iter().take(VALUES_MAX);
    let mut wanted: Vec<Wanted> = values
        .map(|(at, leaf)| {
            let declared = Declared::at(tool, &value, &at);
            // What is taken for good is so whoever chose it; a name that is not declared was chosen, too.
            let endorsed = declared.endorsed && declared.chosen_names.is_empty();
            Wanted::new(at, Standing::of(leaf), &declared.chosen_names, window, endorsed)
        })
        .collect();
    look_through(items, window, &mut wanted);
    wanted.into_iter().filter_map(|wanted| wanted.source(window)).collect()
}

/// One value, and what has been found for it and for the names on the way to it that the tool's definition does not have.
struct Wanted {
    at: String,
    parts: Vec<Part>,
    endorsed: bool,
}

/// One text or number that must stand somewhere.
struct Part {
    standing: Option<Standing>,
    best: Integrity,
    item: Option<ItemId>,
    // A reply that may not be believed further than the window had it before whatever comes next.
    written: bool,
}

impl Wanted {
    fn new(at: String, value: Option<Standing>, names: &[String], window: Integrity, endorsed: bool) -> Self {
        let part = |standing| Part { standing, best: window, item: None, written: false };
        let names = names.iter().map(|name| part(Standing::of_text(name)));
        let parts = std::iter::once(part(value)).chain(names).collect();
        Self { at, parts, endorsed }
    }

    fn source(self, window: Integrity) -> Option<ArgumentSource> {
        let Self { at, parts, endorsed } = self;
        let least = parts.iter().map(|part| part.best).min().unwrap_or(window);
        let item = parts.first().and_then(|part| part.item);
        if endorsed && Integrity::Endorsed > window && Integrity::Endorsed >= least {
            return Some(ArgumentSource { at, integrity: Integrity::Endorsed, item: None });
        }
        (least > window && item.is_some()).then_some(ArgumentSource { at, integrity: least, item })
    }
}

fn look_through(items: &[Arc<Item>], window: Integrity, wanted: &mut [Wanted]) {
    let mut left = SCAN_BYTES_MAX;
    let is_tools = |item: &Item| matches!(item.origin, Origin::Tool(_));
    let may_give_back = items.iter().any(|item| is_tools(item) && held(item).integrity > window);
    let mut read = Integrity::System;
    for item in items {
        let mut integrity = held(item).integrity;
        // Who writes after having read something is believed no further than that; it was not always stored so.
        if matches!(item.origin, Origin::Model(_) | Origin::Engine) {
            integrity = integrity.min(read);
        }
        read = read.min(integrity);
        let is_source = integrity > window;
        // What a model wrote before a tool gave it back is not the tool's.
        let is_written = may_give_back && !is_source && matches!(item.content, Content::Reply(_));
        if !is_source && !is_written {
            continue;
        }
        let text = text_of(&item.content);
        let numbers = Numbers::of(&text);
        for part in wanted.iter_mut().flat_map(|wanted| &mut wanted.parts) {
            let Some(standing) = &part.standing else { continue };
            let given_back = part.written && is_tools(item);
            if (is_source && (given_back || integrity <= part.best)) || (is_written && part.written) {
                continue;
            }
            let Some(rest) = left.checked_sub(text.len()) else { return };
            left = rest;
            if !standing.stands_in(&text, &numbers) {
                continue;
            }
            if is_written {
                part.written = true;
            } else {
                (part.best, part.item) = (integrity, Some(item.id));
            }
        }
    }
}

/// What an item says, and of a reply also what its calls say, with nothing escaped.
fn text_of(content: &Content) -> Arc<str> {
    match content {
        Content::Instructions(text)
        | Content::Person(text)
        | Content::Context { text, .. }
        | Content::ToolResult { text, .. }
        | Content::Notice(text) => Arc::clone(text),
        Content::Reply(parts) => parts.iter().map(reply_text).collect::<Vec<_>>().join("\n").into(),
    }
}

fn reply_text(part: &ReplyPart) -> String {
    match &part.kind {
        ReplyPartKind::Text(text) | ReplyPartKind::Reasoning(text) => text.clone(),
        ReplyPartKind::Opaque => String::new(),
        ReplyPartKind::Call(call) => match serde_json::from_str::<Value>(&call.arguments) {
            Ok(value) => {
                let mut words = String::new();
                words_of(&value, &mut words);
                words
            }
            Err(_) => call.arguments.clone(),
        },
    }
}

fn words_of(value: &Value, words: &mut String) {
    match value {
        Value::String(text) => words.push_str(text),
        Value::Number(number) => words.push_str(&number.to_string()),
        Value::Null | Value::Bool(_) => {}
        Value::Array(values) => values.iter().for_each(|value| words_of(value, words)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            words.push_str(name);
            words.push('\n');
            words_of(value, words);
        }),
    }
    words.push('\n');
}

#[cfg(test)]
#[path = "provenance_tests.rs"]
mod tests;
