//! Which values of a call's arguments may be believed further than the window that the call was proposed from.
//!
//! A window is believed as far as the least of its items, so after one foreign page every call is untrusted as a whole. A value
//! that stands word for word in an item which may be believed further keeps that item's integrity: nobody but its author can
//! have made it up. Whoever wrote the page can still have *chosen* it among all that stands there; that is what remains, and
//! why the label says where a value stands and not that anybody meant it. `docs/design/labels.md` has the rest.

use std::collections::BTreeSet;
use std::sync::Arc;

use probity_contract::{
    ArgumentSource, Arguments, Content, Integrity, Item, ItemId, Label, Origin, ReplyPart, ReplyPartKind,
    ToolSpec, argument_values,
};
use serde_json::Value;

use super::declared::Declared;
use super::moments::{Moment, Moments};
use super::standing::{Numbers, Standing, folded};
use super::told::ToldOf;
use crate::addresses::addresses;

/// Values of one call that are looked for; the others have the label of the window.
const VALUES_MAX: usize = 256;
/// Bytes of items that are looked through for one call, counted once for each value. What is not found within is not found.
const SCAN_BYTES_MAX: usize = 64 << 20;

/// How far a value may be believed for which the tool vouches.
const VOUCHED: Integrity = Integrity::ToolTrusted;
/// Stands between values for which a tool vouches, so that none runs on into the next.
const BETWEEN: &str = " \u{0} ";

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

/// The values of `arguments` that may be believed further than `window`, the integrity of all items together, each with the reason
/// for it.
///
/// Where a value stands in what the person or the task wrote, that is it: the highest integrity, and of those the oldest item. Of
/// what tools and material tell, all places count together, and the least of them decides. Links and addresses within longer
/// texts are looked for by themselves as well.
///
/// A pure function of what it is given. Where the model has read nothing but the task's and the person's words there is nothing
/// to find. Otherwise work is linear in the items and bounded.
pub(crate) fn sources(
    items: &[Arc<Item>],
    told: &ToldOf,
    window: Integrity,
    tool: &ToolSpec,
    arguments: &Arguments,
) -> Vec<ArgumentSource> {
    if window >= Integrity::Person {
        return Vec::new();
    }
    let value = arguments.to_value();
    let values = argument_values(&value);
    let leaves = values.iter().map(|(at, leaf)| {
        let declared = Declared::at(tool, &value, at);
        // What is taken for good is so whoever chose it; a name that is not declared was chosen, too.
        let endorsed = declared.endorsed && declared.chosen_names.is_empty();
        Wanted::new(at, Standing::of(leaf), &declared.chosen_names, window, endorsed)
    });
    let within = values.iter().flat_map(|(at, leaf)| {
        let text = leaf.as_str().unwrap_or_default();
        let found: BTreeSet<&str> = addresses(text).into_iter().filter(|address| *address != text).collect();
        found.into_iter().map(|address| Wanted::of_part(at, address, window))
    });
    let mut wanted: Vec<Wanted> = leaves.chain(within).take(VALUES_MAX).collect();
    let beside: Vec<&str> = values.iter().filter_map(|(_, leaf)| leaf.as_str()).collect();
    look_through(items, told, window, &beside, &mut wanted);
    join_all(items, told, window, &mut wanted);
    wanted.into_iter().filter_map(|wanted| wanted.source(window)).collect()
}

/// One value, and what has been found for it and for the names on the way to it that the tool's definition does not have.
struct Wanted {
    at: String,
    part_of: Option<String>,
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
    fn new(at: &str, value: Option<Standing>, names: &[String], window: Integrity, endorsed: bool) -> Self {
        let part = |standing| Part { standing, best: window, item: None, written: false };
        let names = names.iter().map(|name| part(Standing::of_text(name)));
        let parts = std::iter::once(part(value)).chain(names).collect();
        Self { at: at.to_owned(), part_of: None, parts, endorsed }
    }

    fn of_part(at: &str, address: &str, window: Integrity) -> Self {
        let whole = Self::new(at, Standing::of_text(address), &[], window, false);
        Self { part_of: Some(address.to_owned()), ..whole }
    }

    fn source(self, window: Integrity) -> Option<ArgumentSource> {
        let Self { at, part_of: part, parts, endorsed } = self;
        let least = parts.iter().map(|part| part.best).min().unwrap_or(window);
        let item = parts.first().and_then(|part| part.item);
        if endorsed && Integrity::Endorsed > window && Integrity::Endorsed >= least {
            return Some(ArgumentSource { at, integrity: Integrity::Endorsed, item: None, part });
        }
        (least > window && item.is_some()).then_some(ArgumentSource { at, integrity: least, item, part })
    }
}

