use super::behind::Behind;
use super::cursor::{Cursor, Starved};
use super::operator::{self, Operator, Quote};
use super::swallow::Swallow;
use super::value::{self, Value};
use super::{Found, token};
use crate::report::{Confidence, Source};
use crate::vocabulary::{Name, Strength, classify_name};

/// How long a name may be.
const NAME_CHARS_MAX: usize = 80;
/// Blanks between a name and its operator.
const BLANKS_MAX: usize = 12;

/// Finds the value whose operator is at the cursor, under a credential name before it: in an environment file, JSON, YAML,
/// TOML, a query, a header, a tag, a flag.
///
/// The question is put at operators and not at names: prose that speaks of tokens and keys costs nothing.
pub(super) fn find(first: char, cursor: &Cursor<'_>, behind: &Behind<'_>) -> Result<Option<Found>, Starved> {
    if matches!(first, '%' | '&' | '\\') {
        let cursor = cursor.undoing();
        let Some(first) = cursor.peek()? else { return Ok(None) };
        return if is_operator(first) { under(first, &cursor, &behind.undoing()) } else { Ok(None) };
    }
    if !is_operator(first) {
        return Ok(None);
    }
    if let Some(found) = under(first, cursor, behind)? {
        return Ok(Some(found));
    }
    if behind.is_encoded_near() || cursor.is_encoded_next()? {
        return under(first, &cursor.undoing(), &behind.undoing());
    }
    Ok(None)
}

fn is_operator(c: char) -> bool {
    matches!(c, '=' | ':' | '>' | ',' | ' ' | '\t' | '\u{a0}')
}

fn under(first: char, cursor: &Cursor<'_>, behind: &Behind<'_>) -> Result<Option<Found>, Starved> {
    let mut text = [0; NAME_BYTES_MAX];
    let Some(named) = Named::before(first, behind, &mut text) else { return Ok(None) };
    let mut ahead = cursor.clone();
    if named.flag && matches!(named.name, "u" | "user") {
        return user_flag(cursor, ahead);
    }
    let Some(class) = classify_name(named.name) else { return Ok(None) };
    let Some(operator) = operator::read(&mut ahead, &named)? else { return Ok(None) };
    match class {
        Name::Credential(kind, strength) => credential(cursor, ahead, operator, kind, strength, named.name),
        Name::Authorization => authorization(cursor, ahead, operator),
        Name::Cookie => cookie(cursor, ahead, operator),
    }
}

const NAME_BYTES_MAX: usize = 128;

/// The name before an operator.
#[derive(Debug)]
pub(super) struct Named<'a> {
    pub(super) name: &'a str,
    /// A quote closed it.
    pub(super) quoted: bool,
    /// Dashes before it make it a flag.
    pub(super) flag: bool,
    /// Blanks stand between it and the operator.
    pub(super) blanks: bool,
    /// The sign before the operator's, which is part of it: `+=`, `!=`.
    pub(super) sign: Option<char>,
}

impl<'a> Named<'a> {
    /// Reads backwards from an operator that begins with `first`.
    fn before(first: char, behind: &Behind<'a>, text: &'a mut [u8; NAME_BYTES_MAX]) -> Option<Self> {
        let mut behind = behind.clone();
        let mut sign = None;
        if first == '='
            && let Some(c) = behind.peek()
            && matches!(c, '?' | '+' | '.' | '|' | '!' | '~' | '=' | ':' | '<' | '>')
        {
            // `:=`, `==` and their kin were asked about at their first sign.
            if matches!(c, '=' | ':' | '<' | '>') {
                return None;
            }
            sign = behind.next();
        }
        let blanks = behind.run(BLANKS_MAX, is_blank) > 0;
        let mut quoted = false;
        if behind.eat_if(|c| c == ']') {
            // `name['key'] =`, `char name[25] =`.
            if behind.run(6, |c| c.is_ascii_digit()) > 0 || behind.peek() == Some('[') {
                behind.eat_if(|c| c == '[');
            } else {
                quoted = true;
            }
        }
        if behind.eat_if(|c| matches!(c, '"' | '\'' | '`')) {
            quoted = true;
            behind.run(64, |c| c == '\\');
        } else if quoted {
            return None;
        }
        let mut plain = behind.clone();
        if let Some(name) = plain.plain_word(NAME_CHARS_MAX, b'.')
            && (quoted || !is_type(name.as_bytes()))
        {
            return Self::of(name, &plain, quoted, blanks, sign);
        }
        let mut from = word(&mut behind, text, NAME_BYTES_MAX)?;
        if !quoted && is_type(text.get(from..)?) {
            // `var name string = …`: the type stands between.
            let mut earlier = behind.clone();
            if earlier.run(BLANKS_MAX, is_blank) > 0
                && let Some(at) = word(&mut earlier, text, from)
            {
                let len = from - at;
                text.copy_within(at..from, NAME_BYTES_MAX - len);
                behind = earlier;
                from = NAME_BYTES_MAX - len;
            }
        }
        let name = std::str::from_utf8(text.get(from..)?).ok()?;
        Self::of(without_escape(name, behind.peek()), &behind, quoted, blanks, sign)
    }

