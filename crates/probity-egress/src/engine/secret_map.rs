//! Maps whose every value is a secret, whatever its name: `data` and `stringData` of a Kubernetes Secret.
//!
//! The map goes whole, as one finding. What lost: a marker for each value, which needs a second state beside the swallow,
//! and keeps names that say what is there (`id_rsa`, `tls.key`).

use super::behind::Behind;
use super::cursor::{Cursor, Starved};
use super::operator::Quote;
use super::swallow::{Object, Swallow, is_line_break};
use super::{Found, beside};
use crate::report::{Confidence, Source};

/// How far a line may be indented, by blanks or by the signs of a diff, a quotation or a list.
const INDENT_MAX: usize = 64;
/// How long the name of an entry may be (`Secret`s allow 253 characters).
const NAME_CHARS_MAX: usize = 253;
/// How much behind a JSON map its kind may be.
const KIND_CHARS_MAX: usize = 400;
/// How much of a window is read.
const CHARS_MAX: usize = 3_600;
const LINE_CHARS_MAX: usize = 200;
const SECRET: &str = "secret";
const SEPARATOR: &str = "---";

/// Finds the map whose colon is at the cursor.
pub(super) fn find(cursor: &Cursor<'_>, behind: &Behind<'_>) -> Result<Option<Found>, Starved> {
    let Some(map) = Map::before(behind) else { return Ok(None) };
    let mut ahead = cursor.clone();
    ahead.next()?;
    ahead.run(INDENT_MAX, is_blank)?;
    if ahead.peek()? == Some('{') {
        map.flow(cursor, behind, ahead)
    } else {
        map.block(cursor, behind, ahead)
    }
}

/// What stands before the colon.
#[derive(Debug)]
struct Map {
    /// `stringData`, which nothing else has; the values of `data` are base64.
    of_strings: bool,
    /// Where on its line it begins, when nothing but an indent is before it.
    indent: Option<usize>,
}

impl Map {
    fn before(behind: &Behind<'_>) -> Option<Self> {
        let mut behind = behind.clone();
        if behind.eat_if(|c| matches!(c, '"' | '\'')) {
            behind.run(8, |c| c == '\\');
        }
        let mut letters = ['\0'; 10];
        let mut len = 0;
        while let Some(c) = behind.peek().filter(char::is_ascii_alphabetic) {
            *letters.get_mut(len)? = c;
            len += 1;
            behind.next();
        }
        let is = |name: &str| name.chars().rev().eq(letters.iter().take(len).copied());
        let of_strings = is("stringData");
        if !(of_strings || is("data")) {
            return None;
        }
        if behind.eat_if(|c| matches!(c, '"' | '\'')) {
            behind.run(8, |c| c == '\\');
        }
        let indent = behind.run(INDENT_MAX, is_indent);
        let opens_line = behind.peek().is_none_or(is_line_break) && !behind.is_at_removal();
        Some(Self { of_strings, indent: opens_line.then_some(indent) })
    }

    /// Lines that are indented more than their map.
    fn block(
        &self,
        cursor: &Cursor<'_>,
        behind: &Behind<'_>,
        mut ahead: Cursor<'_>,
    ) -> Result<Option<Found>, Starved> {
        let Some(indent) = self.indent else { return Ok(None) };
        if !line_end(&mut ahead)? || indent_of(&mut ahead, INDENT_MAX)? <= indent {
            return Ok(None);
        }
        let start = ahead.offset();
        let mut below = ahead.clone();
        if !entry(&mut below, self.of_strings)? {
            return Ok(None);
        }
        if !(self.of_strings || says_secret(behind) || is_secret_below(below, indent)?) {
            return Ok(None);
        }
        ahead.next()?;
        let (keep, cut) = (start - cursor.offset(), ahead.offset() - start);
        Ok(Some(found(keep, cut, Swallow::Block { indent })))
    }

