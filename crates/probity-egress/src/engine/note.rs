//! Passwords as people note them down: `ID/PW master/…`, `98.76.54.32 (master/…)`, `pwd of the router is …`.
//!
//! There is no operator to trust here, so the value must be of small letters, capitals and digits at once, as drawn
//! passwords are, and the line before it must speak of a password or of a login. What lost: any drawn word on such a line;
//! code is full of names with numbers.

use std::borrow::Cow;

use super::Found;
use super::behind::Behind;
use super::class::{NOTE, is};
use super::cursor::{Cursor, Starved};
use super::drawn::{Drawn, is_camel, is_drawn};
use super::placeholder::is_placeholder;
use crate::report::{Confidence, Source};
use crate::vocabulary::{Name, Strength, classify_name};

/// The least letters and digits a value begins with.
const VALUE_CHARS_MIN: usize = 8;
/// The longest value; longer ones are for other detectors.
const VALUE_CHARS_MAX: usize = 32;
/// How much of the line before a value is looked at.
const LINE_CHARS_MAX: usize = 120;

/// Finds a noted password that starts at the cursor with `first`.
pub(super) fn find(first: char, cursor: &Cursor<'_>, behind: &Behind<'_>) -> Result<Option<Found>, Starved> {
    let begins = first.is_ascii_alphanumeric()
        && behind.peek().is_some_and(|c| matches!(c, ' ' | '\t' | '(' | ')' | '/' | ':' | ';' | '-'));
    if !begins {
        return Ok(None);
    }
    let mut ahead = cursor.clone();
    let plain = ahead.take_plain(VALUE_CHARS_MAX + 1, |b| is(b, NOTE));
    if plain.len() > VALUE_CHARS_MAX {
        return Ok(None);
    }
    let mut text = Cow::Borrowed(plain);
    while text.len() <= VALUE_CHARS_MAX
        && let Some(c) = ahead.peek()?
        && is_value_char(c)
    {
        text.to_mut().push(c);
        ahead.next()?;
    }
    if !is_mixed(&text) || digits_before(behind) || ahead.is_before_marker()? {
        return Ok(None);
    }
    let end = ahead.offset();
    let Some(after) = After::of(ahead)? else { return Ok(None) };
    let line = Line::before(behind);
    let said = line.names_password(after) || line.names_login(after, &text);
    Ok((said && !is_placeholder(&text)).then(|| Found {
        rule: "note",
        kind: "password",
        source: Source::Context,
        confidence: Confidence::Medium,
        keep: 0,
        cut: end - cursor.offset(),
        then: None,
    }))
}

/// Whether a digit stands before in the same run: the run is asked about where it begins.
fn digits_before(behind: &Behind<'_>) -> bool {
    let mut behind = behind.clone();
    behind.run(80, |c| c.is_ascii_alphabetic() || matches!(c, '_' | '-' | '.' | '+' | '/' | '~'));
    behind.peek().is_some_and(|c| c.is_ascii_digit())
}

fn is_value_char(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '!' | '@' | '#' | '$' | '%' | '^' | '*' | '?' | '+' | '~' | '-' | '_')
}

/// Small letters, capitals and digits, changing as in no word.
fn is_mixed(text: &str) -> bool {
    let (mut small, mut capital) = (false, false);
    for byte in text.bytes() {
        small |= byte.is_ascii_lowercase();
        capital |= byte.is_ascii_uppercase();
    }
    let start = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    start >= VALUE_CHARS_MIN
        && text.len() <= VALUE_CHARS_MAX
        && small
        && capital
        && text.bytes().take(start).any(|b| b.is_ascii_digit())
        && is_drawn(text) >= Drawn::Maybe
        && !is_camel(text)
}

/// What follows a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// The end of its line, perhaps behind brackets.
    LineEnd,
    Bracket,
    Other,
}

impl After {
    fn of(mut ahead: Cursor<'_>) -> Result<Option<Self>, Starved> {
        let bracket = ahead.run(2, |c| matches!(c, ')' | ']'))? > 0;
        ahead.run(4, |c| matches!(c, ' ' | '\t'))?;
        Ok(match ahead.peek()? {
            None | Some('\n' | '\r') => Some(Self::LineEnd),
            Some(_) if bracket => Some(Self::Bracket),
            Some('(' | '[' | '=' | '{' | '.' | ':') => None,
            Some(_) => Some(Self::Other),
        })
    }
}

/// The line before a value, as far as it is looked at.
#[derive(Debug)]
struct Line(String);

