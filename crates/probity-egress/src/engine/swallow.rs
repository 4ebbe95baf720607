use std::sync::Arc;

use super::cursor::{Cursor, Starved};
use super::operator::Quote;
use super::{key_block, location, value};

/// How much is swallowed before the caller is told.
const PIECE_BYTES_MAX: usize = 4096;

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
                if !key_block::is_header(cursor)? {
                    ahead.eat_if(*class)?;
                }
            }
            Self::Quoted(quote) => {
                if !quote.closes(cursor)? {
                    Quote::inside(&mut ahead)?;
                }
            }
            Self::Bare => {
                value::bare_char(&mut ahead)?;
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

pub(super) fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
