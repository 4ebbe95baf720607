use super::cursor::{Cursor, Starved};
use super::name::Named;
use super::swallow::is_line_break;

/// How many blanks may stand around an operator.
const BLANKS_MAX: usize = 12;
/// How far a value may be indented on a line of its own.
const INDENT_MAX: usize = 64;

/// An opening quote with the backslashes before it, as nested encodings write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quote {
    mark: char,
    backslashes: usize,
}

impl Quote {
    /// Reads an opening quote.
    pub(super) fn open(ahead: &mut Cursor<'_>) -> Result<Option<Self>, Starved> {
        let mut quote = ahead.clone();
        let backslashes = quote.run(8, |c| c == '\\')?;
        let Some(mark) = quote.next()?.filter(|c| matches!(c, '"' | '\'' | '`')) else { return Ok(None) };
        *ahead = quote;
        Ok(Some(Self { mark, backslashes }))
    }

    /// Reads an opening quote, or three of them as one: `'''…`.
    pub(super) fn open_any(ahead: &mut Cursor<'_>) -> Result<Option<Self>, Starved> {
        let Some(quote) = Self::open(ahead)? else { return Ok(None) };
        let mut more = ahead.clone();
        if Self::open(&mut more)? == Some(quote) && Self::open(&mut more)? == Some(quote) {
            *ahead = more;
        }
        Ok(Some(quote))
    }

    /// Reads one character inside the quotes, an escaped one with its backslashes, unless the line ends.
    pub(super) fn inside(ahead: &mut Cursor<'_>) -> Result<Option<char>, Starved> {
        let escaped = ahead.run(64, |c| c == '\\')? > 0;
        let mut next = ahead.clone();
        match next.next()?.filter(|c| !is_line_break(*c)) {
            Some(c) => {
                *ahead = next;
                Ok(Some(c))
            }
            None => Ok(escaped.then_some('\\')),
        }
    }

    /// Reads the closing quote with its backslashes, if the cursor stands before it.
    pub(super) fn close(self, ahead: &mut Cursor<'_>) -> Result<bool, Starved> {
        if !self.closes(ahead)? {
            return Ok(false);
        }
        ahead.run(self.backslashes, |c| c == '\\')?;
        ahead.eat(self.mark)
    }

    /// Whether the cursor stands before the closing quote: the mark behind as many backslashes or fewer.
    pub(super) fn closes(self, cursor: &Cursor<'_>) -> Result<bool, Starved> {
        let mut ahead = cursor.clone();
        let backslashes = ahead.run(self.backslashes + 1, |c| c == '\\')?;
        Ok(backslashes <= self.backslashes && ahead.eat(self.mark)?)
    }
}

/// What ties a name to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `=` and its kin, without blanks around: an environment file, a query, a flag.
    Tight,
    /// `=` and its kin with blanks around.
    Equals,
    /// A colon.
    Colon,
    /// A comma after a quoted name: the value must be quoted.
    Argument,
    /// A comparison: the value must be quoted, too.
    Compared,
    /// The end of an opening tag.
    Tag,
    /// A blank after a flag.
    Flag,
    /// A blank after a word.
    Blank,
}

/// Reads the operator after a name: sign, type, blanks.
pub(super) fn read(ahead: &mut Cursor<'_>, named: &Named<'_>) -> Result<Option<Operator>, Starved> {
    if blanks(ahead)? > 0 {
        // A sign after blanks is asked about where it stands.
        let sign = ahead.peek()?.is_some_and(|c| matches!(c, '=' | ':' | ',' | '>' | '-' | '|' | '+'));
        if named.quoted || sign && !named.flag {
            return Ok(None);
        }
        return Ok(Some(if named.flag { Operator::Flag } else { Operator::Blank }));
    }
    let Some(operator) = sign(ahead, named.quoted)? else { return Ok(None) };
    let blanks_after = blanks(ahead)?;
    if named.sign.is_some_and(|c| matches!(c, '!' | '~')) {
        return Ok(Some(Operator::Compared));
    }
    if operator == Operator::Colon {
        typed(ahead)?;
    }
    if operator == Operator::Tight && (named.blanks || blanks_after > 0) {
        return Ok(Some(Operator::Equals));
    }
    Ok(Some(operator))
}

