//! Lines of a password file: `host:port:database:user:password`, as `.pgpass` has them.

use super::Found;
use super::behind::Behind;
use super::cursor::{Cursor, Starved};
use super::drawn::{Drawn, is_drawn};
use super::placeholder::is_placeholder;
use super::swallow::is_line_break;
use crate::report::{Confidence, Source};

const FIELD_CHARS_MAX: usize = 64;
const PASSWORD_CHARS_MIN: usize = 4;
const PASSWORD_CHARS_MAX: usize = 128;

/// Finds the password whose colon, the fourth of a line, is at the cursor.
pub(super) fn find(cursor: &Cursor<'_>, behind: &Behind<'_>) -> Result<Option<Found>, Starved> {
    let mut ahead = cursor.clone();
    ahead.next()?;
    if ahead.peek()?.is_none_or(|c| c.is_whitespace() || matches!(c, '"' | '/' | ':')) {
        return Ok(None);
    }
    let mut before = behind.clone();
    let user = field(&mut before, is_name);
    let database = user.is_some_and(|name| !name.is_number) && before.eat_if(|c| c == ':');
    if !database || field(&mut before, is_name).is_none() || !before.eat_if(|c| c == ':') {
        return Ok(None);
    }
    let Some(port) = field(&mut before, |c| c.is_ascii_digit() || c == '*') else { return Ok(None) };
    let is_port = port.is_any || (4..=5).contains(&port.chars);
    if !is_port || !before.eat_if(|c| c == ':') {
        return Ok(None);
    }
    let Some(host) = field(&mut before, is_host) else { return Ok(None) };
    before.run(FIELD_CHARS_MAX, |c| matches!(c, ' ' | '\t' | '+' | '>'));
    if !before.peek().is_none_or(|c| is_line_break(c) || matches!(c, '"' | '\'' | '`'))
        || before.is_at_removal()
    {
        return Ok(None);
    }
    let start = ahead.offset();
    let mut password = String::new();
    while password.len() < PASSWORD_CHARS_MAX
        && let Some(c) = ahead.peek()?.filter(|c| !(c.is_whitespace() || matches!(c, '"' | '\'' | '`')))
    {
        password.push(c);
        ahead.next()?;
    }
    let ends = ahead.peek()?.is_none_or(|c| is_line_break(c) || matches!(c, '"' | '\'' | '`'));
    // Whether the line can be of nothing else, or else the password of no word.
    let usual = host.is_any && port.is_any || port.chars == 4 && port.first == '5';
    let mixed = password.bytes().any(|b| b.is_ascii_digit()) || is_drawn(&password) >= Drawn::Maybe;
    let said = password.len() >= PASSWORD_CHARS_MIN && (usual || host.has_dot && mixed);
    if !ends || !said || password.contains("[REDACTED:") || is_placeholder(&password) {
        return Ok(None);
    }
    Ok(Some(Found {
        rule: "password-file",
        kind: "password",
        source: Source::Structure,
        confidence: Confidence::Medium,
        keep: start - cursor.offset(),
        cut: ahead.offset() - start,
        then: None,
    }))
}

/// A field of a line, read backwards.
#[derive(Debug, Clone, Copy)]
struct Field {
    chars: usize,
    first: char,
    is_number: bool,
    /// `*`, which stands for any.
    is_any: bool,
    has_dot: bool,
}

fn field(before: &mut Behind<'_>, class: fn(char) -> bool) -> Option<Field> {
    let mut field = Field { chars: 0, first: '*', is_number: true, is_any: false, has_dot: false };
    while field.chars < FIELD_CHARS_MAX
        && let Some(c) = before.peek().filter(|c| class(*c))
    {
        field.chars += 1;
        field.first = c;
        field.is_number &= c.is_ascii_digit();
        field.is_any |= c == '*';
        field.has_dot |= c == '.';
        before.next();
    }
    (field.chars > 0 && (!field.is_any || field.chars == 1)).then_some(field)
}

pub(super) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | '*')
}

fn is_host(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '*')
}

#[cfg(test)]
#[path = "password_file_tests.rs"]
mod tests;
