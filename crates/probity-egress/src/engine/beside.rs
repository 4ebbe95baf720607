//! Names that say something only beside others: `d` in a JSON web key, `secret_id` beside `role_id`.

use std::borrow::Cow;

use super::Found;
use super::behind::Behind;
use super::cursor::{Cursor, Starved};
use super::drawn::{Drawn, is_drawn};
use super::name::Named;
use super::operator::{self, Operator, Quote};
use super::swallow::Swallow;
use super::value;
use crate::report::{Confidence, Source};

/// How much before a name is looked at.
const BEFORE_CHARS_MAX: usize = 240;

/// Finds the value under a name that is none of a credential by itself.
pub(super) fn find(
    first: char,
    cursor: &Cursor<'_>,
    behind: &Behind<'_>,
    named: &Named<'_>,
) -> Result<Option<Found>, Starved> {
    if named.enclosed && first == ':' && matches!(named.name, "d" | "dp" | "dq" | "qi" | "p" | "q" | "k") {
        return web_key(cursor, behind, named);
    }
    if matches!(named.name, "secret_id" | "secret-id" | "secretId" | "SECRET_ID") {
        return role_secret(cursor, behind, named);
    }
    Ok(None)
}

/// A private member of a JSON web key (RFC 7518, section 6).
fn web_key(cursor: &Cursor<'_>, behind: &Behind<'_>, named: &Named<'_>) -> Result<Option<Found>, Starved> {
    let mut ahead = cursor.clone();
    if operator::read(&mut ahead, named)? != Some(Operator::Colon) {
        return Ok(None);
    }
    let Some(quote) = Quote::open(&mut ahead)? else { return Ok(None) };
    let start = ahead.offset();
    let value = value::read_quoted(&mut ahead, quote)?;
    let drawn = is_drawn(&value.text) == Drawn::Surely && value.text.chars().all(is_base64url);
    // As long as a private number, or in a key that says what it is.
    let long = value.text.len() >= 40 && named.name != "k";
    if !drawn || value.text.len() < 20 || !(long || says(behind, &["\"kty"])) {
        return Ok(None);
    }
    let then = value.long.then_some(Swallow::Quoted(quote));
    Ok(Some(found("web-key", "private-key", start - cursor.offset(), ahead.offset() - start, then)))
}

fn is_base64url(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// The secret half of a Vault `AppRole`, whose name elsewhere is that of an identifier.
fn role_secret(
    cursor: &Cursor<'_>,
    behind: &Behind<'_>,
    named: &Named<'_>,
) -> Result<Option<Found>, Starved> {
    let mut ahead = cursor.clone();
    let operator = operator::read(&mut ahead, named)?;
    if !matches!(operator, Some(Operator::Tight | Operator::Equals | Operator::Colon)) {
        return Ok(None);
    }
    let quote = Quote::open(&mut ahead)?;
    let start = ahead.offset();
    let value = match quote {
        Some(quote) => value::read_quoted(&mut ahead, quote)?,
        None => value::read_bare(&mut ahead)?,
    };
    let uuid = value.text.len() == 36
        && value.text.split('-').count() == 5
        && value.text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if !uuid || !says(behind, &["role_id", "role-id", "roleId", "ROLE_ID", "approle", "AppRole"]) {
        return Ok(None);
    }
    Ok(Some(found("role-secret", "secret", start - cursor.offset(), ahead.offset() - start, None)))
}

/// Whether one of `words` stands before.
pub(super) fn says(behind: &Behind<'_>, words: &[&str]) -> bool {
    let text = text_before(behind);
    words.iter().any(|word| text.contains(word))
}

/// What stands before, as far as it is looked at.
pub(super) fn text_before<'a>(behind: &Behind<'a>) -> Cow<'a, str> {
    behind.text(BEFORE_CHARS_MAX)
}

fn found(rule: &'static str, kind: &'static str, keep: usize, cut: usize, then: Option<Swallow>) -> Found {
    Found { rule, kind, source: Source::Structure, confidence: Confidence::Medium, keep, cut, then }
}

#[cfg(test)]
#[path = "beside_tests.rs"]
mod tests;
