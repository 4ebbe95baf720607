//! Values that a terminal or a mailer broke over lines.

use super::cursor::{Cursor, Starved};
use super::value::{Drawn, VALUE_CHARS_MAX, Value, is_drawn};

/// How many line breaks one value may hold.
const BREAKS_MAX: usize = 8;
/// The least length of a part of a value without quotes.
const PART_CHARS_MIN: usize = 8;

/// Reads on over line breaks, when what follows is surely the rest of `value`.
///
/// Between quotes: nothing but what tokens are written with, up to the closing quote. Without: the value looks drawn, and
/// so does all of the next line.
pub(super) fn read_on(value: &mut Value, ahead: &mut Cursor<'_>) -> Result<(), Starved> {
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
                    value.text.push_str(&rest);
                    *ahead = on;
                    return Ok(());
                }
            }
            None => {
                let ends = on.peek()?.is_none_or(|c| matches!(c, '\n' | '\r' | '\\' | '"' | '\''));
                let body = part.trim_end_matches('=');
                if !ends || body.len() < PART_CHARS_MIN || body.contains('=') || is_drawn(body) == Drawn::No {
                    return Ok(());
                }
                value.text.push_str(part);
                *ahead = on.clone();
            }
        }
    }
    Ok(())
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
