//! Documents that are credentials: an object of a Google service account, the body of an Ansible vault.
//!
//! Of such an object everything goes, not its key alone: what else is in it (the key's id, the account) is of use to
//! whoever has the key, and a reader learns from the marker what stood there. What lost: to keep the other members, which
//! needs a list of those that are harmless.

use super::cursor::{Cursor, Starved};
use super::operator::Quote;
use super::swallow::{Object, Swallow};
use super::{Found, wrap};
use crate::report::{Confidence, Source};
use crate::vocabulary::{Anchor, Glue};

const SERVICE_ACCOUNT: &str = "service_account";
const VAULT: &str = "$ANSIBLE_VAULT;";
/// How far the type of an object may be from its beginning.
const TYPE_CHARS_MAX: usize = 72;
const BLANKS_MAX: usize = 32;
/// How far behind the type a key's name may be.
const KEY_CHARS_MAX: usize = 400;
/// The least length of a vault's first line.
const VAULT_LINE_CHARS_MIN: usize = 16;

/// The texts by which a document is found, with what may stand before them.
pub(super) fn anchors() -> [Anchor; 2] {
    let before_class = " \t\r\n\\{\"'typenr:".bytes().fold(0, |class, b| class | 1 << b);
    let anchor = |literal, before_max, before_class| {
        let glue = Glue::Allowed;
        Anchor { literal, before_min: 0, before_max, before_class, glue, is_of_shape: false, after: 0 }
    };
    [anchor(SERVICE_ACCOUNT, TYPE_CHARS_MAX, before_class), anchor(VAULT, 0, 0)]
}

/// Finds a document that starts at the cursor with `first`.
pub(super) fn find(first: char, cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    match first {
        '{' | '"' | '\'' | '\\' => service_account(cursor),
        '$' => vault(cursor),
        _ => Ok(None),
    }
}

/// `{"type": "service_account", …}`, or from the type on when what is before it was cut off.
fn service_account(cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    let mut ahead = cursor.clone();
    if ahead.eat('{')? {
        blanks(&mut ahead)?;
    }
    let Some(quote) = Quote::open(&mut ahead)? else { return Ok(None) };
    if !ahead.literal("type")? || !quote.close(&mut ahead)? {
        return Ok(None);
    }
    blanks(&mut ahead)?;
    if !ahead.eat(':')? {
        return Ok(None);
    }
    blanks(&mut ahead)?;
    if Quote::open(&mut ahead)? != Some(quote) {
        return Ok(None);
    }
    let near = ahead.offset() - cursor.offset() <= TYPE_CHARS_MAX;
    if !near || !ahead.literal(SERVICE_ACCOUNT)? || !quote.close(&mut ahead)? || !names_key(&ahead)? {
        return Ok(None);
    }
    let then = Swallow::Object(Object::with_brace(quote));
    Ok(Some(found("service-account", 0, ahead.offset() - cursor.offset(), then)))
}

fn names_key(after: &Cursor<'_>) -> Result<bool, Starved> {
    let mut ahead = after.clone();
    for _ in 0..KEY_CHARS_MAX {
        if ahead.peek()? == Some('p') && ahead.clone().literal("private_key")? {
            return Ok(true);
        }
        // What was removed may have been longer.
        if ahead.is_at_marker()? || ahead.next()?.is_none_or(|c| c == '}') {
            break;
        }
    }
    Ok(false)
}

/// Reads blanks and line ends, as themselves or as escapes.
pub(super) fn blanks(ahead: &mut Cursor<'_>) -> Result<(), Starved> {
    for _ in 0..BLANKS_MAX {
        if !ahead.eat_if(|c| matches!(c, ' ' | '\t' | '\r' | '\n'))?
            && !["\\n", "\\r", "\\t"]
                .iter()
                .try_fold(false, |read, escape| Ok(read || ahead.literal(escape)?))?
        {
            break;
        }
    }
    Ok(())
}

/// `$ANSIBLE_VAULT;1.1;AES256` and the lines of hexadecimal digits below: a password is guessed from them as from a hash.
fn vault(cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    let mut ahead = cursor.clone();
    if !ahead.literal(VAULT)? {
        return Ok(None);
    }
    ahead.run(TYPE_CHARS_MAX, |c| c.is_ascii_alphanumeric() || matches!(c, '.' | ';' | '_' | '-'))?;
    if !wrap::line_break(&mut ahead)? {
        return Ok(None);
    }
    let start = ahead.offset();
    if ahead.run(VAULT_LINE_CHARS_MIN, |c| c.is_ascii_hexdigit())? < VAULT_LINE_CHARS_MIN {
        return Ok(None);
    }
    let then = Swallow::Lines(|c| c.is_ascii_hexdigit());
    Ok(Some(found("ansible-vault", start - cursor.offset(), ahead.offset() - start, then)))
}

fn found(kind: &'static str, keep: usize, cut: usize, then: Swallow) -> Found {
    Found {
        rule: kind,
        kind,
        source: Source::Structure,
        confidence: Confidence::High,
        keep,
        cut,
        then: Some(then),
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
