use std::sync::OnceLock;

use super::cursor::{Cursor, Starved};
use super::swallow::Swallow;
use super::{Found, Left};
use crate::report::{Confidence, Source};
use crate::vocabulary::{Glue, Part, TOKENS, Token};

/// How long a piece in the middle of a token may be.
const PIECE_CHARS_MAX: usize = 600;
/// With this much of a body, a token whose beginning is unmistakable counts although the input ends inside it.
const OPEN_BODY_CHARS_MIN: usize = 8;
/// How much more than the least length of the last piece is looked at.
const LAST_PIECE_CHARS_MORE: usize = 20;

/// Finds a vendor's token that starts at the cursor with `first`.
pub(super) fn find(first: char, cursor: &Cursor<'_>, left: Left) -> Result<Option<Found>, Starved> {
    let candidates = starting_with(first);
    if candidates.is_empty() {
        return Ok(None);
    }
    let mut ahead = cursor.clone();
    ahead.next()?;
    let second = ahead.next()?;
    for token in candidates {
        // Most positions are settled by the second character.
        if token.second().is_some_and(|expected| second != Some(expected)) {
            continue;
        }
        if token.glue == Glue::Refused && !left.is_boundary() {
            continue;
        }
        if let Some(found) = match_one(token, cursor)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The table by first character, made once.
fn starting_with(first: char) -> &'static [&'static Token] {
    static BY_FIRST: OnceLock<Vec<Vec<&'static Token>>> = OnceLock::new();
    let by_first = BY_FIRST.get_or_init(|| {
        let starts = |c: char| TOKENS.iter().filter(move |token| token.starts_with(c)).collect();
        (0..128_u8).map(|byte| starts(char::from(byte))).collect()
    });
    u32::from(first).try_into().ok().and_then(|at: usize| by_first.get(at)).map_or(&[], Vec::as_slice)
}

/// What of a token was read, apart from its fixed text.
#[derive(Debug, Default)]
struct Body {
    chars: usize,
    digits: usize,
    /// Characters that differ from the one before them.
    turns: usize,
    last: Option<char>,
}

impl Body {
    fn run(&mut self, ahead: &mut Cursor<'_>, max: usize, class: fn(char) -> bool) -> Result<usize, Starved> {
        let mut count = 0;
        while count < max
            && let Some(c) = ahead.peek()?
            && class(c)
        {
            ahead.next()?;
            count += 1;
            self.digits += usize::from(c.is_ascii_digit());
            self.turns += usize::from(self.last.is_some_and(|last| last != c));
            self.last = Some(c);
        }
        self.chars += count;
        Ok(count)
    }

    /// `xxxxxxxx` stands for a token and is none.
    fn is_mask(&self) -> bool {
        self.turns * 4 < self.chars
    }
}

fn match_one(token: &'static Token, cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    let mut ahead = cursor.clone();
    let mut body = Body::default();
    let mut rest: Option<fn(char) -> bool> = None;
    let mut open = false;
    for (index, part) in token.parts.iter().enumerate() {
        let matched = match *part {
            Part::Text(text) => {
                rest = None;
                ahead.literal(text)?
            }
            Part::Run(class, min) => {
                let is_last = index + 1 == token.parts.len();
                let max = if is_last { min + LAST_PIECE_CHARS_MORE } else { PIECE_CHARS_MAX };
                rest = Some(class);
                body.run(&mut ahead, max, class)? >= min
            }
            Part::Exactly(class, count) => body.run(&mut ahead, count, class)? == count,
        };
        if !matched {
            open = token.glue == Glue::Allowed
                && body.chars >= OPEN_BODY_CHARS_MIN
                && body.digits > 0
                && ahead.at_input_end();
            if !open {
                return Ok(None);
            }
            break;
        }
    }
    // A short beginning before letters alone is a name in somebody's code.
    if body.is_mask() || (token.glue == Glue::Refused && body.digits == 0) {
        return Ok(None);
    }
    Ok(Some(Found {
        rule: token.kind,
        kind: token.kind,
        source: Source::Format,
        confidence: if open { Confidence::Low } else { Confidence::High },
        keep: 0,
        cut: ahead.offset() - cursor.offset(),
        then: rest.map(Swallow::While),
    }))
}
