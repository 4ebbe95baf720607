use std::sync::Arc;

use super::cursor::{Cursor, Starved};
use super::line_prefix::LinePrefix;
use super::operator::Quote;
use super::{key_block, location, secret_map, value, wrap};

/// How much is swallowed before the caller is told.
const PIECE_BYTES_MAX: usize = 4096;
/// How much of it is read at once where every byte is plain.
const RUN_BYTES_MAX: usize = 256;
/// How many line ends may stand between two lines of a block.
const BLANK_CHARS_MAX: usize = 8;
/// A line of one class alone is at least so long.
const LINE_CHARS_MIN: usize = 2;

/// The rest of a secret whose marker is already out: how its end is recognised, in constant memory.
#[derive(Debug, Clone)]
pub(super) enum Swallow {
    /// As long as the characters are of the class.
    While(fn(char) -> bool),
    /// To the closing quote or the end of the line.
    Quoted(Quote),
    /// To the end of an unquoted value.
    Bare,
    /// To the end of the line or the next quote.
    Line,
    /// The body of a key block.
    KeyBlock,
    /// The rest of a URL.
    Url,
    /// The rest of a path.
    Path,
    /// The lines of a block that are indented more than this, and those between them.
    Block { indent: usize },
    /// Lines of nothing but the class.
    Lines(fn(char) -> bool),
    /// The rest of a JSON object.
    Object(Object),
    /// The rest of a registered secret, as long as it agrees.
    Rest { form: Arc<str>, at: usize },
}

impl Swallow {
    /// How many bytes at the cursor still belong to the secret, as far as they have arrived; 0 ends it.
    pub(super) fn step(&mut self, cursor: &Cursor<'_>) -> Result<usize, Starved> {
        let mut read = 0;
        let mut ahead = cursor.clone();
        while read < PIECE_BYTES_MAX {
            match self.unit(&ahead) {
                Ok(0) => break,
                Ok(len) => {
                    read += len;
                    ahead = ahead.after(len);
                }
                // What was read belongs to it whatever follows.
                Err(Starved) if read > 0 => break,
                Err(Starved) => return Err(Starved),
            }
        }
        Ok(read)
    }

    fn unit(&mut self, cursor: &Cursor<'_>) -> Result<usize, Starved> {
        let mut ahead = cursor.clone();
        match self {
            Self::While(class) => {
                // Dashes may be of a token; those of a key block begin one.
                let plain = ahead.take_plain(RUN_BYTES_MAX, |b| b != b'-' && class(char::from(b)));
                if plain.is_empty() && !key_block::is_header(cursor)? {
                    ahead.eat_if(*class)?;
                }
            }
            Self::Quoted(quote) => {
                if ahead.take_plain(RUN_BYTES_MAX, value::is_quoted).is_empty() && !quote.closes(cursor)? {
                    Quote::inside(&mut ahead)?;
                }
            }
            Self::Bare => {
                if ahead.take_plain(RUN_BYTES_MAX, value::is_bare).is_empty() {
                    value::bare_char(&mut ahead)?;
                }
            }
            Self::Line => {
                ahead.eat_if(|c| !is_line_break(c) && !matches!(c, '"' | '\'' | '`'))?;
            }
            Self::KeyBlock => {
                let (read, ended) = key_block::body(cursor)?;
                if ended {
                    // Nothing of the alphabet follows the END line, so this ends at the next step.
                    *self = Self::While(|c| c == '-');
                }
                return Ok(read);
            }
            Self::Block { indent } => {
                if ahead.eat_if(is_line_break)? {
                    let mut lines = ahead.clone();
                    lines.run(BLANK_CHARS_MAX, |c| c.is_whitespace() && c != ' ' && c != '\t')?;
                    if secret_map::indent_of(&mut lines, *indent + 1)? <= *indent {
                        return Ok(0);
                    }
                } else {
                    ahead.next()?;
                }
            }
            Self::Lines(class) => {
                if !ahead.eat_if(*class)? {
                    wrap::line_break(&mut ahead)?;
                    if ahead.run(LINE_CHARS_MIN, *class)? < LINE_CHARS_MIN {
                        return Ok(0);
                    }
                }
            }
            Self::Object(object) => object.unit(&mut ahead)?,
            Self::Url => {
                location::url_char(&mut ahead)?;
            }
            Self::Path => {
                location::path_char(&mut ahead)?;
            }
            Self::Rest { form, at } => {
                let next = form.get(*at..).and_then(|rest| rest.chars().next());
                if let Some(c) = next
                    && ahead.eat(c)?
                {
                    *at += c.len_utf8();
                }
            }
        }
        Ok(ahead.offset() - cursor.offset())
    }
}

