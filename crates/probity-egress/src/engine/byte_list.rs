//! Keys that are written byte by byte: `AES_KEY[16] = {0x35, 0x34, …}`, `secret := []byte{…}`, `"secretKey": [12, 250, …]`.

use super::Found;
use super::cursor::{Cursor, Starved};
use super::operator::Operator;
use super::swallow::Swallow;
use crate::report::{Confidence, Source};
use crate::vocabulary::Strength;

/// How much may stand before the bracket: a type, a call.
const TYPE_CHARS_MAX: usize = 32;
const BLANKS_MAX: usize = 64;
/// The least numbers of a list, when they are written as bytes are, and when they are not.
const BYTES_MIN: usize = 8;
const NUMBERS_MIN: usize = 16;
/// How many of the first are hexadecimal in a list of bytes.
const HEX_MIN: usize = 4;

/// Finds a list of bytes behind a credential's name and the operator, before `value`. Below a common word it is one of
/// hexadecimal numbers; decimal numbers are of indexes as well.
pub(super) fn find(
    cursor: &Cursor<'_>,
    value: &Cursor<'_>,
    (operator, kind, strength): (Operator, &'static str, Strength),
) -> Result<Option<Found>, Starved> {
    let mut ahead = value.clone();
    for _ in 0..TYPE_CHARS_MAX {
        if ahead.is_at_marker()? {
            break;
        }
        if ahead.eat_if(|c| matches!(c, '{' | '[' | '('))? {
            let mut list = ahead.clone();
            if operator != Operator::Blank {
                list.run(BLANKS_MAX, is_between)?;
            }
            let start = list.offset();
            if is_list(&mut list, strength)? {
                return Ok(Some(Found {
                    rule: "byte-list",
                    kind,
                    source: Source::Name,
                    confidence: Confidence::Medium,
                    keep: start - cursor.offset(),
                    cut: list.offset() - start,
                    then: Some(Swallow::While(is_of_list)),
                }));
            }
        } else if !ahead.eat_if(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ' ' | ']'))? {
            break;
        }
        // `#define KEY {0x…`: a blank says too little for more than that.
        if operator == Operator::Blank {
            break;
        }
    }
    Ok(None)
}

/// Reads the first numbers of a list.
fn is_list(ahead: &mut Cursor<'_>, strength: Strength) -> Result<bool, Starved> {
    let mut hex = 0;
    for nth in 0..NUMBERS_MIN {
        let is_hex = ahead.literal("0x")? || ahead.literal("0X")?;
        hex += usize::from(is_hex);
        let digits = if is_hex {
            ahead.run(2, |c| c.is_ascii_hexdigit())?
        } else {
            ahead.run(3, |c| c.is_ascii_digit())?
        };
        if digits == 0 || ahead.peek()?.is_some_and(|c| c.is_ascii_alphanumeric() || c == '.') {
            return Ok(false);
        }
        if nth + 1 == BYTES_MIN && hex >= HEX_MIN {
            return Ok(true);
        }
        if nth + 1 == NUMBERS_MIN {
            break;
        }
        ahead.run(BLANKS_MAX, is_between)?;
        if !ahead.eat(',')? {
            return Ok(false);
        }
        ahead.run(BLANKS_MAX, is_between)?;
    }
    Ok(strength != Strength::Key)
}

/// Blanks, line ends and what breaks a line of a macro.
fn is_between(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '\\')
}

fn is_of_list(c: char) -> bool {
    c.is_ascii_hexdigit() || matches!(c, 'x' | 'X' | ',') || is_between(c)
}

#[cfg(test)]
#[path = "byte_list_tests.rs"]
mod tests;
