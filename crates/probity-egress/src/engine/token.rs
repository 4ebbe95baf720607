use super::Found;
use super::behind::Behind;
use super::cursor::{Cursor, Starved};
use super::drawn::{Drawn, is_camel, is_drawn};
use super::key_block;
use super::plausible::is_sequence;
use super::seen::Seen;
use super::swallow::Swallow;
use crate::report::{Confidence, Source};
use crate::vocabulary::{Class, Glue, Kind, Shape, Step, shapes_from};
use check::Verified;

mod check;

/// With this much of a body, a token whose beginning is unmistakable counts although the input ends inside it.
const OPEN_BODY_CHARS_MIN: usize = 8;
/// How near to its beginning a token is torn.
const TORN_BYTES_MAX: usize = 64;
/// How much of a token is looked at that may be a name.
const NAME_CHARS_MAX: usize = 80;
/// How many signs may stand between the halves of a pair.
const BETWEEN_CHARS_MAX: usize = 8;
/// How much more than the least length of the last piece is looked at.
const LAST_PIECE_CHARS_MORE: usize = 20;

/// Finds a vendor's token that starts at the cursor with `first`. Shapes whose fixed text does not come first are asked
/// where it was seen further on: with `anchored`. `seen` is of the text that the cursor reads as it is written.
pub(super) fn find(
    first: char,
    cursor: &Cursor<'_>,
    behind: &Behind<'_>,
    anchored: bool,
    seen: Option<&Seen>,
) -> Result<Option<Found>, Starved> {
    if !first.is_ascii() {
        return Ok(None);
    }
    let (mut boundary, mut torn) = (None, None);
    let eight = match (cursor.plain_eight(), seen) {
        (None, Some(seen)) if *torn.get_or_insert_with(|| is_torn(cursor, seen)) => {
            seen.visible.eight(cursor)
        }
        (None, _) => cursor.eight(),
        (eight, _) => eight,
    };
    let second = match eight {
        Some([_, second, ..]) => char::from(second),
        None => {
            let mut ahead = cursor.clone();
            ahead.next()?;
            let Some(second) = ahead.next()? else { return Ok(None) };
            second
        }
    };
    for shape in shapes_from(first, second, eight) {
        if !anchored && !shape.begins_fixed() {
            continue;
        }
        let Some(kind) = shape.kind() else { continue };
        if kind.glue == Glue::Refused && !*boundary.get_or_insert_with(|| behind.left().is_boundary())
            || !may_begin(shape, cursor)
        {
            continue;
        }
        if let Some(seen) = seen
            && *torn.get_or_insert_with(|| is_torn(cursor, seen))
            && !seen.visible.may_be(shape, cursor)
        {
            continue;
        }
        if let Some(found) = match_one(kind, shape, cursor)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Whether something invisible, perhaps, is so near that shapes are better compared with what is visible.
fn is_torn(cursor: &Cursor<'_>, seen: &Seen) -> bool {
    let odd = |near: &[u8]| near.iter().position(|b| !b.is_ascii() || *b == 0x1b);
    let near = cursor.bytes_ahead(TORN_BYTES_MAX);
    near.is_some_and(|near| !seen.odd.is_without(cursor.offset(), near, odd))
}

/// Whether the first piece of a shape may be there; a no is certain.
fn may_begin(shape: &Shape, cursor: &Cursor<'_>) -> bool {
    match shape.steps.first() {
        Some(Step::Text(text)) => !cursor.is_not(text),
        Some(Step::OneOf(texts)) => !texts.iter().all(|text| cursor.is_not(text)),
        Some(Step::Run { class, min, .. }) => !cursor.is_shorter(*min, |b| class.contains(char::from(b))),
        Some(Step::Maybe(_) | Step::Begin | Step::End) | None => true,
    }
}

/// The kind of a value that was found otherwise, by its shape.
pub(super) fn shape(cursor: &Cursor<'_>) -> Result<Option<Found>, Starved> {
    let Some(first) = cursor.peek()? else { return Ok(None) };
    find(first, cursor, &Behind::nothing(), true, None)
}

/// What of a token was read, apart from its fixed text.
#[derive(Debug, Default, Clone, Copy)]
struct Body {
    chars: usize,
    digits: usize,
    small: usize,
    /// Characters that differ from the one before them.
    turns: usize,
    /// Small letters after capitals and capitals after small letters.
    case_turns: usize,
    last: Option<char>,
}

impl Body {
    fn run(
        &mut self,
        ahead: &mut Cursor<'_>,
        max: usize,
        class: impl Fn(char) -> bool,
    ) -> Result<usize, Starved> {
        let plain = ahead.take_plain(max, |b| b != b'-' && class(char::from(b)));
        plain.chars().for_each(|c| self.add(c));
        let mut count = plain.len();
        while count < max
            && let Some(c) = ahead.peek()?
            && class(c)
            && !(c == '-' && key_block::is_header(ahead)?)
        {
            ahead.eat(c)?;
            self.add(c);
            count += 1;
            let plain = ahead.take_plain(max - count, |b| b != b'-' && class(char::from(b)));
            plain.chars().for_each(|c| self.add(c));
            count += plain.len();
        }
        self.chars += count;
        Ok(count)
    }

    fn add(&mut self, c: char) {
        self.digits += usize::from(c.is_ascii_digit());
        self.small += usize::from(c.is_ascii_lowercase());
        if let Some(last) = self.last {
            self.turns += usize::from(last != c);
            let letters = last.is_ascii_alphabetic() && c.is_ascii_alphabetic();
            self.case_turns += usize::from(letters && last.is_ascii_lowercase() != c.is_ascii_lowercase());
        }
        self.last = Some(c);
    }

    /// `xxxxxxxx` stands for a token and is none.
    fn is_mask(self) -> bool {
        self.turns * 4 < self.chars
    }

    /// A name in somebody's code has no digit and few humps.
    fn is_name(self) -> bool {
        self.digits == 0 && self.case_turns * 4 < self.chars
    }
}

/// How far a shape agrees with the text.
struct Reading<'a> {
    ahead: Cursor<'a>,
    body: Body,
    /// How the token goes on.
    rest: Option<fn(char) -> bool>,
    /// Where what goes begins and ends, if text before and behind it stays.
    begin: Option<usize>,
    end: Option<usize>,
}

impl Reading<'_> {
    /// Whether the pieces are there; what was read stays read.
    fn steps(&mut self, steps: &'static [Step], is_end: bool) -> Result<bool, Starved> {
        for (index, step) in steps.iter().enumerate() {
            let is_last = is_end && index + 1 == steps.len();
            let matched = match *step {
                Step::Text(text) => {
                    self.rest = None;
                    self.ahead.literal(text)?
                }
                Step::OneOf(texts) => {
                    self.rest = None;
                    self.one_of(texts)?
                }
                Step::Run { class, min, max } => {
                    let max = if is_last { min + LAST_PIECE_CHARS_MORE } else { max };
                    self.rest = (is_last || min != max).then(|| continues(class));
                    self.body.run(&mut self.ahead, max, |c| class.contains(c))? >= min
                }
                Step::Begin => {
                    self.begin = Some(self.ahead.offset());
                    self.body = Body::default();
                    true
                }
                Step::End => {
                    self.end = Some(self.ahead.offset());
                    self.rest = None;
                    true
                }
                Step::Maybe(inner) => {
                    let mut tried = Reading { ahead: self.ahead.clone(), rest: None, ..*self };
                    if tried.steps(inner, is_last)? {
                        (self.ahead, self.body, self.rest) = (tried.ahead, tried.body, tried.rest);
                    }
                    true
                }
            };
            if !matched {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn one_of(&mut self, texts: &[&str]) -> Result<bool, Starved> {
        for text in texts {
            if self.ahead.literal(text)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// What is glued to a token behind its last piece goes with it: a flag or a name would begin there otherwise, and a
/// second pass would find it behind the marker.
fn continues(class: Class) -> fn(char) -> bool {
    let is_open = ['a', 'Z', '0'].into_iter().all(|c| class.contains(c));
    if is_open && !class.goes_beyond_words() { is_word } else { class.has }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn match_one(
    kind: &'static Kind,
    shape: &'static Shape,
    cursor: &Cursor<'_>,
) -> Result<Option<Found>, Starved> {
    let mut reading =
        Reading { ahead: cursor.clone(), body: Body::default(), rest: None, begin: None, end: None };
    let whole = reading.steps(shape.steps, true)?;
    let Reading { ahead, body, rest, begin, end } = reading;
    let open = !whole
        && kind.glue == Glue::Allowed
        && body.chars >= OPEN_BODY_CHARS_MIN
        && body.digits > 0
        && ahead.at_input_end();
    if !whole && !open {
        return Ok(None);
    }
    if body.is_mask() {
        return Ok(None);
    }
    // Letters alone may be a name. Directly before a marker they were judged with what stood in its place.
    if body.digits == 0 && (kind.glue == Glue::Refused || body.small == 0) {
        let judged = ahead.is_at_marker()?;
        if judged || body.is_name() && !is_surely_drawn(cursor, &ahead)? {
            return Ok(None);
        }
    }
    let verified = if whole { check::verify(kind.checks, cursor, ahead.offset())? } else { None };
    let (source, confidence) = match verified {
        Some(Verified::Checksum) => (Source::Checksum, Confidence::Certain),
        Some(Verified::Structure) => (Source::Format, Confidence::Certain),
        None => (Source::Format, if open { Confidence::Low } else { kind.confidence }),
    };
    let (begin, end) = (begin.unwrap_or(cursor.offset()), end.unwrap_or(ahead.offset()));
    let secret = if kind.secret_chars > 0 { secret_half(kind.secret_chars, &ahead)? } else { None };
    Ok(Some(Found {
        rule: kind.id,
        kind: kind.kind,
        source,
        confidence,
        keep: begin - cursor.offset(),
        cut: secret.unwrap_or(end) - begin,
        then: if secret.is_none() { rest.map(Swallow::While) } else { None },
    }))
}

/// Whether the letters of a token without digits are no words.
fn is_surely_drawn(cursor: &Cursor<'_>, end: &Cursor<'_>) -> Result<bool, Starved> {
    let mut ahead = cursor.clone();
    let mut text = String::new();
    while ahead.offset() < end.offset()
        && text.len() < NAME_CHARS_MAX
        && let Some(c) = ahead.next()?
    {
        text.push(c);
    }
    let is_capitals = !text.contains(|c: char| c.is_ascii_lowercase());
    Ok(is_drawn(&text) == Drawn::Surely && !is_sequence(&text) && (is_capitals || !is_camel(&text)))
}

/// The end of the secret half of a pair, if it follows: drawn, exactly so long, behind a few signs that separate.
fn secret_half(len: usize, after: &Cursor<'_>) -> Result<Option<usize>, Starved> {
    let mut ahead = after.clone();
    let between = |c: char| c.is_whitespace() || matches!(c, ':' | ',' | ';' | '|' | '"' | '\'' | '`');
    if ahead.run(BETWEEN_CHARS_MAX, between)? == 0 {
        return Ok(None);
    }
    let mut text = String::new();
    while text.len() < len
        && let Some(c) = ahead.peek()?
        && is_base64(c)
    {
        text.push(c);
        ahead.next()?;
    }
    let ends = !ahead.peek()?.is_some_and(|c| is_base64(c) || is_word(c) || c == '=');
    let mixed =
        text.contains(|c: char| c.is_ascii_uppercase()) && text.contains(|c: char| c.is_ascii_lowercase());
    let found =
        text.len() == len && ends && mixed && is_drawn(&text) >= Drawn::Maybe && !ahead.is_before_marker()?;
    Ok(found.then(|| ahead.offset()))
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/')
}

#[cfg(test)]
#[path = "token_tests.rs"]
mod tests;