/// What is left of a JSON object, in nothing but what JSON is made of: where it is cut off, it ends.
#[derive(Debug, Clone)]
pub(super) struct Object {
    quote: Quote,
    inside_string: bool,
    /// How many brackets are open, the object's own not counted when it is kept.
    depth: usize,
    /// Whether the bracket that closes it belongs to it.
    with_brace: bool,
    /// What stands before each of its lines, and goes with them.
    prefix: Option<LinePrefix>,
}

impl Object {
    /// Behind a member, to the bracket that closes the object.
    pub(super) fn with_brace(quote: Quote) -> Self {
        Self { quote, inside_string: false, depth: 1, with_brace: true, prefix: None }
    }

    /// Inside a string, to what is before the bracket that closes the object.
    pub(super) fn without_brace(quote: Quote) -> Self {
        Self { quote, inside_string: true, depth: 1, with_brace: false, prefix: None }
    }

    /// The same, each line behind `prefix`.
    pub(super) fn behind(self, prefix: Option<LinePrefix>) -> Self {
        Self { prefix, ..self }
    }

    /// Whether `c` may stand between the strings of an object, its brackets aside.
    pub(super) fn may_hold(c: char) -> bool {
        c.is_whitespace() || matches!(c, ',' | ':' | '.' | '+' | '-' | 'E' | '0'..='9' | 'a'..='z')
    }

    fn unit(&mut self, ahead: &mut Cursor<'_>) -> Result<(), Starved> {
        if self.inside_string {
            self.inside_string = !self.quote.close(ahead)?;
            if self.inside_string {
                Quote::inside(ahead)?;
            }
            return Ok(());
        }
        let Some(c) = ahead.peek()? else { return Ok(()) };
        match c {
            '{' | '[' if self.depth > 0 => self.depth += 1,
            '}' | ']' if self.depth > 1 => self.depth -= 1,
            '}' if self.depth == 1 && self.with_brace => self.depth = 0,
            '\n' if let Some(prefix) = &self.prefix
                && self.depth > 0 =>
            {
                // What goes on with anything else than a member, or the end of one, is another's line.
                let mut next = ahead.clone();
                let goes_on = prefix.next_line(&mut next)?
                    && (Quote::open(&mut next.clone())? == Some(self.quote)
                        || next.peek()?.is_some_and(|c| matches!(c, '{' | '}' | '[' | ']')));
                if goes_on {
                    *ahead = next;
                }
                return Ok(());
            }
            c if self.depth > 0 && Self::may_hold(c) => {}
            '"' | '\'' | '`' | '\\' if self.depth > 0 => {
                let mut next = ahead.clone();
                if Quote::open(&mut next)? == Some(self.quote) {
                    self.inside_string = true;
                } else if !(next.eat('\\')? && next.eat_if(|c| matches!(c, 'n' | 'r' | 't' | '\\'))?) {
                    return Ok(());
                }
                *ahead = next;
                return Ok(());
            }
            _ => return Ok(()),
        }
        ahead.next()?;
        Ok(())
    }
}

pub(super) fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
