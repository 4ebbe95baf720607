use super::behind::Behind;
use super::class::BARE;
use super::cursor::{Cursor, Starved};
use super::drawn::{Drawn, is_drawn};
use super::operator::{self, Operator, Quote};
use super::plausible;
use super::seen::Seen;
use super::swallow::Swallow;
use super::value::{self, Value};
use super::{Found, beside, byte_list, header, token, user_flag, wrap};
use crate::report::{Confidence, Source};
use crate::vocabulary::{Name, Strength, classify_name};

/// How long a name may be.
const NAME_CHARS_MAX: usize = 80;
/// How long the last word of a flag's name may be.
const FLAG_WORD_BYTES_MAX: usize = 40;
/// How long an opening tag may be.
const TAG_CHARS_MAX: usize = 160;
/// Blanks between the last attribute of a tag and its end.
const TAG_BLANKS_MAX: usize = 4;
/// Blanks between a name and its operator.
const BLANKS_MAX: usize = 12;

/// Finds the value whose operator is at the cursor, under a credential name before it: in an environment file, JSON, YAML,
/// TOML, a query, a header, a tag, a flag.
///
/// The question is put at operators and not at names: prose that speaks of tokens and keys costs nothing.
pub(super) fn find(
    first: char,
    cursor: &Cursor<'_>,
    behind: &Behind<'_>,
    seen: &Seen,
) -> Result<Option<Found>, Starved> {
    if matches!(first, '%' | '&' | '\\') {
        let cursor = cursor.undoing();
        let Some(first) = cursor.peek()? else { return Ok(None) };
        return if is_operator(first) { under(first, &cursor, &behind.undoing(), seen) } else { Ok(None) };
    }
    if !is_operator(first) {
        return Ok(None);
    }
    if let Some(found) = under(first, cursor, behind, seen)? {
        return Ok(Some(found));
    }
    let blanks = if is_blank(first) { BLANKS_MAX } else { 1 };
    if !(behind.is_encoded_near() || cursor.is_encoded_next(blanks)?) {
        return Ok(None);
    }
    // A blank behind a flag is found by the dash.
    if is_blank(first) && is_flag(first, &behind.undoing()) && !is_flag(first, behind) {
        return Ok(None);
    }
    under(first, &cursor.undoing(), &behind.undoing(), seen)
}

fn is_flag(first: char, behind: &Behind<'_>) -> bool {
    Named::before(first, behind, &mut [0; NAME_BYTES_MAX]).is_some_and(|named| named.flag)
}

fn is_operator(c: char) -> bool {
    matches!(c, '=' | ':' | '>' | ',' | ' ' | '\t' | '\u{a0}')
}

fn under(
    first: char,
    cursor: &Cursor<'_>,
    behind: &Behind<'_>,
    seen: &Seen,
) -> Result<Option<Found>, Starved> {
    let mut text = [0; NAME_BYTES_MAX];
    let Some(named) = Named::before(first, behind, &mut text) else { return Ok(None) };
    // Of blanks, the first one is asked about.
    if is_blank(first) && named.blanks {
        return Ok(None);
    }
    let mut ahead = cursor.clone();
    if named.flag && matches!(named.name, "u" | "user" | "U" | "proxy-user") {
        return user_flag::find(cursor, ahead);
    }
    if named.flag && first == ':' && named.name.starts_with('u') && beside::says(behind, &["curl "]) {
        return user_flag::glued(cursor, ahead);
    }
    let mut tag = [0; NAME_BYTES_MAX];
    let (named, class) = match seen.names.classify(named.name) {
        Some(class) => (named, class),
        None => match Named::of_tag(first, behind, &mut tag)
            .and_then(|tag| Some((classify_name(tag.name)?, tag)))
        {
            Some((class, tag)) => (tag, class),
            None => return beside::find(first, cursor, behind, &named),
        },
    };
    let Some(operator) = operator::read(&mut ahead, &named)? else { return Ok(None) };
    match class {
        Name::Credential(kind, strength) => {
            credential(cursor, behind, ahead, (operator, kind, strength), &named)
        }
        Name::Authorization => header::authorization(cursor, ahead, operator),
        Name::Cookie => header::cookie(cursor, ahead, operator),
    }
}

const NAME_BYTES_MAX: usize = 128;

/// The name before an operator.
#[derive(Debug)]
pub(super) struct Named<'a> {
    pub(super) name: &'a str,
    /// A quote closed it.
    pub(super) quoted: bool,
    /// Another stands before it.
    pub(super) enclosed: bool,
    /// Dashes before it make it a flag.
    pub(super) flag: bool,
    /// Blanks stand between it and the operator.
    pub(super) blanks: bool,
    /// It is of an array without a length: `name[] =`.
    array: bool,
    /// It stands in a list of pairs, as in a query or a connection string: `…&name=`, `user=…;name=`.
    paired: bool,
    /// The sign before the operator's, which is part of it: `+=`, `!=`.
    pub(super) sign: Option<char>,
}

