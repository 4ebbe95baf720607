//! Values that a terminal or a mailer broke over lines.

use super::behind::Behind;
use super::cursor::{Cursor, Starved};
use super::drawn::{Drawn, is_drawn};
use super::seen::Seen;
use super::swallow::Swallow;
use super::value::{VALUE_CHARS_MAX, Value};
use super::{Found, token};
use crate::limits::WINDOW_BYTES;
use crate::report::Source;
use crate::vocabulary::{Anchor, Glue, anchors};

/// How many line breaks one value may hold.
const BREAKS_MAX: usize = 8;
/// Longer tokens are not read on: a marker must not wait, and terminals and mailers break lines at some eighty characters.
const TOKEN_CHARS_MAX: usize = 96;
/// The least length of what is before the break of a token that needs its next line.
const HEAD_CHARS_MIN: usize = 6;
/// How far the next line may be indented.
const INDENT_MAX: usize = 64;
/// What stands before a break that is none, of a shell or of quoted-printable.
const SOFT: [char; 2] = ['\\', '='];
/// How many signs of quotation an answered mail may put before its lines.
const QUOTES_MAX: usize = 8;
/// The least length of a part of a value without quotes.
const PART_CHARS_MIN: usize = 8;
/// The least length of a part that does not fill its line, or goes on from a token without a name.
const SURE_CHARS_MIN: usize = 20;

/// Reads on over line breaks, when what follows is surely the rest of `value`.
///
/// Between quotes: nothing but what tokens are written with, up to the closing quote. Without: the value looks drawn, and
/// so does all of the next line. With a line more it may look like no secret any more (`is_secret`); that the line is of it
/// is then a guess too many. Each line is judged by itself, or what is removed further down would decide.
pub(super) fn read_on(
    value: &mut Value,
    ahead: &mut Cursor<'_>,
    is_secret: impl Fn(&Value) -> bool,
) -> Result<(), Starved> {
    if value.long || value.text.len() < PART_CHARS_MIN || !line_break(&mut ahead.clone())? {
        return Ok(());
    }
    let head = value.text.trim_end_matches(SOFT);
    let drawn = value.quote.is_some() || is_drawn(head) >= Drawn::Maybe || is_numbered(head);
    if !drawn {
        return Ok(());
    }
    if let Some(quote) = value.quote
        && quote.closes(ahead)?
    {
        return Ok(());
    }
    let mut on = ahead.clone();
    let mut rest = String::new();
    let mut longer = value.clone();
    for _ in 0..BREAKS_MAX {
        if !line_break(&mut on)? {
            break;
        }
        let part = part(&mut on)?;
        rest.push_str(&part);
        match value.quote {
            Some(quote) => {
                if part.is_empty() {
                    return Ok(());
                }
                if quote.closes(&on)? {
                    let digits = |text: &str| text.contains(|c: char| c.is_ascii_digit());
                    if !(digits(&value.text) || digits(&rest)) || value.text.contains(char::is_whitespace) {
                        return Ok(());
                    }
                    join(&mut longer.text, &rest);
                    if is_secret(&longer) {
                        (*value, *ahead) = (longer, on);
                    }
                    return Ok(());
                }
            }
            None => {
                if !is_rest(&part, &on)? {
                    return Ok(());
                }
                join(&mut longer.text, &part);
                if is_secret(&longer) {
                    (*value, *ahead) = (longer.clone(), on.clone());
                }
            }
        }
    }
    Ok(())
}

/// Puts the next line to a value, without what stands before a soft break.
fn join(text: &mut String, part: &str) {
    text.truncate(text.trim_end_matches(SOFT).len());
    text.push_str(part);
}

/// Finds a vendor's token that a line break cuts through, when its first line alone is none.
///
/// What is before the break must have the text that gives the shape away, and what is behind must look like a rest: both
/// are read again and compared with the shape as if there were no break.
pub(super) fn token_over_lines(
    first: char,
    cursor: &Cursor<'_>,
    behind: &Behind<'_>,
    seen: &Seen,
) -> Result<Option<Found>, Starved> {
    if !first.is_ascii_alphanumeric() {
        return Ok(None);
    }
    // Nearly all tokens are told from what may be broken by there being no end of a line near.
    let at = cursor.offset();
    let odd = |near: &[u8]| near.iter().position(|b| !b.is_ascii() || *b == 0x1b);
    let is_plain = |near: &[u8]| seen.odd.is_without(at, near, odd);
    let breaks = |near: &[u8]| memchr::memchr3(b'\n', b'\r', b'\\', near);
    let is_whole = |near: &[u8]| seen.breaks.is_without(at, near, breaks);
    let near = cursor.bytes_ahead(TOKEN_CHARS_MAX + 1);
    if near.is_some_and(|near| is_whole(near) && is_plain(near))
        || cursor.bytes_ahead(WINDOW_BYTES).is_some_and(is_whole)
    {
        return Ok(None);
    }
    let mut ahead = cursor.clone();
    let chars = ahead.run(TOKEN_CHARS_MAX, is_head_char)?;
    if chars < HEAD_CHARS_MIN || !line_break(&mut ahead)? {
        return Ok(None);
    }
    let rest = ahead.clone();
    // That both are of one shape says as much as what stands behind.
    if !looks_rest(&part(&mut ahead)?) || ahead.is_at_marker()? {
        return Ok(None);
    }
    let found = token::find(first, &cursor.joining(), behind, true, None)?;
    match found.filter(|found| cursor.offset() + found.cut > rest.offset()) {
        Some(found) if gives_away(cursor, chars, behind)? && token::shape(&rest)?.is_none() => {
            go_on(found, cursor, TOKEN_CHARS_MAX).map(Some)
        }
        Some(_) | None => Ok(None),
    }
}

