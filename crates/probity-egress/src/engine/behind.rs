use std::borrow::Cow;

use super::Left;
use super::cursor::is_zero_width;
use super::undo;

/// How many bytes before a position may be read.
///
/// So many bytes of what is settled are kept, so what stands before a position is the same however the text was cut.
pub(super) const BEHIND_BYTES_MAX: usize = 256;

/// How long a control sequence may be.
const CONTROL_BYTES_MAX: usize = super::cursor::CSI_CHARS_MAX + 3;
/// How much is looked at at once.
const PLAIN_BYTES: usize = 45;
const NEAR_BYTES: usize = 4;

/// A reader over the visible text before a position, backwards.
///
/// It does not go beyond the floor: the end of the last thing that was removed, or of a marker. What stood there is not
/// there for a second pass, so nothing may depend on it.
#[derive(Debug, Clone)]
pub(super) struct Behind<'a> {
    text: &'a str,
    at: usize,
    floor: usize,
    undo: bool,
    /// From here to where it was opened, every byte is a visible character of its own.
    plain: usize,
    /// The character before `plain`, where something invisible is near: everybody asks about it first.
    first: Option<char>,
    /// How far it is to the beginning of that one.
    first_len: u8,
}

impl<'a> Behind<'a> {
    pub(super) fn open(text: &'a str, at: usize, floor: usize) -> Self {
        let mut floor = floor.max(at.saturating_sub(BEHIND_BYTES_MAX));
        while !text.is_char_boundary(floor) {
            floor += 1;
        }
        let mut behind = Self { text, at, floor, undo: false, plain: at, first: None, first_len: 0 };
        if !behind.is_plain_before() {
            let mut ahead = behind.clone();
            let first = ahead.next_beyond_hidden().or_else(|| ahead.next());
            if let Ok(len) = u8::try_from(at - ahead.at) {
                (behind.first, behind.first_len) = (first, len);
            }
        }
        behind
    }

    /// The character before the most common of what is invisible, where that is told by their bytes.
    fn next_beyond_hidden(&mut self) -> Option<char> {
        let mut before = self.text.as_bytes().get(self.floor..self.at)?;
        while let [rest @ .., 0xe2, 0x80, 0x8b..=0x8f] = before {
            before = rest;
        }
        let (last, rest) = before.split_last()?;
        let may_end_control = matches!(last, 0x40..0x7f) && matches!(rest.last(), Some(0x20..=0x3f | b'['));
        if !last.is_ascii() || may_end_control {
            return None;
        }
        self.at = self.floor + rest.len();
        Some(char::from(*last))
    }

    /// What stands before the beginning of everything.
    pub(super) fn nothing() -> Self {
        Self { text: "", at: 0, floor: 0, undo: false, plain: 0, first: None, first_len: 0 }
    }

    /// The same, undoing encodings as [`super::cursor::Cursor::undoing`] does.
    pub(super) fn undoing(&self) -> Self {
        Self { undo: true, ..self.clone() }
    }

    /// The visible character before what was read.
    pub(super) fn next(&mut self) -> Option<char> {
        loop {
            if self.at <= self.floor {
                return None;
            }
            if !self.undo {
                if self.at > self.plain {
                    self.at -= 1;
                    return self.text.as_bytes().get(self.at).copied().map(char::from);
                }
                if self.at == self.plain && self.first.is_some() {
                    self.at -= usize::from(self.first_len);
                    return self.first;
                }
                if self.is_plain_before() {
                    continue;
                }
            }
            let before = self.text.get(self.floor..self.at)?;
            let last = *before.as_bytes().last()?;
            if last.is_ascii() && !(0x40..0x7f).contains(&last) && !(self.undo && last == b';') {
                if self.undo
                    && last.is_ascii_digit()
                    && let Some((c, len)) = undo::backward(before)
                {
                    self.at -= len;
                    return Some(c);
                }
                self.at -= 1;
                return Some(char::from(last));
            }
            // The most common of what is invisible.
            if matches!(before.as_bytes(), [.., 0xe2, 0x80, 0x8b..=0x8f]) {
                self.at -= 3;
                continue;
            }
            let hidden = hidden_before(before);
            if hidden == 0 {
                if self.undo
                    && let Some((c, len)) = undo::backward(before)
                {
                    self.at -= len;
                    return Some(c);
                }
                let c = before.chars().next_back()?;
                self.at -= c.len_utf8();
                return Some(c);
            }
            self.at -= hidden;
        }
    }

    /// Looks at a piece of what stands before, and says whether the next byte is a visible character of its own: none that
    /// may end a control sequence.
    fn is_plain_before(&mut self) -> bool {
        let from = self.at.saturating_sub(PLAIN_BYTES + CONTROL_BYTES_MAX).max(self.floor);
        let piece = self.text.as_bytes().get(from..self.at).unwrap_or_default();
        // Where there is something invisible, it mostly is near.
        if piece.last_chunk::<NEAR_BYTES>().is_some_and(|near| !near.is_ascii()) {
            return false;
        }
        if piece.iter().fold(false, |any, b| any | (!b.is_ascii() | (*b == 0x1b))) {
            return false;
        }
        self.plain = if from == self.floor { from } else { from + CONTROL_BYTES_MAX };
        self.first = None;
        self.at > self.plain
    }

    /// Reads the word before as far as it is plain: ASCII letters, digits, `_`, `-` and `also`, at most `max` of them, and
    /// nothing hidden or encoded near. `None` leaves it to be read character by character.
    pub(super) fn plain_word(&mut self, max: usize, also: u8) -> Option<&'a str> {
        self.plain_run(max, |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-') || b == also)
    }

