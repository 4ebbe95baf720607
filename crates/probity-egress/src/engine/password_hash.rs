use super::Found;
use super::cursor::{Cursor, Starved};
use super::drawn::{Drawn, is_drawn};
use crate::report::{Confidence, Source};
use crate::vocabulary::PASSWORD_HASHES;

/// Finds a password hash in the notation of crypt(3), `$id$…$salt$digest`, or of
/// LDAP directories, `{SSHA}…`. Weak passwords are guessed from them.
///
/// Triggers: the literals of [`PASSWORD_HASHES`], and `$id$`.
pub(super) fn find(first: char, cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    if !matches!(first, '$' | '{') {
        return Ok(None);
    }
    for (start, digest_chars) in PASSWORD_HASHES {
        let mut ahead = cursor.clone();
        if !ahead.literal(start)? {
            continue;
        }
        // Parameters, salt and digest; the digest is the last, and the longest.
        let mut longest = 0;
        for _ in 0..5 {
            let field = ahead.run(FIELD_CHARS_MAX, is_field)?;
            longest = longest.max(field);
            if field == 0 || !ahead.eat('$')? {
                break;
            }
        }
        if longest < *digest_chars {
            return Ok(None);
        }
        return Ok(Some(found(ahead.offset() - cursor.offset())));
    }
    modular(cursor)
}

/// A hash of a scheme that is not listed: `$id$`, perhaps parameters, a salt, and a digest that looks drawn.
fn modular(cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    let mut ahead = cursor.clone();
    if !ahead.eat('$')? || ahead.run(ID_BYTES_MAX, is_id)? == 0 || !ahead.eat('$')? {
        return Ok(None);
    }
    for nth in 0..MODULAR_FIELDS_MAX {
        let mut field = String::new();
        while field.len() < FIELD_CHARS_MAX
            && let Some(c) = ahead.peek()?
            && is_field(c)
        {
            field.push(c);
            ahead.next()?;
        }
        // The digest is the last field, and another stands before it.
        let mut next = ahead.clone();
        if field.is_empty() {
            return Ok(None);
        }
        if next.eat('$')? {
            ahead = next;
            continue;
        }
        let has = |class: fn(&u8) -> bool| field.bytes().any(|b| class(&b));
        let is_digest = (MODULAR_DIGEST_CHARS_MIN..FIELD_CHARS_MAX).contains(&field.len())
            && has(u8::is_ascii_lowercase)
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_digit)
            && is_drawn(&field) == Drawn::Surely
            && !ahead.is_before_marker()?;
        return Ok((is_digest && nth > 0).then(|| found(ahead.offset() - cursor.offset())));
    }
    Ok(None)
}

fn found(cut: usize) -> Found {
    Found {
        rule: "password-hash",
        kind: "password-hash",
        source: Source::Format,
        confidence: Confidence::High,
        keep: 0,
        cut,
        then: None,
    }
}

/// How long the name of a scheme is, and what it is written with (the PHC string format).
pub(super) const ID_BYTES_MAX: usize = 32;
const MODULAR_FIELDS_MAX: usize = 5;
const MODULAR_DIGEST_CHARS_MIN: usize = 22;

pub(super) fn is_id(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'
}

const FIELD_CHARS_MAX: usize = 128;

fn is_field(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '+' | '=' | ',' | '-' | '_')
}
