//! Cutting texts without breaking characters.

/// The longest prefix of `text` with at most `bytes_max` bytes that ends between characters.
pub(crate) fn prefix(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or(text)
}

/// The longest suffix of `text` with at most `bytes_max` bytes that starts between characters.
pub(crate) fn suffix(text: &str, bytes_max: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(bytes_max))..).unwrap_or(text)
}

/// A short form of foreign text for a message: one line, no character that hides or moves others.
pub(crate) fn word(text: &str) -> String {
    let shown = prefix(text, 200);
    let mut word: String =
        shown.chars().map(|c| if probity_egress::is_hard_to_see(c) { '\u{fffd}' } else { c }).collect();
    if shown.len() < text.len() {
        word.push('…');
    }
    word
}
