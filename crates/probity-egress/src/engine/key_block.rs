use super::Found;
use super::cursor::{Cursor, Starved};
use super::swallow::Swallow;
use crate::report::{Confidence, Source};
use crate::vocabulary::{DER_START, KEY_BODIES, PUTTY_LINES};

/// A line of a block is read in pieces of this many characters.
const PIECE_CHARS_MAX: usize = 256;
/// A run of this many characters of the armour alphabet makes a line part of the block, whatever stands before it (a
/// log's time stamp, a diff's sign, a quote).
const ARMOUR_RUN_CHARS_MIN: usize = 20;
const PADDED_RUN_CHARS_MIN: usize = 8;
/// Empty lines that may stand between the lines of a block.
const BLANK_LINES_MAX: usize = 3;

/// A line of a block is no longer than this; a longer run is a block without line breaks.
const ARMOUR_LINE_CHARS_MAX: usize = 80;

/// Finds the first line of a private key block, or of its body when the line before was cut off.
///
/// Triggers: the literals `BEGIN` (with the dashes before it), [`KEY_BODIES`], [`DER_START`] and [`PUTTY_LINES`].
pub(super) fn find(first: char, cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    match first {
        '-' => header(cursor),
        'M' | 'b' => headless(cursor),
        'P' => putty(cursor),
        _ => Ok(None),
    }
}

/// Whether a value, read on its own, is the beginning of a block.
pub(super) fn begins(text: &str) -> bool {
    let first = text.chars().next().unwrap_or_default();
    if text.len() < ARMOUR_RUN_CHARS_MIN {
        return false;
    }
    find(first, &Cursor::open(text, 0, true)).is_ok_and(|found| found.is_some())
}

/// Whether the dashes before the first line of a block are next. The blank is asked for as well: a word behind dashes may
/// be removed, and the dashes would be of something else then.
pub(super) fn is_header(cursor: &Cursor<'_>) -> Result<bool, Starved> {
    let mut ahead = cursor.clone();
    Ok(ahead.literal("-----BEGIN")? && blank(&mut ahead)?)
}

fn header(cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    let mut ahead = cursor.clone();
    if ahead.run(5, |c| c == '-')? < 4 {
        return Ok(None);
    }
    ahead.eat(' ')?;
    if !ahead.literal("BEGIN")? || !blank(&mut ahead)? {
        return Ok(None);
    }
    let Some(label) = label(&mut ahead)? else { return Ok(None) };
    if !label.contains("PRIVATE KEY") && !label.ends_with("NKEY SEED") {
        return Ok(None);
    }
    Ok(Some(found(0, ahead.offset() - cursor.offset(), Swallow::KeyBlock)))
}

fn found(keep: usize, cut: usize, then: Swallow) -> Found {
    Found {
        rule: "key-block",
        kind: "private-key",
        source: Source::Format,
        confidence: Confidence::High,
        keep,
        cut,
        then: Some(then),
    }
}

/// The body of a key whose first line is missing.
fn headless(cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    let mut ahead = cursor.clone();
    let mut known = is_der_key(&mut ahead)?;
    for start in KEY_BODIES {
        known = known || ahead.literal(start)?;
    }
    if !known {
        return Ok(None);
    }
    if ahead.run(ARMOUR_RUN_CHARS_MIN, is_armour)? < ARMOUR_RUN_CHARS_MIN {
        return Ok(None);
    }
    let rest = ahead.run(ARMOUR_LINE_CHARS_MAX, is_armour)?;
    let broken = rest < ARMOUR_LINE_CHARS_MAX && line_break(&mut ahead.clone())?;
    let then = if broken { Swallow::KeyBlock } else { Swallow::While(is_armour) };
    Ok(Some(found(0, ahead.offset() - cursor.offset(), then)))
}

/// Whether the base64 at the cursor is of a DER sequence that begins with a version number, as private keys do (PKCS #1 and
/// #8), or with the identifier of a password-based cipher (PKCS #8, encrypted). Certificates, requests and public keys begin
/// with another sequence or a large number.
fn is_der_key(ahead: &mut Cursor<'_>) -> Result<bool, Starved> {
    let mut key = ahead.clone();
    if !key.literal(DER_START)? || key.run(2, is_armour)? < 2 {
        return Ok(false);
    }
    let mut versioned = key.clone();
    if versioned.eat_if(|c| matches!(c, 'A' | 'Q' | 'g' | 'w'))? && versioned.literal("IBA")? {
        *ahead = versioned;
        return Ok(true);
    }
    let mut encrypted = key;
    if encrypted.eat_if(|c| matches!(c, 'D' | 'T' | 'j' | 'z'))?
        && encrypted.run(2, is_armour)? == 2
        && encrypted.literal("BgkqhkiG9w0BB")?
        && encrypted.eat_if(|c| matches!(c, 'Q' | 'T'))?
    {
        *ahead = encrypted;
        return Ok(true);
    }
    Ok(false)
}

/// The lines after `Private-Lines: 8`.
fn putty(cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    let mut ahead = cursor.clone();
    if !ahead.literal(PUTTY_LINES)? {
        return Ok(None);
    }
    ahead.run(2, |c| c == ' ')?;
    if ahead.run(4, |c| c.is_ascii_digit())? == 0 || !line_break(&mut ahead)? {
        return Ok(None);
    }
    line_break(&mut ahead)?;
    let start = ahead.offset();
    if ahead.run(ARMOUR_RUN_CHARS_MIN, is_armour)? < ARMOUR_RUN_CHARS_MIN {
        return Ok(None);
    }
    Ok(Some(found(start - cursor.offset(), ahead.offset() - start, Swallow::KeyBlock)))
}

