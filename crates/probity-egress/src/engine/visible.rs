use std::cell::RefCell;

use super::cursor::Cursor;
use crate::limits::WINDOW_BYTES;
use crate::vocabulary::{Class, Shape, Step};

/// What is visible of a piece of the text, read once for all that is compared with it there.
///
/// Where something invisible stands between the characters, reading them is slow, and each shape that may begin at a
/// position, and at the next, would read the same again. Nothing in it decides: it tells which shapes are surely not there.
#[derive(Debug, Default)]
pub(super) struct Visible(RefCell<Piece>);

/// How many characters are compared at first, and where that settles nothing.
const CHARS: [usize; 2] = [96, 768];
/// What is read before it is forgotten.
const CHARS_MAX: usize = 8 * 1024;
/// So near the end of a window, what is invisible may not be seen whole.
const NEAR_BYTES: usize = 64;
const NOT_ASCII: u8 = u8::MAX;
const KEY_BLOCK: &[u8] = b"-----BEGIN";
/// Of how many classes it is known how far they go.
const RUNS: usize = 16;

/// Why the pieces of a shape are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unread {
    Differs,
    /// They go on beyond what was read, perhaps.
    Ends,
}

impl Visible {
    /// Whether the shape may be at the cursor, which stands before something visible. A no is certain.
    pub(super) fn may_be(&self, shape: &Shape, cursor: &Cursor<'_>) -> bool {
        let Ok(mut piece) = self.0.try_borrow_mut() else { return true };
        let from = piece.at(cursor.offset());
        for chars in CHARS {
            let to = piece.read(cursor, from, chars);
            match piece.steps(shape.steps, from, to) {
                Ok(_) => return true,
                Err(Unread::Differs) => return false,
                Err(Unread::Ends) => {}
            }
        }
        true
    }

    /// The next eight characters at the cursor, which stands before something visible, when each is ASCII.
    pub(super) fn eight(&self, cursor: &Cursor<'_>) -> Option<[u8; 8]> {
        let mut piece = self.0.try_borrow_mut().ok()?;
        let from = piece.at(cursor.offset());
        let to = piece.read(cursor, from, 8);
        let eight = *piece.bytes.get(from..to)?.first_chunk()?;
        eight.is_ascii().then_some(eight)
    }
}

#[derive(Debug, Default)]
struct Piece {
    /// The visible characters; 255 for those that are not ASCII.
    bytes: Vec<u8>,
    /// Where each stands.
    places: Vec<usize>,
    /// Where what was read ends.
    to: usize,
    /// Which of them was asked about last.
    asked: usize,
    /// Stretches of one class each.
    runs: [Run; RUNS],
    /// Which of them is the next to be forgotten.
    oldest: usize,
}

#[derive(Debug, Default, Clone, Copy)]
struct Run {
    /// The class's mask.
    class: u128,
    from: usize,
    to: usize,
}

impl Piece {
    /// Which character stands at a place of the text.
    fn at(&mut self, place: usize) -> usize {
        if self.places.get(self.asked) != Some(&place) {
            self.asked += 1;
        }
        if self.places.get(self.asked) != Some(&place) {
            self.asked = self.places.partition_point(|known| *known < place);
        }
        if self.places.get(self.asked) != Some(&place) || self.asked > CHARS_MAX {
            self.bytes.clear();
            self.places.clear();
            self.runs = [Run::default(); RUNS];
            (self.to, self.asked) = (place, 0);
        }
        self.asked
    }

