use std::borrow::Cow;

use super::behind::Behind;
use super::class::BARE;
use super::cursor::{Cursor, Starved};
use super::drawn::{Drawn, is_drawn};
use super::operator::{Operator, Quote};
use super::plausible;
use super::shape::is_symbolic;
use super::swallow::Swallow;
use super::value;
use super::{Found, password_file, secret_map, terraform};
use crate::report::{Confidence, Source};
use crate::vocabulary::{Name, Strength, classify_name};

const BLANKS_MAX: usize = 12;
const NAME_CHARS_MAX: usize = 80;
/// Enough for the last word before an operator, with blanks and a quote behind it.
const NEAR_CHARS: usize = 32;
/// What the second member of a pair is called, whose first names it.
const SECONDS: [&str; 3] = ["value", "content", "default"];

/// Finds values that are tied to a credential name in another order than `name = value`: an argument of a call
/// (`setPassword("…")`, `secret.assign("…")`, `setopt(h, OPT_PASSWORD, "…")`), a statement of words (`IDENTIFIED BY '…'`,
/// `requirepass "…"`), a comparison turned round (`if ("…" == password)`), and pairs of attributes
/// or members (`{"key": "password", "value": "…"}`, `<add key="DbPassword" value="…"/>`).
///
/// Triggers: `(`, a blank or a tabulator before a quote; `=` or `:` behind the word of a pair's second member.
pub(super) fn find(first: char, cursor: &Cursor<'_>, behind: &Behind<'_>) -> Result<Option<Found>, Starved> {
    match first {
        '(' => {
            if let Some(found) = argument(cursor, behind)? {
                return Ok(Some(found));
            }
            turned_round(cursor)
        }
        ' ' | '\t' => {
            if let Some(found) = after_words(cursor, behind)? {
                return Ok(Some(found));
            }
            // Behind a colon or a comma stands a value or the next one, and nothing that is compared.
            if behind.peek().is_some_and(|c| matches!(c, ',' | ':')) {
                return Ok(None);
            }
            turned_round(cursor)
        }
        '=' | ':' => behind_operator(first, cursor, behind),
        _ => Ok(None),
    }
}

/// What the word before an operator says with others beside it. Nearly all words are settled by their last letters.
fn behind_operator(first: char, cursor: &Cursor<'_>, behind: &Behind<'_>) -> Result<Option<Found>, Starved> {
    let near = behind.text(NEAR_CHARS);
    let word = near.trim_end_matches(|c| is_blank(c) || matches!(c, '"' | '\'' | '\\'));
    let ends = |end: &str| {
        word.len()
            .checked_sub(end.len())
            .and_then(|at| word.get(at..))
            .is_some_and(|last| last.eq_ignore_ascii_case(end))
    };
    if first == ':' {
        if ends("data")
            && let Some(found) = secret_map::find(cursor, behind)?
        {
            return Ok(Some(found));
        }
        let before_field = near.trim_end_matches(password_file::is_name);
        if (before_field.is_empty() || before_field.ends_with(':'))
            && let Some(found) = password_file::find(cursor, behind)?
        {
            return Ok(Some(found));
        }
    }
    if SECONDS.iter().any(|second| ends(second)) { member(cursor, behind) } else { Ok(None) }
}

/// A word read backwards.
fn word_before<'a>(behind: &mut Behind<'a>) -> Option<Cow<'a, str>> {
    if let Some(word) = behind.plain_word(NAME_CHARS_MAX, b'_') {
        return Some(Cow::Borrowed(word));
    }
    let mut letters = Vec::new();
    while letters.len() < NAME_CHARS_MAX
        && let Some(c) = behind.peek()
        && (c.is_alphanumeric() || matches!(c, '_' | '-'))
    {
        letters.push(c);
        behind.next();
    }
    (!letters.is_empty()).then(|| letters.into_iter().rev().collect())
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn credential(name: &str) -> Option<(&'static str, Strength)> {
    match classify_name(name)? {
        Name::Credential(kind, strength) => Some((kind, strength)),
        Name::Authorization | Name::Cookie => None,
    }
}

