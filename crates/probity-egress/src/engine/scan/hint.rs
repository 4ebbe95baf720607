//! Cheap questions about the bytes around a mark. A no is certain; a yes means that a detector is to be asked.
//!
//! Whatever is not plain ASCII, or may belong to something encoded or invisible, is a yes. So is the end of what has
//! arrived. Nothing here knows what was removed before, so a word that begins with what was removed is longer here than
//! for the detector: what is asked of a word must stay true when the word grows at its beginning.

use super::super::class::{BARE, BETWEEN, FIELD, NAME, NOTE, PLAIN, RUN, is};
use super::super::cursor::CSI_CHARS_MAX;
use super::super::password_hash::{ID_BYTES_MAX, is_id};
use crate::limits::WINDOW_BYTES;
use crate::vocabulary::LettersBackwards;

/// How much may stand between a name and its value.
const BETWEEN_BYTES_MAX: usize = 160;
/// How much of a name is looked at.
const NAME_BYTES_MAX: usize = 96;
/// How long most authorities are, with their paths.
const AUTHORITY_BYTES: usize = 64;
/// How long a field of a password file is.
const FIELD_BYTES_MAX: usize = 64;
/// How far the closing quote of what is compared may be.
const QUOTED_BYTES_MAX: usize = 410;
/// The least length of what may be a noted password, of a value by the words before it, and of what is encoded.
const NOTE_BYTES_MIN: usize = 8;
const VALUE_BYTES_MIN: usize = 16;
const ENCODED_BYTES_MIN: usize = 24;
const BARE_BYTES_MIN: usize = 12;
const NOTE_BYTES_MAX: usize = 32;

/// What was walked over before, so that nobody walks over it again.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// Bytes that stand between names and values, all of them.
    between: (usize, usize),
    /// Up to where a control sequence may go that began before.
    control_to: usize,
}

impl Walked {
    /// Takes note of a control sequence that may begin at `at`, or anywhere before.
    pub(super) fn control(&mut self, at: usize) {
        self.control_to = at + CSI_CHARS_MAX + 3;
    }

    /// Whether the byte at `at` may be of a control sequence: its bracket, a parameter, or the letter that ends it.
    fn may_end_control(&self, bytes: &[u8], at: usize) -> bool {
        if at >= self.control_to {
            return false;
        }
        let to = if bytes.get(at).is_some_and(|b| matches!(b, 0x20..=0x3f | b'[')) { at + 1 } else { at };
        let before = bytes.get(..to).unwrap_or_default();
        let parameters = before.iter().rev().take(CSI_CHARS_MAX).take_while(|b| matches!(b, 0x20..=0x3f));
        let bracket = to - parameters.count();
        before.get(..bracket).is_some_and(|before| before.ends_with(b"\x1b["))
    }

    /// Whether no control sequence that began before may go as far as `at`.
    pub(super) fn is_behind_controls(&self, at: usize) -> bool {
        at >= self.control_to
    }
}

/// Whether the `=` or `:` at `at` may tie a name to a secret, or begin an authority.
pub(super) fn may_assign(bytes: &[u8], at: usize, walked: &mut Walked) -> bool {
    if bytes.get(at) == Some(&b':') {
        match bytes.get(at + 1..at + 3) {
            None => return true,
            Some(b"//") => {
                if may_have_user(bytes.get(at + 3..).unwrap_or_default()) {
                    return true;
                }
            }
            Some([next, _]) if !is_plain(*next) => return true,
            Some(_) => {
                if may_end_user(bytes, at, walked) {
                    return true;
                }
            }
        }
    }
    may_be_named(bytes, at, walked)
}

/// Whether `len` letters and digits may stand at `at`: or something invisible or encoded, or the end of a line that a token
/// goes on over.
pub(super) fn may_go_on(bytes: &[u8], at: usize, len: usize) -> bool {
    let mut behind = bytes.get(at..).unwrap_or_default().iter().take(len);
    behind
        .find(|b| !b.is_ascii_alphanumeric())
        .is_none_or(|b| !is_plain(*b) || matches!(b, b'\n' | b'\r' | b'\\' | b'=' | b'%' | b'&'))
}