    /// A JSON object.
    fn flow(
        &self,
        cursor: &Cursor<'_>,
        behind: &Behind<'_>,
        mut ahead: Cursor<'_>,
    ) -> Result<Option<Found>, Starved> {
        ahead.next()?;
        blanks(&mut ahead)?;
        let start = ahead.offset();
        let Some(quote) = Quote::open(&mut ahead)? else { return Ok(None) };
        let end = ahead.offset();
        let mut object = ahead;
        for _ in 0..CHARS_MAX {
            let chars = object.run(NAME_CHARS_MAX, is_name)?;
            if chars == 0 || !quote.close(&mut object)? {
                return Ok(None);
            }
            blanks(&mut object)?;
            if !object.eat(':')? {
                return Ok(None);
            }
            blanks(&mut object)?;
            if Quote::open(&mut object)? != Some(quote) || object.is_at_marker()? {
                return Ok(None);
            }
            if self.of_strings {
                break;
            }
            if !base64(&mut object)? || !quote.close(&mut object)? {
                return Ok(None);
            }
            blanks(&mut object)?;
            if object.eat(',')? {
                blanks(&mut object)?;
                if Quote::open(&mut object)? == Some(quote) {
                    continue;
                }
                return Ok(None);
            }
            if !object.eat('}')? {
                return Ok(None);
            }
            break;
        }
        if !(self.of_strings || says_secret(behind) || is_secret_behind(object, quote)?) {
            return Ok(None);
        }
        let then = Swallow::Object(Object::without_brace(quote));
        Ok(Some(found(start - cursor.offset(), end - start, then)))
    }
}

fn found(keep: usize, cut: usize, then: Swallow) -> Found {
    Found {
        rule: "secret-map",
        kind: "kubernetes-secret",
        source: Source::Structure,
        confidence: Confidence::High,
        keep,
        cut,
        then: Some(then),
    }
}

/// Whether the last kind that is named before is that of a secret.
fn says_secret(behind: &Behind<'_>) -> bool {
    let text = beside::text_before(behind);
    match text.rsplit_once("kind") {
        Some((_, rest)) => is_secret_kind(rest),
        None => text.contains("type: Opaque"),
    }
}

