use super::cursor::{Cursor, Starved};
use super::key_block;
use super::operator::{Operator, Quote};
use crate::vocabulary::{Strength, classify_name};

/// How much of a value is read before it counts as long, and is taken for a secret whatever it says.
pub(super) const VALUE_CHARS_MAX: usize = 400;

/// A value as far as it was read.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) quote: Option<Quote>,
    /// It goes on beyond [`VALUE_CHARS_MAX`].
    pub(super) long: bool,
}

impl Value {
    /// A marker stands in it: it has been dealt with. This comes before every other question, for what a marker replaced
    /// may have answered them differently.
    pub(super) fn is_marked(&self) -> bool {
        self.text.contains("[REDACTED:")
    }
}

/// Reads what stands between quotes, up to the closing one, the end of the line or the limit.
pub(super) fn read_quoted(ahead: &mut Cursor<'_>, quote: Quote) -> Result<Value, Starved> {
    let mut text = String::new();
    while text.len() < VALUE_CHARS_MAX {
        if quote.closes(ahead)? {
            return Ok(Value { text, quote: Some(quote), long: false });
        }
        match Quote::inside(ahead)? {
            Some(c) => text.push(c),
            None => return Ok(Value { text, quote: Some(quote), long: ahead.at_window_end() }),
        }
    }
    Ok(Value { text, quote: Some(quote), long: true })
}

/// Reads a value without quotes.
pub(super) fn read_bare(ahead: &mut Cursor<'_>) -> Result<Value, Starved> {
    let mut text = String::new();
    let mut open = Brackets::default();
    while text.len() < VALUE_CHARS_MAX {
        match bare_char_inside(ahead, &mut open)? {
            Some(c) => text.push(c),
            None => return Ok(Value { text, quote: None, long: ahead.at_window_end() }),
        }
    }
    Ok(Value { text, quote: None, long: true })
}

/// Reads one character of a value without quotes, if it goes on.
pub(super) fn bare_char(ahead: &mut Cursor<'_>) -> Result<Option<char>, Starved> {
    bare_char_inside(ahead, &mut Brackets::default())
}

/// How many brackets of each kind a value has opened: what closes them is its own.
#[derive(Debug, Default)]
struct Brackets([usize; 3]);

impl Brackets {
    fn of(&mut self, c: char) -> Option<&mut usize> {
        self.0.get_mut("([{".find(c).or_else(|| ")]}".find(c))?)
    }

    /// Takes `c` into account, and says whether it closes one that the value opened.
    fn take(&mut self, c: char) -> bool {
        let opens = matches!(c, '(' | '[' | '{');
        let Some(count) = self.of(c) else { return false };
        let closes = !opens && *count > 0;
        *count = if opens { *count + 1 } else { count.saturating_sub(1) };
        closes
    }
}

fn bare_char_inside(ahead: &mut Cursor<'_>, open: &mut Brackets) -> Result<Option<char>, Starved> {
    let mut next = ahead.clone();
    let Some(c) = next.next()? else { return Ok(None) };
    let own = open.take(c);
    let ends = match c {
        '"' | '\'' | '`' | '<' | '|' => true,
        '>' => next.peek()?.is_none_or(|c| !matches!(c, '-' | '_' | '$' | '#' | '!' | '%' | '^' | '*' | '@')),
        ')' | ']' | '}' => !own && closes(&next)?,
        c if c.is_whitespace() || c.is_control() => true,
        '\\' => next.peek()?.is_none_or(|c| matches!(c, 'n' | 'r' | 't' | '"' | '\'' | '\\')),
        ',' | ';' | '&' => pair_follows(&next)?,
        _ => false,
    };
    if ends {
        return Ok(None);
    }
    *ahead = next;
    Ok(Some(c))
}

/// Whether the bracket just read closes what the value stands in: nothing that a value is made of follows.
fn closes(after: &Cursor<'_>) -> Result<bool, Starved> {
    let mut ahead = after.clone();
    ahead.run(4, |c| matches!(c, ')' | ']' | '}'))?;
    // A bracket may be a marker's, in whose place a word stood.
    Ok(ahead.peek()?.is_none_or(|c| !(c.is_ascii_alphanumeric() || c == '[')))
}