/// Whether `rest`, which stands behind a `%`, encodes what ties names and values, once or more often.
pub(super) fn may_be_operator(mut rest: &[u8]) -> bool {
    while let [b'2', b'5', digit, ..] = rest
        && digit.is_ascii_hexdigit()
    {
        rest = rest.get(2..).unwrap_or_default();
    }
    match rest.first_chunk() {
        Some([b'0', low]) => *low == b'9',
        Some([b'2', low]) => matches!(low, b'0' | b'c' | b'C'),
        Some([b'3', low]) => matches!(low, b'a' | b'A' | b'd' | b'D' | b'e' | b'E'),
        Some(_) => false,
        None => true,
    }
}

/// Whether an `@` may stand in the authority that `rest` begins with.
fn may_have_user(rest: &[u8]) -> bool {
    let ends = |b: &u8| {
        b.is_ascii_whitespace()
            || matches!(b, b'@' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'|')
            || !is_plain(*b)
    };
    match rest.iter().take(AUTHORITY_BYTES).find(|b| ends(b)) {
        Some(end) => *end == b'@' || !is_plain(*end),
        None => rest.get(..WINDOW_BYTES).is_none_or(|window| memchr::memchr(b'@', window).is_some()),
    }
}

/// Whether the colon at `at` may be the fourth of a password file's line: `…5432:database:user:`.
fn may_end_user(bytes: &[u8], at: usize, walked: &Walked) -> bool {
    let mut end = at;
    for _ in 0..2 {
        let before = bytes.get(..end).unwrap_or_default();
        let len = before.iter().rev().take(FIELD_BYTES_MAX).take_while(|b| is(**b, FIELD)).count();
        match before.len().checked_sub(len + 1).and_then(|at| before.get(at)) {
            Some(b':') if len > 0 => end -= len + 1,
            Some(b) if !is_plain(*b) => return true,
            Some(_) => return walked.may_end_control(bytes, before.len() - len - 1),
            None => return false,
        }
    }
    end.checked_sub(1)
        .and_then(|at| bytes.get(at))
        .is_some_and(|b| b.is_ascii_digit() || *b == b'*' || !is_plain(*b))
}

/// Whether the comma at `at`, behind a quote, may stand between a name and its value.
pub(super) fn may_be_in_list(bytes: &[u8], at: usize, walked: &mut Walked) -> bool {
    let mut rest = bytes.get(at + 1..).unwrap_or_default().iter().take(20);
    let blank = |b: &&u8| matches!(**b, b' ' | b'\t' | b'\\');
    let mut next = rest.find(|b| !blank(b));
    // A kind of string, `b"…"`, or `\u0022`.
    if next.is_some_and(|b| is_prefix(*b)) {
        next = rest.next();
    }
    let quoted = next.is_none_or(|b| is_quote(*b) || !is_plain(*b) || matches!(b, b'%' | b'&' | b'0'));
    quoted && may_be_named(bytes, at, walked)
}

/// Whether a flag's name may begin so, behind its last dash.
pub(super) fn may_begin_flag(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | 0x1b | 0x80..)
}

/// Whether what follows a flag's name at `at` may be its value.
pub(super) fn may_follow_flag(bytes: &[u8], at: usize, walked: &mut Walked) -> bool {
    bytes.get(at).is_some_and(|b| matches!(b, b' ' | b'\t') || !is_plain(*b))
        && may_be_named(bytes, at, walked)
}

/// Whether a word may end directly before the blanks that begin at `at`, and stand before a secret.
pub(super) fn may_be_said(bytes: &[u8], at: usize, walked: &mut Walked) -> bool {
    let before = at.checked_sub(1).and_then(|at| bytes.get(at));
    before.is_some_and(|b| !b.is_ascii_whitespace() && *b != b':') && may_be_named(bytes, at, walked)
}

/// Whether a quoted flag that ends before `end` is one of a user.
pub(super) fn is_user_flag(bytes: &[u8], end: usize) -> bool {
    let before = bytes.get(..end).unwrap_or_default();
    [&b"-u"[..], b"-U", b"-user"].iter().any(|flag| before.ends_with(flag))
}

