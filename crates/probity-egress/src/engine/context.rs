//! Values without a shape of their own, by the words before them: `wandb 0f3c…`, `Unseal Key 2: 5bCo…`, `acmeAPI-KEY-…`.
//!
//! A service's name, or a word for a credential, and nothing but such words up to a value that looks drawn. Asked where a
//! digit stands beside a letter or digit. What lost: a rule for each service, with the length and alphabet of its keys;
//! there are thousands of services, and they change their keys more often than their names.

use super::Found;
use super::behind::Behind;
use super::cursor::{Cursor, Starved};
use super::drawn::{Drawn, is_drawn};
use super::placeholder::is_placeholder;
use super::swallow::Swallow;
use crate::report::{Confidence, Source};
use crate::vocabulary::{Mention, mention};

mod bare;

/// How much of a value is looked at.
const VALUE_CHARS_MAX: usize = 200;
/// The least length of a value after a service's name.
const VALUE_CHARS_MIN: usize = 16;
/// The least length of a value after words for credentials alone.
const UNNAMED_CHARS_MIN: usize = 20;
/// Fewer digits alone are a number, of an account or a time.
const NUMBER_CHARS_MIN: usize = 32;
/// Words whose value is a secret when it is tied to them: `…-secret-0f3c…`.
const SECRETS: [&str; 5] = ["secret", "token", "private", "apikey", "password"];
/// How many words are looked at.
const WORDS_MAX: usize = 8;
/// How many words behind a value are looked at, and how many signs may close the value.
const WORDS_BEHIND_MAX: usize = 4;
const CLOSING_CHARS_MAX: usize = 6;
/// The longest word that is looked at.
const WORD_BYTES_MAX: usize = 48;

/// How many beginnings of a value inside a run are tried.
const JOINS_MAX: usize = 10;

/// Finds a value that starts at the cursor with `first`, by the words before it, or one that such words are tied to in
/// one run: then all of the run goes, since which sign ends the words and which begins the value cannot be told.
pub(super) fn find(first: char, cursor: &Cursor<'_>, behind: &Behind<'_>) -> Result<Option<Found>, Starved> {
    let begins_value = begins_value(behind);
    let begins_run = !behind.peek().is_some_and(is_value_char);
    if !(first.is_ascii_alphanumeric() || first == '_') || !(begins_value || begins_run) {
        return Ok(None);
    }
    let Some(run) = Run::read(cursor)? else { return Ok(None) };
    if let Some(found) = bare::find(&run, cursor, behind)? {
        return Ok(Some(found));
    }
    let tied = || begins_run && joins(run.value()).any(|at| run.is_secret(at, behind));
    let enough =
        begins_value && run.is_secret(0, behind) || tied() || begins_run && run.is_named_behind(cursor)?;
    Ok(enough.then(|| Found {
        rule: "context",
        kind: "api-key",
        source: Source::Context,
        confidence: Confidence::Medium,
        keep: 0,
        cut: run.end - cursor.offset(),
        then: (run.text.len() >= VALUE_CHARS_MAX).then_some(Swallow::While(is_value_char)),
    }))
}

/// What stands at a position, as far as a value is written.
#[derive(Debug)]
struct Run {
    text: String,
    /// Behind the last sign that is surely of it, and padding.
    end: usize,
}

impl Run {
    /// Nothing where a marker is in it or directly behind it.
    fn read(cursor: &Cursor<'_>) -> Result<Option<Self>, Starved> {
        let mut ahead = cursor.clone();
        let mut text = String::new();
        let mut end = ahead.offset();
        while text.len() < VALUE_CHARS_MAX
            && let Some(c) = ahead.peek()?
            && is_value_char(c)
        {
            text.push(c);
            ahead.next()?;
            if !matches!(c, '.' | '-') {
                end = ahead.offset();
            }
        }
        // `application|secret`, as one credential.
        if text.len() >= 8 && text.bytes().all(|b| b.is_ascii_digit()) {
            let mut pair = cursor.after(end - cursor.offset());
            if pair.eat('|')? {
                text.push('|');
                while text.len() < VALUE_CHARS_MAX
                    && let Some(c) = pair.peek()?
                    && is_value_char(c)
                {
                    text.push(c);
                    pair.next()?;
                }
                end = pair.offset();
            }
        }
        let mut padding = cursor.after(end - cursor.offset());
        padding.run(2, |c| c == '=')?;
        let end = padding.offset();
        let marked = padding.is_at_marker()? || ahead.is_before_marker()?;
        Ok((!marked).then_some(Self { text, end }))
    }

    fn value(&self) -> &str {
        self.text.trim_end_matches(['.', '-'])
    }

