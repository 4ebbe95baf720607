//! What a fork changes: suspects that are put out of sight, and items that are put back.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use probity_contract::{Content, Item, ItemId, ReplyPart, ReplyPartKind, ToolName, ToolSpec};

use serde_json::Value;

use super::ForkError;
use super::recorded::Recorded;
use super::stand_in::stand_in;

/// What may be to blame.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// An item: instructions, a message, material, a tool's result, a reply with the arguments of its calls.
    Item(ItemId),
    /// Part of an item's text, in bytes: a sentence.
    Passage {
        /// The item.
        item: ItemId,
        /// From where.
        start: usize,
        /// To where, excluded.
        end: usize,
    },
    /// What a tool says of itself: its description and those of its arguments.
    Tool(ToolName),
}

/// What is done to one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A neutral stand-in takes its place.
    StandIn(Target),
    /// This text takes the place of an item's.
    Replace(ItemId, Arc<str>),
    /// An item that was never sent is sent, before what the model was asked last.
    Restore(ItemId),
}

/// All changes of one fork, ready to be applied to any window.
#[derive(Debug, Default)]
pub(super) struct Changes {
    texts: BTreeMap<ItemId, Arc<str>>,
    /// Items of which nothing is left: of a reply, the arguments of its calls go too.
    hushed: BTreeSet<ItemId>,
    restored: Vec<ItemId>,
    tools: BTreeSet<ToolName>,
}

impl Changes {
    pub(super) fn of(recorded: &Recorded<'_>, changes: &[Change]) -> Result<Self, ForkError> {
        let mut all = Self::default();
        let mut passages: BTreeMap<ItemId, Vec<Range<usize>>> = BTreeMap::new();
        for change in changes {
            match change {
                Change::StandIn(Target::Item(item)) => {
                    let neutral = stand_in(&text_of(known(recorded, *item)?));
                    all.texts.insert(*item, neutral.into());
                    all.hushed.insert(*item);
                }
                Change::StandIn(Target::Passage { item, start, end }) => {
                    known(recorded, *item)?;
                    passages.entry(*item).or_default().push(*start..*end);
                }
                Change::StandIn(Target::Tool(tool)) => {
                    if !recorded.tools().iter().any(|known| known.name == *tool) {
                        return Err(ForkError::NoSuchTarget(format!("the tool `{tool}`")));
                    }
                    all.tools.insert(tool.clone());
                }
                Change::Replace(item, text) => {
                    known(recorded, *item)?;
                    all.texts.insert(*item, Arc::clone(text));
                }
                Change::Restore(item) => {
                    known(recorded, *item)?;
                    if !all.restored.contains(item) {
                        all.restored.push(*item);
                    }
                }
            }
        }
        for (item, ranges) in passages {
            let text = text_of(known(recorded, item)?);
            // A whole item that goes takes its sentences along.
            all.texts.entry(item).or_insert_with(|| without(&text, ranges).into());
        }
        Ok(all)
    }

    /// The item as the fork shows it.
    pub(super) fn item(&self, item: &Arc<Item>) -> Arc<Item> {
        let Some(text) = self.texts.get(&item.id) else { return Arc::clone(item) };
        let mut content = with_text(&item.content, text);
        if let (Content::Reply(parts), true) = (&content, self.hushed.contains(&item.id)) {
            content = Content::Reply(parts.iter().map(without_arguments).collect());
        }
        Arc::new(Item { id: item.id, origin: item.origin, label: item.label.clone(), content })
    }

    /// The window as the fork shows it.
    pub(super) fn window(&self, recorded: &Recorded<'_>, items: &[Arc<Item>]) -> Vec<Arc<Item>> {
        let mut window: Vec<Arc<Item>> = items.iter().map(|item| self.item(item)).collect();
        let is_there = |id: &ItemId| items.iter().any(|item| item.id == *id);
        let restored = self.restored.iter().filter(|id| !is_there(id)).filter_map(|id| recorded.item(*id));
        let restored: Vec<Arc<Item>> = restored.map(as_material).collect();
        // Before the first message of a person: there is where material stands, and no call is torn from its result.
        let at = window.iter().position(|item| matches!(item.content, Content::Person(_)));
        let at = at.unwrap_or(window.len());
        window.splice(at..at, restored);
        window
    }