/// Whether a tag's name may end before the `>` at `at`: not before an arrow with a blank in front.
pub(super) fn may_end_tag(bytes: &[u8], at: usize) -> bool {
    let ends = |b: &u8| is(*b, NAME) || matches!(b, b' ' | b'\t' | b']' | b';') || !is_plain(*b);
    match bytes.get(..at) {
        // A sign that is encoded ends with `;`.
        Some([.., before, b'-']) => is(*before, NAME) || *before == b';' || !is_plain(*before),
        Some([.., before]) => ends(before),
        Some([]) | None => false,
    }
}

/// Whether what stands around `start..end`, a short run, may be a value that follows a blank. Such a value is longer.
pub(super) fn may_be_bare(bytes: &[u8], start: usize, end: usize) -> bool {
    let of_value = |b: &u8| is(*b, BARE) || *b == b'=';
    let before = bytes.get(..start).unwrap_or_default().iter().rev();
    let behind = bytes.get(end..).unwrap_or_default().iter();
    let around = before.take(BARE_BYTES_MIN).take_while(|b| of_value(b)).count()
        + behind.take(BARE_BYTES_MIN).take_while(|b| of_value(b)).count();
    end - start + around >= BARE_BYTES_MIN
}

/// Whether the `$` at `at` may begin `$id$`. What is invisible there is marked by itself.
pub(super) fn may_be_hash(bytes: &[u8], at: usize) -> bool {
    let id = bytes.get(at + 1..).unwrap_or_default().iter().take(ID_BYTES_MAX);
    let len = id.take_while(|b| is_id(char::from(**b))).count();
    len > 0 && bytes.get(at + 1 + len).is_none_or(|b| *b == b'$')
}

/// Whether the bracket or blank at `at`, before a quote, may stand before a secret.
pub(super) fn may_be_argument(bytes: &[u8], at: usize, walked: &mut Walked) -> bool {
    let blank = bytes.get(at) != Some(&b'(');
    let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or_default();
    // After a colon the colon itself is asked.
    if blank && before == b':' {
        return false;
    }
    may_be_named(bytes, at, walked) || !(blank && before == b',') && may_be_compared(bytes, at + 1)
}

/// Whether the `>` at `at` stands behind an attribute and a blank.
pub(super) fn may_end_attribute(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).unwrap_or_default().trim_ascii_end();
    before.len() < at && before.last().is_some_and(|b| is_quote(*b) || !is_plain(*b))
}

/// Whether a name that says something may stand before `at`, behind blanks, signs and quotes.
pub(super) fn may_be_named(bytes: &[u8], at: usize, walked: &mut Walked) -> bool {
    let byte = |at: usize| at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
    let mut end = at;
    while byte(end).is_some_and(|b| is(b, BETWEEN)) && at - end <= BETWEEN_BYTES_MAX {
        let (from, to) = walked.between;
        end = if end == to && from < to { from } else { end - 1 };
    }
    walked.between = (end, at);
    if at - end > BETWEEN_BYTES_MAX {
        return false;
    }
    let from = end.saturating_sub(NAME_BYTES_MAX);
    let mut word = Word::default();
    for (at, byte) in (from..end).zip(bytes.get(from..end).unwrap_or_default()).rev() {
        if !is(*byte, NAME) {
            // What is encoded or invisible may be of a name, `\u0022`; `name['key'] =`.
            return !byte.is_ascii()
                || walked.may_end_control(bytes, at)
                || matches!(byte, b'%' | b'&' | b';')
                || *byte == b']' && word.first == 0
                || *byte == b'\\' && word.first == b'u'
                || word.says(*byte, bytes.get(..end).unwrap_or_default());
        }
        if word.add(*byte) {
            return true;
        }
    }
    word.says(b' ', bytes.get(..end).unwrap_or_default())
}

/// A word that is read backwards.
#[derive(Debug, Default)]
struct Word {
    first: u8,
    len: usize,
    letters: LettersBackwards,
}

impl Word {
    /// Takes the byte before, and says whether the word says something with it.
    fn add(&mut self, byte: u8) -> bool {
        let flag = byte == b'-' && matches!(self.first, b'u' | b'U');
        self.first = byte;
        self.len += 1;
        flag || self.letters.add(byte)
    }

