use super::class::is;
use crate::limits::WINDOW_BYTES;

/// The input ended before the question could be answered, and more input may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Starved;

/// A reader over what has arrived, from one position.
///
/// Every decision of the pass reads the input through this type and nothing else. A read past what has arrived fails
/// with [`Starved`] unless the input is known to end there, and no read goes further than [`WINDOW_BYTES`] from where
/// the cursor was opened. So a decision that was reached has not looked at anything that a later chunk could change:
/// that is the whole argument for "any chunking gives the same bytes", and for the bound on what is held back.
///
/// What a reader does not see (colour sequences, zero-width characters) is skipped: matching is done on the visible
/// text, cutting in the original. A cursor that [undoes](Self::undoing) also reads `%3D`, `&#61;` and `\u003d` as the
/// character they stand for; one that [joins](Self::joining) does not see the first line break.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    limit: usize,
    last: bool,
    reads: Reads,
}

/// What else than invisible characters a cursor looks through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    Plainly,
    Undoing,
    Joining,
}

impl Reads {
    /// Whether a byte may be more than itself.
    fn is_special(self, byte: u8) -> bool {
        match self {
            Self::Plainly => false,
            Self::Undoing => matches!(byte, b'%' | b'&' | b'\\'),
            Self::Joining => matches!(byte, b'\n' | b'\r' | b'=' | b'\\'),
        }
    }
}

impl<'a> Cursor<'a> {
    pub(crate) fn open(text: &'a str, at: usize, last: bool) -> Self {
        Self { text, at, limit: at.saturating_add(WINDOW_BYTES), last, reads: Reads::Plainly }
    }

    /// The same, undoing percent, entity and `\u` encoding, nested or not.
    pub(crate) fn undoing(&self) -> Self {
        Self { reads: Reads::Undoing, ..self.clone() }
    }

    /// The same, reading on over one line break as if there were none.
    pub(crate) fn joining(&self) -> Self {
        Self { reads: Reads::Joining, ..self.clone() }
    }

    /// A cursor `len` bytes further, with a window of its own.
    pub(crate) fn after(&self, len: usize) -> Self {
        let at = self.at + len;
        Self { at, limit: at.saturating_add(WINDOW_BYTES), ..self.clone() }
    }

    /// Offset of the next unread byte.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Whether the window ended before the input did.
    pub(crate) fn at_window_end(&self) -> bool {
        self.at >= self.limit
    }

    /// Whether the input ends here for good.
    pub(crate) fn at_input_end(&self) -> bool {
        self.last && self.at >= self.text.len()
    }

    /// The next visible character, or `None` at the end of the input or the window.
    pub(crate) fn next(&mut self) -> Result<Option<char>, Starved> {
        if let Some(c) = self.plain() {
            self.at += 1;
            return Ok(Some(c));
        }
        if let Some(byte) = self.plain_byte() {
            match self.reads {
                Reads::Undoing => {
                    if let Some((c, len)) = super::undo::forward(byte, self)? {
                        self.at += len;
                        return Ok(Some(c));
                    }
                }
                Reads::Joining => {
                    let mut beyond = Self { reads: Reads::Plainly, ..self.clone() };
                    if super::wrap::line_break(&mut beyond)? {
                        *self = beyond;
                        return self.next();
                    }
                }
                Reads::Plainly => {}
            }
            return self.next_raw();
        }
        loop {
            let hidden = self.hidden()?;
            if hidden == 0 {
                return self.next_raw();
            }
            self.at += hidden;
            if let Some(byte) = self.plain_byte() {
                #[cfg(test)]
                READS.with(|reads| reads.set(reads.get() + 1));
                self.at += 1;
                return Ok(Some(char::from(byte)));
            }
        }
    }

    /// The next visible character, left unread.
    pub(crate) fn peek(&self) -> Result<Option<char>, Starved> {
        match self.plain() {
            Some(c) => Ok(Some(c)),
            None => self.clone().next(),
        }
    }

    /// Reads `expected` if it is next.
    pub(crate) fn eat(&mut self, expected: char) -> Result<bool, Starved> {
        self.eat_if(|c| c == expected)
    }