fn is_armour(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')
}

/// Reads one blank, plain or as an address writes it.
fn blank(ahead: &mut Cursor<'_>) -> Result<bool, Starved> {
    Ok(ahead.eat_if(|c| matches!(c, ' ' | '+'))? || ahead.literal("%20")?)
}

/// Reads a label and the dashes after it.
fn label(ahead: &mut Cursor<'_>) -> Result<Option<String>, Starved> {
    let mut label = String::new();
    for _ in 0..48 {
        if blank(ahead)? {
            label.push(' ');
            continue;
        }
        match ahead.peek()? {
            Some(c) if c.is_ascii_uppercase() || c.is_ascii_digit() => label.push(c),
            Some(_) | None => break,
        }
        ahead.next()?;
    }
    Ok((ahead.run(5, |c| c == '-')? >= 4).then_some(label))
}

/// How many bytes at the cursor belong to the block, and whether they end it.
///
/// A block that was cut off ends at the first line that is not of it: everything before is gone, nothing after.
pub(super) fn body(cursor: &Cursor<'_>) -> Result<(usize, bool), Starved> {
    let mut ahead = cursor.clone();
    for _ in 0..=BLANK_LINES_MAX {
        if end_line(&mut ahead)? {
            return Ok((ahead.offset() - cursor.offset(), true));
        }
        let piece = piece(&mut ahead)?;
        if piece.is_armour() {
            return Ok((ahead.offset() - cursor.offset(), false));
        }
        if !piece.is_blank() && !end_line(&mut ahead)? {
            // The last line of a block can be short, and have a log's time stamp before it.
            if piece.ends_run && line_break(&mut ahead)? {
                ahead.eat('\n')?;
                self::piece(&mut ahead)?;
                if end_line(&mut ahead)? {
                    return Ok((ahead.offset() - cursor.offset(), true));
                }
            }
            return Ok((0, false));
        }
        if !piece.is_blank() {
            return Ok((ahead.offset() - cursor.offset(), true));
        }
        if !line_break(&mut ahead)? {
            if end_line(&mut ahead)? {
                return Ok((ahead.offset() - cursor.offset(), true));
            }
            return Ok((0, false));
        }
    }
    Ok((0, false))
}

fn end_line(ahead: &mut Cursor<'_>) -> Result<bool, Starved> {
    let mut end = ahead.clone();
    if end.run(5, |c| c == '-')? < 4 {
        return Ok(false);
    }
    end.eat(' ')?;
    let found = end.literal("END")? && blank(&mut end)? && label(&mut end)?.is_some();
    if found {
        *ahead = end;
    }
    Ok(found)
}

/// Reads one line break, real or written as an escape.
fn line_break(ahead: &mut Cursor<'_>) -> Result<bool, Starved> {
    let mut escape = ahead.clone();
    if escape.run(8, |c| c == '\\')? > 0 && escape.eat_if(|c| matches!(c, 'n' | 'r'))? {
        *ahead = escape;
        return Ok(true);
    }
    for encoded in ["%0A", "%0D", "%0a", "%0d", "%250A", "%250D"] {
        if ahead.literal(encoded)? {
            return Ok(true);
        }
    }
    ahead.eat_if(|c| matches!(c, '\n' | '\r'))
}

/// What a piece of a line is made of.
#[derive(Debug, Default)]
struct Piece {
    visible: usize,
    armour: usize,
    longest_run: usize,
    words: usize,
    header: bool,
    /// It ends in the armour alphabet.
    ends_run: bool,
    /// A run ends in the sign that fills up the last line of base64.
    padded: bool,
}

impl Piece {
    fn is_blank(&self) -> bool {
        self.visible == 0
    }

    fn is_armour(&self) -> bool {
        self.longest_run >= ARMOUR_RUN_CHARS_MIN
            || self.header
            || (self.padded && self.armour == self.visible && self.words <= 2)
            || (self.armour > 0 && self.armour == self.visible && self.words == 1)
    }
}

/// Reads to the end of the line, to dashes, or as far as a piece goes.
fn piece(ahead: &mut Cursor<'_>) -> Result<Piece, Starved> {
    let mut piece = Piece::default();
    for header in ["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "X-"] {
        piece.header |= ahead.clone().literal(header)?;
    }
    let (mut run, mut in_word) = (0, false);
    for _ in 0..PIECE_CHARS_MAX {
        if line_break(&mut ahead.clone())? || ahead.clone().literal("----")? {
            break;
        }
        let Some(c) = ahead.next()? else { break };
        let armour = is_armour(c);
        run = if armour { run + 1 } else { 0 };
        piece.longest_run = piece.longest_run.max(run);
        piece.ends_run = armour;
        piece.padded |= c == '=' && run >= PADDED_RUN_CHARS_MIN;
        // Quotes, commas and signs of concatenation around a line are not part of what it says.
        let quiet = c.is_whitespace()
            || matches!(c, '"' | '\'' | '`' | ',' | '\\' | ';' | '(' | ')' | '.' | '|' | '>');
        let sign = c == '+' && !in_word;
        if quiet || sign {
            in_word = false;
            continue;
        }
        piece.visible += 1;
        piece.armour += usize::from(armour);
        piece.words += usize::from(!in_word);
        in_word = true;
    }
    Ok(piece)
}

#[cfg(test)]
#[path = "key_block_tests.rs"]
mod tests;
