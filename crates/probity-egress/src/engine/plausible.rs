use super::drawn::{Drawn, is_camel, is_drawn};
use super::key_block;
use super::operator::Operator;
use super::placeholder::is_placeholder;
use super::shape::{Shape, is_identifier, is_long_hex, is_noise, looks_random};
use super::value::Value;
use crate::vocabulary::{Strength, classify_name};

/// The least length of a value without digits under a common name.
const KEY_CHARS_MIN: usize = 16;

/// Whether a value is one word that stands for itself.
pub(super) fn is_word(value: &Value) -> bool {
    let text = value.text.as_str();
    !value.is_marked()
        && text.len() >= 4
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '!' | '@' | '#' | '*' | '+'))
        && !is_placeholder(text)
}

/// Whether a value without quotes is one run of letters, digits and joiners, with a digit beside a letter or digit.
pub(super) fn is_plain_run(text: &str) -> bool {
    text.len() >= 8
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'+' | b'~'))
        && text
            .as_bytes()
            .windows(2)
            .any(|pair| pair.iter().all(u8::is_ascii_alphanumeric) && pair.iter().any(u8::is_ascii_digit))
}

/// Whether a value under a credential name is one to remove.
///
/// A name decides more than the look of the value: a commit hash under `password` is a password. What is spared is what
/// stands for a value without being one, and code.
pub(super) fn is_secret(value: &Value, strength: Strength, operator: Operator, name: &str) -> bool {
    let text = value.text.trim();
    // A key block is more than its first line, and has a detector of its own.
    if value.is_marked() || text.is_empty() || key_block::begins(text) {
        return false;
    }
    // Whatever it is: under a common name a short value without a digit looks never drawn.
    let digits = text.bytes().any(|b| b.is_ascii_digit());
    if strength == Strength::Key && !value.long && !digits && text.len() < KEY_CHARS_MIN {
        return false;
    }
    if value.long {
        return value.quote.is_some() || !text.contains(['(', '{']);
    }
    if same_word(text, name) || is_placeholder(text) || is_location(text) || is_header_name(text) {
        return false;
    }
    if strength == Strength::Key && is_pattern(text) {
        return false;
    }
    if strength != Strength::Password && text.len() <= 10 && is_sequence(text) {
        return false;
    }
    // An interface more often than its key.
    if names_api(name) && value.quote.is_none() {
        return false;
    }
    let shape = Shape::of(text);
    if value.quote.is_some() {
        if between_strings(text) {
            return false;
        }
        // After a comma or in a comparison, a word is more often the next name than a password.
        let compared = operator == Operator::Compared;
        if compared && strength != Strength::Key && is_hyphenated_phrase(text) {
            return true;
        }
        if (compared || operator == Operator::Argument) && !shape.mixed() && text.len() <= 12 {
            return false;
        }
        return match strength {
            Strength::Password => {
                text.len() >= 4 && (!shape.is_prose() || is_passphrase(text)) && !shape.is_code_name(text, 12)
            }
            Strength::Secret => {
                text.len() >= 6 && (!shape.is_prose() || is_passphrase(text)) && !shape.is_code_name(text, 20)
            }
            Strength::Key => {
                let drawn = text.len() >= 8
                    && shape.blanks == 0
                    && (shape.digits > 0
                        || is_long_hex(text)
                        || (is_drawn(text) == Drawn::Surely && classify_name(text).is_none()))
                    && shape.is_random(text);
                drawn || is_noise(text, &shape) || is_serial(text) || is_letters_drawn(text)
            }
        };
    }
    if text.starts_with(['{', '$'])
        && text.chars().nth(1).is_some_and(|c| c.is_ascii_alphabetic() || c == '{')
        && !text.contains(|c: char| !(c.is_alphanumeric() || "_{}$:=.?/#- ".contains(c)))
        && shape.digits <= 1
    {
        return false;
    }
    match operator {
        Operator::Argument | Operator::Compared => false,
        Operator::Blank | Operator::Flag if strength == Strength::Key && operator == Operator::Blank => {
            text.len() >= 15 && shape.is_token() && shape.digits >= 3 && shape.is_random(text)
        }
        Operator::Blank => text.len() >= 12 && shape.is_token() && shape.digits >= 2 && shape.is_random(text),
        Operator::Tight | Operator::Flag | Operator::Tag => {
            if shape.is_code(text) {
                return false;
            }
            match strength {
                Strength::Password => {
                    text.len() >= 4 && (shape.mixed() || operator != Operator::Tight || is_constant(name))
                }
                Strength::Secret => {
                    text.len() >= 6 && (shape.mixed() || is_constant(name) || is_drawn(text) == Drawn::Surely)
                }
                Strength::Key => {
                    text.len() >= 8 && (shape.digits > 0 || is_long_hex(text)) && shape.is_random(text)
                        || is_letters_drawn(text)
                }
            }
        }
        Operator::Equals | Operator::Colon => {
            if shape.is_code(text) {
                return false;
            }
            match strength {
                Strength::Password => text.len() >= 5 && shape.mixed(),
                Strength::Secret => {
                    text.len() >= 8 && shape.mixed() && (shape.digits > 0 || shape.is_symbolic())
                }
                Strength::Key => {
                    let dense = text.len() >= 10 && shape.digits * 3 >= text.len() && shape.letters() >= 3;
                    (text.len() >= 12 && shape.digits > 1 || dense) && shape.is_random(text)
                        || is_serial(text)
                        || is_letters_drawn(text)
                }
            }
        }
    }
}