    /// Reads the next character if it is as asked.
    pub(crate) fn eat_if(&mut self, wanted: impl Fn(char) -> bool) -> Result<bool, Starved> {
        if let Some(c) = self.plain() {
            let found = wanted(c);
            self.at += usize::from(found);
            return Ok(found);
        }
        let mut ahead = self.clone();
        let found = ahead.next()?.is_some_and(wanted);
        if found {
            *self = ahead;
        }
        Ok(found)
    }

    /// Reads up to `max` characters that are as asked, and says how many.
    pub(crate) fn run(&mut self, max: usize, wanted: impl Fn(char) -> bool) -> Result<usize, Starved> {
        let mut count = 0;
        loop {
            count += self.take_plain(max - count, |b| wanted(char::from(b))).len();
            if count == max || !self.eat_if(&wanted)? {
                return Ok(count);
            }
            count += 1;
        }
    }

    /// Reads up to `max` characters of the class as far as they are visible ASCII, written as themselves and have arrived;
    /// what stops it is left to be read one by one.
    pub(crate) fn take_plain(&mut self, max: usize, class: impl Fn(u8) -> bool) -> &'a str {
        let from = self.at;
        let end = self.text.len().min(self.limit).min(from.saturating_add(max));
        let rest = self.text.as_bytes().get(from..end).unwrap_or_default();
        let is_own = |b: u8| is_plain(b) && !self.reads.is_special(b);
        let len = rest.iter().take_while(|b| is_own(**b) && class(**b)).count();
        self.at += len;
        #[cfg(test)]
        READS.with(|reads| reads.set(reads.get() + len as u64));
        self.text.get(from..self.at).unwrap_or_default()
    }

    /// Whether it is certain, by the bytes as they are written, that `literal` is not next.
    pub(crate) fn is_not(&self, literal: &str) -> bool {
        let end = self.text.len().min(self.limit);
        let rest = self.text.as_bytes().get(self.at..end).unwrap_or_default();
        for (byte, expected) in rest.iter().zip(literal.as_bytes()) {
            if !is_plain(*byte) || self.reads.is_special(*byte) {
                return false;
            }
            if byte != expected {
                return true;
            }
        }
        false
    }

    /// Whether it reads what is encoded as it is written.
    pub(super) fn reads_plainly(&self) -> bool {
        self.reads == Reads::Plainly
    }

    /// Whether it is certain that fewer than `min` characters of the class are next.
    pub(crate) fn is_shorter(&self, min: usize, class: impl Fn(u8) -> bool) -> bool {
        let end = self.text.len().min(self.limit);
        let mut rest = self.text.as_bytes().get(self.at..end).unwrap_or_default().iter().take(min);
        rest.find(|b| !is_plain(**b) || self.reads.is_special(**b) || !class(**b))
            .is_some_and(|b| is_plain(*b) && !self.reads.is_special(*b))
    }

    /// The next eight characters, when each is visible ASCII and stands for itself.
    pub(crate) fn eight(&self) -> Option<[u8; 8]> {
        if self.reads != Reads::Plainly {
            return None;
        }
        if let Some(eight) = self.plain_eight() {
            return Some(eight);
        }
        // With what takes no room between them.
        let mut rest = self.text.as_bytes().get(self.at..self.text.len().min(self.limit))?;
        let mut eight = [0; 8];
        for byte in &mut eight {
            while let Some(more) = rest.get(zero_width_len(rest)..).filter(|more| more.len() < rest.len()) {
                rest = more;
            }
            let (next, more) = rest.split_first().filter(|(next, _)| is_plain(**next))?;
            (*byte, rest) = (*next, more);
        }
        Some(eight)
    }

    /// The same where nothing invisible stands between them.
    pub(super) fn plain_eight(&self) -> Option<[u8; 8]> {
        let eight = *self.text.as_bytes().get(self.at..)?.first_chunk()?;
        let is_plain =
            self.reads_plainly() && self.at + eight.len() <= self.limit && eight.iter().all(|b| is_plain(*b));
        is_plain.then_some(eight)
    }

    /// Reads characters of the class to the end of `text`, until it is `max` bytes long.
    pub(crate) fn read_into(
        &mut self,
        text: &mut String,
        max: usize,
        class: impl Fn(char) -> bool,
    ) -> Result<(), Starved> {
        while text.len() < max {
            text.push_str(self.take_plain(max - text.len(), |b| class(char::from(b))));
            let mut ahead = self.clone();
            match if text.len() < max { ahead.next()? } else { None } {
                Some(c) if class(c) => text.push(c),
                Some(_) | None => break,
            }
            *self = ahead;
        }
        Ok(())
    }

    /// The next `max` bytes as they are written, when that many have arrived or the input ends before.
    pub(super) fn bytes_ahead(&self, max: usize) -> Option<&'a [u8]> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        rest.get(..max).or_else(|| self.last.then_some(rest))
    }

    /// What has arrived of the window, as it is written.
    pub(super) fn bytes_in_window(&self) -> &'a [u8] {
        let end = self.text.len().min(self.limit);
        self.text.as_bytes().get(self.at..end).unwrap_or_default()
    }

    /// Reads the literal if it is next.
    pub(crate) fn literal(&mut self, literal: &str) -> Result<bool, Starved> {
        if self.reads == Reads::Plainly {
            let expected = literal.as_bytes();
            let end = self.text.len().min(self.limit);
            let rest = self.text.as_bytes().get(self.at..end).unwrap_or_default();
            let len = rest.iter().zip(expected).take_while(|(byte, expected)| byte == expected).count();
            #[cfg(test)]
            READS.with(|reads| reads.set(reads.get() + len as u64 + 1));
            if len == expected.len() {
                self.at += len;
                return Ok(true);
            }
            if rest.get(len).is_some_and(|b| is_plain(*b)) && rest.iter().take(len).all(|b| is_plain(*b)) {
                return Ok(false);
            }
        }
        let mut ahead = self.clone();
        for expected in literal.chars() {
            if !ahead.eat(expected)? {
                return Ok(false);
            }
        }
        *self = ahead;
        Ok(true)
    }

    /// The next character, when it is visible ASCII, written as itself and in the window: nearly always.
    fn plain(&self) -> Option<char> {
        let byte = self.plain_byte()?;
        if self.reads.is_special(byte) {
            return None;
        }
        #[cfg(test)]
        READS.with(|reads| reads.set(reads.get() + 1));
        Some(char::from(byte))
    }

    /// The next byte, when it is a visible character of its own and inside the window.
    fn plain_byte(&self) -> Option<u8> {
        let byte = *self.text.as_bytes().get(self.at)?;
        (is_plain(byte) && self.at < self.limit).then_some(byte)
    }

    /// Whether what is next is no visible ASCII character.
    pub(crate) fn is_at_odd(&self) -> bool {
        self.text.as_bytes().get(self.at).is_some_and(|b| !is_plain(*b))
    }

    /// Whether a marker is next: what stood in its place has been dealt with, and what is before it was judged with it.
    pub(crate) fn is_at_marker(&self) -> Result<bool, Starved> {
        Ok(self.marker()?.is_some())
    }

    /// Length of the marker that is next. The beginning of one is none: what follows it may be removed yet.
    pub(crate) fn marker(&self) -> Result<Option<usize>, Starved> {
        let mut ahead = self.clone();
        if !ahead.literal("[REDACTED:")? {
            return Ok(None);
        }
        let name = ahead.run(40, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')?;
        let closed = name > 0 && ahead.eat(']')?;
        Ok(closed.then(|| ahead.offset() - self.offset()))
    }

    /// Whether a marker stands for the value of what is before: behind blanks, an operator and a quote.
    pub(crate) fn is_before_marker(&self) -> Result<bool, Starved> {
        let mut ahead = self.clone();
        ahead.run(24, |c| matches!(c, ' ' | '\t' | '=' | ':' | '>' | '"' | '\'' | '`' | '\\'))?;
        ahead.is_at_marker()
    }

    /// Whether an encoded character may follow on the next one, and on up to `blanks` that are blanks like it.
    pub(crate) fn is_encoded_next(&self, blanks: usize) -> Result<bool, Starved> {
        let mut ahead = self.clone();
        ahead.next()?;
        ahead.run(blanks - 1, |c| matches!(c, ' ' | '\t' | '\u{a0}'))?;
        Ok(ahead.peek()?.is_some_and(|c| matches!(c, '%' | '&' | '\\')))
    }

    /// Whether a digit is near in what is of the class, as it is written: by one some values are found, and by nothing else.
    pub(super) fn has_digit_near(&self, class: u8) -> Result<bool, Starved> {
        let near = self.bytes_ahead(DIGIT_BYTES_MAX).ok_or(Starved)?;
        Ok(near.iter().take_while(|b| is(**b, class)).any(u8::is_ascii_digit))
    }

    /// The same, or something invisible is so near that everybody is asked here.
    pub(super) fn has_digit_or_hidden_near(&self, class: u8) -> Result<bool, Starved> {
        let near = self.bytes_ahead(HIDDEN_BYTES_MAX).ok_or(Starved)?;
        let end = near.iter().find(|b| !is(**b, class));
        Ok(end.is_some_and(|b| !is_plain(*b)) || self.has_digit_near(class)?)
    }

    /// The next character, visible or not, never undone.
    pub(super) fn next_raw(&mut self) -> Result<Option<char>, Starved> {
        #[cfg(test)]
        READS.with(|reads| reads.set(reads.get() + 1));
        if let Some(byte) = self.text.as_bytes().get(self.at)
            && byte.is_ascii()
            && self.at < self.limit
        {
            self.at += 1;
            return Ok(Some(char::from(*byte)));
        }
        if self.at_window_end() {
            return Ok(None);
        }
        let Some(c) = self.text.get(self.at..).and_then(|rest| rest.chars().next()) else {
            return if self.last { Ok(None) } else { Err(Starved) };
        };
        self.at += c.len_utf8();
        Ok(Some(c))
    }

    /// Reads the literal, of ASCII, if it is next as it is written.
    pub(super) fn raw_literal(&mut self, literal: &str) -> Result<bool, Starved> {
        let end = self.text.len().min(self.limit);
        let rest = self.text.as_bytes().get(self.at..end).unwrap_or_default();
        let len = rest.iter().zip(literal.as_bytes()).take_while(|(byte, expected)| byte == expected).count();
        #[cfg(test)]
        READS.with(|reads| reads.set(reads.get() + len as u64 + 1));
        if len == literal.len() {
            self.at += len;
            return Ok(true);
        }
        let may_follow = len == rest.len() && end < self.limit && !self.last;
        if may_follow { Err(Starved) } else { Ok(false) }
    }

    /// Length of the invisible unit that starts here, 0 when what follows is visible.
    pub(crate) fn hidden(&self) -> Result<usize, Starved> {
        let byte = self.text.as_bytes().get(self.at);
        match byte {
            _ if self.at_window_end() => Ok(0),
            None if self.last => Ok(0),
            None => Err(Starved),
            Some(0x1b) => {
                let end = self.text.len().min(self.limit);
                let arrived = self.text.as_bytes().get(self.at..end).unwrap_or_default();
                if let Some(len) = control_sequence(arrived) {
                    return Ok(len);
                }
                let mut ahead = self.clone();
                ahead.next_raw()?;
                ahead.control_sequence(self.at)
            }
            Some(byte) if byte.is_ascii() => Ok(0),
            // The most common are told by their bytes.
            Some(0xe2) if self.text.as_bytes().get(self.at + 1) == Some(&0x80) => {
                let third = self.text.as_bytes().get(self.at + 2);
                Ok(if matches!(third, Some(0x8b..=0x8f | 0xaa..=0xae)) { 3 } else { 0 })
            }
            Some(_) => Ok(zero_width_len(self.text.as_bytes().get(self.at..).unwrap_or_default())),
        }
    }

    /// Whether what follows is a marker behind its bracket, all of it visible.
    fn goes_on_as_marker(&self) -> Result<bool, Starved> {
        let mut ahead = self.clone();
        for expected in "REDACTED:".chars() {
            if ahead.next_raw()? != Some(expected) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Length of the control sequence whose ESC stands at `start`, 0 when it is none.
    ///
    /// Operating-system commands are not looked through: they carry text (a title, a link) that must itself be read.
    fn control_sequence(&mut self, start: usize) -> Result<usize, Starved> {
        if self.next_raw()? != Some('[') {
            return Ok(0);
        }
        // A marker behind what could be a control sequence is a marker.
        if self.goes_on_as_marker()? {
            return Ok(0);
        }
        for _ in 0..CSI_CHARS_MAX {
            match self.next_raw()? {
                Some('\u{20}'..='\u{3f}') => {}
                Some('[') if self.goes_on_as_marker()? => return Ok(0),
                Some('\u{40}'..='\u{7e}') => return Ok(self.at - start),
                Some(_) | None => return Ok(0),
            }
        }
        Ok(0)
    }
}

/// Length of the control sequence that `bytes` begin with, 0 when it is none. `None` when they end before that is known.
pub(super) fn control_sequence(bytes: &[u8]) -> Option<usize> {
    if *bytes.get(1)? != b'[' || goes_on_as_marker(bytes.get(2..)?)? {
        return Some(0);
    }
    for (at, byte) in bytes.iter().enumerate().skip(2).take(CSI_CHARS_MAX) {
        match byte {
            0x20..=0x3f => {}
            b'[' if goes_on_as_marker(bytes.get(at + 1..)?)? => return Some(0),
            0x40..=0x7e => return Some(at + 1),
            _ => return Some(0),
        }
    }
    (bytes.len() >= CSI_CHARS_MAX + 2).then_some(0)
}

/// Whether `bytes` begin as a marker does behind its bracket. `None` when they end before that is known.
fn goes_on_as_marker(bytes: &[u8]) -> Option<bool> {
    const NAME: &[u8] = b"REDACTED:";
    let same = bytes.iter().zip(NAME).take_while(|(byte, expected)| byte == expected).count();
    if same == NAME.len() {
        return Some(true);
    }
    bytes.get(same).map(|_| false)
}

/// Whether a byte is a visible character of its own.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii() && byte != 0x1b
}

/// How far a value may go before its first digit, where it is found by one.
pub(super) const DIGIT_BYTES_MAX: usize = 64;

/// How far what begins here may go before what is invisible makes it worth asking about.
pub(super) const HIDDEN_BYTES_MAX: usize = 32;

/// Parameter characters of one control sequence.
pub(super) const CSI_CHARS_MAX: usize = 48;

/// The length of the character without room that `rest` begins with; 0 where it begins with another, or ends in its middle.
#[inline]
pub(super) fn zero_width_len(rest: &[u8]) -> usize {
    if rest.first().is_none_or(u8::is_ascii) { 0 } else { beyond_ascii_len(rest) }
}

fn beyond_ascii_len(rest: &[u8]) -> usize {
    let len = match rest {
        // The most common are told by their bytes, as are those of two, which are few, and most that are none.
        [0xe2, 0x80, 0x8b..=0x8f, ..] => return 3,
        [0xc2, 0xad, ..] | [0xcd, 0x8f, ..] | [0xd8, 0x9c, ..] => return 2,
        [0xc0..=0xdf, ..] => return 0,
        [0xe1..=0xe3 | 0xef, ..] => 3,
        [0xe0..=0xef, ..] => return 0,
        [0xf0..=0xff, ..] => 4,
        _ => return 0,
    };
    let c = rest.get(..len).and_then(|c| std::str::from_utf8(c).ok()).and_then(|c| c.chars().next());
    if c.is_some_and(is_zero_width) { len } else { 0 }
}

/// Characters that take no room on a screen, or only change direction.
pub(crate) fn is_zero_width(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
thread_local! {
    static READS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
#[path = "cursor_tests.rs"]
mod tests;

/// How many characters cursors of this thread have looked at.
#[cfg(test)]
pub(super) fn reads() -> u64 {
    READS.with(std::cell::Cell::get)
}
