use super::cursor::{Cursor, Starved};
use super::swallow::is_line_break;

/// How many blanks may stand around an operator.
const BLANKS_MAX: usize = 12;

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
    /// A comma after a quoted name, or a comparison: the value must be quoted.
    Argument,
    /// The end of an opening tag.
    Tag,
    /// A blank after a flag.
    Flag,
    /// A blank after a word.
    Blank,
}

/// Reads the operator after a name: closing quote or bracket, blanks, operator, type, blanks.
pub(super) fn read(ahead: &mut Cursor<'_>, after_flag: bool) -> Result<Option<Operator>, Starved> {
    let quoted = Quote::open(ahead)?.is_some();
    if quoted {
        ahead.eat(']')?;
    }
    let blanks = blanks(ahead)?;
    let Some(operator) = sign(ahead, quoted)? else {
        if blanks == 0 || quoted {
            return Ok(None);
        }
        return Ok(Some(if after_flag { Operator::Flag } else { Operator::Blank }));
    };
    let blanks_after = self::blanks(ahead)?;
    if operator == Operator::Colon {
        typed(ahead)?;
    }
    if operator == Operator::Tight && blanks + blanks_after > 0 {
        return Ok(Some(Operator::Equals));
    }
    Ok(Some(operator))
}

fn blanks(ahead: &mut Cursor<'_>) -> Result<usize, Starved> {
    ahead.run(BLANKS_MAX, |c| matches!(c, ' ' | '\t' | '\u{a0}'))
}

fn sign(ahead: &mut Cursor<'_>, quoted: bool) -> Result<Option<Operator>, Starved> {
    let mut signs = ahead.clone();
    let mut text = String::new();
    while text.len() < 4
        && let Some(c) = signs.peek()?
        && matches!(c, '=' | ':' | '?' | '!' | '>' | '+' | '.' | '|' | '-' | ',' | '~')
    {
        // A sign that belongs to the value: `password=-x`, `a: -1`.
        if !text.is_empty() && matches!(c, '.' | '-' | '+' | '!' | '?' | '~' | ',' | '|') {
            break;
        }
        text.push(c);
        signs.next()?;
    }
    let operator = match text.as_str() {
        "=" | "=>" | ":=" | "::=" | ":::=" | "?=" | "+=" | ".=" | "|=" => Operator::Tight,
        ":" => Operator::Colon,
        "==" | "===" | "!=" | "!==" | "~=" => Operator::Argument,
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

/// Skips a type between the colon and the equals sign of a declaration: `token: &str = "…"`.
fn typed(ahead: &mut Cursor<'_>) -> Result<(), Starved> {
    let mut kind = ahead.clone();
    let len = kind.run(24, |c| c.is_ascii_alphabetic() || matches!(c, '&' | '<' | '>' | '?' | '\''))?;
    if len > 0 && blanks(&mut kind)? > 0 && kind.eat('=')? && !kind.eat_if(|c| matches!(c, '=' | '>'))? {
        blanks(&mut kind)?;
        *ahead = kind;
    }
    Ok(())
}
