//! Documents that are credentials: an object of a Google service account, a private JSON web key, the body of an Ansible
//! vault.
//!
//! Of such an object everything goes, not its key alone: what else is in it (the key's id, the account, the public half)
//! is of use to whoever has the key, and a reader learns from the marker what stood there. What lost: to keep the other members, which
//! needs a list of those that are harmless.

use super::cursor::{Cursor, Starved};
use super::line_prefix::LinePrefix;
use super::operator::Quote;
use super::swallow::{Object, Swallow};
use super::{Found, wrap};
use crate::report::{Confidence, Source};
use crate::vocabulary::{Anchor, Glue};

const SERVICE_ACCOUNT: &str = "service_account";
const WEB_KEY_TYPE: &str = "kty";
const VAULT: &str = "$ANSIBLE_VAULT;";
/// How far the type of an object may be from its beginning.
const TYPE_CHARS_MAX: usize = 72;
const BLANKS_MAX: usize = 32;
/// How far behind the type a key's name may be.
const KEY_CHARS_MAX: usize = 400;
/// How far the private member of a web key may be from its beginning: the public number of an RSA key of 4,096 bits, which
/// is mostly written before it, has 683 digits.
const PRIVATE_CHARS_MAX: usize = 900;
/// The least length of a private member: 16 bytes in base64 are 22 digits.
const PRIVATE_DIGITS_MIN: usize = 20;
/// The least length of a vault's first line.
const VAULT_LINE_CHARS_MIN: usize = 16;

/// The texts by which a document is found, with what may stand before them.
pub(super) fn anchors() -> [Anchor; 3] {
    let before_class = " \t\r\n\\{\"'typenr:".bytes().fold(0, |class, b| class | 1 << b);
    let before_type =
        (0..128).filter(|b| *b == b'{' || is_before_type(char::from(*b))).fold(0, |class, b| class | 1 << b);
    let anchor = |literal, before_min, before_max, before_class| {
        let glue = Glue::Allowed;
        Anchor { literal, before_min, before_max, before_class, glue, is_of_shape: false, after: 0 }
    };
    [
        anchor(SERVICE_ACCOUNT, 0, TYPE_CHARS_MAX, before_class),
        anchor(WEB_KEY_TYPE, 2, TYPE_CHARS_MAX, before_type),
        anchor(VAULT, 0, 0, 0),
    ]
}

/// Finds a document that starts at the cursor with `first`.
pub(super) fn find(first: char, cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    match first {
        '{' => match web_key(cursor)? {
            Some(found) => Ok(Some(found)),
            None => service_account(cursor),
        },
        '"' | '\'' | '\\' => service_account(cursor),
        '$' => vault(cursor),
        _ => Ok(None),
    }
}

/// Finds a document that the text begins inside of: the blanks before its first member are between its brackets, as those
/// are that follow a bracket that is there.
///
/// Only at the beginning of the text. Further on, what stands before says whose the indent is.
pub(super) fn find_begun(cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    let mut ahead = cursor.clone();
    let indent = ahead.run(BLANKS_MAX, |c| matches!(c, ' ' | '\t'))?;
    if indent == 0 || ahead.peek()? == Some('{') {
        return Ok(None);
    }
    let Some(found) = service_account(&ahead)? else { return Ok(None) };
    // The mark reaches back over nothing that is invisible, and no further than from a bracket.
    let cut = ahead.offset() - cursor.offset() + found.cut;
    let before = cut - SERVICE_ACCOUNT.len();
    let mut again = cursor.clone();
    again.run(before, is_before_type)?;
    let is_marked = again.offset() - cursor.offset() == before && before <= TYPE_CHARS_MAX;
    Ok(is_marked.then_some(Found { cut, ..found }))
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
    let then = Swallow::Object(Object::with_brace(quote).behind(line_prefix(&ahead, quote)?));
    Ok(Some(found("service-account", 0, ahead.offset() - cursor.offset(), then)))
}

/// What stands before the lines of an object one of whose members ends before `after`, the last of its line.
fn line_prefix(after: &Cursor<'_>, quote: Quote) -> Result<Option<LinePrefix>, Starved> {
    let mut ahead = after.clone();
    ahead.eat(',')?;
    LinePrefix::read(&mut ahead, quote, Object::may_hold)
}

fn names_key(after: &Cursor<'_>) -> Result<bool, Starved> {
    let mut ahead = after.clone();
    let mut left = KEY_CHARS_MAX;
    while left > 0 {
        left -= ahead.take_plain(left, |b| !matches!(b, b'p' | b'[' | b'}')).len();
        if left > 0 && ahead.peek()? == Some('p') && ahead.clone().literal("private_key")? {
            return Ok(true);
        }
        // What was removed may have been longer.
        if left == 0 || ahead.is_at_marker()? || ahead.next()?.is_none_or(|c| c == '}') {
            break;
        }
        left -= 1;
    }
    Ok(false)
}

/// `{"kty": "EC", …, "d": "…"}`, the type among the first members, and a private member (RFC 7518, section 6).
fn web_key(cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    let mut ahead = cursor.clone();
    ahead.eat('{')?;
    let quote = loop {
        let before = ahead.clone();
        if let Some(quote) = Quote::open(&mut ahead)? {
            if ahead.literal(WEB_KEY_TYPE)? && quote.close(&mut ahead)? {
                break quote;
            }
            ahead = before;
        }
        if ahead.offset() - cursor.offset() >= TYPE_CHARS_MAX || !ahead.eat_if(is_before_type)? {
            return Ok(None);
        }
    };
    // The mark reaches back to the bracket over nothing that is invisible.
    let len = ahead.offset() - cursor.offset();
    let mut again = cursor.clone();
    again.run(len, |c| c == '{' || is_before_type(c))?;
    if again.offset() - cursor.offset() != len {
        return Ok(None);
    }
    let near = ahead.offset() - cursor.offset() <= TYPE_CHARS_MAX;
    blanks(&mut ahead)?;
    if !near || !ahead.eat(':')? || !has_private_member(cursor, quote)? {
        return Ok(None);
    }
    let then = Swallow::Object(Object::with_brace(quote));
    Ok(Some(Found { rule: "web-key", ..found("private-key", 0, '{'.len_utf8(), then) }))
}

fn is_before_type(c: char) -> bool {
    c.is_ascii_alphanumeric() || " \t\r\n\\\"':,_-+/=.".contains(c)
}

fn has_private_member(object: &Cursor<'_>, quote: Quote) -> Result<bool, Starved> {
    let mut ahead = object.clone();
    ahead.eat('{')?;
    while ahead.offset() - object.offset() < PRIVATE_CHARS_MAX {
        ahead.take_plain(PRIVATE_CHARS_MAX, |b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        let mut member = ahead.clone();
        if Quote::open(&mut member)? == Some(quote)
            && member.eat_if(|c| matches!(c, 'd' | 'k'))?
            && quote.close(&mut member)?
        {
            blanks(&mut member)?;
            let mut is_private = member.eat(':')?;
            blanks(&mut member)?;
            is_private &= Quote::open(&mut member)? == Some(quote);
            let is_digit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            if is_private && member.run(PRIVATE_DIGITS_MIN, is_digit)? == PRIVATE_DIGITS_MIN {
                return Ok(true);
            }
        }
        // What was removed may have been longer.
        if ahead.is_at_marker()? || ahead.next()?.is_none_or(|c| matches!(c, '{' | '}')) {
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