/// Whether the first `chars` of a token have the fixed text of a shape in them, where the shape allows it.
fn gives_away(cursor: &Cursor<'_>, chars: usize, behind: &Behind<'_>) -> Result<bool, Starved> {
    let is_boundary = behind.left().is_boundary();
    let mut ahead = cursor.clone();
    let mut head = String::new();
    for _ in 0..chars {
        head.extend(ahead.next()?);
    }
    let may_begin = |anchor: &Anchor| is_boundary || anchor.glue == Glue::Allowed || anchor.before_max > 0;
    Ok(anchors().filter(may_begin).any(|anchor| {
        head.match_indices(anchor.literal).any(|(at, _)| {
            let before = head.as_bytes().get(..at).unwrap_or_default();
            (anchor.before_min..=anchor.before_max).contains(&at)
                && before.iter().all(|b| b.is_ascii() && anchor.before_class >> b & 1 != 0)
        })
    }))
}

fn is_head_char(c: char) -> bool {
    is_token_char(c) || c == ':'
}

/// Reads a token on over line breaks, when the next lines are surely its rest.
///
/// What carries a checksum is whole; what begins like a token is another; what is a hash may be one.
pub(super) fn read_token_on(found: Found, cursor: &Cursor<'_>) -> Result<Found, Starved> {
    let room = TOKEN_CHARS_MAX.saturating_sub(found.cut);
    go_on(found, cursor, room)
}

/// The same with a token whose last line ends within `room` characters.
fn go_on(mut found: Found, cursor: &Cursor<'_>, room: usize) -> Result<Found, Starved> {
    let mut on = cursor.after(found.keep + found.cut);
    match found.then {
        None => {}
        Some(Swallow::While(class)) if on.run(room, class)? < room => {}
        Some(_) => return Ok(found),
    }
    if found.source == Source::Checksum {
        return Ok(found);
    }
    for _ in 0..BREAKS_MAX {
        if !line_break(&mut on)? {
            break;
        }
        let next = on.clone();
        let part = part(&mut on)?;
        if part.len() < SURE_CHARS_MIN || !is_rest(&part, &on)? || token::shape(&next)?.is_some() {
            break;
        }
        found.cut = on.offset() - cursor.offset() - found.keep;
        found.then = None;
    }
    Ok(found)
}

/// Reads what a line holds of a token.
fn part(on: &mut Cursor<'_>) -> Result<String, Starved> {
    let mut part = String::new();
    while part.len() < VALUE_CHARS_MAX
        && let Some(c) = on.peek()?
        && is_token_char(c)
    {
        part.push(c);
        on.next()?;
    }
    Ok(part)
}

/// Whether `part`, which ends before `after`, goes on from the line before: it looks like a rest, and fills its line or is
/// long.
fn is_rest(part: &str, after: &Cursor<'_>) -> Result<bool, Starved> {
    let body = part.trim_end_matches('=');
    let ends = match after.peek()? {
        None | Some('\n' | '\r' | '\\' | '"' | '\'') => true,
        Some(_) => body.len() >= SURE_CHARS_MIN && is_drawn(body) == Drawn::Surely,
    };
    Ok(ends && looks_rest(part) && !after.is_at_marker()?)
}

/// Whether `part` looks drawn, and is no hash.
fn looks_rest(part: &str) -> bool {
    let body = part.trim_end_matches('=');
    let hash = matches!(body.len(), 32 | 40 | 64 | 96 | 128) && body.bytes().all(|b| b.is_ascii_hexdigit());
    !hash && body.len() >= PART_CHARS_MIN && !body.contains('=') && is_drawn(body) >= Drawn::Maybe
}

/// Groups of digits, as some services put before what is drawn: no word has so many.
fn is_numbered(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii_digit).count() >= SURE_CHARS_MIN
        && text.bytes().any(|b| b.is_ascii_alphabetic())
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_' | '.' | '~')
}

/// Reads one line break, real or written as an escape, with what a shell or a mailer puts before it and what an answered
/// mail, a diff or an indented block puts behind.
pub(super) fn line_break(ahead: &mut Cursor<'_>) -> Result<bool, Starved> {
    if !ahead.peek()?.is_some_and(|c| matches!(c, '\r' | '\n' | '\\' | '=')) {
        return Ok(false);
    }
    let mut broken = ahead.clone();
    if !is_written(&mut broken)? {
        // A soft break: of a shell, or of quoted-printable.
        broken = ahead.clone();
        if !broken.eat_if(|c| SOFT.contains(&c))? || !is_written(&mut broken)? {
            return Ok(false);
        }
    }
    broken.run(INDENT_MAX, |c| matches!(c, ' ' | '\t'))?;
    let mut quoted = broken.clone();
    if quoted.run(QUOTES_MAX, |c| matches!(c, '>' | ' '))? > 0 || quoted.eat('+')? {
        quoted.run(INDENT_MAX, |c| matches!(c, ' ' | '\t'))?;
        broken = quoted;
    }
    *ahead = broken;
    Ok(true)
}

fn is_written(ahead: &mut Cursor<'_>) -> Result<bool, Starved> {
    for written in ["\r\n", "\n", "\\r\\n", "\\n"] {
        if ahead.literal(written)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
#[path = "wrap_tests.rs"]
mod tests;
