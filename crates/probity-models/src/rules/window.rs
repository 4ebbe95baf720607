//! The items of one model call, ready to be searched.

use std::borrow::Cow;
use std::fmt;

use probity_contract::{Content, Item, ItemId, ModelRequest};
use serde::Deserialize;

/// Items that an error names before it says "and N more".
const ITEMS_SHOWN_MAX: usize = 12;

/// The sorts of items that a condition can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Instructions,
    Person,
    Context,
    Reply,
    ToolResult,
    Notice,
    /// Every item.
    Any,
}

/// The window of one call, oldest item first, each with its text.
#[derive(Debug)]
pub(crate) struct Window<'a> {
    entries: Vec<Entry<'a>>,
}

/// One item and what a pattern is matched against.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) item: &'a Item,
    pub(crate) text: Cow<'a, str>,
}

impl<'a> Window<'a> {
    pub(crate) fn new(request: &'a ModelRequest) -> Self {
        let entry = |item: &'a std::sync::Arc<Item>| Entry { item, text: text_of(item) };
        Self { entries: request.items.iter().map(entry).collect() }
    }

    /// Every item.
    pub(crate) fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    /// The items after the last one of a kind, and that one; all of them where there is none.
    pub(crate) fn since(&self, kind: Kind) -> (&[Entry<'a>], Option<ItemId>) {
        let Some(at) = self.entries.iter().rposition(|entry| kind.is_of(entry.item)) else {
            return (&self.entries, None);
        };
        let boundary = self.entries.get(at).map(|entry| entry.item.id);
        (self.entries.get(at + 1..).unwrap_or_default(), boundary)
    }
}

impl Kind {
    /// Whether an item is of this kind.
    pub(crate) fn is_of(self, item: &Item) -> bool {
        self == Self::Any || self == Self::of(item)
    }

    fn of(item: &Item) -> Self {
        match item.content {
            Content::Instructions(_) => Self::Instructions,
            Content::Person(_) => Self::Person,
            Content::Context { .. } => Self::Context,
            Content::Reply(_) => Self::Reply,
            Content::ToolResult { .. } => Self::ToolResult,
            Content::Notice(_) => Self::Notice,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Instructions => "instructions",
            Self::Person => "person",
            Self::Context => "context",
            Self::Reply => "reply",
            Self::ToolResult => "tool_result",
            Self::Notice => "notice",
            Self::Any => "any",
        })
    }
}

/// What stands in the window, in one line: `instructions, context vendor-note, tool_result pay (error)`.
impl fmt::Display for Window<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.entries.is_empty() {
            return f.write_str("nothing");
        }
        for (at, entry) in self.entries.iter().enumerate().take(ITEMS_SHOWN_MAX) {
            let kind = Kind::of(entry.item);
            f.write_str(if at == 0 { "" } else { ", " })?;
            match &entry.item.content {
                Content::Context { name, .. } => write!(f, "{kind} {name}")?,
                Content::ToolResult { tool, is_error: true, .. } => write!(f, "{kind} {tool} (error)")?,
                Content::ToolResult { tool, .. } => write!(f, "{kind} {tool}")?,
                Content::Instructions(_) | Content::Person(_) | Content::Reply(_) | Content::Notice(_) => {
                    write!(f, "{kind}")?;
                }
            }
        }
        match self.entries.len().saturating_sub(ITEMS_SHOWN_MAX) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

fn text_of(item: &Item) -> Cow<'_, str> {
    match &item.content {
        Content::Instructions(text)
        | Content::Person(text)
        | Content::Context { text, .. }
        | Content::ToolResult { text, .. }
        | Content::Notice(text) => Cow::Borrowed(text),
        Content::Reply(_) => Cow::Owned(item.flat_text()),
    }
}