    /// The tools as the fork offers them.
    pub(super) fn tools(&self, tools: &Arc<[ToolSpec]>) -> Arc<[ToolSpec]> {
        if self.tools.is_empty() {
            return Arc::clone(tools);
        }
        let neutral = |tool: &ToolSpec| {
            if !self.tools.contains(&tool.name) {
                return tool.clone();
            }
            let mut tool = tool.clone();
            tool.description = stand_in(&tool.description);
            hush(&mut tool.input_schema);
            tool
        };
        tools.iter().map(neutral).collect()
    }
}

fn known<'a>(recorded: &'a Recorded<'_>, item: ItemId) -> Result<&'a Arc<Item>, ForkError> {
    recorded.item(item).ok_or(ForkError::TextNotKept(item))
}

/// A result that was never sent has no call before it in the window, so it comes back as material.
fn as_material(item: &Arc<Item>) -> Arc<Item> {
    let Content::ToolResult { tool, text, .. } = &item.content else { return Arc::clone(item) };
    let content = Content::Context { name: tool.clone(), text: Arc::clone(text) };
    Arc::new(Item { id: item.id, origin: item.origin, label: item.label.clone(), content })
}

/// The text of an item as one string, of a reply its words without its calls. Passages count their bytes in it.
#[must_use]
pub fn text_of(item: &Item) -> String {
    let Content::Reply(parts) = &item.content else { return item.flat_text() };
    words_of(parts)
}

/// The words of a reply.
#[must_use]
pub fn words_of(parts: &[ReplyPart]) -> String {
    let words = parts.iter().filter_map(|part| match &part.kind {
        ReplyPartKind::Text(text) => Some(text.as_str()),
        ReplyPartKind::Reasoning(_) | ReplyPartKind::Call(_) | ReplyPartKind::Opaque => None,
    });
    words.collect()
}

fn with_text(content: &Content, text: &Arc<str>) -> Content {
    let text = Arc::clone(text);
    match content {
        Content::Instructions(_) => Content::Instructions(text),
        Content::Person(_) => Content::Person(text),
        Content::Context { name, .. } => Content::Context { name: name.clone(), text },
        Content::Notice(_) => Content::Notice(text),
        Content::ToolResult { call, provider_id, tool, is_error, .. } => Content::ToolResult {
            call: *call,
            provider_id: provider_id.clone(),
            tool: tool.clone(),
            text,
            is_error: *is_error,
        },
        Content::Reply(parts) => {
            // Calls stay: their results stand behind them, and a window with one and not the other is none.
            let calls = parts.iter().filter(|part| matches!(part.kind, ReplyPartKind::Call(_)));
            let words = ReplyPart::text(text.as_ref());
            Content::Reply(std::iter::once(words).chain(calls.cloned()).collect())
        }
    }
}

/// A call keeps its tool and its place, and what it was made with goes.
fn without_arguments(part: &ReplyPart) -> ReplyPart {
    match &part.kind {
        ReplyPartKind::Call(call) => {
            ReplyPart::call(call.provider_id.clone(), call.name.clone(), stand_in(&call.arguments))
        }
        ReplyPartKind::Text(_) | ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => part.clone(),
    }
}

/// Text with passages put out of sight; what is no passage of it is passed over.
fn without(text: &str, mut ranges: Vec<Range<usize>>) -> String {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for range in ranges {
        let start = range.start.max(at);
        let (Some(before), Some(passage)) = (text.get(at..start), text.get(start..range.end)) else {
            continue;
        };
        out.push_str(before);
        out.push_str(&stand_in(passage));
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Takes every description out of a schema, so that only the tool's form is left.
fn hush(schema: &mut Value) {
    let mut left = vec![schema];
    while let Some(value) = left.pop() {
        match value {
            Value::Object(members) => {
                members.retain(|name, value| !(name == "description" && value.is_string()));
                left.extend(members.values_mut());
            }
            Value::Array(values) => left.extend(values.iter_mut()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}
