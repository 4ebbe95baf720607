//! The texts of the records, each passed whole before anything is looked for in it or cut out of it.

use std::collections::HashMap;
use std::ops::Range;

use probity_contract::{Fact, ItemId, Kept};
use probity_egress::{Egress, Redactor, SamePrincipal, Words, egress_text, one_line_untrusted};
use probity_trace::{Fidelity, Noted, Record};

/// Bytes of items that are looked into, over all records. Items beyond are told of without their text.
pub const TRACE_TEXT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Bytes of a text that are read for one line of it.
const LINE_BYTES_READ_MAX: usize = 32 * 1024;

/// Bytes before and behind a place that are shown with it.
const AROUND_BYTES: usize = 80;

/// Characters of a place itself.
const PLACE_CHARS_MAX: usize = 160;

/// The items of the records, in the order of the records and of their entries.
#[derive(Debug)]
pub(super) struct Texts {
    pub(super) items: Vec<Shown>,
    places: HashMap<(usize, ItemId), usize>,
    /// Items whose text was not read, since there is too much.
    pub(super) left_out: usize,
    /// Items whose text is not kept as it was, or was changed by the pass.
    pub(super) not_whole: usize,
}

/// One item and its text after the pass.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) run: usize,
    pub(super) item: ItemId,
    pub(super) at_ms: u64,
    /// `None` where it was not read.
    pub(super) text: Option<Egress<SamePrincipal>>,
    pub(super) fidelity: Fidelity,
}

impl Texts {
    pub(super) fn of(records: &[Record]) -> Self {
        let mut texts = Self { items: Vec::new(), places: HashMap::new(), left_out: 0, not_whole: 0 };
        let mut left = TRACE_TEXT_BYTES_MAX;
        for (run, record) in records.iter().enumerate() {
            let started = record.start().map_or(0, |start| start.started_at_unix_ms);
            for line in record.lines() {
                let Noted::Known(Fact::ItemAdded { item, .. }) = &line.fact else { continue };
                if texts.places.contains_key(&(run, *item)) {
                    continue;
                }
                let kept = line.texts().iter().filter_map(|part| record.part(*part));
                let bytes = kept.fold(0_usize, |sum, kept| match kept {
                    Kept::Full(text) | Kept::Redacted(text) => sum.saturating_add(text.len()),
                    Kept::Length(_) => sum,
                });
                let mut shown = Shown {
                    run,
                    item: *item,
                    at_ms: started.saturating_add(line.at_ms),
                    text: None,
                    fidelity: Fidelity::Unknown,
                };
                if let Some(rest) = left.checked_sub(bytes) {
                    left = rest;
                    if let Some(text) = record.item_text(*item) {
                        let passed = egress_text::<SamePrincipal>(&text.text);
                        let is_whole = text.fidelity == Fidelity::Full && passed.as_str() == text.text;
                        texts.not_whole += usize::from(!is_whole);
                        shown.fidelity = text.fidelity;
                        shown.text = Some(passed);
                    }
                } else {
                    texts.left_out += 1;
                }
                texts.places.insert((run, *item), texts.items.len());
                texts.items.push(shown);
            }
        }
        texts
    }

    pub(super) fn item(&self, run: usize, item: ItemId) -> Option<&Shown> {
        self.items.get(*self.places.get(&(run, item))?)
    }
}

impl Shown {
    pub(super) fn as_str(&self) -> &str {
        self.text.as_ref().map_or("", Egress::as_str)
    }
}

/// One line of a text. Of a long one only the beginning is read, as the pass over all of it would leave it.
pub(super) fn told(text: &str, chars_max: usize) -> Egress<SamePrincipal> {
    if text.len() <= LINE_BYTES_READ_MAX {
        return one_line_untrusted(text, chars_max);
    }
    let beginning = text.get(..text.floor_char_boundary(LINE_BYTES_READ_MAX)).unwrap_or_default();
    // What a stream of the text would have given so far; what it holds back is not shown.
    let passed = Redactor::<SamePrincipal>::new().push(beginning);
    one_line_untrusted(passed.as_str(), chars_max)
}

/// A place of a passed text in brackets, with a little around it.
pub(super) fn excerpt(passed: &str, range: &Range<usize>) -> Egress<SamePrincipal> {
    let from = passed.floor_char_boundary(range.start.saturating_sub(AROUND_BYTES));
    let to = passed.ceil_char_boundary(range.end.saturating_add(AROUND_BYTES).min(passed.len()));
    let piece = |range: Range<usize>| {
        let piece = passed.get(range).unwrap_or_default();
        if piece.trim().is_empty() { Egress::empty() } else { told(piece, PLACE_CHARS_MAX) }
    };
    let (before, itself, behind) = (piece(from..range.start), piece(range.clone()), piece(range.end..to));
    Words::new().passed(&before).text(" ⟦").passed(&itself).text("⟧ ").passed(&behind).done()
}
