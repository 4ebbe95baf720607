use super::Found;
use super::cursor::{Cursor, Starved};
use crate::report::{Confidence, Source};
use crate::vocabulary::PASSWORD_HASHES;

/// Finds a password hash in the notation of crypt(3), `$id$…$salt$digest`, or of
/// LDAP directories, `{SSHA}…`. Weak passwords are guessed from them.
///
/// Triggers: the literals of [`PASSWORD_HASHES`].
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
        return Ok(Some(Found {
            rule: "password-hash",
            kind: "password-hash",
            source: Source::Format,
            confidence: Confidence::High,
            keep: 0,
            cut: ahead.offset() - cursor.offset(),
            then: None,
        }));
    }
    Ok(None)
}

const FIELD_CHARS_MAX: usize = 128;

fn is_field(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '+' | '=' | ',' | '-' | '_')
}
