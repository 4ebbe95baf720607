//! Names that say something only beside others, or with a value that says as much: `d` in a JSON web key, `secret_id`
//! beside `role_id`, `access_key_id` before what such an id looks like, `key_alice` before what surely is drawn.

use std::borrow::Cow;

use super::Found;
use super::behind::Behind;
use super::cursor::{Cursor, Starved};
use super::drawn::{Drawn, is_drawn};
use super::name::Named;
use super::operator::{self, Operator, Quote};
use super::swallow::Swallow;
use super::value::{self, Value};
use super::{context, plausible, wrap};
use crate::report::{Confidence, Source};
use crate::vocabulary::speaks_of_key;

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
    if is_access_id_name(named.name) {
        return access_id(cursor, named);
    }
    if speaks_of_key(named.name) { key(cursor, named) } else { Ok(None) }
}

/// `access_id`, `AWS_ACCESS_KEY_ID`, `accessKeyId`.
fn is_access_id_name(name: &str) -> bool {
    name.len() >= "accessid".len()
        && name.get(name.len() - 2..).is_some_and(|end| end.eq_ignore_ascii_case("id"))
        && {
            let letters = name.bytes().filter(u8::is_ascii_alphanumeric).map(|b| b.to_ascii_lowercase());
            let letters = letters.collect::<Vec<u8>>();
            letters.ends_with(b"accesskeyid") || letters.ends_with(b"accessid")
        }
}

/// The first half of an access key, which goes with the second where it has a shape of its own (`AKIA…`).
fn access_id(cursor: &Cursor<'_>, named: &Named<'_>) -> Result<Option<Found>, Starved> {
    let Some((value, mut ahead)) = assigned(cursor, named)? else { return Ok(None) };
    let start = ahead.offset();
    let value = match value {
        Some(quote) => value::read_quoted(&mut ahead, quote)?,
        None => value::read_bare(&mut ahead)?,
    };
    let is_id = !value.is_marked() && context::is_access_id(&value.text);
    Ok(is_id
        .then(|| found("access-key-id", "access-key", start - cursor.offset(), ahead.offset() - start, None)))
}

/// A quoted value that is surely drawn, and no digest.
fn key(cursor: &Cursor<'_>, named: &Named<'_>) -> Result<Option<Found>, Starved> {
    let Some((Some(quote), mut ahead)) = assigned(cursor, named)? else { return Ok(None) };
    let start = ahead.offset();
    let mut value = value::read_quoted(&mut ahead, quote)?;
    wrap::read_on(&mut value, &mut ahead, is_key)?;
    if !is_key(&value) {
        return Ok(None);
    }
    let then = value.long.then_some(Swallow::Quoted(quote));
    Ok(Some(found("key", "api-key", start - cursor.offset(), ahead.offset() - start, then)))
}

fn is_key(value: &Value) -> bool {
    const CHARS_MIN: usize = 20;
    let text = value.text.as_str();
    let has = |class: fn(&u8) -> bool| text.bytes().any(|b| class(&b));
    !value.is_marked()
        && text.len() >= CHARS_MIN
        && text.chars().all(|c| is_base64url(c) || matches!(c, '+' | '/' | '='))
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
        && plausible::looks_drawn(text)
        && is_drawn(text) == Drawn::Surely
}

/// What is assigned to a name: the quote that opens it, if there is one, and where it begins.
fn assigned<'a>(
    cursor: &Cursor<'a>,
    named: &Named<'_>,
) -> Result<Option<(Option<Quote>, Cursor<'a>)>, Starved> {
    let mut ahead = cursor.clone();
    let operator = operator::read(&mut ahead, named)?;
    if !matches!(operator, Some(Operator::Tight | Operator::Equals | Operator::Colon)) {
        return Ok(None);
    }
    let quote = Quote::open_any(&mut ahead)?;
    Ok(Some((quote, ahead)))
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
    let Some((quote, mut ahead)) = assigned(cursor, named)? else { return Ok(None) };
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