/// What was read between a name and its operator.
#[derive(Debug)]
struct Tied {
    equals: bool,
    quoted: bool,
    blanks: bool,
    array: bool,
    sign: Option<char>,
}

impl<'a> Named<'a> {
    /// The name of the tag that `>` closes behind an attribute: `<pass encoding="base64">`, with or without a blank.
    fn of_tag(first: char, behind: &Behind<'_>, text: &'a mut [u8; NAME_BYTES_MAX]) -> Option<Self> {
        let mut behind = behind.clone();
        behind.run(TAG_BLANKS_MAX, is_blank);
        if first != '>' || !behind.peek().is_some_and(|c| matches!(c, '"' | '\'')) {
            return None;
        }
        let mut chars = Vec::new();
        while chars.len() < TAG_CHARS_MAX
            && let Some(c) = behind.next()
            && !matches!(c, '>' | '\n' | '\r')
        {
            if c == '<' {
                let name = chars.iter().rev().copied().take_while(|c| is_name_char(*c));
                let mut len = 0;
                for c in name {
                    len += c.encode_utf8(text.get_mut(len..len + c.len_utf8())?).len();
                }
                let name = std::str::from_utf8(text.get(..len)?).ok().filter(|name| !name.is_empty())?;
                let plain = Self {
                    name,
                    quoted: false,
                    enclosed: false,
                    flag: false,
                    blanks: false,
                    array: false,
                    paired: false,
                    sign: None,
                };
                return Some(plain);
            }
            chars.push(c);
        }
        None
    }

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
        let (mut quoted, mut array) = (false, false);
        if first != ',' && !is_blank(first) && behind.eat_if(|c| c == ']') {
            // `name['key'] =`, `char name[25] =`; a comma or a blank behind it ties nothing.
            let digits = behind.run(6, |c| c.is_ascii_digit());
            if digits > 0 || behind.peek() == Some('[') {
                array = digits == 0 && behind.eat_if(|c| c == '[');
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
            let tied = Tied { equals: first == '=', quoted, blanks, array, sign };
            return Self::of(name, &plain, tied);
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
        let tied = Tied { equals: first == '=', quoted, blanks, array, sign };
        Self::of(without_escape(name, behind.peek()), &behind, tied)
    }

    fn of(name: &'a str, behind: &Behind<'_>, tied: Tied) -> Option<Self> {
        let Tied { equals, quoted, blanks, array, sign } = tied;
        let plain = name.trim_start_matches(['-', '.']);
        // Flags are found by a dash, which is not far.
        let is_near = name.rsplit('-').next().is_some_and(|word| word.len() <= FLAG_WORD_BYTES_MAX);
        let flag = name.starts_with('-') && is_near && !behind.peek().is_some_and(char::is_alphanumeric);
        // `"Module::Key"`: a path of types, whose last names what the value is about.
        let is_path = quoted
            && plain.starts_with(|c: char| c.is_ascii_uppercase())
            && behind.clone().run(2, |c| c == ':') == 2;
        if is_path {
            return None;
        }
        let paired = equals && !blanks && is_paired(behind);
        let enclosed = quoted && behind.peek().is_some_and(|c| matches!(c, '"' | '\'' | '`'));
        Some(Self { name: plain, quoted, enclosed, flag, blanks, array, paired, sign })
            .filter(|named| !named.name.is_empty())
    }
}

/// Reads a word backwards into the end of `text` up to `end`, and returns where it begins there.
fn word(behind: &mut Behind<'_>, text: &mut [u8; NAME_BYTES_MAX], end: usize) -> Option<usize> {
    let mut from = end;
    let mut chars = 0;
    while chars < NAME_CHARS_MAX
        && let Some(c) = behind.peek()
        && is_name_char(c)
    {
        let at = from.checked_sub(c.len_utf8())?;
        c.encode_utf8(text.get_mut(at..from)?);
        from = at;
        chars += 1;
        behind.next();
    }
    (from < end).then_some(from)
}

pub(super) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{a0}')
}