impl Line {
    fn before(behind: &Behind<'_>) -> Self {
        let text = behind.text(LINE_CHARS_MAX);
        Self(text.rsplit(['\n', '\r']).next().unwrap_or_default().to_owned())
    }

    /// Whether a word for a password stands right before the value, or anywhere on a line that ends with it.
    fn names_password(&self, after: After) -> bool {
        let line = self.0.as_str();
        let Some((at, word)) = words(line).into_iter().rev().find(|(_, word)| is_password(word)) else {
            return self.names_secret();
        };
        let between = line.get(at + word.len()..).unwrap_or_default();
        if between.contains(['=', '"', '\'', '`', '\\', '<', '$', '+', '*']) {
            return false;
        }
        let near = !between.contains(|c: char| c.is_alphanumeric());
        // `password (master) …`, `password for master: …`, `password is …`.
        let pair = self.user_before().is_some();
        let said = words(between).len() <= 3 && between.ends_with([':', ')']) && !between.contains("://")
            || between.trim_end().ends_with(" is");
        let entity = between.ends_with("&quot;");
        near && !between.is_empty()
            || entity
            || (said || pair) && after != After::Other
            || pair && between.len() <= 24
            || after == After::LineEnd
                && between.ends_with(' ')
                && (between.contains('@') || words(between).len() <= 1)
    }

    /// `secret)…`, `key (secret): …`: a word in brackets right before.
    fn names_secret(&self) -> bool {
        let Some(open) = self.0.trim_end_matches([':', ' ']).strip_suffix(')') else { return false };
        let inside = words(open).pop().map(|(_, word)| word).unwrap_or_default();
        let before = open.rsplit_once('(').map(|(before, _)| before).unwrap_or_default();
        let outside = words(before).pop().map(|(_, word)| word).unwrap_or_default();
        [inside, outside].iter().any(|word| {
            matches!(classify_name(word), Some(Name::Credential(_, strength)) if strength != Strength::Key)
                || word.eq_ignore_ascii_case("token")
        })
    }

    /// The user's name of `name/…` or `name(…` at the end of the line.
    fn user_before(&self) -> Option<&str> {
        let rest = self.0.strip_suffix("//").or_else(|| self.0.strip_suffix(['/', '(']))?;
        let len = rest.bytes().rev().take_while(u8::is_ascii_alphanumeric).count();
        let (before, user) = rest.split_at_checked(rest.len() - len)?;
        let glued = before.ends_with(['/', '.', '_', '%', '=', '"', '\'', '@']);
        (len >= 2 && !glued).then_some(user)
    }

    /// Whether the value is the second of a pair on a line that speaks of a login: of an account, an address, a host.
    fn names_login(&self, after: After, value: &str) -> bool {
        const LOGINS: &[&str] = &[
            "id",
            "login",
            "account",
            "user",
            "username",
            "ssh",
            "scp",
            "sftp",
            "ftp",
            "telnet",
            "계정",
            "아이디",
        ];
        let line = self.0.as_str();
        let login = |word: &str| LOGINS.iter().any(|login| word.eq_ignore_ascii_case(login));
        if line.contains(['=', '"', '\'', '`', '\\', '<', '$']) || line.contains("://") {
            return false;
        }
        if self.user_before().is_some() && after != After::Other {
            let host = line.split([' ', '(', '>', ',']).any(is_host);
            return host || words(line).iter().any(|(_, word)| login(word) || word.starts_with("계정"));
        }
        // `ssh -P …`: a port is a number.
        if line.to_ascii_lowercase().ends_with(" -p ") {
            return words(line).iter().any(|(_, word)| login(word));
        }
        // `login:…` with signs as well: no user is called so.
        let signs = value.contains(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_'));
        line.strip_suffix(':').is_some_and(|rest| words(rest).last().is_some_and(|(_, word)| login(word)))
            && signs
    }
}

/// `user@host`, or four numbers.
fn is_host(word: &str) -> bool {
    let address = word.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.'));
    let is_numbers = |host: &str| {
        host.split('.').count() == 4
            && host
                .split('.')
                .all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
    };
    let numbers = word.split([':', '-']).any(is_numbers);
    address || numbers
}

fn is_password(word: &str) -> bool {
    matches!(classify_name(word), Some(Name::Credential(_, Strength::Password)))
}

/// The words of a line with where they begin.
fn words(line: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(is_word_char) {
        let word = rest.get(at..).unwrap_or_default();
        let len = word.find(|c| !is_word_char(c)).unwrap_or(word.len());
        words.push((line.len() - word.len(), word.get(..len).unwrap_or_default()));
        rest = word.get(len..).unwrap_or_default();
    }
    words
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
#[path = "note_tests.rs"]
mod tests;