    /// Whether it is surely drawn and a service is named behind it.
    fn is_named_behind(&self, cursor: &Cursor<'_>) -> Result<bool, Starved> {
        let value = self.value();
        let has = |class: fn(&u8) -> bool| value.bytes().any(|b| class(&b));
        let drawn = value.len() >= UNNAMED_CHARS_MIN
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_lowercase)
            && Look::of(value) == Look::SurelyDrawn
            && !is_placeholder(value);
        Ok(drawn && said_behind(cursor.after(self.end - cursor.offset()))?)
    }

    /// Whether what begins at `at` is a secret by the words before it.
    fn is_secret(&self, at: usize, behind: &Behind<'_>) -> bool {
        let (words, value) = self.value().split_at_checked(at).unwrap_or_default();
        let look = Look::of(value);
        if look == Look::Plain || begins_with_word(value) || is_placeholder(value) {
            return false;
        }
        match said_before(Before { words, behind: behind.clone() }) {
            Said::Service => true,
            Said::Word { credential } => credential && look >= Look::Drawn,
            Said::Credential => look == Look::SurelyDrawn && value.len() >= UNNAMED_CHARS_MIN,
            Said::Nothing => false,
        }
    }
}

/// Whether words behind a value on its line name a service: a comment, or a column of a table.
fn said_behind(mut ahead: Cursor<'_>) -> Result<bool, Starved> {
    let mut service = false;
    ahead.run(CLOSING_CHARS_MAX, |c| matches!(c, '"' | '\'' | '`' | ')' | ',' | ';' | ' ' | '\t'))?;
    ahead.run(4, |c| matches!(c, '#' | '/' | '-' | '*' | '<' | '!' | '('))?;
    for _ in 0..WORDS_BEHIND_MAX {
        ahead.run(3, |c| matches!(c, ' ' | '\t' | '-' | '_' | '.' | '\''))?;
        let mut word = String::new();
        while word.len() < WORD_BYTES_MAX
            && let Some(c) = ahead.peek()?
            && c.is_ascii_alphanumeric()
        {
            word.push(c.to_ascii_lowercase());
            ahead.next()?;
        }
        if word.is_empty() {
            break;
        }
        match mention(&word) {
            Mention::Service => service = true,
            Mention::Credential | Mention::Filler | Mention::Word => {}
            Mention::Not | Mention::Unknown => break,
        }
    }
    let ends = ahead.peek()?.is_none_or(|c| matches!(c, '\n' | '\r' | ')' | ',' | '.' | '*' | '|' | ' '));
    Ok(service && ends)
}

/// Where a value may begin inside a run: behind a sign that ties words.
fn joins(run: &str) -> impl Iterator<Item = usize> {
    let last = run.len().saturating_sub(VALUE_CHARS_MIN);
    let is_join = |(_, byte): &(usize, u8)| matches!(byte, b'-' | b'_' | b'.');
    run.bytes()
        .enumerate()
        .filter(is_join)
        .map(|(at, _)| at + 1)
        .take(JOINS_MAX)
        .take_while(move |at| *at <= last)
}

fn is_value_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '/' | '.' | '~')
}

/// Whether a value may begin here: at the start, or behind what ties names to values. Not in a path, an address, a number.
fn begins_value(behind: &Behind<'_>) -> bool {
    behind.peek().is_some_and(|c| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '`' | '=' | ':' | '-' | '_' | '(' | '[' | '{' | '>' | '|' | '*' | ',')
            || c == '.' && !digits_before(behind)
    })
}

/// Whether a digit stands before in the same run: the run is asked about where it begins.
fn digits_before(behind: &Behind<'_>) -> bool {
    let mut behind = behind.clone();
    behind.run(80, |c| c.is_ascii_alphabetic() || matches!(c, '_' | '-' | '.' | '+' | '/' | '~'));
    behind.peek().is_some_and(|c| c.is_ascii_digit())
}

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Look {
    Plain,
    /// Like a hash or an identifier: drawn, but mostly no secret.
    Identifier,
    Drawn,
    SurelyDrawn,
}

impl Look {
    fn of(text: &str) -> Self {
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        if text.len() < VALUE_CHARS_MIN
            || digits == 0
            || text.contains("://")
            || is_path(text)
            || is_constant(text)
        {
            return Self::Plain;
        }
        let groups = text.split('-').count();
        let hex = text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if hex && (groups == 1 && text.len() >= 20 || groups == 5 && text.len() == 36) {
            let number = digits == text.len() && digits < NUMBER_CHARS_MIN;
            return if number { Self::Plain } else { Self::Identifier };
        }
        let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
        // Serial numbers: groups of capitals and digits.
        if plain
            && groups >= 3
            && letters >= 2
            && !text.bytes().any(|b| b.is_ascii_lowercase())
            && digits >= groups
        {
            return Self::Drawn;
        }
        let long_groups = text.split('-').all(|group| group.len() >= 8);
        if plain && groups >= 2 && long_groups && digits >= 6 && !text.bytes().any(|b| b.is_ascii_lowercase())
        {
            return Self::Drawn;
        }
        match is_drawn(text) {
            // Groups as of a UUID, of other lengths.
            Drawn::No if plain && groups >= 4 && digits >= 6 && letters >= 4 => Self::Identifier,
            Drawn::No => Self::Plain,
            Drawn::Maybe => Self::Drawn,
            Drawn::Surely => Self::SurelyDrawn,
        }
    }
}