fn names_api(name: &str) -> bool {
    name.get(name.len().saturating_sub(3)..).is_some_and(|end| end.eq_ignore_ascii_case("api"))
}

/// Letters alone, of no word and no identifier.
fn is_letters_drawn(text: &str) -> bool {
    const LETTERS_MIN: usize = 20;
    let is_capitals = !text.contains(|c: char| c.is_ascii_lowercase());
    text.len() >= LETTERS_MIN
        && text.bytes().all(|b| b.is_ascii_alphabetic())
        && is_drawn(text) == Drawn::Surely
        && (is_capitals || !is_camel(text))
}

/// Four groups or more of as many capitals and digits, as keys of licences are written.
fn is_serial(text: &str) -> bool {
    let mut groups = text.split('-');
    let len = groups.next().map_or(0, str::len);
    let capital = |group: &str| group.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    let drawn = text.bytes().any(|b| b.is_ascii_digit()) || is_drawn(&text.replace('-', "")) >= Drawn::Maybe;
    (4..=8).contains(&len)
        && text.split('-').count() >= 4
        && text.split('-').all(|group| group.len() == len && capital(group))
        && drawn
}

/// A regular expression.
fn is_pattern(text: &str) -> bool {
    memchr::memchr2(b'(', b'[', text.as_bytes()).is_some()
        && ["(?", "[0-9", "[a-z", "[A-Z", "[^"].iter().any(|sign| text.contains(sign))
}

/// Whether the value of a member with a common word for a name is a secret.
pub(crate) fn looks_drawn(text: &str) -> bool {
    text.len() >= 8 && looks_random(text) && !is_placeholder(text)
}

/// `abcd1234`, `abcdefgh`: typed along the alphabet to show where something goes.
pub(super) fn is_sequence(text: &str) -> bool {
    let letters = text.bytes().filter(u8::is_ascii_alphanumeric);
    let steps = letters.clone().zip(letters.clone().skip(1)).filter(|(a, b)| *b == a + 1).count();
    steps >= 5 && steps * 4 >= letters.count() * 3
}

/// Words in small letters with blanks between, and none that sentences about passwords are made with.
fn is_passphrase(text: &str) -> bool {
    let words = text.split_whitespace();
    (3..=8).contains(&words.clone().count())
        && text.chars().all(|c| c.is_ascii_lowercase() || c == ' ')
        && !words.clone().any(|word| OF_SENTENCES.contains(&word))
}

