use std::sync::OnceLock;

use super::Found;
use super::behind::Behind;
use super::cursor::{Cursor, Starved};
use super::swallow::Swallow;
use crate::report::{Confidence, Source};
use crate::vocabulary::{Glue, Part, TOKENS, Token};

/// How long a piece in the middle of a token may be.
const PIECE_CHARS_MAX: usize = 600;
/// With this much of a body, a token whose beginning is unmistakable counts although the input ends inside it.
const OPEN_BODY_CHARS_MIN: usize = 8;
/// How much more than the least length of the last piece is looked at.
const LAST_PIECE_CHARS_MORE: usize = 20;

/// Finds a vendor's token that starts at the cursor with `first`. Kinds whose fixed text does not come first are asked
/// where it was seen further on: with `anchored`.
pub(super) fn find(
    first: char,
    cursor: &Cursor<'_>,
    behind: &Behind<'_>,
    anchored: bool,
) -> Result<Option<Found>, Starved> {
    let table = Table::get();
    if table.begins(first) {
        let mut ahead = cursor.clone();
        ahead.next()?;
        for token in ahead.next()?.map_or(&[][..], |second| table.starting_with(first, second)) {
            if let Some(found) = at_left(token, cursor, behind)? {
                return Ok(Some(found));
            }
        }
    }
    if anchored {
        for token in table.classes.iter().filter(|token| token.starts_with(first)) {
            if let Some(found) = at_left(token, cursor, behind)? {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// The kind of a value that was found otherwise, by its shape.
pub(super) fn shape(cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    let Some(first) = cursor.peek()? else { return Ok(None) };
    find(first, cursor, &Behind::nothing(), true)
}

fn at_left(
    token: &'static Token,
    cursor: &Cursor<'_>,
    behind: &Behind<'_>,
) -> Result<Option<Found>, Starved> {
    if token.glue == Glue::Refused && !behind.left().is_boundary() {
        return Ok(None);
    }
    match_one(token, cursor)
}

/// The kinds by their first two characters, made once.
#[derive(Debug)]
struct Table {
    firsts: [bool; 128],
    /// For each pair its place in `lists`; the first list is empty.
    pairs: Vec<u16>,
    lists: Vec<Vec<&'static Token>>,
    /// Kinds that begin with any of a class.
    classes: Vec<&'static Token>,
}

impl Table {
    fn get() -> &'static Self {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| {
            let mut table = Self {
                firsts: [false; 128],
                pairs: vec![0; 1 << 14],
                lists: vec![Vec::new()],
                classes: Vec::new(),
            };
            for token in TOKENS {
                match token.parts.first() {
                    Some(Part::Text(text)) => table.add(text, token),
                    Some(Part::Run(..) | Part::Exactly(..)) | None => table.classes.push(token),
                }
            }
            table
        })
    }

    fn add(&mut self, text: &str, token: &'static Token) {
        let Some([first, second]) = text.as_bytes().first_chunk() else {
            self.classes.push(token);
            return;
        };
        if let Some(begins) = self.firsts.get_mut(usize::from(*first)) {
            *begins = true;
        }
        let Some(place) = self.pairs.get_mut(usize::from(*first) << 7 | usize::from(*second)) else { return };
        if *place == 0 {
            *place = u16::try_from(self.lists.len()).unwrap_or_default();
            self.lists.push(Vec::new());
        }
        if let Some(list) = self.lists.get_mut(usize::from(*place)) {
            list.push(token);
        }
    }

    fn begins(&self, first: char) -> bool {
        self.firsts.get(first as usize).copied().unwrap_or_default()
    }

    fn starting_with(&self, first: char, second: char) -> &[&'static Token] {
        if !first.is_ascii() || !second.is_ascii() {
            return &[];
        }
        let place = self.pairs.get((first as usize) << 7 | second as usize).copied().unwrap_or_default();
        self.lists.get(usize::from(place)).map_or(&[], Vec::as_slice)
    }
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
