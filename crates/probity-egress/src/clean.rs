use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

/// The length of the marker `text` starts with, in bytes.
pub(crate) fn marker_len(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("[REDACTED:")?;
    let end = rest.find(']')?;
    let name = rest.get(..end)?;
    let named = !name.is_empty()
        && name.len() <= 40
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    named.then_some(text.len() - rest.len() + end + 1)
}

/// Cuts to at most `max` code points, the ellipsis included: between graphemes and never inside a marker.
pub(crate) fn cut(text: &str, max: usize) -> Cow<'_, str> {
    if text.chars().count() <= max {
        return Cow::Borrowed(text);
    }
    let room = max.saturating_sub(1);
    let (mut end, mut chars) = (0, 0);
    while let Some(rest) = text.get(end..) {
        let len = match marker_len(rest) {
            Some(len) => len,
            None => rest.graphemes(true).next().map_or(0, str::len),
        };
        let unit = rest.get(..len).unwrap_or_default();
        let count = unit.chars().count();
        if count == 0 || chars + count > room {
            break;
        }
        end += len;
        chars += count;
    }
    let kept = text.get(..end).unwrap_or_default().trim_end();
    Cow::Owned(if max == 0 { String::new() } else { format!("{kept}…") })
}

/// Every run of white space as one space, none at the ends.
pub(crate) fn fold_white_space(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
