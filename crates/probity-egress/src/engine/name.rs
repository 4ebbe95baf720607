use super::cursor::{Cursor, Starved};
use super::operator::{self, Operator, Quote};
use super::swallow::Swallow;
use super::value::{self, Value};
use super::{Found, Left, token};
use crate::report::{Confidence, Source};
use crate::vocabulary::{Name, Strength, classify_name};

/// How long a name may be.
const NAME_CHARS_MAX: usize = 80;

/// Finds a value under a credential name that starts at the cursor: in an environment file, JSON, YAML, TOML, a query, a
/// header, a tag, a flag, a call.
///
/// The question is put once for every word, and is answered by its end for nearly all of them.
pub(super) fn find(first: char, cursor: &Cursor<'_>, left: Left) -> Result<Option<Found>, Starved> {
    let inside = left.last.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if inside || !(first.is_ascii_alphabetic() || first == '_' || first.is_ascii_digit()) {
        return Ok(None);
    }
    let mut ahead = cursor.clone();
    let mut name = String::new();
    while name.len() < NAME_CHARS_MAX
        && let Some(c) = ahead.peek()?
        && (c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    {
        name.push(c);
        ahead.next()?;
    }
    if left.is_flag() && name == "u" || name == "user" && left.is_flag() {
        return user_flag(cursor, ahead);
    }
    let Some(class) = classify_name(&name) else { return Ok(None) };
    let Some(operator) = operator::read(&mut ahead, left.is_flag())? else { return Ok(None) };
    match class {
        Name::Credential(kind, strength) => credential(cursor, ahead, operator, kind, strength, &name),
        Name::Authorization => authorization(cursor, ahead, operator),
        Name::Cookie => cookie(cursor, ahead, operator),
    }
}

fn credential(
    cursor: &Cursor<'_>,
    mut ahead: Cursor<'_>,
    operator: Operator,
    kind: &'static str,
    strength: Strength,
    name: &str,
) -> Result<Option<Found>, Starved> {
    if operator == Operator::Blank && name.ends_with(['_', '-', '.']) {
        return Ok(None);
    }
    string_prefix(&mut ahead)?;
    let quote = Quote::open(&mut ahead)?;
    let start = ahead.offset();
    let value_cursor = ahead.clone();
    let value = match quote {
        Some(quote) => value::read_quoted(&mut ahead, quote)?,
        None => value::read_bare(&mut ahead)?,
    };
    if operator == Operator::Tag && ahead.peek()? != Some('<') {
        return Ok(None);
    }
    // `#define API_KEY "…"`; with a name in small letters it is prose.
    if operator == Operator::Blank
        && quote.is_some()
        && !(value::is_constant(name) && strength != Strength::Key)
    {
        return Ok(None);
    }
    if !value::is_secret(&value, strength, operator, name) {
        return Ok(None);
    }
    // The name found it; a vendor's shape says more about what it is.
    let shaped = token::find(value.text.chars().next().unwrap_or_default(), &value_cursor, Left::OPEN)?;
    let (rule, kind, source, confidence) = shaped
        .map_or(("name", kind, Source::Name, Confidence::Medium), |found| {
            (found.rule, found.kind, found.source, found.confidence)
        });
    Ok(Some(Found {
        rule,
        kind,
        source,
        confidence,
        keep: start - cursor.offset(),
        cut: ahead.offset() - start,
        then: rest_of(&value),
    }))
}

/// The letter that marks a kind of string before its quote: `b"…"`, `r'…'`, `@"…"`.
fn string_prefix(ahead: &mut Cursor<'_>) -> Result<(), Starved> {
    let mut prefixed = ahead.clone();
    if prefixed.eat_if(|c| matches!(c, 'b' | 'r' | 'f' | 'u' | 'L' | '@'))?
        && prefixed.peek()?.is_some_and(|c| matches!(c, '"' | '\''))
    {
        *ahead = prefixed;
    }
    Ok(())
}

fn rest_of(value: &Value) -> Option<Swallow> {
    value.long.then(|| value.quote.map_or(Swallow::Bare, Swallow::Quoted))
}

/// The credentials of an `Authorization` header; the scheme stays.
fn authorization(
    cursor: &Cursor<'_>,
    mut ahead: Cursor<'_>,
    operator: Operator,
) -> Result<Option<Found>, Starved> {
    if matches!(operator, Operator::Blank | Operator::Tag) {
        return Ok(None);
    }
    let quote = Quote::open(&mut ahead)?;
    let mut scheme = ahead.clone();
    let scheme_chars = scheme.run(24, |c| c.is_ascii_alphanumeric() || c == '-')?;
    let has_scheme = scheme_chars >= 3 && scheme.run(4, |c| c == ' ')? > 0;
    if has_scheme {
        ahead = scheme;
    }
    let start = ahead.offset();
    let value = match quote {
        Some(quote) => value::read_quoted(&mut ahead, quote)?,
        None => line(&mut ahead, has_scheme)?,
    };
    let text = value.text.trim();
    let plausible = text.len() >= 6
        && !value::is_placeholder(text)
        && (text.len() >= 16 || text.chars().any(|c| c.is_ascii_digit()))
        && !(quote.is_none() && text.contains('('));
    Ok(((plausible || value.long) && !value.is_marked()).then(|| Found {
        rule: "authorization",
        kind: "authorization",
        source: Source::Structure,
        confidence: Confidence::High,
        keep: start - cursor.offset(),
        cut: ahead.offset() - start,
        then: value.long.then(|| quote.map_or(Swallow::Line, Swallow::Quoted)),
    }))
}

/// The pairs of a `Cookie` header.
fn cookie(cursor: &Cursor<'_>, mut ahead: Cursor<'_>, operator: Operator) -> Result<Option<Found>, Starved> {
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
    let plausible = text.contains('=')
        && !text.contains("==")
        && text.len() >= 6
        && !value::is_placeholder(text)
        && !text.contains(" = ");
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
            None => return Ok(Value { text, quote: None, long: ahead.at_window_end() }),
        }
        *ahead = next;
    }
    let long = text.len() >= value::VALUE_CHARS_MAX;
    Ok(Value { text, quote: None, long })
}

/// The password of `-u user:password`.
fn user_flag(cursor: &Cursor<'_>, mut ahead: Cursor<'_>) -> Result<Option<Found>, Starved> {
    if ahead.run(4, |c| matches!(c, ' ' | '='))? == 0 {
        return Ok(None);
    }
    let quote = Quote::open(&mut ahead)?;
    let user = ahead.run(80, |c| !c.is_whitespace() && !matches!(c, ':' | '"' | '\'' | '/' | '['))?;
    if !ahead.eat(':')? || (user == 0 && quote.is_none()) {
        return Ok(None);
    }
    let start = ahead.offset();
    let value = match quote {
        Some(quote) => value::read_quoted(&mut ahead, quote)?,
        None => value::read_bare(&mut ahead)?,
    };
    let text = value.text.as_str();
    let plausible =
        text.len() >= 4 && !value::is_placeholder(text) && !text.chars().all(|c| c.is_ascii_digit());
    Ok(((plausible || value.long) && !value.is_marked()).then(|| Found {
        rule: "user-flag",
        kind: "password",
        source: Source::Structure,
        confidence: Confidence::Medium,
        keep: start - cursor.offset(),
        cut: ahead.offset() - start,
        then: rest_of(&value),
    }))
}
