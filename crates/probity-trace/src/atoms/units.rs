//! What a number counts, where the text beside it says so.

use std::fmt;

use super::chars::{char_at, char_before, hashed_word_end, word_end};
use super::lexicon::{Meaning, UNITS, meaning};

/// The most bytes of a word that is looked up as a unit.
const UNIT_BYTES_MAX: usize = 12;

/// What a number counts: `%`, a currency by its code, or a measure (`kg`, `h`).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Unit(&'static str);

impl Unit {
    /// Its sign or code.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0
    }

    /// The unit that a word, a code or a sign stands for.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let mut characters = word.chars();
        if let Some(unit) = characters.next().and_then(of_sign).filter(|_| characters.next().is_none()) {
            return Some(unit);
        }
        let lower = word.to_lowercase();
        UNITS
            .iter()
            .find(|(words, _)| words.split(' ').any(|known| known == lower))
            .map(|(_, unit)| Self(unit))
    }
}

impl fmt::Debug for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

fn of_sign(sign: char) -> Option<Unit> {
    Some(Unit(match sign {
        '%' => "%",
        '$' => "USD",
        '\u{20ac}' => "EUR",
        '\u{a3}' => "GBP",
        '\u{a5}' => "JPY",
        '\u{20b9}' => "INR",
        _ => return None,
    }))
}

/// The unit of the number in this range: a currency before it, or what stands behind.
pub(crate) fn unit_at(text: &str, start: usize, end: usize) -> Option<Unit> {
    unit_behind(text, end).or_else(|| currency_before(text, start))
}

/// The unit directly behind a number, or behind one space or hyphen.
pub(crate) fn unit_behind(text: &str, end: usize) -> Option<Unit> {
    let next = char_at(text, end)?;
    let at = if matches!(next, ' ' | '-' | '\u{a0}' | '\u{202f}') { end + next.len_utf8() } else { end };
    let first = char_at(text, at)?;
    if let Some(unit) = of_sign(first) {
        // `5 $3` is five of something and a price.
        let is_price = at > end
            && first != '%'
            && char_at(text, at + first.len_utf8()).is_some_and(|next| next.is_ascii_digit());
        return if is_price { None } else { Some(unit) };
    }
    if !first.is_ascii_alphabetic() {
        return None;
    }
    let short = text.get(at..at + UNIT_BYTES_MAX + 1).map_or(at, |_| at + UNIT_BYTES_MAX);
    let is_long = short > at
        && text.get(at..short).is_some_and(|window| window.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if is_long {
        return None;
    }
    let (word_end, hash, _) = hashed_word_end(text, at);
    match meaning(text.get(at..word_end)?, hash) {
        Some(Meaning::Unit(unit)) => Some(Unit(unit)),
        _ => None,
    }
}

/// The currency whose sign or code stands before a number.
pub(crate) fn currency_before(text: &str, start: usize) -> Option<Unit> {
    let mut at = start;
    let mut sign = char_before(text, at)?;
    if matches!(sign, '-' | '\u{2212}') {
        at -= sign.len_utf8();
        sign = char_before(text, at)?;
    }
    if matches!(sign, ' ' | '\u{a0}') {
        at -= sign.len_utf8();
        sign = char_before(text, at)?;
    }
    if sign != '%'
        && let Some(unit) = of_sign(sign)
    {
        return Some(unit);
    }
    let code_start = at.checked_sub(3)?;
    let code = text.get(code_start..at).filter(|code| code.bytes().all(|byte| byte.is_ascii_uppercase()))?;
    let is_word = char_before(text, code_start).is_none_or(|before| !before.is_alphanumeric());
    if !is_word || word_end(text, code_start) != at {
        return None;
    }
    Unit::named(code).filter(|unit| unit.name() == code)
}