    /// Reads up to `chars` from the character `from` on, at the cursor, fewer where the input or the cursor's window ends,
    /// and says up to which they go.
    fn read(&mut self, cursor: &Cursor<'_>, from: usize, chars: usize) -> usize {
        let at = cursor.offset();
        let limit = at + WINDOW_BYTES - NEAR_BYTES;
        let raw = cursor.bytes_in_window();
        while self.places.len() < from + chars && self.to < limit {
            // The most common are told by their bytes.
            match raw.get(self.to - at..) {
                Some([byte, ..]) if byte.is_ascii() && *byte != 0x1b => {
                    self.bytes.push(*byte);
                    self.places.push(self.to);
                    self.to += 1;
                    continue;
                }
                Some([0xe2, 0x80, 0x8b..=0x8f, ..]) => {
                    self.to += 3;
                    continue;
                }
                Some(_) | None => {}
            }
            let mut ahead = cursor.after(self.to - at);
            let Ok(hidden) = ahead.hidden() else { break };
            if hidden == 0 {
                let Ok(Some(c)) = ahead.next_raw() else { break };
                self.bytes.push(u8::try_from(c).ok().filter(u8::is_ascii).unwrap_or(NOT_ASCII));
                self.places.push(self.to);
                self.to = ahead.offset();
            } else {
                self.to += hidden;
            }
        }
        let to = self.places.len().min(from + chars);
        if to.checked_sub(1).and_then(|last| self.places.get(last)).is_some_and(|last| *last >= limit) {
            return self.places.partition_point(|place| *place < limit);
        }
        to
    }

    /// Where the pieces of a shape end that begin at `at`, read one by one up to `end`.
    fn steps(&mut self, steps: &[Step], mut at: usize, end: usize) -> Result<usize, Unread> {
        for step in steps {
            match *step {
                Step::Text(wanted) => at = self.text(wanted, at, end)?,
                Step::OneOf(texts) => {
                    let mut read = texts.iter().map(|wanted| self.text(wanted, at, end));
                    at = read.find(|read| *read != Err(Unread::Differs)).unwrap_or(Err(Unread::Differs))?;
                }
                Step::Run { class, min, max } => {
                    let to = self.run(class, at, end.min(at.saturating_add(max)));
                    if to == end && to - at < max
                        || class.contains('-') && self.may_hold_key_block(at, to, end)
                    {
                        return Err(Unread::Ends);
                    }
                    if to - at < min {
                        return Err(Unread::Differs);
                    }
                    at = to;
                }
                Step::Maybe(inner) => match self.steps(inner, at, end) {
                    Ok(to) => at = to,
                    Err(Unread::Differs) => {}
                    Err(Unread::Ends) => return Err(Unread::Ends),
                },
                Step::Begin | Step::End => {}
            }
        }
        Ok(at)
    }

    fn text(&self, wanted: &str, at: usize, end: usize) -> Result<usize, Unread> {
        let rest = self.bytes.get(at..end).unwrap_or_default();
        match rest.strip_prefix(wanted.as_bytes()) {
            Some(_) => Ok(at + wanted.len()),
            None if wanted.as_bytes().starts_with(rest) => Err(Unread::Ends),
            None => Err(Unread::Differs),
        }
    }

    /// Where the characters of a class end that begin at `at`, up to `end`.
    fn run(&mut self, class: Class, at: usize, end: usize) -> usize {
        let known =
            self.runs.iter().position(|run| run.class == class.mask() && (run.from..=run.to).contains(&at));
        let index = known.unwrap_or(self.oldest);
        if known.is_none() {
            self.oldest = (self.oldest + 1) % RUNS;
        }
        let Some(run) = self.runs.get_mut(index) else { return at };
        if known.is_none() {
            *run = Run { class: class.mask(), from: at, to: at };
        }
        let rest = self.bytes.get(run.to..end).unwrap_or_default();
        run.to += rest.iter().take_while(|b| class.contains(char::from(**b))).count();
        run.to.min(end)
    }

    /// Whether the first line of a key block may begin in `at..to`: it would end a run.
    fn may_hold_key_block(&self, at: usize, to: usize, end: usize) -> bool {
        match self.bytes.get(at..to + KEY_BLOCK.len()).filter(|_| to + KEY_BLOCK.len() <= end) {
            Some(near) => memchr::memmem::find(near, KEY_BLOCK).is_some(),
            None => memchr::memchr(b'-', self.bytes.get(at..to).unwrap_or_default()).is_some(),
        }
    }
}

#[cfg(test)]
#[path = "visible_tests.rs"]
mod tests;