/// `name("value"`, `name.assign("value"`.
fn argument(cursor: &Cursor<'_>, behind: &Behind<'_>) -> Result<Option<Found>, Starved> {
    const METHODS: &[&str] = &["assign", "append", "set", "equals", "equalsIgnoreCase", "isEqualTo", "from"];
    let mut behind = behind.clone();
    let Some(mut name) = word_before(&mut behind) else { return Ok(None) };
    if METHODS.contains(&&*name) {
        if !behind.eat_if(|c| c == '.') {
            return Ok(None);
        }
        let Some(object) = word_before(&mut behind) else { return Ok(None) };
        name = object;
    }
    // Functions that look a credential up are given its name, and not the credential.
    let looks_up =
        ["get", "read", "find", "load", "has", "is", "check", "fetch", "validate", "generate", "hash"];
    if looks_up.iter().any(|verb| name.starts_with(verb)) {
        return Ok(None);
    }
    let Some((kind, strength)) = credential(&name) else { return Ok(None) };
    let mut ahead = cursor.clone();
    ahead.next()?;
    let Some(quote) = Quote::open(&mut ahead)? else { return Ok(None) };
    quoted(cursor, ahead, quote, kind, (strength, Operator::Argument), &name)
}

/// `IDENTIFIED BY 'value'`, `CONSTANT_NAME, "value"`, and `name "value"` when the value cannot be a word.
fn after_words(cursor: &Cursor<'_>, behind: &Behind<'_>) -> Result<Option<Found>, Starved> {
    let mut ahead = cursor.clone();
    ahead.run(BLANKS_MAX, |c| matches!(c, ' ' | '\t'))?;
    let Some(quote) = Quote::open(&mut ahead)? else { return identified(cursor, behind, ahead) };
    let mut behind = behind.clone();
    let comma = behind.eat_if(|c| c == ',');
    let Some(name) = word_before(&mut behind) else { return Ok(None) };
    if name.eq_ignore_ascii_case("by") {
        if is_identified(&mut behind) {
            return quoted(cursor, ahead, quote, "password", (Strength::Password, Operator::Equals), &name);
        }
        return Ok(None);
    }
    let Some((kind, strength)) = credential(&name) else { return Ok(None) };
    let quoted_value = value::read_quoted(&mut ahead.clone(), quote)?;
    let drawn = is_drawn(&quoted_value.text) >= Drawn::Maybe || is_symbolic(&quoted_value.text);
    if drawn && (!comma || plausible::is_constant(&name)) {
        return quoted(cursor, ahead, quote, kind, (strength, Operator::Argument), &name);
    }
    Ok(None)
}

/// Whether the words before `by` are of `IDENTIFIED BY`, perhaps with a word between.
fn is_identified(behind: &mut Behind<'_>) -> bool {
    (0..3).any(|_| {
        behind.run(BLANKS_MAX, is_blank);
        word_before(behind).is_some_and(|word| word.eq_ignore_ascii_case("identified"))
    })
}

/// `IDENTIFIED BY value`, when the value cannot be a word.
fn identified(
    cursor: &Cursor<'_>,
    behind: &Behind<'_>,
    mut ahead: Cursor<'_>,
) -> Result<Option<Found>, Starved> {
    let mut behind = behind.clone();
    let by = behind.eat_if(|c| matches!(c, 'y' | 'Y')) && behind.eat_if(|c| matches!(c, 'b' | 'B'));
    if !by || !is_identified(&mut behind) {
        return Ok(None);
    }
    let start = ahead.offset();
    if !ahead.has_digit_near(BARE)? {
        return Ok(None);
    }
    let value = value::read_bare(&mut ahead)?;
    let text = value.text.strip_suffix('\\').unwrap_or(&value.text);
    if value.long || value.is_marked() || !plausible::is_plain_run(text) || is_drawn(text) == Drawn::No {
        return Ok(None);
    }
    // A sign that ends the statement, and is escaped for a shell.
    if text.len() < value.text.len() {
        ahead.eat(';')?;
    }
    Ok(Some(found("password", start - cursor.offset(), ahead.offset() - start, None)))
}