/// Whether the separator just read really separates: nothing, a blank, a quote or another `name=` follows. A marker does
/// not: what stood in its place did not either.
fn pair_follows(after: &Cursor<'_>) -> Result<bool, Starved> {
    let mut ahead = after.clone();
    match ahead.peek()? {
        None => return Ok(true),
        Some(c) if c.is_whitespace() || matches!(c, '"' | '\'' | '}' | ']' | ')' | '\\') => return Ok(true),
        Some(_) => {}
    }
    if ahead.peek()?.is_some_and(|c| matches!(c, '.' | '-')) {
        return Ok(false);
    }
    let name = ahead.run(40, |c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' '))?;
    Ok(name > 0 && ahead.eat_if(|c| matches!(c, '=' | ':'))?)
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
    if value.long {
        return value.quote.is_some() || !text.contains(['(', '{']);
    }
    if is_placeholder(text) || is_location(text) || is_header_name(text) || same_word(text, name) {
        return false;
    }
    if strength != Strength::Password && text.len() <= 10 && is_sequence(text) {
        return false;
    }
    let shape = Shape::of(text);
    if value.quote.is_some() {
        if between_strings(text) {
            return false;
        }
        // After a comma or in a comparison, a word is more often the next name than a password.
        if operator == Operator::Argument && !shape.mixed() && text.len() <= 12 {
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
                        || (is_drawn(text) == Drawn::Surely && classify_name(text).is_none()))
                    && shape.is_random(text);
                drawn || is_noise(text, &shape) || is_serial(text)
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
        Operator::Argument => false,
        Operator::Blank | Operator::Flag if strength == Strength::Key && operator == Operator::Blank => {
            text.len() >= 16 && shape.is_token() && shape.digits >= 3 && shape.is_random(text)
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
                Strength::Key => text.len() >= 8 && shape.digits > 0 && shape.is_random(text),
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
                }
            }
        }
    }
}

/// What a text is made of.
#[derive(Debug, Default)]
struct Shape {
    lower: usize,
    upper: usize,
    digits: usize,
    blanks: usize,
    joiners: usize,
    signs: usize,
    chars: usize,
}

impl Shape {
    fn of(text: &str) -> Self {
        let mut shape = Self::default();
        for c in text.chars() {
            shape.chars += 1;
            match c {
                'a'..='z' => shape.lower += 1,
                'A'..='Z' => shape.upper += 1,
                '0'..='9' => shape.digits += 1,
                '_' | '-' | '.' | ':' => shape.joiners += 1,
                c if c.is_whitespace() => shape.blanks += 1,
                _ => shape.signs += 1,
            }
        }
        shape
    }

    fn letters(&self) -> usize {
        self.lower + self.upper
    }

    /// A sentence: words of letters with blanks between.
    fn is_prose(&self) -> bool {
        self.blanks >= 2 && self.digits == 0 && self.signs * 8 <= self.chars
    }

    /// Only what tokens are written with.
    fn is_token(&self) -> bool {
        self.blanks == 0 && self.signs * 6 <= self.chars
    }

    /// More than letters of one case.
    fn mixed(&self) -> bool {
        self.digits > 0 || self.signs > 0 || (self.lower > 1 && self.upper > 2)
    }

    /// A name rather than a value: letters and joiners, shorter than a password phrase usually is.
    fn is_code_name(&self, text: &str, max: usize) -> bool {
        self.digits == 0
            && self.signs == 0
            && self.blanks == 0
            && text.len() <= max
            && (self.joiners > 0 || self.upper == 0 || self.lower == 0)
            && text.split(['_', '-', '.', ':']).all(|part| part.len() != 1)
            && self.joiners > 0
    }

    /// Too many signs, of too many sorts, for code.
    fn is_symbolic(&self) -> bool {
        self.blanks == 0 && self.signs >= 5 && self.signs * 5 >= self.chars
    }

    /// Code that computes the value.
    fn is_code(&self, text: &str) -> bool {
        if is_symbolic(text) {
            return false;
        }
        text.contains(['(', '[']) && self.digits * 5 < self.chars
            || text.starts_with('&')
            || (text.contains('.')
                && self.digits <= 1
                && self.signs == 0
                && text.split('.').all(is_identifier))
            || text.contains("::")
            || text.contains("->")
    }

    /// Not a word with a number: letters and digits alternate, or there are many of both.
    fn is_random(&self, text: &str) -> bool {
        let mut turns = 0;
        let mut last = None;
        for c in text.chars() {
            let class = match c {
                'a'..='z' => 0,
                'A'..='Z' => 1,
                '0'..='9' => 2,
                _ => 3,
            };
            if class != 3 {
                turns += usize::from(last.is_some_and(|last| last != class));
                last = Some(class);
            }
        }
        turns >= 3 || self.digits >= 8 || has_long_run(text)
    }
}

