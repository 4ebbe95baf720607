//! What a model saw: the window of one call as one text, with the place of each item in it.

use std::ops::Range;

use probity_contract::{Fact, ItemId, Kept, ModelCallId, Origin, ToolChoice};

use crate::facts::parts_of_body;
use crate::record::Record;
use crate::text::Fidelity;
use crate::window::WindowError;

/// What stands between two items in the text of a window.
pub const WINDOW_SEPARATOR: &str = "\n";

/// Bytes of the text of a window. What is beyond is left out and said.
pub const WINDOW_TEXT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of the record that are read for one window. A record can name one long text in many items.
const READ_BYTES_MAX: usize = 2 * WINDOW_TEXT_BYTES_MAX;

/// The window of one model call. Its text has passed no exit.
///
/// The text is what the items say, in order, with [`WINDOW_SEPARATOR`] between them. It is not what went over the wire: a
/// provider's form of roles, of tools and of reasoning is not recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenWindow {
    /// The call.
    pub call: ModelCallId,
    /// Its entry.
    pub seq: u64,
    /// Whether a tool had to be called.
    pub tool_choice: ToolChoice,
    /// Whether the tools of the run were offered.
    pub tools_offered: bool,
    /// What all items say.
    pub text: String,
    /// The items in order.
    pub items: Vec<SeenItem>,
}

/// One item of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenItem {
    /// Which.
    pub item: ItemId,
    /// Who brought it; `None` where the record does not add it.
    pub origin: Option<Origin>,
    /// Its bytes in the text of the window. Empty where there is no text.
    pub range: Range<usize>,
    /// How what stands there differs from what was sent. `None` where the window is too long and this item was left out.
    pub fidelity: Option<Fidelity>,
}

impl SeenWindow {
    /// The text of an item that stands in the window.
    #[must_use]
    pub fn text_of(&self, item: &SeenItem) -> Option<&str> {
        self.text.get(item.range.clone())
    }

    /// The item in which a byte of the text stands; `None` between two.
    #[must_use]
    pub fn item_at(&self, byte: usize) -> Option<&SeenItem> {
        let at = self.items.partition_point(|item| item.range.end <= byte);
        self.items.get(at).filter(|item| item.range.contains(&byte))
    }
}

impl Record {
    /// What one model call was sent.
    ///
    /// # Errors
    /// When the record has no such call, or does not say what its window builds on.
    pub fn seen(&self, call: ModelCallId) -> Result<SeenWindow, WindowError> {
        let window = self.window(call)?;
        let is_meant = |fact: &Fact| matches!(fact, Fact::ModelCalled { call: found, .. } if *found == call);
        let found = self.facts().find(|(_, fact)| is_meant(fact));
        let Some((line, Fact::ModelCalled { tool_choice, tools_offered, .. })) = found else {
            return Err(WindowError(call));
        };
        let mut seen = SeenWindow {
            call,
            seq: line.seq,
            tool_choice: tool_choice.clone(),
            tools_offered: *tools_offered,
            text: String::new(),
            items: Vec::with_capacity(window.len()),
        };
        let mut bytes_left = READ_BYTES_MAX;
        for item in window {
            self.see(&mut seen, item, &mut bytes_left);
        }
        Ok(seen)
    }

    fn see(&self, seen: &mut SeenWindow, item: ItemId, bytes_left: &mut usize) {
        let added = self.item(item);
        let bytes: usize = added.map_or(0, |added| {
            let kept = parts_of_body(added.body).iter().filter_map(|part| self.part(*part));
            kept.map(|kept| if let Kept::Full(text) | Kept::Redacted(text) = kept { text.len() } else { 0 })
                .sum()
        });
        // Nothing more is read once something was left out.
        *bytes_left = bytes_left.saturating_sub(bytes);
        if !seen.items.is_empty() && *bytes_left > 0 {
            seen.text.push_str(WINDOW_SEPARATOR);
        }
        let start = seen.text.len();
        let mut fidelity = None;
        if *bytes_left > 0 {
            match self.item_text(item) {
                Some(text) if start.saturating_add(text.text.len()) > WINDOW_TEXT_BYTES_MAX => {
                    *bytes_left = 0
                }
                Some(text) => {
                    seen.text.push_str(&text.text);
                    fidelity = Some(text.fidelity);
                }
                None => fidelity = Some(Fidelity::Unknown),
            }
        }
        let (origin, range) = (added.map(|added| added.origin), start..seen.text.len());
        seen.items.push(SeenItem { item, origin, range, fidelity });
    }
}