/// `"value" == name`.
fn turned_round(cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    let mut ahead = cursor.clone();
    ahead.next()?;
    let Some(quote) = Quote::open(&mut ahead)? else { return Ok(None) };
    let start = ahead.offset();
    let value = value::read_quoted(&mut ahead, quote)?;
    if value.long || value.text.is_empty() {
        return Ok(None);
    }
    let end = ahead.offset();
    if !quote.closes(&ahead)? {
        return Ok(None);
    }
    ahead.run(9, |c| c == '\\')?;
    ahead.next()?;
    ahead.run(BLANKS_MAX, is_blank)?;
    if !ahead.eat_if(|c| matches!(c, '=' | '!'))? || ahead.run(2, |c| c == '=')? == 0 {
        return Ok(None);
    }
    ahead.run(BLANKS_MAX, is_blank)?;
    let mut name = String::new();
    while name.len() < NAME_CHARS_MAX
        && let Some(c) = ahead.peek()?
        && (c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
    {
        name.push(c);
        ahead.next()?;
    }
    // Of a name that goes on in what was removed, half is left.
    if ahead.is_at_marker()? {
        return Ok(None);
    }
    let Some((kind, strength)) = credential(&name) else { return Ok(None) };
    let secret = plausible::is_secret(&value, strength, Operator::Compared, &name);
    Ok(secret.then(|| found(kind, start - cursor.offset(), end - start, None)))
}

/// A word read backwards, with the quotes around it.
fn quoted_word<'a>(behind: &mut Behind<'a>) -> Option<Cow<'a, str>> {
    let quoted = behind.eat_if(|c| matches!(c, '"' | '\''));
    if quoted {
        behind.run(8, |c| c == '\\');
    }
    let word = word_before(behind)?;
    if quoted {
        behind.eat_if(|c| matches!(c, '"' | '\''));
        behind.run(8, |c| c == '\\');
    }
    Some(word)
}

/// `"key": "password", "value": "…"`.
fn member(cursor: &Cursor<'_>, behind: &Behind<'_>) -> Result<Option<Found>, Starved> {
    let mut behind = behind.clone();
    behind.run(BLANKS_MAX, is_blank);
    let Some(word) = quoted_word(&mut behind) else { return Ok(None) };
    if !SECONDS.iter().any(|second| word.eq_ignore_ascii_case(second)) {
        return Ok(None);
    }
    if let Some(found) = terraform::find(cursor, &behind, &word)? {
        return Ok(Some(found));
    }
    behind.run(40, |c| is_blank(c) || c == ',');
    let Some(name) = quoted_word(&mut behind) else { return Ok(None) };
    behind.run(BLANKS_MAX, is_blank);
    if !behind.eat_if(|c| matches!(c, '=' | ':')) {
        return Ok(None);
    }
    behind.run(BLANKS_MAX, is_blank);
    let Some(first) = quoted_word(&mut behind) else { return Ok(None) };
    if !["key", "name", "id", "variable"].iter().any(|word| first.eq_ignore_ascii_case(word)) {
        return Ok(None);
    }
    let Some((kind, strength)) = credential(&name) else { return Ok(None) };
    let mut ahead = cursor.clone();
    ahead.next()?;
    ahead.run(BLANKS_MAX, |c| matches!(c, ' ' | '\t'))?;
    if let Some(quote) = Quote::open(&mut ahead)? {
        return quoted(cursor, ahead, quote, kind, (strength, Operator::Argument), &name);
    }
    let start = ahead.offset();
    let value = value::read_bare(&mut ahead)?;
    let secret = plausible::is_secret(&value, strength, Operator::Colon, &name);
    let then = value.long.then_some(Swallow::Bare);
    Ok(secret.then(|| found(kind, start - cursor.offset(), ahead.offset() - start, then)))
}

/// The value whose opening quote was read.
fn quoted(
    cursor: &Cursor<'_>,
    mut ahead: Cursor<'_>,
    quote: Quote,
    kind: &'static str,
    (strength, operator): (Strength, Operator),
    name: &str,
) -> Result<Option<Found>, Starved> {
    let start = ahead.offset();
    let value = value::read_quoted(&mut ahead, quote)?;
    if !plausible::is_secret(&value, strength, operator, name) {
        return Ok(None);
    }
    let then = value.long.then_some(Swallow::Quoted(quote));
    Ok(Some(found(kind, start - cursor.offset(), ahead.offset() - start, then)))
}

fn found(kind: &'static str, keep: usize, cut: usize, then: Option<Swallow>) -> Found {
    Found {
        rule: "structure",
        kind,
        source: Source::Structure,
        confidence: Confidence::Medium,
        keep,
        cut,
        then,
    }
}

#[cfg(test)]
#[path = "structure_tests.rs"]
mod tests;