/// Whether what follows the name of a kind is `: Secret`, with or without quotes.
fn is_secret_kind(rest: &str) -> bool {
    let value = rest.trim_start_matches(['"', '\'', '\\', ':', ' ', '\t']);
    let (word, after) = value.split_at_checked(SECRET.len()).unwrap_or_default();
    word.eq_ignore_ascii_case(SECRET) && !after.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// Whether the lines below a map say that it is of a secret: its kind stands beside it. Every value of the map is base64.
fn is_secret_below(mut ahead: Cursor<'_>, indent: usize) -> Result<bool, Starved> {
    let from = ahead.offset();
    while ahead.offset() - from < CHARS_MAX && line_end(&mut ahead)? && !ahead.at_input_end() {
        if ahead.clone().literal(SEPARATOR)? {
            return Ok(false);
        }
        let here = indent_of(&mut ahead, INDENT_MAX)?;
        if line_end(&mut ahead.clone())? {
            continue;
        }
        if here > indent {
            if !entry(&mut ahead, false)? {
                return Ok(false);
            }
            continue;
        }
        if here < indent {
            return Ok(false);
        }
        // Other members of the object. Another map is of another one.
        let Some(member) = member(&mut ahead)? else { return Ok(false) };
        match member.as_str() {
            "kind" => {
                blanks(&mut ahead)?;
                Quote::open(&mut ahead)?;
                return is_word(&mut ahead, SECRET);
            }
            "data" | "stringData" => return Ok(false),
            _ => {
                for _ in 0..LINE_CHARS_MAX {
                    if ahead.is_at_marker()? || !ahead.eat_if(|c| !is_line_break(c))? {
                        break;
                    }
                }
            }
        }
    }
    Ok(false)
}

/// Whether the member that follows a JSON map says that it is of a secret.
fn is_secret_behind(after: Cursor<'_>, quote: Quote) -> Result<bool, Starved> {
    let mut ahead = after;
    for _ in 0..KIND_CHARS_MAX {
        let mut kind = ahead.clone();
        if Quote::open(&mut kind)? == Some(quote) && kind.literal("kind")? && quote.close(&mut kind)? {
            blanks(&mut kind)?;
            if !kind.eat(':')? {
                return Ok(false);
            }
            blanks(&mut kind)?;
            return Ok(Quote::open(&mut kind)? == Some(quote) && is_word(&mut kind, SECRET)?);
        }
        // What was removed may have been longer.
        if ahead.is_at_marker()? || ahead.next()?.is_none() {
            break;
        }
    }
    Ok(false)
}

/// Reads `word` in either case, and says whether it ends there.
fn is_word(ahead: &mut Cursor<'_>, word: &str) -> Result<bool, Starved> {
    for expected in word.chars() {
        if !ahead.eat_if(|c| c.eq_ignore_ascii_case(&expected))? {
            return Ok(false);
        }
    }
    Ok(!ahead.peek()?.is_some_and(|c| c.is_ascii_alphanumeric()))
}

/// Reads the name of a member and its colon.
fn member(ahead: &mut Cursor<'_>) -> Result<Option<String>, Starved> {
    let mut text = String::new();
    let quote = Quote::open(ahead)?;
    while text.len() < NAME_CHARS_MAX
        && let Some(c) = ahead.peek()?.filter(|c| is_name(*c))
    {
        text.push(c);
        ahead.next()?;
    }
    if let Some(quote) = quote
        && !quote.close(ahead)?
    {
        return Ok(None);
    }
    Ok((!text.is_empty() && ahead.eat(':')?).then_some(text))
}

/// Reads `name: value`, with a value in base64 unless it is of any text, or a line that such a value goes on with.
fn entry(ahead: &mut Cursor<'_>, of_strings: bool) -> Result<bool, Starved> {
    let mut line = ahead.clone();
    if !of_strings && base64(&mut line)? && line_end(&mut line.clone())? {
        *ahead = line;
        return Ok(true);
    }
    if member(ahead)?.is_none() {
        return Ok(false);
    }
    ahead.run(INDENT_MAX, is_blank)?;
    if ahead.is_at_marker()? {
        return Ok(false);
    }
    if of_strings {
        return Ok(true);
    }
    // Its lines are below.
    if ahead.eat_if(|c| matches!(c, '|' | '>'))? {
        ahead.run(2, |c| matches!(c, '-' | '+' | '1'..='9'))?;
    } else {
        let quote = Quote::open(ahead)?;
        let value = ahead.offset();
        if ahead.is_at_marker()? || !base64(ahead)? {
            return Ok(false);
        }
        if is_beyond(ahead, ahead.offset() - value) {
            return Ok(true);
        }
        if let Some(quote) = quote
            && !quote.close(ahead)?
        {
            return Ok(false);
        }
    }
    ahead.run(INDENT_MAX, is_blank)?;
    line_end(&mut ahead.clone())
}

/// Reads base64 of whole bytes.
fn base64(ahead: &mut Cursor<'_>) -> Result<bool, Starved> {
    let chars = ahead.run(CHARS_MAX, |c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/'))?;
    let padding = ahead.run(2, |c| c == '=')?;
    Ok(chars > 0 && (chars + padding).is_multiple_of(4) || is_beyond(ahead, chars))
}

/// Whether a value goes on where nothing more is read.
fn is_beyond(ahead: &Cursor<'_>, chars: usize) -> bool {
    chars >= CHARS_MAX || chars > 0 && ahead.at_window_end()
}

/// Reads a line end; the end of the input is one.
fn line_end(ahead: &mut Cursor<'_>) -> Result<bool, Starved> {
    ahead.eat('\r')?;
    Ok(ahead.eat('\n')? || ahead.at_input_end())
}

fn blanks(ahead: &mut Cursor<'_>) -> Result<(), Starved> {
    super::document::blanks(ahead)
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// Reads what may stand before a line, up to `max` characters; nothing before what separates documents.
pub(super) fn indent_of(ahead: &mut Cursor<'_>, max: usize) -> Result<usize, Starved> {
    if ahead.clone().literal(SEPARATOR)? { Ok(0) } else { ahead.run(max, is_indent) }
}

/// What may stand before a line: blanks, and the signs of a diff, a quotation, a list.
fn is_indent(c: char) -> bool {
    matches!(c, ' ' | '\t' | '+' | '-' | '>' | '|' | '#')
}

#[cfg(test)]
#[path = "secret_map_tests.rs"]
mod tests;
