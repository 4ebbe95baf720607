use super::cursor::{Cursor, Starved};
use super::key_block;
use super::operator::Quote;

/// How much of a value is read before it counts as long, and is taken for a secret whatever it says.
pub(super) const VALUE_CHARS_MAX: usize = 400;

/// How a marker begins.
const MARKER: &str = "[REDACTED:";

/// A value as far as it was read.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) quote: Option<Quote>,
    /// It goes on beyond [`VALUE_CHARS_MAX`].
    pub(super) long: bool,
    /// Where it ends depended on what a marker stands for.
    pub(super) unsettled: bool,
}

impl Value {
    /// A value that goes on at `ahead`, where the limit is reached. A marker may stand across it.
    pub(super) fn long(
        text: String,
        quote: Option<Quote>,
        unsettled: bool,
        ahead: &Cursor<'_>,
    ) -> Result<Self, Starved> {
        let is_cut = cuts_marker(&text, ahead)?;
        Ok(Self { text, quote, long: true, unsettled: unsettled || is_cut })
    }

    /// A marker stands in it: it has been dealt with. This comes before every other question, for what a marker replaced
    /// may have answered them differently.
    pub(super) fn is_marked(&self) -> bool {
        self.unsettled || holds_marker(&self.text)
    }
}

/// Reads what stands between quotes, up to the closing one, the end of the line or the limit.
pub(super) fn read_quoted(ahead: &mut Cursor<'_>, quote: Quote) -> Result<Value, Starved> {
    let mut text = String::new();
    while text.len() < VALUE_CHARS_MAX {
        text.push_str(ahead.take_plain(VALUE_CHARS_MAX - text.len(), is_quoted));
        if text.len() >= VALUE_CHARS_MAX {
            break;
        }
        if quote.closes(ahead)? {
            return Ok(Value { text, quote: Some(quote), long: false, unsettled: false });
        }
        match Quote::inside(ahead)? {
            Some(c) => text.push(c),
            None => {
                return Ok(Value { text, quote: Some(quote), long: ahead.at_window_end(), unsettled: false });
            }
        }
    }
    Value::long(text, Some(quote), false, ahead)
}

/// Reads a value without quotes.
pub(super) fn read_bare(ahead: &mut Cursor<'_>) -> Result<Value, Starved> {
    let mut text = String::new();
    let mut bare = Bare::default();
    while text.len() < VALUE_CHARS_MAX {
        text.push_str(ahead.take_plain(VALUE_CHARS_MAX - text.len(), is_bare));
        if text.len() >= VALUE_CHARS_MAX {
            break;
        }
        match bare.next(ahead)? {
            Some(c) => text.push(c),
            None => {
                let (long, unsettled) = (ahead.at_window_end(), bare.unsettled);
                return Ok(Value { text, quote: None, long, unsettled });
            }
        }
    }
    Value::long(text, None, bare.unsettled, ahead)
}

/// What stands for itself between quotes of any kind.
pub(super) fn is_quoted(byte: u8) -> bool {
    (b' '..0x7f).contains(&byte) && !matches!(byte, b'"' | b'\'' | b'`' | b'\\')
}

/// What a value without quotes may have anywhere, whatever stands beside it.
pub(super) fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'_' | b'.'
                | b'/'
                | b'+'
                | b'='
                | b'~'
                | b':'
                | b'@'
                | b'#'
                | b'$'
                | b'%'
                | b'^'
                | b'*'
                | b'!'
                | b'?'
        )
}

/// Reads one character of a value without quotes, if it goes on.
pub(super) fn bare_char(ahead: &mut Cursor<'_>) -> Result<Option<char>, Starved> {
    Bare::default().next(ahead)
}

/// A value without quotes, while it is read.
#[derive(Debug, Default)]
pub(super) struct Bare {
    /// How many brackets of each kind it has opened: what closes them is its own.
    brackets: [usize; 3],
    /// What separates, or does not, depended on what a marker stands for.
    pub(super) unsettled: bool,
}

