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
    let has = text.bytes().fold(0, |has, byte| has | trait_of(byte));
    let first_byte = text.bytes().next().unwrap_or_default();
    let is_word = || text.len() <= WORD_BYTES_MAX && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    let wrapped = || {
        [("<", ">"), ("${", "}"), ("{{", "}}"), ("{", "}"), ("%", "%"), ("[", "]"), ("#{", "}"), ("$(", ")")]
            .iter()
            .any(|(open, close)| text.starts_with(open) && text.ends_with(close))
    };
    let opened = || {
        ["${", "{{", "$(", "#{", "<", "@@", "%("].iter().any(|open| text.starts_with(open))
            && has & DIGIT == 0
    };
    let variable = || {
        text.strip_prefix(['$', '%']).is_some_and(|name| {
            let name = name.trim_end_matches('%');
            let upper = !name.chars().any(|c| c.is_ascii_lowercase());
            is_identifier(name) && (upper || !name.chars().any(|c| c.is_ascii_digit()))
        })
    };
    let mut letters = text.chars().filter(|c| !matches!(c, '-' | '_' | '.' | ' '));
    let first = letters.next();
    let uniform = letters.all(|c| Some(c) == first);
    // A value made of signs may begin and end as a template does; a template holds a name.
    let drawn = || {
        let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
        text.starts_with('{')
            && text.bytes().filter(u8::is_ascii_digit).count() >= 2
            && is_drawn(inner) >= Drawn::Maybe
            && !is_camel(inner)
    };
    let is_template = || {
        matches!(first_byte, b'<' | b'$' | b'{' | b'%' | b'[' | b'#' | b'@')
            && (opened() || variable() || wrapped() && !is_symbolic(text) && !drawn())
    };
    let is_mask = || {
        let (x, signs) = (has & X != 0, has & OF_MASKS != 0);
        x && (holds(text, b"xxxx") || ends(text, b"=xxx"))
            || signs && (text.contains("***") || text.contains("...") || text.contains('…'))
    };
    let is_yours = || {
        let yours = has & Y != 0
            && (holds(text.get(..4).unwrap_or_default(), b"your")
                || holds(text, b"your_")
                || holds(text, b"your-"));
        let example = has & DIGIT == 0
            && (has & X != 0 && holds(text, b"example") || ends(text, b"_here") || ends(text, b"-here"));
        yours || example
    };
    uniform || is_word() || is_template() || is_mask() || is_yours()
}

/// As long as the longest word.
const WORD_BYTES_MAX: usize = 11;
const DIGIT: u8 = 1;
const X: u8 = 1 << 1;
const Y: u8 = 1 << 2;
/// What is written over and over in a secret's place.
const OF_MASKS: u8 = 1 << 3;

fn trait_of(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => DIGIT,
        b'x' | b'X' => X,
        b'y' | b'Y' => Y,
        // The first byte of an ellipsis.
        b'*' | b'.' | 0xe2 => OF_MASKS,
        _ => 0,
    }
}

/// Whether `text` has these small letters and signs in it, its own letters small or not.
fn holds(text: &str, small: &[u8]) -> bool {
    text.as_bytes().windows(small.len()).any(|piece| piece.eq_ignore_ascii_case(small))
}

fn ends(text: &str, small: &[u8]) -> bool {
    let from = text.len().checked_sub(small.len());
    from.and_then(|from| text.as_bytes().get(from..)).is_some_and(|end| end.eq_ignore_ascii_case(small))
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
