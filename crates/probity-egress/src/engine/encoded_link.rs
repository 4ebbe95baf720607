//! Tokens that are links (`hooks.slack.com/services/…`), encoded as part of another: in a query, in a log of one.

use super::behind::Behind;
use super::cursor::{Cursor, Starved};
use super::{Found, token};
use crate::vocabulary::{Anchor, Glue};

/// How long a scheme or a host may be.
const HOST_CHARS_MAX: usize = 60;
const HOST_CHARS_MIN: usize = 4;
/// Nothing invisible may be in it.
const HOST_BYTES_MAX: usize = HOST_CHARS_MAX + 1;
/// How the colon or the slash that follows a scheme or a host begins, encoded once or more often.
const SIGNS: [&str; 5] = ["%3A", "%3a", "%2F", "%2f", "%25"];

/// The texts by which a link is found, with what may stand before them.
pub(super) fn anchors() -> [Anchor; 5] {
    let before_class = (0..128_u8).filter(|b| is_host(char::from(*b))).fold(0, |class, b| class | 1 << b);
    SIGNS.map(|literal| Anchor {
        literal,
        before_min: HOST_CHARS_MIN,
        before_max: HOST_CHARS_MAX,
        before_class,
        glue: Glue::Allowed,
        is_of_shape: false,
        after: 0,
    })
}

/// Finds an encoded link that starts at the cursor with `first`.
pub(super) fn find(first: char, cursor: &Cursor<'_>, behind: &Behind<'_>) -> Result<Option<Found>, Starved> {
    if !is_host(first) {
        return Ok(None);
    }
    if cursor.bytes_ahead(HOST_BYTES_MAX).is_some_and(|near| memchr::memchr(b'%', near).is_none()) {
        return Ok(None);
    }
    let mut ahead = cursor.clone();
    let chars = ahead.run(HOST_CHARS_MAX, is_host)?;
    if chars < HOST_CHARS_MIN || ahead.offset() - cursor.offset() != chars || ahead.peek()? != Some('%') {
        return Ok(None);
    }
    for sign in SIGNS {
        if ahead.clone().literal(sign)? {
            return token::find(first, &cursor.undoing(), behind, true, None);
        }
    }
    Ok(None)
}

fn is_host(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-')
}

#[cfg(test)]
#[path = "encoded_link_tests.rs"]
mod tests;
