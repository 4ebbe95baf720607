use super::super::behind::Behind;
use super::super::cursor::{Cursor, Starved};
use crate::vocabulary::{Mention, mention};

/// Words whose value is a secret when it is tied to them: `…-secret-0f3c…`.
const SECRETS: [&str; 5] = ["secret", "token", "private", "apikey", "password"];
/// How many words are looked at.
const WORDS_MAX: usize = 8;
/// How many words behind a value are looked at, and how many signs may close the value.
const WORDS_BEHIND_MAX: usize = 4;
const CLOSING_CHARS_MAX: usize = 6;
/// How much of a comment is looked at.
const COMMENT_CHARS_MAX: usize = 120;
/// The longest word that is looked at.
const WORD_BYTES_MAX: usize = 48;

/// What the words before a value say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
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
pub(super) struct Before<'a> {
    pub(super) words: &'a str,
    pub(super) behind: Behind<'a>,
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

pub(super) fn said_before(mut behind: Before<'_>) -> Said {
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
                if broken && gap == 1 && nth == 0 && is_comment_of_secret(&behind.behind) {
                    return Said::Credential;
                }
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

/// Whether the line before is a comment that speaks of a secret: the line below a heading, in a file of secrets. That it is
/// a file's does not make it anything else.
fn is_comment_of_secret(behind: &Behind<'_>) -> bool {
    let text = behind.text(COMMENT_CHARS_MAX);
    let line = text.trim_end_matches('\r').rsplit(['\n', '\r']).next().unwrap_or_default();
    let line = line.trim_start();
    let Some(comment) = line.strip_prefix('#').or_else(|| line.strip_prefix("//")) else { return false };
    let words = || {
        let words = comment.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_ascii_lowercase)
    };
    words().any(|word| SECRETS.contains(&word.as_str()))
        && !words().any(|word| word != "file" && mention(&word) == Mention::Not)
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
    if behind.words.is_empty()
        && let Some(plain) = behind.behind.plain_run(WORD_BYTES_MAX + 1, |b| b.is_ascii_alphanumeric())
    {
        let word = buffer.get_mut(..plain.len())?;
        word.copy_from_slice(plain.as_bytes());
        word.make_ascii_lowercase();
        return std::str::from_utf8(word).ok();
    }
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

/// Whether words behind a value on its line name a service: a comment, or a column of a table.
pub(super) fn said_behind(mut ahead: Cursor<'_>) -> Result<bool, Starved> {
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
