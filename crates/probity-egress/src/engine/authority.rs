use super::Found;
use super::behind::Behind;
use super::cursor::{Cursor, Starved};
use super::drawn::{Drawn, is_drawn};
use super::placeholder::is_placeholder;
use super::seen::Seen;
use super::shape::looks_random;
use super::value::holds_marker;
use crate::limits::WINDOW_BYTES;
use crate::report::{Confidence, Source};

/// How long the part of a URL between `//` and its path may be.
const AUTHORITY_CHARS_MAX: usize = 600;
const TOKEN_AS_USER_CHARS_MIN: usize = 16;

/// Finds the password (or the token that stands in the user's place) of a URL whose `://` is at the cursor.
///
/// It ends at the last `@` of the authority and never crosses white space or a quote. A password that contains a raw `/`,
/// `?` or `#` is covered: what looks like a port and is none means that the authority goes on.
pub(super) fn find(
    first: char,
    cursor: &Cursor<'_>,
    behind: &Behind<'_>,
    seen: &Seen,
) -> Result<Option<Found>, Starved> {
    // A URL in the query of another.
    if first == '%' {
        let cursor = cursor.undoing();
        return match cursor.peek()? {
            Some(first) if first != '%' => find(first, &cursor, behind, seen),
            Some(_) | None => Ok(None),
        };
    }
    if first != ':' || !behind.peek().is_some_and(|c| c.is_ascii_alphanumeric()) {
        return Ok(None);
    }
    let mut ahead = cursor.clone();
    if !ahead.literal("://")? {
        return Ok(None);
    }
    let start = ahead.offset();
    // Whatever stands there, no `@` ends it.
    let window = ahead.bytes_ahead(WINDOW_BYTES).filter(|_| ahead.reads_plainly());
    let at_sign = |window: &[u8]| memchr::memchr(b'@', window);
    if window.is_some_and(|window| seen.at_signs.is_without(start, window, at_sign)) {
        return Ok(None);
    }
    // What is encoded ends with the pair of the query.
    let encoded = start - cursor.offset() > "://".len();
    let mut userinfo = String::new();
    let mut read = String::new();
    let mut colon: Option<usize> = None;
    let mut colon_chars = 0;
    let mut end = None;
    for _ in 0..AUTHORITY_CHARS_MAX {
        let at = ahead.offset();
        let Some(c) = ahead.next()? else { break };
        match c {
            '@' => {
                end = Some(at);
                userinfo.clone_from(&read);
            }
            ':' if colon.is_none() => {
                colon = Some(ahead.offset());
                colon_chars = read.len() + 1;
            }
            '/' | '?' | '#' => {
                let port = read.get(colon_chars..).unwrap_or_default();
                let is_port = port.len() <= 5 && port.chars().all(|c| c.is_ascii_digit());
                if end.is_some() || colon.is_none() || is_port {
                    break;
                }
            }
            c if c.is_whitespace()
                || c.is_control()
                || matches!(c, '"' | '\'' | '<' | '>' | '`' | '\\' | '|')
                || c == '&' && encoded =>
            {
                break;
            }
            _ => {}
        }
        read.push(c);
    }
    let Some(end) = end else { return Ok(None) };
    let colon = colon.filter(|colon| *colon <= end);
    let (from, secret) = match colon {
        // The name is drawn as well: both are the credential.
        Some(_) if is_drawn_user(userinfo.get(..colon_chars.saturating_sub(1)).unwrap_or_default()) => {
            (start, userinfo.as_str())
        }
        Some(colon) => (colon, userinfo.get(colon_chars..).unwrap_or_default()),
        None => (start, userinfo.as_str()),
    };
    let plausible = match colon {
        Some(_) => !secret.is_empty(),
        None => secret.len() >= TOKEN_AS_USER_CHARS_MIN && looks_random(secret),
    };
    if !plausible || is_placeholder(secret) || holds_marker(&read) {
        return Ok(None);
    }
    Ok(Some(Found {
        rule: "url-userinfo",
        kind: "url-password",
        source: Source::Structure,
        confidence: Confidence::High,
        keep: from - cursor.offset(),
        cut: end - from,
        then: None,
    }))
}

fn is_drawn_user(user: &str) -> bool {
    let hexadecimal = user.len() >= 8
        && user.bytes().all(|b| b.is_ascii_hexdigit())
        && user.bytes().any(|b| b.is_ascii_digit())
        && user.bytes().any(|b| b.is_ascii_alphabetic());
    hexadecimal || is_drawn(user) == Drawn::Surely
}
