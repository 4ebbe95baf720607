use super::cursor::{Cursor, Starved};
use super::operator::Quote;

/// What stands before each line of a text that somebody else wrote out: a time and a name of a log, the sign of a
/// quotation or a comment.
///
/// The same on each line but for the numbers in it, and for how many blanks stand where there is one. It is at most
/// [`CHARS_MAX`] characters long.
#[derive(Debug, Clone)]
pub(super) struct LinePrefix(Box<[Part]>);

#[derive(Debug, Clone, Copy)]
enum Part {
    Digits,
    Blanks,
    Sign(char),
}

/// How long a time, a level, a host's name and a container's are together.
const CHARS_MAX: usize = 96;
/// How many blanks or digits may stand together.
const RUN_MAX: usize = 64;

impl LinePrefix {
    /// Reads a line break and what stands between it and a quote, if that is more than an indent and what `is_loose`
    /// tells.
    pub(super) fn read(
        ahead: &mut Cursor<'_>,
        quote: Quote,
        is_loose: impl Fn(char) -> bool,
    ) -> Result<Option<Self>, Starved> {
        ahead.eat('\r')?;
        if !ahead.eat('\n')? {
            return Ok(None);
        }
        let mut parts = Vec::new();
        let mut is_prefix = false;
        while parts.len() < CHARS_MAX {
            if Quote::open(&mut ahead.clone())? == Some(quote) {
                // The indent is the line's.
                if let Some(Part::Blanks) = parts.last() {
                    parts.pop();
                }
                return Ok(is_prefix.then(|| Self(parts.into())));
            }
            if ahead.is_at_marker()? {
                break;
            }
            if ahead.run(RUN_MAX, is_blank)? > 0 {
                parts.push(Part::Blanks);
            } else if ahead.run(RUN_MAX, |c| c.is_ascii_digit())? > 0 {
                parts.push(Part::Digits);
            } else if let Some(c) = ahead.next()?
                && is_sign(c)
            {
                is_prefix |= !is_loose(c);
                parts.push(Part::Sign(c));
            } else {
                break;
            }
        }
        Ok(None)
    }

    /// Reads a line break and the prefix behind it, with the indent of the line.
    pub(super) fn next_line(&self, ahead: &mut Cursor<'_>) -> Result<bool, Starved> {
        if !ahead.eat('\n')? {
            return Ok(false);
        }
        for part in &self.0 {
            let is_same = match part {
                Part::Digits => ahead.run(RUN_MAX, |c| c.is_ascii_digit())? > 0,
                Part::Blanks => ahead.run(RUN_MAX, is_blank)? > 0,
                Part::Sign(c) => ahead.eat(*c)?,
            };
            if !is_same {
                return Ok(false);
            }
        }
        ahead.run(RUN_MAX, is_blank)?;
        Ok(true)
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// What may be of a prefix: nothing that is of the document itself.
fn is_sign(c: char) -> bool {
    !c.is_control() && !c.is_whitespace() && !matches!(c, '"' | '\'' | '`' | '\\' | '{' | '}')
}
