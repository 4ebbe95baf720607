use super::drawn::{Drawn, is_camel, is_drawn};
use super::shape::{is_identifier, is_symbolic};

/// What stands in a secret's place in documents and templates.
pub(super) fn is_placeholder(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "null",
        "nil",
        "none",
        "true",
        "false",
        "undefined",
        "string",
        "str",
        "text",
        "number",
        "object",
        "bool",
        "boolean",
        "required",
        "optional",
        "empty",
        "redacted",
        "masked",
        "hidden",
        "secret",
        "password",
        "token",
        "unset",
        "default",
        "int",
        "integer",
        "any",
        "unknown",
        "n/a",
        "env",
        "self",
        "this",
        "header",
        "bearer",
        "value",
        "content",
        "type",
        "name",
        "label",
        "description",
    ];
    let text = text.trim_matches(|c: char| matches!(c, '"' | '\'' | '`') || c.is_whitespace());
    if let Some(said) = of_plain(text) {
        return said;
    }
    let lower = text.to_ascii_lowercase();
    let wrapped =
        [("<", ">"), ("${", "}"), ("{{", "}}"), ("{", "}"), ("%", "%"), ("[", "]"), ("#{", "}"), ("$(", ")")]
            .iter()
            .any(|(open, close)| text.starts_with(open) && text.ends_with(close));
    let opened = ["${", "{{", "$(", "#{", "<", "@@", "%("].iter().any(|open| text.starts_with(open))
        && text.chars().filter(char::is_ascii_digit).count() == 0;
    let variable = text.strip_prefix(['$', '%']).is_some_and(|name| {
        let name = name.trim_end_matches('%');
        let upper = !name.chars().any(|c| c.is_ascii_lowercase());
        is_identifier(name) && (upper || !name.chars().any(|c| c.is_ascii_digit()))
    });
    let mut letters = text.chars().filter(|c| !matches!(c, '-' | '_' | '.' | ' '));
    let first = letters.next();
    let uniform = letters.all(|c| Some(c) == first);
    let masked = lower.contains("xxxx")
        || lower.ends_with("=xxx")
        || text.contains("***")
        || text.contains("...")
        || text.contains('…');
    // A value made of signs may begin and end as a template does; a template holds a name.
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    let drawn = text.starts_with('{')
        && text.chars().filter(char::is_ascii_digit).count() >= 2
        && is_drawn(inner) >= Drawn::Maybe
        && !is_camel(inner);
    let wrapped = wrapped && !is_symbolic(text) && !drawn;
    let undrawn = !text.contains(|c: char| c.is_ascii_digit());
    let yours = lower.starts_with("your") || lower.contains("your_") || lower.contains("your-");
    let yours = yours
        || (undrawn && (lower.contains("example") || lower.ends_with("_here") || lower.ends_with("-here")));
    WORDS.contains(&lower.as_str()) || wrapped || opened || variable || uniform || masked || yours
}

/// The answer for what is of letters, digits and joiners alone, with a digit: most values are, and few of the questions
/// concern them.
fn of_plain(text: &str) -> Option<bool> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'/');
    let bytes = text.as_bytes();
    if !bytes.iter().all(|b| plain(*b)) || !bytes.iter().any(u8::is_ascii_digit) {
        return None;
    }
    let mut letters = bytes.iter().filter(|b| !matches!(b, b'-' | b'_'));
    let first = letters.next();
    let uniform = letters.all(|b| Some(b) == first);
    let masked = bytes.windows(4).any(|four| four.eq_ignore_ascii_case(b"xxxx"));
    let yours = bytes.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"your"))
        || bytes.windows(5).any(|five| {
            five.last_chunk().is_some_and(|[last]| matches!(last, b'_' | b'-'))
                && five.get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"your"))
        });
    Some(uniform || masked || yours)
}