/// Words with hyphens between, as what a secret is compared with: a state has a word that says so.
fn is_hyphenated_phrase(text: &str) -> bool {
    const WORD_CHARS_MIN: usize = 4;
    const OF_STATES: &[&str] = &[
        "access",
        "auto",
        "bearer",
        "basic",
        "client",
        "default",
        "disabled",
        "empty",
        "enabled",
        "expired",
        "generated",
        "hidden",
        "none",
        "null",
        "private",
        "public",
        "redacted",
        "shared",
        "unset",
        "value",
    ];
    let mut words = text.split('-');
    words.clone().count() >= 2
        && words.all(|word| {
            word.len() >= WORD_CHARS_MIN
                && word.bytes().all(|b| b.is_ascii_lowercase())
                && !OF_SENTENCES.contains(&word)
                && !OF_STATES.contains(&word)
                && classify_name(word).is_none()
        })
}

/// Words that sentences about passwords are made with.
const OF_SENTENCES: &[&str] = &[
    "a",
    "again",
    "an",
    "are",
    "at",
    "be",
    "been",
    "can",
    "cannot",
    "change",
    "changed",
    "characters",
    "confirm",
    "correct",
    "does",
    "enter",
    "failed",
    "field",
    "for",
    "forgot",
    "from",
    "has",
    "have",
    "if",
    "in",
    "incorrect",
    "invalid",
    "is",
    "least",
    "match",
    "may",
    "missing",
    "must",
    "new",
    "no",
    "not",
    "of",
    "old",
    "on",
    "or",
    "password",
    "passwords",
    "please",
    "required",
    "reset",
    "secret",
    "should",
    "that",
    "the",
    "this",
    "to",
    "too",
    "token",
    "type",
    "use",
    "used",
    "user",
    "was",
    "will",
    "wrong",
    "you",
    "your",
];

/// Written as environment variables are.
pub(super) fn is_constant(name: &str) -> bool {
    name.chars().any(|c| c.is_ascii_uppercase()) && !name.chars().any(|c| c.is_ascii_lowercase())
}

/// A file or an address, which other detectors look into.
fn is_location(text: &str) -> bool {
    let path = ["/", "./", "../", "~/"].iter().any(|start| text.starts_with(start));
    let plain = |c: char| c.is_ascii_lowercase() || matches!(c, '/' | '.' | '-' | '_' | '~');
    (path && text.chars().filter(|c| !plain(*c)).count() * 6 <= text.len())
        || memchr::memchr(b':', text.as_bytes()).is_some_and(|at| {
            text.split_at_checked(at)
                .is_some_and(|(scheme, rest)| rest.starts_with("://") && is_identifier(scheme))
        })
}

/// `X-Api-Key`.
fn is_header_name(text: &str) -> bool {
    text.strip_prefix(['X', 'x'])
        .and_then(|rest| rest.strip_prefix('-'))
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphabetic() || c == '-'))
}

fn same_word(text: &str, name: &str) -> bool {
    fn plain(text: &str) -> impl Iterator<Item = u8> {
        text.bytes().filter(u8::is_ascii_alphanumeric).map(|b| b.to_ascii_lowercase())
    }
    plain(text).eq(plain(name))
}

/// The quote closed a string that ended in the name: `"password: " + x`, `"Password:",rememberMe:"…"`, or opened a
/// selector: `"#add-password"`.
fn between_strings(text: &str) -> bool {
    let mut chars = text.chars();
    match chars.next() {
        Some('+' | '.') => chars.next().is_some_and(|c| c == ' ' || c == '$'),
        Some(',' | ';' | ')') => true,
        Some('#') => chars.all(|c| c.is_ascii_lowercase() || matches!(c, '-' | '_')),
        Some(_) | None => false,
    }
}
