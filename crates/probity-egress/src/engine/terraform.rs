//! Values that Terraform says are secret: outputs marked as sensitive, the default of a variable with a credential's name.

use super::Found;
use super::behind::Behind;
use super::beside;
use super::cursor::{Cursor, Starved};
use super::operator::{Operator, Quote};
use super::placeholder::is_placeholder;
use super::plausible;
use super::swallow::Swallow;
use super::value;
use crate::report::{Confidence, Source};
use crate::vocabulary::{Name, Strength, classify_name};

/// How far from a value it may be said to be sensitive.
const MARK_CHARS_MAX: usize = 160;

/// Finds the value whose colon or equals sign is at the cursor, behind `word`.
pub(super) fn find(cursor: &Cursor<'_>, behind: &Behind<'_>, word: &str) -> Result<Option<Found>, Starved> {
    if !matches!(word, "value" | "default") {
        return Ok(None);
    }
    let mut ahead = cursor.clone();
    ahead.next()?;
    ahead.run(BLANKS_MAX, |c| matches!(c, ' ' | '\t'))?;
    let Some(quote) = Quote::open(&mut ahead)? else { return Ok(None) };
    let start = ahead.offset();
    let value = value::read_quoted(&mut ahead, quote)?;
    let text = value.text.as_str();
    let kind = if word == "default" {
        let before = beside::text_before(behind);
        match variable(&before) {
            Some((kind, strength)) if plausible::is_secret(&value, strength, Operator::Equals, "default") => {
                kind
            }
            Some(_) | None => return Ok(None),
        }
    } else {
        // Whatever it looks like: somebody said so.
        let known = value.is_marked() || text.is_empty() || is_placeholder(text);
        if known || !(sensitive_before(behind) || sensitive_behind(&ahead, quote)?) {
            return Ok(None);
        }
        "secret"
    };
    Ok(Some(Found {
        rule: "terraform",
        kind,
        source: Source::Structure,
        confidence: Confidence::Medium,
        keep: start - cursor.offset(),
        cut: ahead.offset() - start,
        then: value.long.then_some(Swallow::Quoted(quote)),
    }))
}

const BLANKS_MAX: usize = 12;

/// What the name of the variable says in whose block `text` ends: `variable "db_password" {`.
fn variable(text: &str) -> Option<(&'static str, Strength)> {
    let (_, rest) = text.rsplit_once("variable \"")?;
    let (name, block) = rest.split_once('"')?;
    let inside = block.trim_start().strip_prefix('{')?;
    match classify_name(name)? {
        Name::Credential(kind, strength) if !inside.contains('}') => Some((kind, strength)),
        Name::Credential(..) | Name::Authorization | Name::Cookie => None,
    }
}

/// `"sensitive": true` among the members before.
fn sensitive_before(behind: &Behind<'_>) -> bool {
    let text = beside::text_before(behind);
    let members = text.rsplit(['{', '}']).next().unwrap_or_default();
    members.rsplit_once("sensitive").is_some_and(|(_, rest)| says_true(rest))
}

/// `"sensitive": true` among the members behind.
fn sensitive_behind(after: &Cursor<'_>, quote: Quote) -> Result<bool, Starved> {
    let mut ahead = after.clone();
    if !quote.close(&mut ahead)? {
        return Ok(false);
    }
    ahead.run(BLANKS_MAX, char::is_whitespace)?;
    if !ahead.eat(',')? {
        return Ok(false);
    }
    let mut text = String::new();
    while text.len() < MARK_CHARS_MAX
        && !ahead.is_at_marker()?
        && let Some(c) = ahead.next()?.filter(|c| !matches!(c, '{' | '}'))
    {
        text.push(c);
    }
    Ok(text.split_once("sensitive").is_some_and(|(_, rest)| says_true(rest)))
}

fn says_true(rest: &str) -> bool {
    rest.trim_start_matches(|c: char| matches!(c, '"' | '\'' | '\\' | ':' | '=') || c.is_whitespace())
        .starts_with("true")
}

#[cfg(test)]
#[path = "terraform_tests.rs"]
mod tests;
