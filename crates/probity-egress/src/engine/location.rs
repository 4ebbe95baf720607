use super::behind::Behind;
use super::cursor::{Cursor, Starved};
use super::swallow::{Swallow, is_line_break};
use super::{Found, Left};
use crate::report::{Confidence, Source};

const SCHEME_CHARS_MAX: usize = 40;
/// How far the closing quote of a quoted path with blanks may be.
const QUOTED_PATH_CHARS_MAX: usize = 300;

/// Finds a URL or an absolute path that starts at the cursor.
pub(super) fn find(first: char, cursor: &Cursor<'_>, behind: &Behind<'_>) -> Result<Option<Found>, Starved> {
    let left = behind.left();
    if let Some(cut) = url(first, cursor, left)? {
        return Ok(Some(location("url", cut, Some(Swallow::Url))));
    }
    let Some(cut) = path(first, cursor, left)? else { return Ok(None) };
    let quoted = left.last.filter(|c| matches!(c, '"' | '\'' | '`'));
    if let Some(mark) = quoted
        && let Some(cut) = to_closing(cursor, mark)?
    {
        return Ok(Some(location("path", cut, None)));
    }
    Ok(Some(location("path", cut, Some(Swallow::Path))))
}

fn location(kind: &'static str, cut: usize, then: Option<Swallow>) -> Found {
    Found { rule: kind, kind, source: Source::Location, confidence: Confidence::High, keep: 0, cut, then }
}

/// The length of a URL's unmistakable beginning: a scheme with `//`, `file:` or `mailto:`, or `www.`.
fn url(first: char, cursor: &Cursor<'_>, left: Left) -> Result<Option<usize>, Starved> {
    let mut ahead = cursor.clone();
    if first == ':' {
        // A scheme that did not begin a word, or was too long to be seen from its start.
        let glued = left.last.is_some_and(char::is_alphanumeric) && ahead.literal("://")?;
        return Ok((glued && begins_host(&ahead)?).then(|| ahead.offset() - cursor.offset()));
    }
    if !first.is_ascii_alphabetic() || left.last.is_some_and(char::is_alphanumeric) {
        return Ok(None);
    }
    let mut scheme = String::new();
    while scheme.len() < SCHEME_CHARS_MAX
        && let Some(c) = ahead.peek()?
        && (c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    {
        scheme.push(c.to_ascii_lowercase());
        ahead.next()?;
    }
    if scheme.starts_with("www.") && scheme.len() > 5 {
        return Ok(Some(ahead.offset() - cursor.offset()));
    }
    if !ahead.eat(':')? {
        return Ok(None);
    }
    if ahead.literal("//")? && begins_host(&ahead)? {
        return Ok(Some(ahead.offset() - cursor.offset()));
    }
    let bare = scheme == "file" && ahead.eat_if(|c| matches!(c, '/' | '\\' | '~'))?
        || scheme == "mailto" && ahead.eat_if(char::is_alphanumeric)?;
    Ok(bare.then(|| ahead.offset() - cursor.offset()))
}

/// Whether a host may begin here: or a share, which a path is removed for, and a marker would look like a host.
fn begins_host(ahead: &Cursor<'_>) -> Result<bool, Starved> {
    match ahead.peek()? {
        Some('\\') => Ok(path('\\', ahead, Left::OPEN)?.is_some()),
        Some(c) if !ends_url(c) => Ok(true),
        // A registered secret may stand in what looks like a control sequence, and its marker like a host.
        _ => Ok(ahead.hidden()? > 0),
    }
}

fn ends_url(c: char) -> bool {
    // A caret may be of a password; what ends the address of a password ends it here, and nothing else.
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '|' | '\\')
}

/// Reads one character of a URL, if it goes on. Punctuation that only the sentence needs stays outside.
pub(super) fn url_char(ahead: &mut Cursor<'_>) -> Result<(), Starved> {
    let mut end = ahead.clone();
    if end.run(4, |c| matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | ')' | ']' | '}'))? > 0
        && end.peek()?.is_none_or(ends_url)
    {
        return Ok(());
    }
    ahead.eat_if(|c| !ends_url(c))?;
    Ok(())
}

/// The length of an absolute path's unmistakable beginning: POSIX, home, Windows drive or share.
fn path(first: char, cursor: &Cursor<'_>, left: Left) -> Result<Option<usize>, Starved> {
    let open = left.last.is_none_or(|c| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '\''
                    | '`'
                    | '('
                    | '['
                    | '{'
                    | '='
                    | ':'
                    | ','
                    | ';'
                    | '|'
                    | '>'
                    | '&'
                    | '@'
                    | '!'
                    | '+'
                    | '#'
            )
    });
    let flag = left.last == Some('-')
        || (left.last.is_some_and(|c| c.is_ascii_uppercase()) && left.before == Some('-'));
    if !open && !flag {
        return Ok(None);
    }
    let mut ahead = cursor.clone();
    ahead.next()?;
    let found = match first {
        '/' => {
            let share = ahead.eat('/')?;
            let named = ahead.run(256, is_name_char)? > 0;
            named && (!share || ahead.eat('/')?)
        }
        '~' => {
            ahead.run(64, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))?;
            ahead.eat('/')? && ahead.eat_if(is_name_char)?
        }
        '\\' => {
            let marks = 1 + ahead.run(8, |c| c == '\\')?;
            marks >= 2
                && ahead.run(64, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '?' | '$'))?
                    > 0
                && ahead.run(4, |c| c == '\\')? > 0
                && ahead.eat_if(is_name_char)?
        }
        c if c.is_ascii_alphabetic() => {
            ahead.eat(':')? && ahead.run(4, |c| matches!(c, '\\' | '/'))? > 0 && ahead.eat_if(is_name_char)?
        }
        _ => false,
    };
    Ok(found.then(|| ahead.offset() - cursor.offset()))
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '~' | '@' | '$' | '%' | '+' | '#' | '*')
}

fn ends_path(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(
            c,
            '"' | '\''
                | '`'
                | '<'
                | '>'
                | '|'
                | '('
                | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | ','
                | ';'
                | ':'
                | '&'
                | '!'
                | '?'
        )
}

/// Reads one character of a path, if it goes on.
pub(super) fn path_char(ahead: &mut Cursor<'_>) -> Result<(), Starved> {
    let mut blank = ahead.clone();
    if blank.literal("\\ ")? {
        *ahead = blank;
        return Ok(());
    }
    let mut end = ahead.clone();
    if end.run(3, |c| c == '.')? > 0 && end.peek()?.is_none_or(ends_path) {
        return Ok(());
    }
    ahead.eat_if(|c| !ends_path(c))?;
    Ok(())
}

/// The length of a quoted path up to its closing quote, when that stands near on the same line.
fn to_closing(cursor: &Cursor<'_>, mark: char) -> Result<Option<usize>, Starved> {
    let mut ahead = cursor.clone();
    for _ in 0..QUOTED_PATH_CHARS_MAX {
        let at = ahead.offset();
        match ahead.next()? {
            Some(c) if c == mark => return Ok(Some(at - cursor.offset())),
            Some(c) if is_line_break(c) => return Ok(None),
            Some(_) => {}
            None => return Ok(None),
        }
    }
    Ok(None)
}
