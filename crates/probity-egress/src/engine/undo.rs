//! Encodings of single characters: percent, HTML entity, `\u`, each nested as often as programs nest them.
//!
//! Forwards for a [`Cursor`], backwards for what stands before a position. Only ASCII is undone: what names, operators and
//! quotes are written with.

use super::cursor::{Cursor, Starved};

/// How many times an encoding may have been applied to its own escape character.
const NESTING_MAX: usize = 4;
/// The longest encoded character: `&amp;amp;amp;amp;quot;` and its kin.
pub(super) const ENCODED_BYTES_MAX: usize = 32;

/// The entities of characters that matter, with what they stand for.
const ENTITIES: &[(&str, char)] = &[
    ("quot;", '"'),
    ("apos;", '\''),
    ("lt;", '<'),
    ("gt;", '>'),
    ("amp;", '&'),
    ("equals;", '='),
    ("colon;", ':'),
    ("nbsp;", ' '),
    ("lowbar;", '_'),
    ("sol;", '/'),
    ("plus;", '+'),
    ("commat;", '@'),
];

/// The character that is encoded at the cursor, which stands before `first`, and the length of its encoding.
pub(super) fn forward(first: u8, cursor: &Cursor<'_>) -> Result<Option<(char, usize)>, Starved> {
    let mut ahead = cursor.clone();
    let c = match first {
        b'%' => percent(&mut ahead)?,
        b'&' => entity(&mut ahead)?,
        b'\\' => unicode(&mut ahead)?,
        _ => None,
    };
    Ok(c.map(|c| (c, ahead.offset() - cursor.offset())))
}

fn percent(ahead: &mut Cursor<'_>) -> Result<Option<char>, Starved> {
    ahead.next_raw()?;
    for _ in 0..NESTING_MAX {
        let mut nested = ahead.clone();
        if nested.next_raw()? == Some('2') && nested.next_raw()? == Some('5') {
            let mut inner = nested.clone();
            if hex(&mut inner)?.is_some() {
                *ahead = nested;
                continue;
            }
        }
        break;
    }
    let (Some(high), Some(low)) = (hex(ahead)?, hex(ahead)?) else { return Ok(None) };
    Ok(ascii(high * 16 + low))
}

fn entity(ahead: &mut Cursor<'_>) -> Result<Option<char>, Starved> {
    ahead.next_raw()?;
    for _ in 0..NESTING_MAX {
        let mut nested = ahead.clone();
        if !nested.raw_literal("amp;")? {
            break;
        }
        // `&amp;` before anything that is no entity's name stands for itself.
        let more = nested.clone().next_raw()?.is_some_and(|c| c == '#' || c.is_ascii_lowercase());
        if !more {
            break;
        }
        let mut inner = nested.clone();
        if entity_end(&mut inner)?.is_none() {
            break;
        }
        *ahead = nested;
    }
    entity_end(ahead)
}

/// Reads what follows an entity's `&`.
fn entity_end(ahead: &mut Cursor<'_>) -> Result<Option<char>, Starved> {
    let mut number = ahead.clone();
    let first = number.next_raw()?;
    if first == Some('#') {
        let mut value = 0_u32;
        let mut digits = 0;
        let mut radix = 10;
        while digits < 7 {
            let mut next = number.clone();
            let Some(c) = next.next_raw()? else { return Ok(None) };
            if digits == 0 && radix == 10 && matches!(c, 'x' | 'X') {
                radix = 16;
            } else if let Some(digit) = c.to_digit(radix) {
                value = value * radix + digit;
                digits += 1;
            } else if c == ';' && digits > 0 {
                *ahead = next;
                return Ok(ascii(value));
            } else {
                return Ok(None);
            }
            number = next;
        }
        return Ok(None);
    }
    // Most names are told apart by their first letter.
    for (name, c) in ENTITIES.iter().filter(|(name, _)| first.is_some_and(|first| name.starts_with(first))) {
        if ahead.raw_literal(name)? {
            return Ok(Some(*c));
        }
    }
    Ok(None)
}

fn unicode(ahead: &mut Cursor<'_>) -> Result<Option<char>, Starved> {
    let mut backslashes = 0;
    loop {
        let mut next = ahead.clone();
        match next.next_raw()? {
            Some('\\') if backslashes < 1 << NESTING_MAX => backslashes += 1,
            Some('u') if backslashes > 0 => {
                *ahead = next;
                break;
            }
            Some(_) | None => return Ok(None),
        }
        *ahead = next;
    }
    let mut value = 0;
    for _ in 0..4 {
        let Some(digit) = hex(ahead)? else { return Ok(None) };
        value = value * 16 + digit;
    }
    Ok(ascii(value))
}

fn hex(ahead: &mut Cursor<'_>) -> Result<Option<u32>, Starved> {
    Ok(ahead.next_raw()?.and_then(|c| c.to_digit(16)))
}

/// Printable ASCII, blanks and line ends; anything else stays as it is written.
fn ascii(value: u32) -> Option<char> {
    char::from_u32(value).filter(|c| c.is_ascii_graphic() || matches!(c, ' ' | '\t' | '\n' | '\r'))
}

/// The character whose encoding ends where `before` does, and the length of its encoding.
pub(super) fn backward(before: &str) -> Option<(char, usize)> {
    let bytes = before.as_bytes();
    let last = *bytes.last()?;
    if last == b';' {
        let from = bytes.len().saturating_sub(ENCODED_BYTES_MAX);
        let at = bytes.get(from..)?.iter().rposition(|b| *b == b'&')? + from;
        return whole(before, at);
    }
    if !last.is_ascii_hexdigit() {
        return None;
    }
    let percent = bytes.len().checked_sub(3)?;
    if bytes.get(percent) == Some(&b'%') {
        return whole(before, percent);
    }
    // `%253D`: the sign stands before one or more `25`.
    let mut at = percent + 1;
    while let Some(earlier) = at.checked_sub(2)
        && bytes.get(earlier..at) == Some(b"25")
    {
        at = earlier;
        if let Some(sign) = at.checked_sub(1)
            && bytes.get(sign) == Some(&b'%')
        {
            return whole(before, sign);
        }
    }
    let unicode = bytes.len().checked_sub(6)?;
    if bytes.get(unicode..unicode + 2) == Some(b"\\u") {
        let escape = bytes.get(..=unicode)?.iter().rev().take_while(|b| **b == b'\\').count();
        return whole(before, unicode + 1 - escape);
    }
    None
}

/// The encoded character from `at` on, when its encoding ends with the text.
fn whole(before: &str, at: usize) -> Option<(char, usize)> {
    let cursor = Cursor::open(before, at, true);
    let (c, len) = forward(*before.as_bytes().get(at)?, &cursor).ok().flatten()?;
    (at + len == before.len()).then_some((c, len))
}