    /// The same for another class of visible bytes.
    pub(super) fn plain_run(&mut self, max: usize, class: impl Fn(u8) -> bool) -> Option<&'a str> {
        let bytes = self.text.as_bytes().get(self.floor..self.at)?;
        let len = bytes.iter().rev().take(max).take_while(|b| class(**b)).count();
        let stop = bytes.len().checked_sub(len + 1).and_then(|at| bytes.get(at));
        if len == 0
            || stop.is_some_and(|b| !b.is_ascii() || matches!(b, b'[' | b';' | b'?' | b'%' | b'&' | b'\\'))
            || may_be_parameter(bytes.get(..bytes.len() - len).unwrap_or_default())
        {
            return None;
        }
        let from = self.at - len;
        let word = self.text.get(from..self.at)?;
        self.at = from;
        Some(word)
    }

    /// The last characters before, at most `max`.
    pub(super) fn text(&self, max: usize) -> Cow<'a, str> {
        let from = self.at.saturating_sub(max).max(self.floor);
        if !self.undo && from >= self.plain && self.at >= from {
            return Cow::Borrowed(self.text.get(from..self.at).unwrap_or_default());
        }
        let near = self.text.as_bytes().get(from.saturating_sub(CONTROL_BYTES_MAX)..self.at);
        let hides = |b: &[u8]| b.iter().fold(false, |any, b| any | (!b.is_ascii() | (*b == 0x1b)));
        if !self.undo && near.is_some_and(|near| !hides(near)) {
            return Cow::Borrowed(self.text.get(from..self.at).unwrap_or_default());
        }
        let mut behind = self.clone();
        let mut chars = Vec::new();
        while chars.len() < max
            && let Some(c) = behind.next()
        {
            chars.push(c);
        }
        Cow::Owned(chars.into_iter().rev().collect())
    }

    /// Whether the text begins here.
    pub(super) fn is_at_beginning(&self) -> bool {
        self.at == 0
    }

    /// Whether something was removed directly before.
    pub(super) fn is_at_removal(&self) -> bool {
        self.at > 0 && self.at == self.floor
    }

    /// The character before what was read, left unread.
    pub(super) fn peek(&self) -> Option<char> {
        self.clone().next()
    }

    /// Reads the character before if it is as asked.
    pub(super) fn eat_if(&mut self, wanted: impl Fn(char) -> bool) -> bool {
        let mut ahead = self.clone();
        let found = ahead.next().is_some_and(wanted);
        if found {
            *self = ahead;
        }
        found
    }

    /// Reads up to `max` characters that are as asked, and says how many.
    pub(super) fn run(&mut self, max: usize, wanted: impl Fn(char) -> bool) -> usize {
        let mut count = 0;
        while count < max && self.eat_if(&wanted) {
            count += 1;
        }
        count
    }

    /// Whether an encoded character may stand near before the position.
    pub(super) fn is_encoded_near(&self) -> bool {
        const NEAR_BYTES: usize = 24;
        let from = self.at.saturating_sub(NEAR_BYTES).max(self.floor);
        let near = self.text.as_bytes().get(from..self.at).unwrap_or_default();
        near.iter().any(|b| matches!(b, b'%' | b'&'))
    }

    /// What stands directly to the left: open where nothing does, after something invisible, and after an escape, whose
    /// letters are none.
    pub(super) fn left(&self) -> Left {
        let Some(before) = self.text.get(self.floor..self.at).filter(|before| !before.is_empty()) else {
            return Left::OPEN;
        };
        if hidden_before(before) > 0 || ends_in_escape(before) {
            return Left::OPEN;
        }
        let mut behind = Self { undo: false, ..self.clone() };
        Left { last: behind.next(), before: behind.next() }
    }
}

/// Whether what ends with `bytes` may be the parameters of a control sequence.
fn may_be_parameter(bytes: &[u8]) -> bool {
    let parameters =
        bytes.iter().rev().take(CONTROL_BYTES_MAX).take_while(|b| matches!(b, 0x20..=0x3f)).count();
    bytes.len().checked_sub(parameters).and_then(|at| bytes.get(..at)).is_some_and(|b| b.ends_with(b"\x1b["))
}

/// Length of the invisible unit that ends where `before` does.
fn hidden_before(before: &str) -> usize {
    let Some(last) = before.as_bytes().last() else { return 0 };
    if !last.is_ascii() {
        return before.chars().next_back().filter(|c| is_zero_width(*c)).map_or(0, char::len_utf8);
    }
    let c = char::from(*last);
    if !matches!(c, '\u{40}'..='\u{7e}') {
        return 0;
    }
    // Parameters, a bracket, ESC: read backwards from the final byte.
    let bytes = before.as_bytes();
    let mut at = bytes.len() - 1;
    for _ in 0..=super::cursor::CSI_CHARS_MAX {
        let Some(previous) = at.checked_sub(1) else { return 0 };
        at = previous;
        match bytes.get(at) {
            Some(0x20..=0x3f) => {}
            Some(b'[') => {
                let escape = at.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&0x1b);
                return if escape { bytes.len() + 1 - at } else { 0 };
            }
            Some(_) | None => return 0,
        }
    }
    0
}

/// Whether the last character belongs to an escape: `\n`, `%22`, `\u0022`.
fn ends_in_escape(before: &str) -> bool {
    let mut chars = before.chars().rev();
    let (last, second) = (chars.next(), chars.next());
    if second == Some('\\') && matches!(last, Some('n' | 'r' | 't' | 'b' | 'f' | '0')) {
        return true;
    }
    last.is_some_and(|c| c.is_ascii_hexdigit()) && undo::backward(before).is_some()
}

#[cfg(test)]
#[path = "behind_tests.rs"]
mod tests;
