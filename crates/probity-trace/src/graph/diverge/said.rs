use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use probity_contract::{Body, CallId, ItemId, Kept, Origin, PartId, ReplyPart, ReplyPartKind, WindowDelta};

use crate::record::Record;

/// Items of a window that are kept in mind. A record can tell of longer ones; what is beyond is not compared.
const WINDOW_ITEMS_MAX: usize = 1 << 24;

/// One of two runs, as far as it was walked through.
#[derive(Debug)]
pub(super) struct Side<'r> {
    pub(super) record: &'r Record,
    /// What each item says, without what differs from run to run.
    items: HashMap<ItemId, u64>,
    calls: HashMap<CallId, usize>,
    parts: HashMap<PartId, u64>,
    /// The window that was sent last: each item, and all up to it as one number.
    window: Vec<(ItemId, u64)>,
}

impl<'r> Side<'r> {
    pub(super) fn new(record: &'r Record) -> Self {
        let (items, calls, parts) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { record, items, calls, parts, window: Vec::new() }
    }

    /// Takes an item in and gives what it says, as one number.
    pub(super) fn add(&mut self, item: ItemId, origin: Origin, body: &Body) -> u64 {
        let mut hasher = DefaultHasher::new();
        match origin {
            Origin::Task => 0,
            Origin::Principal => 1,
            Origin::Model(_) => 2,
            Origin::Tool(_) => 3,
            Origin::Engine => 4,
        }
        .hash(&mut hasher);
        match body {
            Body::Instructions { text } => (0, text).hash(&mut hasher),
            Body::Person { text } => (1, text).hash(&mut hasher),
            Body::Context { name, text } => (2, name, text).hash(&mut hasher),
            Body::Reply { parts } => {
                (3, parts.len()).hash(&mut hasher);
                parts.iter().for_each(|part| self.part(*part).hash(&mut hasher));
            }
            Body::ToolResult { call, tool, text, is_error, .. } => {
                let next = self.calls.len();
                let call = *self.calls.entry(*call).or_insert(next);
                (4, call, tool, text, is_error).hash(&mut hasher);
            }
            Body::Notice { text } => (5, text).hash(&mut hasher),
        }
        let said = hasher.finish();
        self.items.entry(item).or_insert(said);
        said
    }

    /// What a part of a reply says, without the ids and forms of its provider. Each text is read once.
    fn part(&mut self, id: PartId) -> u64 {
        if let Some(said) = self.parts.get(&id) {
            return *said;
        }
        let mut hasher = DefaultHasher::new();
        let text = match self.record.part(id) {
            Some(Kept::Full(text) | Kept::Redacted(text)) => Some(text),
            Some(Kept::Length(_)) | None => None,
        };
        match text.and_then(|text| serde_json::from_str::<ReplyPart>(text).ok()).map(|part| part.kind) {
            Some(ReplyPartKind::Text(text)) => (0, text).hash(&mut hasher),
            Some(ReplyPartKind::Reasoning(text)) => (1, text).hash(&mut hasher),
            Some(ReplyPartKind::Call(call)) => (2, call.name, call.arguments).hash(&mut hasher),
            Some(ReplyPartKind::Opaque) => 3.hash(&mut hasher),
            None => (4, id).hash(&mut hasher),
        }
        let said = hasher.finish();
        self.parts.insert(id, said);
        said
    }

    /// Goes over to the window of the next model call.
    pub(super) fn send(&mut self, window: &WindowDelta) {
        self.window.truncate(usize::try_from(window.keep).unwrap_or(usize::MAX));
        for item in window.added.iter().take(WINDOW_ITEMS_MAX.saturating_sub(self.window.len())) {
            let mut hasher = DefaultHasher::new();
            (self.window.last().map(|(_, up_to)| *up_to), self.items.get(item)).hash(&mut hasher);
            self.window.push((*item, hasher.finish()));
        }
    }

    /// The first place at which two windows differ. Where they do not, that is told by their last place alone.
    pub(super) fn first_other(&self, other: &Self) -> Option<usize> {
        let up_to = |window: &[(ItemId, u64)]| window.last().map(|(_, up_to)| *up_to);
        let is_same = self.window.len() == other.window.len() && up_to(&self.window) == up_to(&other.window);
        if is_same {
            return None;
        }
        let pairs = self.window.iter().zip(&other.window);
        Some(pairs.take_while(|(one, other)| one.1 == other.1).count())
    }

    pub(super) fn item_at(&self, position: usize) -> Option<ItemId> {
        self.window.get(position).map(|(item, _)| *item)
    }
}
