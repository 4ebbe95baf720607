//! Headers that carry credentials whatever their value looks like.

use super::cursor::{Cursor, Starved};
use super::drawn::{Drawn, is_drawn};
use super::name::is_name_char;
use super::operator::{Operator, Quote};
use super::placeholder::is_placeholder;
use super::swallow::Swallow;
use super::value::{self, Value};
use super::{Found, wrap};
use crate::report::{Confidence, Source};
use crate::vocabulary::{Name, classify_name};

/// How many blanks may stand behind the colon.
const BLANKS_MAX: usize = 12;

/// The credentials of an `Authorization` header; the scheme stays.
pub(super) fn authorization(
    cursor: &Cursor<'_>,
    mut ahead: Cursor<'_>,
    operator: Operator,
) -> Result<Option<Found>, Starved> {
    if matches!(operator, Operator::Blank | Operator::Tag) {
        return Ok(None);
    }
    // `authorization:name = …`: the nearer name decides.
    let mut plain = cursor.clone();
    plain.next()?;
    plain.run(BLANKS_MAX, |c| matches!(c, ' ' | '\t' | '\u{a0}'))?;
    let is_typed = operator == Operator::Colon && ahead.offset() > plain.offset();
    let quote = Quote::open(&mut ahead)?;
    if (is_typed || matches!(operator, Operator::Argument | Operator::Compared)) && quote.is_none() {
        return Ok(None);
    }
    let mut scheme = ahead.clone();
    let scheme_chars = scheme.run(24, |c| c.is_ascii_alphanumeric() || c == '-')?;
    let has_scheme = scheme_chars >= 3 && scheme.run(4, |c| c == ' ')? > 0;
    if has_scheme {
        ahead = scheme;
    }
    let start = ahead.offset();
    let mut value = match quote {
        Some(quote) => value::read_quoted(&mut ahead, quote)?,
        None => line(&mut ahead, has_scheme)?,
    };
    wrap::read_on(&mut value, &mut ahead, is_credential)?;
    let text = value.text.trim();
    // `authorization: /name="…"`: the nearer name decides.
    let names = |text: &str| {
        text.rsplit(|c: char| !is_name_char(c)).next().is_some_and(|name| classify_name(name).is_some())
    };
    if quote.is_none()
        && text.strip_suffix('=').is_some_and(names)
        && ahead.peek()?.is_some_and(|c| c == '"' || c == '\'')
    {
        return Ok(None);
    }
    Ok(((is_credential(&value) || value.long) && !value.is_marked()).then(|| Found {
        rule: "authorization",
        kind: "authorization",
        source: Source::Structure,
        confidence: Confidence::High,
        keep: start - cursor.offset(),
        cut: ahead.offset() - start,
        then: value.long.then(|| quote.map_or(Swallow::Line, Swallow::Quoted)),
    }))
}

fn is_credential(value: &Value) -> bool {
    let text = value.text.trim();
    text.len() >= 6
        && !is_placeholder(text)
        && (text.len() >= 16 || text.chars().any(|c| c.is_ascii_digit()))
        && !(value.quote.is_none() && text.contains('('))
}

/// The pairs of a `Cookie` header.
pub(super) fn cookie(
    cursor: &Cursor<'_>,
    mut ahead: Cursor<'_>,
    operator: Operator,
) -> Result<Option<Found>, Starved> {
    if operator != Operator::Colon {
        return Ok(None);
    }
    let quote = Quote::open(&mut ahead)?;
    let start = ahead.offset();
    let value = match quote {
        Some(quote) => value::read_quoted(&mut ahead, quote)?,
        None => line(&mut ahead, false)?,
    };
    let text = value.text.trim();
    let plausible = text.split(';').any(is_session) && !text.contains("= ") && !text.contains(" =");
    Ok(((plausible || value.long) && !value.is_marked()).then(|| Found {
        rule: "cookie",
        kind: "cookie",
        source: Source::Structure,
        confidence: Confidence::Medium,
        keep: start - cursor.offset(),
        cut: ahead.offset() - start,
        then: value.long.then(|| quote.map_or(Swallow::Line, Swallow::Quoted)),
    }))
}

/// Whether a pair may be of a session: its value is no plain word, and it says nothing about the cookie itself.
fn is_session(pair: &str) -> bool {
    const ABOUT: [&str; 8] =
        ["expires", "max-age", "path", "domain", "version", "samesite", "comment", "priority"];
    let Some((name, value)) = pair.trim().split_once('=') else { return false };
    let body = value.trim_end_matches('=');
    let compares = body.contains("==") || body.is_empty();
    let word = body.len() < 2 || !body.bytes().any(|b| b.is_ascii_digit()) && is_drawn(body) == Drawn::No;
    let session = matches!(classify_name(name), Some(Name::Credential(..)))
        || name.to_ascii_lowercase().contains("sess");
    !compares
        && !ABOUT.iter().any(|about| name.eq_ignore_ascii_case(about))
        && !is_placeholder(value)
        && (!word || session && body.len() >= 4)
}

/// Reads to the end of the line or the next quote; with `one_word`, to the next blank, unless parameters follow.
fn line(ahead: &mut Cursor<'_>, one_word: bool) -> Result<Value, Starved> {
    let mut text = String::new();
    let mut parameters = false;
    while text.len() < value::VALUE_CHARS_MAX {
        let mut next = ahead.clone();
        match next.next()? {
            Some(c) if super::swallow::is_line_break(c) || matches!(c, '"' | '\'' | '`') => break,
            Some(c) if one_word && c.is_whitespace() && !parameters => break,
            Some('\\') if next.peek()?.is_some_and(|c| matches!(c, 'n' | 'r' | '"')) => break,
            Some(c) => {
                // `Credential=…, SignedHeaders=…`: a list of parameters goes on after blanks.
                parameters |= c == ',' || (c == '=' && text.len() < 16);
                text.push(c);
            }
            None => return Ok(Value { text, quote: None, long: ahead.at_window_end(), unsettled: false }),
        }
        *ahead = next;
    }
    if text.len() >= value::VALUE_CHARS_MAX {
        return Value::long(text, None, false, ahead);
    }
    Ok(Value { text, quote: None, long: false, unsettled: false })
}