    fn of(
        name: &'a str,
        behind: &Behind<'_>,
        quoted: bool,
        blanks: bool,
        sign: Option<char>,
    ) -> Option<Self> {
        let plain = name.trim_start_matches(['-', '.']);
        let flag = name.starts_with('-') && !behind.peek().is_some_and(char::is_alphanumeric);
        Some(Self { name: plain, quoted, flag, blanks, sign }).filter(|named| !named.name.is_empty())
    }
}

/// Reads a word backwards into the end of `text` up to `end`, and returns where it begins there.
fn word(behind: &mut Behind<'_>, text: &mut [u8; NAME_BYTES_MAX], end: usize) -> Option<usize> {
    let mut from = end;
    let mut chars = 0;
    while chars < NAME_CHARS_MAX
        && let Some(c) = behind.peek()
        && (c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
    {
        let at = from.checked_sub(c.len_utf8())?;
        c.encode_utf8(text.get_mut(at..from)?);
        from = at;
        chars += 1;
        behind.next();
    }
    (from < end).then_some(from)
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{a0}')
}

fn is_type(word: &[u8]) -> bool {
    [&b"string"[..], b"String", b"str", b"text", b"NSString"].contains(&word)
}

/// A name without the letters of an escape that stands before it: `\npassword`, `%20password`.
fn without_escape(name: &str, before: Option<char>) -> &str {
    match before {
        Some('\\') => name.strip_prefix(['n', 'r', 't']).unwrap_or(name),
        Some('%') => {
            name.get(2..).filter(|_| name.bytes().take(2).all(|b| b.is_ascii_hexdigit())).unwrap_or(name)
        }
        Some(_) | None => name,
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
    let wrapped = operator::next_line(&mut ahead, operator)?;
    string_prefix(&mut ahead)?;
    let quote = Quote::open(&mut ahead)?;
    if wrapped && quote.is_none() && operator != Operator::Tag {
        return Ok(None);
    }
    let start = ahead.offset();
    let value_cursor = ahead.clone();
    let value = match quote {
        Some(quote) => value::read_quoted(&mut ahead, quote)?,
        None => value::read_bare(&mut ahead)?,
    };
    if operator == Operator::Tag && !operator::closes_tag(&ahead)? {
        return Ok(None);
    }
    // `#define API_KEY "…"`; with a name in small letters it is prose.
    if operator == Operator::Blank
        && quote.is_some()
        && !(value::is_constant(name) && strength != Strength::Key)
    {
        return Ok(None);
    }
    // `secret token=…`: the nearer name decides.
    let names_another = value.text.trim_end_matches('=').contains(['=', ':']);
    if operator == Operator::Blank && quote.is_none() && names_another {
        return Ok(None);
    }
    if !value::is_secret(&value, strength, operator, name) {
        return Ok(None);
    }
    // The name found it; a vendor's shape says more about what it is.
    let shaped = token::shape(&value_cursor)?;
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
        && !compares(text)
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

/// Whether `==` compares; at the end of a pair it fills up base64.
fn compares(text: &str) -> bool {
    text.match_indices("==").any(|(at, _)| {
        let after = text.get(at + 2..).unwrap_or_default();
        !(after.is_empty() || after.starts_with(';'))
    })
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

/// The pair of `-u user:password`, which is one credential, with the quotes around it.
fn user_flag(cursor: &Cursor<'_>, mut ahead: Cursor<'_>) -> Result<Option<Found>, Starved> {
    if ahead.run(4, |c| matches!(c, ' ' | '='))? == 0 {
        return Ok(None);
    }
    let start = ahead.offset();
    let Some(word) = ShellWord::read(&mut ahead)? else { return Ok(None) };
    let text = word.text.as_str();
    let Some((user, password)) = text.split_once(':') else { return Ok(None) };
    let plausible = !user.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '['))
        && (!user.is_empty() || word.quoted)
        && password.len() >= 4
        && !value::is_placeholder(password)
        && !password.chars().all(|c| c.is_ascii_digit());
    Ok((plausible && !text.contains("[REDACTED:")).then(|| Found {
        rule: "user-flag",
        kind: "password",
        source: Source::Structure,
        confidence: Confidence::Medium,
        keep: start - cursor.offset(),
        cut: ahead.offset() - start,
        then: word.then,
    }))
}

/// A word as a shell reads it: quotes at its beginning and behind its colon belong to it.
#[derive(Debug)]
struct ShellWord {
    text: String,
    quoted: bool,
    then: Option<Swallow>,
}

impl ShellWord {
    fn read(ahead: &mut Cursor<'_>) -> Result<Option<Self>, Starved> {
        let mut word = Self { text: String::new(), quoted: false, then: None };
        loop {
            if (word.text.is_empty() || word.text.ends_with(':'))
                && let Some(quote) = Quote::open(ahead)?
            {
                word.quoted = true;
                let value = value::read_quoted(ahead, quote)?;
                word.text.push_str(&value.text);
                if value.long {
                    word.then = Some(Swallow::Quoted(quote));
                    break;
                }
                if !quote.closes(ahead)? {
                    break;
                }
                ahead.run(8, |c| c == '\\')?;
                ahead.next()?;
                if !(word.text.contains(':') || ahead.peek()? == Some(':')) {
                    return Ok(None);
                }
                continue;
            }
            if word.text.len() >= value::VALUE_CHARS_MAX {
                word.then = Some(Swallow::Bare);
                break;
            }
            match value::bare_char(ahead)? {
                Some(c) => word.text.push(c),
                None => break,
            }
        }
        Ok(Some(word))
    }
}
