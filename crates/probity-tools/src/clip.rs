//! Cutting texts without breaking characters.

use probity_egress::{SamePrincipal, bounded_summary, egress_text, is_hard_to_see};

/// The longest prefix of `text` with at most `bytes_max` bytes that ends between characters.
pub(crate) fn prefix(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or(text)
}

/// The longest suffix of `text` with at most `bytes_max` bytes that starts between characters.
pub(crate) fn suffix(text: &str, bytes_max: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(bytes_max))..).unwrap_or(text)
}

/// A short form of foreign text for a message: one line, no character that hides or moves others.
///
/// Passed before the cut, so that no part of a credential is left at the edge, where no later pass would know it.
pub(crate) fn word(text: &str) -> String {
    words(text, 200)
}

/// [`word`] in at most `chars_max` characters.
pub(crate) fn words(text: &str, chars_max: usize) -> String {
    let shown = bounded_summary(&egress_text::<SamePrincipal>(text), chars_max);
    shown.as_str().chars().map(|c| if is_hard_to_see(c) { '\u{fffd}' } else { c }).collect()
}

/// The last words of a text, passed before the cut like [`word`], and begun at a word where there is one.
#[cfg(target_os = "linux")]
pub(crate) fn last_words(text: &str, bytes_max: usize) -> String {
    let passed = egress_text::<SamePrincipal>(text);
    let whole = passed.as_str().trim();
    let end = suffix(whole, bytes_max);
    let begun = if end.len() < whole.len() { end.split_once(char::is_whitespace) } else { None };
    word(begun.map_or(end, |(_, rest)| rest))
}

#[cfg(all(test, target_os = "linux"))]
#[path = "clip_tests.rs"]
mod tests;