/// Goes on to the next line, when the value stands there: after a colon, an equals sign or a tag, indented.
pub(super) fn next_line(ahead: &mut Cursor<'_>, operator: Operator) -> Result<bool, Starved> {
    if !matches!(operator, Operator::Colon | Operator::Equals | Operator::Tag) {
        return Ok(false);
    }
    let mut next = ahead.clone();
    next.eat('\r')?;
    if !next.eat('\n')? || next.run(INDENT_MAX, |c| matches!(c, ' ' | '\t'))? == 0 {
        return Ok(false);
    }
    *ahead = next;
    Ok(true)
}

/// Whether a closing tag follows, on this line or the next.
pub(super) fn closes_tag(after: &Cursor<'_>) -> Result<bool, Starved> {
    let mut ahead = after.clone();
    ahead.run(INDENT_MAX, |c| matches!(c, ' ' | '\t' | '\r' | '\n'))?;
    ahead.eat('<')
}

/// Whether the text ends where a closing tag is to follow.
pub(super) fn is_cut_off(after: &Cursor<'_>) -> Result<bool, Starved> {
    let mut ahead = after.clone();
    ahead.run(INDENT_MAX, |c| matches!(c, ' ' | '\t' | '\r' | '\n'))?;
    Ok(ahead.peek()?.is_none())
}

fn blanks(ahead: &mut Cursor<'_>) -> Result<usize, Starved> {
    ahead.run(BLANKS_MAX, |c| matches!(c, ' ' | '\t' | '\u{a0}'))
}

fn sign(ahead: &mut Cursor<'_>, quoted: bool) -> Result<Option<Operator>, Starved> {
    let mut signs = ahead.clone();
    let (mut text, mut len) = ([0; 4], 0);
    while let Some(place) = text.get_mut(len)
        && let Some(c) = signs.peek()?
        && matches!(c, '=' | ':' | '?' | '!' | '>' | '+' | '.' | '|' | '-' | ',' | '~')
    {
        // A sign that belongs to the value: `password=-x`, `a: -1`.
        if len > 0 && matches!(c, '.' | '-' | '+' | '!' | '?' | '~' | ',' | '|') {
            break;
        }
        *place = u8::try_from(c).unwrap_or_default();
        len += 1;
        signs.next()?;
    }
    let text = text.get(..len).and_then(|text| std::str::from_utf8(text).ok());
    let operator = match text.unwrap_or_default() {
        "=" | "=>" | ":=" | "::=" | ":::=" | "?=" | "+=" | ".=" | "|=" => Operator::Tight,
        ":" => Operator::Colon,
        "==" | "===" | "!=" | "!==" | "~=" => Operator::Compared,
        "," if quoted => Operator::Argument,
        ">" => Operator::Tag,
        "->" | "::" | "-" | "." | "|" | "+" | "?" | "!" | "" => return Ok(None),
        _ => return single(ahead),
    };
    *ahead = signs;
    Ok(Some(operator))
}

/// The first sign alone, when what follows it is the value's.
fn single(ahead: &mut Cursor<'_>) -> Result<Option<Operator>, Starved> {
    if ahead.eat('=')? {
        return Ok(Some(Operator::Tight));
    }
    Ok(ahead.eat(':')?.then_some(Operator::Colon))
}

const TYPE_CHARS_MAX: usize = 32;

/// Skips a type between the colon and the equals sign of a declaration: `token: &str = "…"`.
fn typed(ahead: &mut Cursor<'_>) -> Result<(), Starved> {
    let of_type =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '&' | '<' | '>' | '?' | '\'' | '_' | ':');
    let mut kind = ahead.clone();
    let mut last = None;
    for _ in 0..TYPE_CHARS_MAX {
        let Some(c) = kind.peek()?.filter(|c| of_type(*c)) else { break };
        last = Some(c);
        kind.next()?;
    }
    // `password: name: =…`: a name of its own.
    if last.is_some_and(|c| c != ':')
        && blanks(&mut kind)? > 0
        && kind.eat('=')?
        && !kind.eat_if(|c| matches!(c, '=' | '>'))?
    {
        blanks(&mut kind)?;
        *ahead = kind;
    }
    Ok(())
}
