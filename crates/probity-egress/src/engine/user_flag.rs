//! The user flag of `curl` and its kin.

use super::Found;
use super::cursor::{Cursor, Starved};
use super::name::rest_of;
use super::operator::Quote;
use super::placeholder::is_placeholder;
use super::swallow::Swallow;
use super::value;
use crate::report::{Confidence, Source};

/// How much may stand between the flag and the pair.
const BLANKS_MAX: usize = 12;

/// The pair of `-u user:password`, which is one credential, with the quotes around it.
pub(super) fn find(cursor: &Cursor<'_>, mut ahead: Cursor<'_>) -> Result<Option<Found>, Starved> {
    if ahead.run(BLANKS_MAX, |c| matches!(c, ' ' | '\t' | '='))? == 0 {
        return Ok(None);
    }
    let start = ahead.offset();
    let Some(word) = ShellWord::read(&mut ahead)? else { return Ok(None) };
    let text = word.text.as_str();
    let cut = ahead.offset() - start;
    let is_pair = is_user_pair(text, word.quoted) && !word.unsettled;
    Ok(is_pair.then(|| found(start - cursor.offset(), cut, word.then)))
}

/// Whether a word behind the flag is a user and a password: `quoted` when something says where it ends.
pub(crate) fn is_user_pair(text: &str, quoted: bool) -> bool {
    text.split_once(':').is_some_and(|(user, password)| {
        !user.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '['))
            && (!user.is_empty() || quoted)
            && password.len() >= 4
            && !is_placeholder(password)
            && !password.chars().all(|c| c.is_ascii_digit())
            && !value::holds_marker(text)
    })
}

/// The password of `-uuser:password`, whose user was read before.
pub(super) fn glued(cursor: &Cursor<'_>, mut ahead: Cursor<'_>) -> Result<Option<Found>, Starved> {
    ahead.next()?;
    let start = ahead.offset();
    let value = value::read_bare(&mut ahead)?;
    let text = value.text.as_str();
    let plausible = text.len() >= 4
        && !value.is_marked()
        && !is_placeholder(text)
        && !text.starts_with("//")
        && !text.chars().all(|c| c.is_ascii_digit());
    let cut = ahead.offset() - start;
    Ok(plausible.then(|| found(start - cursor.offset(), cut, rest_of(&value))))
}

fn found(keep: usize, cut: usize, then: Option<Swallow>) -> Found {
    Found {
        rule: "user-flag",
        kind: "password",
        source: Source::Structure,
        confidence: Confidence::Medium,
        keep,
        cut,
        then,
    }
}

/// A word as a shell reads it: quotes at its beginning and behind its colon belong to it.
#[derive(Debug)]
struct ShellWord {
    text: String,
    quoted: bool,
    unsettled: bool,
    then: Option<Swallow>,
}

impl ShellWord {
    fn read(ahead: &mut Cursor<'_>) -> Result<Option<Self>, Starved> {
        let mut word = Self { text: String::new(), quoted: false, unsettled: false, then: None };
        let mut bare = value::Bare::default();
        loop {
            if (word.text.is_empty() || word.text.ends_with(':'))
                && let Some(quote) = Quote::open(ahead)?
            {
                word.quoted = true;
                let value = value::read_quoted(ahead, quote)?;
                word.text.push_str(&value.text);
                word.unsettled |= value.unsettled;
                if value.long {
                    word.then = Some(Swallow::Quoted(quote));
                    break;
                }
                if !quote.closes(ahead)? {
                    break;
                }
                ahead.run(8, |c| c == '\\')?;
                ahead.next()?;
                if !(word.text.contains(':') || ahead.peek()? == Some(':')) {
                    return Ok(None);
                }
                continue;
            }
            if word.text.len() >= value::VALUE_CHARS_MAX {
                word.then = Some(Swallow::Bare);
                break;
            }
            match bare.next(ahead)? {
                Some(c) => word.text.push(c),
                None => break,
            }
        }
        word.unsettled |= bare.unsettled || value::cuts_marker(&word.text, ahead)?;
        Ok(Some(word))
    }
}