/// Long, and a third of it signs of many sorts, as salts are drawn: no text and no code has so many.
fn is_noise(text: &str, shape: &Shape) -> bool {
    let mut signs: Vec<char> = text.chars().filter(|c| !c.is_alphanumeric() && *c != ' ').collect();
    let count = signs.len();
    signs.sort_unstable();
    signs.dedup();
    shape.chars >= 32 && count * 4 >= shape.chars && signs.len() >= 8 && shape.upper > 0 && shape.blanks <= 6
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

/// Whether letters and digits stand together in a run no identifier has, or hexadecimal letters in one of a key's length.
fn has_long_run(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|run| {
        let digits = run.bytes().filter(u8::is_ascii_digit).count();
        (run.len() >= 24 && digits >= 2 && digits < run.len())
            || (run.len() >= 32 && run.len() % 8 == 0 && run.bytes().all(|b| b.is_ascii_hexdigit()))
    })
}

/// Whether a text looks drawn rather than written.
pub(super) fn looks_random(text: &str) -> bool {
    let shape = Shape::of(text);
    shape.digits >= 2 && shape.letters() >= 2 && shape.is_token() && shape.is_random(text)
}

/// Whether the value of a member with a common word for a name is a secret.
pub(crate) fn looks_drawn(text: &str) -> bool {
    text.len() >= 8 && looks_random(text) && !is_placeholder(text)
}

/// Whether a text is made of too many signs, of too many sorts, for code.
pub(super) fn is_symbolic(text: &str) -> bool {
    Shape::of(text).is_symbolic() && !balanced(text)
}

/// How sure it is that a text was drawn and not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Drawn {
    No,
    Maybe,
    /// Practically never a word, an identifier, a version or a path.
    Surely,
}

/// How sure it is that a text was drawn.
///
/// Judged per run of letters and digits, so that words around a drawn run do not hide it. A drawn run changes its class
/// (small, capital, digit) far more often than words do, or has pairs of letters that words have not.
pub(super) fn is_drawn(text: &str) -> Drawn {
    let runs = text.split(|c: char| !c.is_ascii_alphanumeric());
    let best = runs.clone().map(drawn_run).max().unwrap_or(Drawn::No);
    if best == Drawn::Maybe && runs.filter(|run| drawn_run(run) >= Drawn::Maybe).count() >= 3 {
        return Drawn::Surely;
    }
    best
}

fn drawn_run(run: &str) -> Drawn {
    let bytes = run.as_bytes();
    let (mut digits, mut turns, mut pairs, mut rare) = (0, 0, 0, 0);
    for (index, byte) in bytes.iter().enumerate() {
        digits += usize::from(byte.is_ascii_digit());
        let Some(next) = bytes.get(index + 1) else { break };
        if byte.is_ascii_alphabetic() && next.is_ascii_alphabetic() {
            pairs += 1;
            rare += usize::from(is_rare_pair(*byte, *next));
        }
        let hump = byte.is_ascii_uppercase() && next.is_ascii_lowercase();
        turns += usize::from(class(*byte) != class(*next) && !hump);
    }
    if bytes.len() < 8 || digits == bytes.len() {
        return Drawn::No;
    }
    // In a text drawn evenly from letters and digits some 45 in 100 neighbours differ in class and a third of the pairs
    // of letters is rare; in words hardly one in ten is.
    let strange = turns * 2 + rare * 2;
    if bytes.len() >= 16 && strange * 2 >= bytes.len() && (digits >= 2 || rare * 4 >= pairs) {
        Drawn::Surely
    } else if strange * 3 >= bytes.len() {
        Drawn::Maybe
    } else {
        Drawn::No
    }
}

fn class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    }
}

/// An identifier in humps: every piece between capitals and digits is a word or an abbreviation.
pub(super) fn is_camel(text: &str) -> bool {
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for byte in text.bytes() {
        let goes_on = |last: &u8| {
            last.is_ascii_digit() == byte.is_ascii_digit()
                && !(last.is_ascii_lowercase() && byte.is_ascii_uppercase())
        };
        match pieces.last_mut() {
            Some(piece) if piece.last().is_some_and(goes_on) => piece.push(byte),
            _ => pieces.push(vec![byte]),
        }
    }
    pieces.iter().all(|piece| {
        let small = piece.iter().any(u8::is_ascii_lowercase);
        let letters = piece.iter().all(u8::is_ascii_alphabetic);
        let digits = piece.iter().all(u8::is_ascii_digit);
        let common = piece.iter().zip(piece.iter().skip(1)).all(|(a, b)| letters && !is_rare_pair(*a, *b));
        digits || letters && (!small || piece.len() >= 3 && common)
    })
}