/// Whether another pair stands before: of a query, or of a connection string.
fn is_paired(behind: &Behind<'_>) -> bool {
    const OF_CONNECTIONS: [&[u8]; 14] = [
        b"server",
        b"host",
        b"hostname",
        b"database",
        b"db",
        b"dbname",
        b"user",
        b"uid",
        b"username",
        b"id",
        b"source",
        b"catalog",
        b"driver",
        b"port",
    ];
    if !behind.peek().is_some_and(|c| matches!(c, '&' | ';' | ' ')) {
        return false;
    }
    let mut behind = behind.clone();
    if behind.eat_if(|c| c == '&') {
        return behind.run(NAME_CHARS_MAX, |c| !is_blank(c) && !matches!(c, '=' | '&' | '?' | '\n'))
            < NAME_CHARS_MAX
            && behind.eat_if(|c| c == '=');
    }
    behind.eat_if(|c| c == ' ');
    if !behind.eat_if(|c| c == ';') {
        return false;
    }
    behind.run(NAME_CHARS_MAX, |c| !matches!(c, '=' | ';' | '\n' | '"' | '\''));
    let mut text = [0; NAME_BYTES_MAX];
    behind.eat_if(|c| c == '=')
        && word(&mut behind, &mut text, NAME_BYTES_MAX)
            .and_then(|from| text.get(from..))
            .is_some_and(|name| OF_CONNECTIONS.iter().any(|known| known.eq_ignore_ascii_case(name)))
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
    behind: &Behind<'_>,
    mut ahead: Cursor<'_>,
    (operator, kind, strength): (Operator, &'static str, Strength),
    named: &Named<'_>,
) -> Result<Option<Found>, Starved> {
    let name = named.name;
    if operator == Operator::Blank && name.ends_with(['_', '-', '.']) {
        return Ok(None);
    }
    let wrapped = operator::next_line(&mut ahead, operator)?;
    if (operator != Operator::Blank || plausible::is_constant(name))
        && let Some(found) = byte_list::find(cursor, &ahead, (operator, kind, strength))?
    {
        return Ok(Some(found));
    }
    string_prefix(&mut ahead)?;
    let quote = Quote::open_any(&mut ahead)?;
    if wrapped && quote.is_none() && operator != Operator::Tag {
        return Ok(None);
    }
    let start = ahead.offset();
    let value_cursor = ahead.clone();
    if operator == Operator::Blank && quote.is_none() && !ahead.has_digit_near(BARE)? {
        return Ok(None);
    }
    let mut value = match quote {
        Some(quote) => value::read_quoted(&mut ahead, quote)?,
        None => value::read_bare(&mut ahead)?,
    };
    wrap::read_on(&mut value, &mut ahead, |value| plausible::is_secret(value, strength, operator, name))?;
    if quote.is_none() && !value.long {
        own_bracket(behind, &mut value, &mut ahead)?;
    }
    // The text may end before the closing tag.
    if operator == Operator::Tag
        && !operator::closes_tag(&ahead)?
        && !(operator::is_cut_off(&ahead)? && is_drawn(&value.text) == Drawn::Surely)
    {
        return Ok(None);
    }
    // `#define API_KEY "…"`; with a name in small letters it is prose.
    if operator == Operator::Blank
        && quote.is_some()
        && !(plausible::is_constant(name) && strength != Strength::Key)
    {
        return Ok(None);
    }
    // `secret token=…`: the nearer name decides.
    let names_another = value.text.trim_end_matches('=').contains(['=', ':']);
    if operator == Operator::Blank && quote.is_none() && names_another {
        return Ok(None);
    }
    // `char secret[] = other;` is code.
    if named.array && quote.is_none() {
        return Ok(None);
    }
    // `Endpoint=…;Id=…;Secret=…`: the nearer names decide.
    if kind == "connection-string" && quote.is_none() && ahead.peek()? == Some(';') {
        return Ok(None);
    }
    // `machine … login … password …`, as `.netrc` has it.
    let account = operator == Operator::Blank
        && name == "password"
        && quote.is_none()
        && plausible::is_plain_run(&value.text)
        && beside::says(behind, &["machine "])
        && beside::says(behind, &["login "]);
    let paired = account
        || named.paired && strength == Strength::Password && quote.is_none() && plausible::is_word(&value);
    if !paired && !plausible::is_secret(&value, strength, operator, name) {
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

/// Reads the bracket that ends a line, when none was opened on it: it is of the value, if that is of signs as well.
fn own_bracket(behind: &Behind<'_>, value: &mut Value, ahead: &mut Cursor<'_>) -> Result<(), Starved> {
    const LINE_CHARS_MAX: usize = 80;
    let mut on = ahead.clone();
    let Some(c) = on.next()?.filter(|c| matches!(c, ')' | ']' | '}')) else { return Ok(()) };
    if !on.peek()?.is_none_or(super::swallow::is_line_break)
        || !value.text.contains(['/', ':', '+', '!', '#', '%', '^'])
    {
        return Ok(());
    }
    let mut line = behind.clone();
    line.run(LINE_CHARS_MAX, |c| !matches!(c, '(' | '[' | '{') && !super::swallow::is_line_break(c));
    if line.peek().is_none_or(super::swallow::is_line_break) && is_drawn(&value.text) >= Drawn::Maybe {
        value.text.push(c);
        *ahead = on;
    }
    Ok(())
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

pub(super) fn rest_of(value: &Value) -> Option<Swallow> {
    value.long.then(|| value.quote.map_or(Swallow::Bare, Swallow::Quoted))
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
