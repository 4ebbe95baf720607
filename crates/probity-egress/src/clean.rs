//! What makes foreign text fit to stand in a line of ours: nothing that draws, moves, breaks or poses.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use crate::engine::is_zero_width;
use crate::imitation;
use crate::sight::is_hard_to_see;

/// How many combining marks a character keeps: the most that any language's writing puts on one, and room. A pile of them
/// draws over the lines around.
const MARKS_MAX: usize = 8;

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
    if max == 0 {
        return Cow::Borrowed("");
    }
    let room = max - 1;
    let (mut end, mut chars) = (0, 0);
    while let Some(rest) = text.get(end..) {
        let len = marker_len(rest).or_else(|| rest.graphemes(true).next().map(before_marker)).unwrap_or(0);
        let count = rest.get(..len).map_or(0, |unit| unit.chars().count());
        if count == 0 || chars + count > room {
            break;
        }
        end += len;
        chars += count;
    }
    Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default().trim_end()))
}

/// The length of a grapheme without the bracket of a marker, which a few letters bind to themselves.
fn before_marker(grapheme: &str) -> usize {
    match grapheme.strip_suffix('[') {
        Some(rest) if !rest.is_empty() => rest.len(),
        Some(_) | None => grapheme.len(),
    }
}

/// Every run of white space as one space, none at the ends.
pub(crate) fn fold_white_space(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Foreign text without control sequences, control characters, direction marks and zero-width characters, and with
/// imitations of our frames made inert. Every Unicode line break becomes a line feed, other white space a space.
pub(crate) fn inert(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut marks = 0;
    while let Some(c) = chars.next() {
        marks = if is_combining_mark(c) { marks + 1 } else { 0 };
        match c {
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push('\n');
            }
            '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{1c}'..='\u{1e}' | '\u{2028}' | '\u{2029}' => {
                out.push('\n')
            }
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_control_sequence(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut chars),
            '\t' => out.push(' '),
            c if c.is_whitespace() => out.push(' '),
            c if is_hard_to_see(c) || is_zero_width(c) || is_unassigned_look(c) || marks > MARKS_MAX => {}
            c => out.push(c),
        }
    }
    imitation::neutralise(&out)
}

/// Private-use and non-characters, which fonts draw as they please.
fn is_unassigned_look(c: char) -> bool {
    let non_character = u32::from(c) & 0xfffe == 0xfffe;
    non_character
        || matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{f0000}'..='\u{10ffff}')
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_escape(chars: &mut Chars<'_>) {
    match chars.peek().copied() {
        Some('[') => {
            chars.next();
            skip_control_sequence(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            skip_string(chars);
        }
        Some(' '..='~') => {
            while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            chars.next_if(|c| matches!(c, '0'..='~'));
        }
        Some(_) | None => {}
    }
}

fn skip_control_sequence(chars: &mut Chars<'_>) {
    while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
    chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
}

/// Skips a command's text when it is closed on its line; an unclosed one swallows nothing, or text could be hidden. Where
/// another sequence begins, or one is cancelled, it is not closed, so no character is looked at for two beginnings.
fn skip_string(chars: &mut Chars<'_>) {
    let mut ahead = chars.clone();
    while let Some(c) = ahead.next() {
        match c {
            '\u{7}' | '\u{9c}' => {
                *chars = ahead;
                return;
            }
            '\u{1b}' => {
                if ahead.next_if_eq(&'\\').is_some() {
                    *chars = ahead;
                }
                return;
            }
            '\n' | '\r' | '\u{18}' | '\u{1a}' | '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => return,
            _ => {}
        }
    }
}