/// Whether words of European languages practically never have this pair of letters. By the first letter, those that
/// follow it in words.
fn is_rare_pair(first: u8, second: u8) -> bool {
    const FOLLOW: [&str; 26] = [
        "bcdefghiklmnopqrstuvwxyz",
        "abcdeijlmorstuy",
        "acehiklorstuy",
        "adegilmnorsuvwy",
        "abcdefghijklmnopqrstuvwxyz",
        "aefiloprstuy",
        "aeghilnorsuy",
        "aeimnortuy",
        "abcdefgklmnopqrstvxz",
        "aeiosu",
        "aefhilnosuy",
        "abcdefgiklmoprstuvy",
        "abeimnoprsuy",
        "acdefgijklmnorstuvxy",
        "abcdefghijklmnoprstuvwxyz",
        "aehilmnoprstuy",
        "su",
        "abcdefgiklmnoprstuvwy",
        "acdefghiklmnopqrstuvwy",
        "acefhilmnorstuwyz",
        "abcdefgiklmnoprstxyz",
        "aeiloruy",
        "adehilnorsy",
        "aceilmoptuxy",
        "acdeilmnoprstuwx",
        "aehiouyz",
    ];
    let at = usize::from(first.to_ascii_lowercase() - b'a');
    FOLLOW.get(at).is_some_and(|letters| !letters.contains(char::from(second.to_ascii_lowercase())))
}

/// Whether every bracket that opens is closed by its like.
fn balanced(text: &str) -> bool {
    let mut open: Vec<char> = Vec::new();
    for c in text.chars() {
        let opening = match c {
            '(' | '[' | '{' => {
                open.push(c);
                continue;
            }
            ')' => '(',
            ']' => '[',
            '}' => '{',
            _ => continue,
        };
        if open.pop() != Some(opening) {
            return false;
        }
    }
    open.is_empty()
}

/// `abcd1234`, `abcdefgh`: typed along the alphabet to show where something goes.
fn is_sequence(text: &str) -> bool {
    let letters = text.bytes().filter(u8::is_ascii_alphanumeric);
    let steps = letters.clone().zip(letters.clone().skip(1)).filter(|(a, b)| *b == a + 1).count();
    steps >= 5 && steps * 4 >= letters.count() * 3
}

/// Words in small letters with blanks between, and none that sentences about passwords are made with.
fn is_passphrase(text: &str) -> bool {
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
    let words = text.split_whitespace();
    (3..=8).contains(&words.clone().count())
        && text.chars().all(|c| c.is_ascii_lowercase() || c == ' ')
        && !words.clone().any(|word| OF_SENTENCES.contains(&word))
}

fn is_identifier(text: &str) -> bool {
    text.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Written as environment variables are.
pub(super) fn is_constant(name: &str) -> bool {
    name.chars().any(|c| c.is_ascii_uppercase()) && !name.chars().any(|c| c.is_ascii_lowercase())
}

/// A file or an address, which other detectors look into.
fn is_location(text: &str) -> bool {
    let path = ["/", "./", "../", "~/"].iter().any(|start| text.starts_with(start));
    let plain = |c: char| c.is_ascii_lowercase() || matches!(c, '/' | '.' | '-' | '_' | '~');
    (path && text.chars().filter(|c| !plain(*c)).count() * 6 <= text.len())
        || text.split_once("://").is_some_and(|(scheme, _)| is_identifier(scheme))
}

/// `X-Api-Key`.
fn is_header_name(text: &str) -> bool {
    text.strip_prefix(['X', 'x'])
        .and_then(|rest| rest.strip_prefix('-'))
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphabetic() || c == '-'))
}

fn same_word(text: &str, name: &str) -> bool {
    let plain = |s: &str| -> String {
        s.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
    };
    plain(text) == plain(name)
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
    let wrapped = wrapped && !is_symbolic(text);
    let undrawn = !text.contains(|c: char| c.is_ascii_digit());
    let yours = lower.starts_with("your") || lower.contains("your_") || lower.contains("your-");
    let yours = yours
        || (undrawn && (lower.contains("example") || lower.ends_with("_here") || lower.ends_with("-here")));
    WORDS.contains(&lower.as_str()) || wrapped || opened || variable || uniform || masked || yours
}