/// Whether more follows a first piece that is a word: it is asked about behind that.
fn begins_with_word(text: &str) -> bool {
    let Some((piece, _)) = text.split_once(['-', '_', '.']) else { return false };
    let small = piece.bytes().all(|b| b.is_ascii_lowercase());
    piece.len() >= 4 && small && is_drawn(piece) == Drawn::No
}

/// Whether a piece between slashes is a word.
fn is_path(text: &str) -> bool {
    let word = |piece: &str| {
        piece.len() >= 3 && piece.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'-' | b'.'))
    };
    text.contains('/') && text.split('/').any(word)
}

/// `MODE2_FORM1_RAW`: capitals in words that `_` ties, none of them long and drawn.
fn is_constant(text: &str) -> bool {
    let drawn = |piece: &str| piece.len() >= VALUE_CHARS_MIN && is_drawn(piece) == Drawn::Surely;
    text.contains('_') && !text.bytes().any(|b| b.is_ascii_lowercase()) && !text.split('_').any(drawn)
}

/// What the words before a value say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Nothing,
    /// A word for a credential.
    Credential,
    /// A service whose name is also a word, and perhaps a word for a credential.
    Word {
        credential: bool,
    },
    /// A service.
    Service,
}

/// What stands before a value: words of its own run, and the text behind that.
#[derive(Debug, Clone)]
struct Before<'a> {
    words: &'a str,
    behind: Behind<'a>,
}

impl Before<'_> {
    fn peek(&self) -> Option<char> {
        self.words.chars().next_back().or_else(|| self.behind.peek())
    }

    fn next(&mut self) {
        match self.words.char_indices().next_back() {
            Some((at, _)) => self.words = self.words.get(..at).unwrap_or_default(),
            None => drop(self.behind.next()),
        }
    }
}

fn said_before(mut behind: Before<'_>) -> Said {
    let mut credential = false;
    let mut newlines = 0;
    let glue = behind.peek();
    for nth in 0..WORDS_MAX {
        // What ties words together.
        let mut gap = 0;
        let mut broken = false;
        while let Some(c) = behind.peek()
            && !c.is_alphanumeric()
        {
            gap += 1;
            behind.next();
            if c == '\n' {
                newlines += 1;
                broken = !opens_line(&behind.behind);
                // `… private access key` on a line of its own speaks of the next line.
                if newlines > 1 || broken && nth > 0 {
                    return said(credential);
                }
            }
            if gap > 24 || matches!(c, '/' | '@' | '#' | ';' | '?' | '!' | '\\') {
                return said(credential);
            }
        }
        let mut buffer = [0; WORD_BYTES_MAX];
        let Some(word) = word(&mut behind, &mut buffer) else { return said(credential) };
        let mention = mention(word);
        if broken && mention != Mention::Credential {
            return Said::Nothing;
        }
        let tied = nth == 0 && gap == 1 && matches!(glue, Some('-' | '_' | '.'));
        if tied && SECRETS.iter().any(|secret| word.ends_with(secret)) {
            return Said::Service;
        }
        if glue == Some('.') && nth == 0 && mention != Mention::Credential {
            return Said::Nothing;
        }
        match mention {
            Mention::Service => return Said::Service,
            Mention::Word => return Said::Word { credential },
            Mention::Credential => credential = true,
            Mention::Filler => {}
            Mention::Not => return Said::Nothing,
            Mention::Unknown => return said(credential),
        }
    }
    said(credential)
}

fn said(credential: bool) -> Said {
    if credential { Said::Credential } else { Said::Nothing }
}

/// Whether the line before opened something that the next line holds.
fn opens_line(behind: &Behind<'_>) -> bool {
    let mut behind = behind.clone();
    behind.eat_if(|c| c == '\r');
    behind.run(4, |c| c == ' ');
    behind.peek().is_some_and(|c| matches!(c, ':' | '=' | '>' | '(' | '{' | '['))
}

/// The word before, in small letters.
fn word<'a>(behind: &mut Before<'_>, buffer: &'a mut [u8; WORD_BYTES_MAX]) -> Option<&'a str> {
    let mut from = buffer.len();
    while let Some(c) = behind.peek()
        && c.is_ascii_alphanumeric()
    {
        from = from.checked_sub(1)?;
        *buffer.get_mut(from)? = u8::try_from(c.to_ascii_lowercase()).ok()?;
        behind.next();
    }
    std::str::from_utf8(buffer.get(from..)?).ok().filter(|word| !word.is_empty())
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