impl Bare {
    fn of(&mut self, c: char) -> Option<&mut usize> {
        self.brackets.get_mut("([{".find(c).or_else(|| ")]}".find(c))?)
    }

    /// Takes `c` into account, and says whether it closes one that the value opened.
    fn take(&mut self, c: char) -> bool {
        let opens = matches!(c, '(' | '[' | '{');
        let Some(count) = self.of(c) else { return false };
        let closes = !opens && *count > 0;
        *count = if opens { *count + 1 } else { count.saturating_sub(1) };
        closes
    }

    /// Reads one character, if the value goes on.
    pub(super) fn next(&mut self, ahead: &mut Cursor<'_>) -> Result<Option<char>, Starved> {
        let mut next = ahead.clone();
        let Some(c) = next.next()? else { return Ok(None) };
        let own = self.take(c);
        let ends = match c {
            '"' | '\'' | '`' | '<' | '|' => true,
            '-' => key_block::is_header(ahead)?,
            '>' => {
                let goes_on = |c| matches!(c, '-' | '_' | '$' | '#' | '!' | '%' | '^' | '*' | '@');
                !next.peek()?.is_some_and(goes_on) && !next.is_at_marker()?
            }
            ')' | ']' | '}' => !own && closes(&next)?,
            c if c.is_whitespace() || c.is_control() => true,
            '\\' => next.peek()?.is_none_or(|c| matches!(c, 'n' | 'r' | 't' | '"' | '\'' | '\\')),
            ',' | ';' | '&' => self.pair_follows(&next)?,
            _ => false,
        };
        if ends {
            return Ok(None);
        }
        *ahead = next;
        Ok(Some(c))
    }

    /// Whether the separator just read really separates: nothing, a blank, a quote or another `name=` follows. A marker
    /// does not: what stood in its place did not either.
    fn pair_follows(&mut self, after: &Cursor<'_>) -> Result<bool, Starved> {
        let mut ahead = after.clone();
        match ahead.peek()? {
            None => return Ok(true),
            Some(c) if c.is_whitespace() || matches!(c, '"' | '\'' | '}' | ']' | ')' | '\\') => {
                return Ok(true);
            }
            Some(_) => {}
        }
        if ahead.peek()?.is_some_and(|c| matches!(c, '.' | '-')) {
            return Ok(false);
        }
        let name = ahead.run(40, |c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' '))?;
        if name == 0 {
            return Ok(false);
        }
        if ahead.eat('=')? {
            return Ok(true);
        }
        // `a:/b` is a path, and no name.
        let separates = ahead.eat(':')? && !ahead.peek()?.is_some_and(|c| matches!(c, '/' | '\\'));
        self.unsettled |= ahead.is_at_marker()?;
        Ok(separates)
    }
}

/// Whether a marker stands in `text`, or begins where it ends.
pub(super) fn holds_marker(text: &str) -> bool {
    if memchr::memchr(b'[', text.as_bytes()).is_none() {
        return false;
    }
    text.split(MARKER).skip(1).any(|rest| {
        let name =
            rest.trim_start_matches(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        name.is_empty() || name.starts_with(']')
    })
}

/// Whether a marker begins in what was read last, and goes on at `ahead`.
pub(super) fn cuts_marker(text: &str, ahead: &Cursor<'_>) -> Result<bool, Starved> {
    let cut = text.rfind('[').and_then(|at| text.get(at..)).filter(|cut| MARKER.starts_with(cut));
    match cut.and_then(|cut| MARKER.get(cut.len()..)) {
        Some(rest) => ahead.clone().literal(rest),
        None => Ok(false),
    }
}

/// Whether the bracket just read closes what the value stands in: nothing that a value is made of follows.
fn closes(after: &Cursor<'_>) -> Result<bool, Starved> {
    let mut ahead = after.clone();
    ahead.run(4, |c| matches!(c, ')' | ']' | '}'))?;
    // A bracket may be a marker's, in whose place a word stood.
    Ok(ahead.peek()?.is_none_or(|c| !(c.is_ascii_alphanumeric() || c == '[')))
}
