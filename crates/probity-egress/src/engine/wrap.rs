//! Values that a terminal or a mailer broke over lines.

use super::cursor::{Cursor, Starved};
use super::drawn::{Drawn, is_drawn};
use super::swallow::Swallow;
use super::value::{VALUE_CHARS_MAX, Value};
use super::{Found, token};
use crate::report::Confidence;

/// How many line breaks one value may hold.
const BREAKS_MAX: usize = 8;
/// Longer tokens are not read on: a marker must not wait, and terminals and mailers break lines at some eighty characters.
const TOKEN_CHARS_MAX: usize = 96;
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
    let drawn = value.quote.is_some() || is_drawn(&value.text) >= Drawn::Maybe;
    if value.long || value.text.len() < PART_CHARS_MIN || !drawn {
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
        let from = rest.len();
        while rest.len() < VALUE_CHARS_MAX
            && let Some(c) = on.peek()?
            && is_token_char(c)
        {
            rest.push(c);
            on.next()?;
        }
        let part = rest.get(from..).unwrap_or_default();
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
                    longer.text.push_str(&rest);
                    if is_secret(&longer) {
                        (*value, *ahead) = (longer, on);
                    }
                    return Ok(());
                }
            }
            None => {
                if !is_rest(part, &on)? {
                    return Ok(());
                }
                longer.text.push_str(part);
                if is_secret(&longer) {
                    (*value, *ahead) = (longer.clone(), on.clone());
                }
            }
        }
    }
    Ok(())
}

/// Reads a token on over one line break, when the next line is surely its rest.
///
/// What carries a checksum is whole; what begins like a token is another; what is a hash may be one.
pub(super) fn read_token_on(mut found: Found, cursor: &Cursor<'_>) -> Result<Found, Starved> {
    let mut on = cursor.after(found.keep + found.cut);
    match found.then {
        None => {}
        Some(Swallow::While(class)) => {
            let room = TOKEN_CHARS_MAX.saturating_sub(found.cut);
            if on.run(room, class)? == room {
                return Ok(found);
            }
        }
        Some(_) => return Ok(found),
    }
    if found.confidence == Confidence::Certain || !line_break(&mut on)? {
        return Ok(found);
    }
    let next = on.clone();
    let mut part = String::new();
    while part.len() < VALUE_CHARS_MAX
        && let Some(c) = on.peek()?
        && is_token_char(c)
    {
        part.push(c);
        on.next()?;
    }
    if part.len() >= SURE_CHARS_MIN && is_rest(&part, &on)? && token::shape(&next)?.is_none() {
        found.cut = on.offset() - cursor.offset() - found.keep;
        found.then = None;
    }
    Ok(found)
}

/// Whether `part`, which ends before `after`, goes on from the line before: it looks drawn, is no hash, and fills its
/// line or is long.
fn is_rest(part: &str, after: &Cursor<'_>) -> Result<bool, Starved> {
    let body = part.trim_end_matches('=');
    let drawn = is_drawn(body);
    let ends = match after.peek()? {
        None | Some('\n' | '\r' | '\\' | '"' | '\'') => true,
        Some(' ') => body.len() >= SURE_CHARS_MIN && drawn == Drawn::Surely,
        Some(_) => false,
    };
    let hash = matches!(body.len(), 32 | 40 | 64 | 96 | 128) && body.bytes().all(|b| b.is_ascii_hexdigit());
    Ok(ends && !hash && body.len() >= PART_CHARS_MIN && !body.contains('=') && drawn >= Drawn::Maybe)
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_' | '.' | '~')
}

/// Reads one line break, real or written as an escape.
fn line_break(ahead: &mut Cursor<'_>) -> Result<bool, Starved> {
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