    /// Whether the whole word says something, which stands at the end of `bytes` and behind `before`: its first letters, or
    /// that it is of the words that do with others beside them. These are the names of a key's members, types behind names,
    /// and the second of a pair's.
    fn says(&self, before: u8, bytes: &[u8]) -> bool {
        let ends = |with: &[u8]| ends_with(bytes, with);
        self.letters.begin()
            || match bytes.last().map(u8::to_ascii_lowercase) {
                Some(b'e') => ends(b"value"),
                Some(b't') => ends(b"content") || ends(b"default") || ends(b"text"),
                Some(b'g') => ends(b"string"),
                Some(b'r') => ends(b"str"),
                Some(b'a') => ends(b"data"),
                Some(b'y') => ends(b"by"),
                Some(b'd' | b'p' | b'q' | b'k' | b'i') => self.len <= 2 && is_quote(before),
                _ => false,
            }
    }
}

fn ends_with(word: &[u8], end: &[u8]) -> bool {
    word.len()
        .checked_sub(end.len())
        .and_then(|at| word.get(at..))
        .is_some_and(|last| last.eq_ignore_ascii_case(end))
}

/// Whether what is quoted at `at` may be compared with a name behind it: `"…" == name`.
fn may_be_compared(bytes: &[u8], at: usize) -> bool {
    let Some(mark) = bytes.get(at).filter(|b| is_quote(**b)) else { return true };
    let rest = bytes.get(at + 1..).unwrap_or_default();
    for (offset, byte) in rest.iter().enumerate().take(QUOTED_BYTES_MAX) {
        if byte == mark {
            let mut after = rest.get(offset + 1..).unwrap_or_default().iter().take(24);
            let sign = after.find(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b'\\'));
            return sign.is_none_or(|b| matches!(b, b'=' | b'!') || !is_plain(*b));
        }
        if *byte == b'\\' || !is_plain(*byte) {
            return true;
        }
        if matches!(byte, b'\n' | b'\r') {
            return false;
        }
    }
    rest.len() < QUOTED_BYTES_MAX
}

/// Whether what was removed before may begin again at `at`, in a run with a digit.
pub(super) fn may_be_learned(bytes: &[u8], at: usize) -> bool {
    let beginning = bytes.get(at..at + NOTE_BYTES_MIN);
    beginning.is_none_or(|beginning| beginning.iter().all(|b| is(*b, RUN)))
}

/// Whether a value that is found by its look and the words before it may begin at `at`, in a run with a digit.
pub(super) fn may_be_value(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
    let rest = bytes.get(at..).unwrap_or_default();
    let len = rest.iter().take(VALUE_BYTES_MIN).take_while(|b| is(**b, RUN)).count();
    if len < NOTE_BYTES_MIN {
        return rest.len() < VALUE_BYTES_MIN;
    }
    if len >= VALUE_BYTES_MIN {
        return true;
    }
    // `application|secret`.
    if rest.get(len) == Some(&b'|') {
        return true;
    }
    let encoded = rest.iter().take(ENCODED_BYTES_MIN).take_while(|b| is(**b, RUN) || **b == b'=').count();
    if encoded >= ENCODED_BYTES_MIN.min(rest.len()) {
        return true;
    }
    // A noted password.
    let tied = before
        .is_some_and(|b| matches!(b, b' ' | b'\t' | b'(' | b')' | b'/' | b':' | b';' | b'-') || !is_plain(b));
    let (mut small, mut capital, mut digit) = (false, false, false);
    for byte in rest.iter().take(NOTE_BYTES_MAX).take_while(|b| is(**b, NOTE) || !is_plain(**b)) {
        if !is_plain(*byte) {
            return true;
        }
        small |= byte.is_ascii_lowercase();
        capital |= byte.is_ascii_uppercase();
        digit |= byte.is_ascii_digit();
    }
    tied && small && capital && digit
}

/// Whether a byte may be of a token, or of what is invisible inside one.
pub(super) fn may_be_of_token(byte: u8) -> bool {
    byte.is_ascii_graphic() && !is_quote(byte) || !is_plain(byte)
}

/// Whether a kind of string may begin so.
pub(super) fn is_prefix(byte: u8) -> bool {
    b"brfuL@".contains(&byte)
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

pub(super) fn is_plain(byte: u8) -> bool {
    is(byte, PLAIN)
}