/// Finds for each value the best item that tells it.
fn look_through(
    items: &[Arc<Item>],
    told: &ToldOf,
    window: Integrity,
    beside: &[&str],
    wanted: &mut [Wanted],
) {
    let mut left = SCAN_BYTES_MAX;
    let vouches =
        |item: &Item| window < VOUCHED && told.get(&item.id).is_some_and(|told| !told.vouched.is_empty());
    let is_tools = |item: &Item| matches!(item.origin, Origin::Tool(_));
    let may_give_back =
        items.iter().any(|item| is_tools(item) && (held(item).integrity > window || vouches(item)));
    let mut read = Integrity::System;
    for item in items {
        let mut integrity = held(item).integrity;
        // Who writes after having read something is believed no further than that; it was not always stored so.
        if repeats(item) {
            integrity = integrity.min(read);
        }
        read = read.min(integrity);
        let is_source = integrity > window;
        let vouches = !is_source && vouches(item);
        // What a model wrote before a tool gave it back is not the tool's.
        let is_written = may_give_back && !is_source && matches!(item.content, Content::Reply(_));
        if !is_source && !is_written && !vouches {
            continue;
        }
        let integrity = if vouches { VOUCHED } else { integrity };
        let text = text_of(&item.content);
        let numbers = Numbers::of(&text);
        let of_values = told.get(&item.id);
        for part in wanted.iter_mut().flat_map(|wanted| &mut wanted.parts) {
            let Some(standing) = &part.standing else { continue };
            let given_back = part.written && is_tools(item);
            if (!is_written && (given_back || integrity <= part.best)) || (is_written && part.written) {
                continue;
            }
            let Some(rest) = left.checked_sub(text.len()) else { return };
            left = rest;
            if is_written {
                part.written = standing.count_in(&text, &numbers) > 0;
                continue;
            }
            let is_told = of_values.is_some_and(|told| told.vouched.iter().any(|value| standing.is(value)));
            let is_authors = integrity >= Integrity::Person && !repeats(item);
            let stands = is_told
                || (is_source && standing.stands_in(&text, &numbers))
                || (is_source && is_authors && names_moment(&text, standing, beside));
            let is_echo = of_values.is_some_and(|told| told.echoed.iter().any(|text| standing.has(text)));
            if stands && !is_echo {
                (part.best, part.item) = (integrity, Some(item.id));
            }
        }
    }
}

/// Has every place at which a value stands count, where neither the person nor the task wrote it: it may be whoever wrote the
/// least of them that has chosen it.
fn join_all(items: &[Arc<Item>], told: &ToldOf, window: Integrity, wanted: &mut [Wanted]) {
    let is_told = |part: &&mut Part| part.item.is_some() && part.best < Integrity::Person;
    let mut parts: Vec<&mut Part> =
        wanted.iter_mut().flat_map(|wanted| &mut wanted.parts).filter(is_told).collect();
    if parts.is_empty() {
        return;
    }
    let mut left = Some(SCAN_BYTES_MAX);
    // A reply, and a word of the engine, only says again what was read elsewhere.
    for item in items.iter().filter(|item| !repeats(item)) {
        let integrity = held(item).integrity;
        if parts.iter().all(|part| integrity >= part.best) {
            continue;
        }
        let vouched = told.get(&item.id).map_or(&[] as &[String], |told| &told.vouched);
        let (text, vouched) = (folded(&text_of(&item.content)), folded(&vouched.join(BETWEEN)));
        let (numbers, vouched_numbers) = (Numbers::of(&text), Numbers::of(&vouched));
        for part in &mut parts {
            let Some(standing) = part.standing.as_ref().filter(|_| integrity < part.best) else { continue };
            left = left.and_then(|left| left.checked_sub(text.len() + vouched.len()));
            if left.is_none() {
                break;
            }
            let places = standing.count_in(&text, &numbers);
            if places == 0 {
                continue;
            }
            let is_told = places <= standing.count_in(&vouched, &vouched_numbers);
            let least = if is_told { integrity.max(VOUCHED) } else { integrity };
            if least < part.best {
                (part.best, part.item) = (least, Some(item.id));
            }
        }
    }
    if left.is_none() {
        // What was not looked at might be the least.
        parts.iter_mut().for_each(|part| (part.best, part.item) = (window, None));
    }
}

/// Whether the text names the moment that the value is, in the spelling of people.
fn names_moment(text: &str, value: &Standing, beside: &[&str]) -> bool {
    let Standing::Text(value) = value else { return false };
    Moment::parse(value).is_some() && Moments::of(text).name(value, beside)
}

/// Whether it says what was read elsewhere.
const fn repeats(item: &Item) -> bool {
    matches!(item.origin, Origin::Model(_) | Origin::Engine)
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
