use std::sync::Arc;

use super::Found;
use super::cursor::{Cursor, Starved};
use super::swallow::Swallow;
use crate::known::KnownForms;
use crate::report::{Confidence, Source};

/// How much of a registered secret is compared before its marker is out; the rest is swallowed while it agrees.
const COMPARED_CHARS_MAX: usize = 256;

/// Finds a registered secret, in one of its forms, that starts at the cursor with `first`.
pub(super) fn find(known: &KnownForms, first: char, cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    for form in known.starting_with(first) {
        let compared = form.char_indices().nth(COMPARED_CHARS_MAX).map_or(form.len(), |(at, _)| at);
        let mut ahead = cursor.clone();
        if ahead.literal(form.get(..compared).unwrap_or_default())? {
            let then =
                (compared < form.len()).then(|| Swallow::Rest { form: Arc::clone(form), at: compared });
            return Ok(Some(Found { then, ..found(ahead.offset() - cursor.offset()) }));
        }
    }
    Ok(None)
}

/// What has a registered secret in its first `cut` bytes.
pub(super) fn found(cut: usize) -> Found {
    Found {
        rule: "registered",
        kind: "registered",
        source: Source::Registered,
        confidence: Confidence::Certain,
        keep: 0,
        cut,
        then: None,
    }
}
