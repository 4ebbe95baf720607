//! A text as words, numbers, dates and times, in one pass.

use super::Decimal;
use super::calendar::{CalendarDate, ClockTime};
use super::chars::{hashed_word_end, is_digit, word_end, word_start};
use super::dates::{date_at_digits, date_behind_month, time_at};
use super::lexicon::{Meaning, ORDINAL_ENDINGS, meaning};
use super::numbers::{NumberRead, digits_end, number_at};
use super::spelled::spelled_at;

/// Words of more bytes than this have no meaning of their own.
const MEANING_BYTES_MAX: usize = 16;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: TokenKind,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum TokenKind {
    /// A run of letters and digits, with the hash of its lower case.
    Word {
        hash: u64,
    },
    Number {
        value: Decimal,
        other: Option<Decimal>,
    },
    Date {
        value: CalendarDate,
        other: Option<CalendarDate>,
    },
    Time(ClockTime),
}

/// The tokens of a text, first to last; no two overlap. Every byte is looked at a bounded number of times.
pub(crate) struct Tokens<'t> {
    text: &'t str,
    at: usize,
    /// Up to here digits are parts of a version or an address.
    chain_end: usize,
}

impl<'t> Tokens<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self::starting_at(text, 0)
    }

    /// The tokens from an offset on, as they are when the text is read from its beginning.
    pub(crate) fn starting_at(text: &'t str, at: usize) -> Self {
        Self { text, at, chain_end: 0 }
    }

    fn byte(&self, at: usize) -> Option<&u8> {
        self.text.as_bytes().get(at)
    }

    fn token(&mut self, start: usize, end: usize, kind: TokenKind) -> Token {
        self.at = end;
        Token { start, end, kind }
    }

    fn at_digit(&mut self, start: usize) -> Token {
        let bytes = self.text.as_bytes();
        let (run_end, hash, _) = hashed_word_end(self.text, start);
        let digits_end = digits_end(bytes, start);
        let follows_line = start.checked_sub(1).is_some_and(|before| self.byte(before) == Some(&b'_'));
        let leads_line = self.byte(run_end) == Some(&b'_') && word_end(self.text, run_end + 1) > run_end + 1;
        if !follows_line && !leads_line && start >= self.chain_end {
            let found = if run_end == digits_end {
                self.pure_digits(start, digits_end)
            } else {
                self.digits_with_letters(start, digits_end, run_end)
            };
            if let Some(token) = found {
                return token;
            }
        }
        self.token(start, run_end, TokenKind::Word { hash })
    }

    fn pure_digits(&mut self, start: usize, end: usize) -> Option<Token> {
        if end - start <= 4
            && let Some(date) = date_at_digits(self.text, start, end)
        {
            let token = self.token(start, date.end, TokenKind::Date { value: date.value, other: date.other });
            // The `T` between a date and a time.
            if self.byte(date.end) == Some(&b'T') && is_digit(self.byte(date.end + 1)) {
                self.at += 1;
            }
            return Some(token);
        }
        if end - start <= 2
            && let Some((time_end, time)) = time_at(self.text, start, end)
        {
            let token = self.token(start, time_end, TokenKind::Time(time));
            if self.byte(time_end) == Some(&b'Z') {
                self.at += 1;
            }
            return Some(token);
        }
        let Some(number) = number_at(self.text, start) else {
            self.chain_end = chain_end(self.text.as_bytes(), end);
            return None;
        };
        Some(self.number(number))
    }

    fn number(&mut self, number: NumberRead) -> Token {
        let NumberRead { start, end, value, other } = number;
        if let Some((scaled_end, scale)) = scale_behind(self.text, end)
            && let Some(value) = value.times(scale)
        {
            return self.token(start, scaled_end, TokenKind::Number { value, other: None });
        }
        self.token(start, end, TokenKind::Number { value, other })
    }

    fn digits_with_letters(&mut self, start: usize, digits_end: usize, run_end: usize) -> Option<Token> {
        let suffix = self.text.get(digits_end..run_end).filter(|suffix| suffix.len() <= MEANING_BYTES_MAX)?;
        let lower = suffix.to_lowercase();
        if matches!(lower.as_str(), "am" | "pm") {
            let (end, time) = time_at(self.text, start, digits_end)?;
            return Some(self.token(start, end, TokenKind::Time(time)));
        }
        if ORDINAL_ENDINGS.contains(&lower.as_str())
            && let Some(date) = date_at_digits(self.text, start, digits_end)
        {
            return Some(self.token(
                start,
                date.end,
                TokenKind::Date { value: date.value, other: date.other },
            ));
        }
        let (_, hash, _) = hashed_word_end(suffix, 0);
        let is_unit = matches!(meaning(suffix, hash), Some(Meaning::Unit(_)));
        if !is_unit
            && !ORDINAL_ENDINGS.contains(&lower.as_str())
            && !matches!(lower.as_str(), "k" | "m" | "bn" | "x")
        {
            return None;
        }
        let number = number_at(self.text, start)?;
        let token = self.number(number);
        // The letters belong to the number.
        self.at = run_end;
        Some(token)
    }

    fn at_letter(&mut self, start: usize) -> Token {
        let (end, hash, has_digit) = hashed_word_end(self.text, start);
        let word = Token { start, end, kind: TokenKind::Word { hash } };
        self.at = end;
        if has_digit || end - start > MEANING_BYTES_MAX || self.byte(end) == Some(&b'_') {
            return word;
        }
        match self.text.get(start..end).and_then(|word| meaning(word, hash)) {
            Some(Meaning::Month(month)) => match date_behind_month(self.text, month, end) {
                Some(date) => {
                    self.token(start, date.end, TokenKind::Date { value: date.value, other: date.other })
                }
                None => word,
            },
            Some(Meaning::Small(_) | Meaning::Tens(_)) => match spelled_at(self.text, start) {
                Some((end, value)) => self.token(start, end, TokenKind::Number { value, other: None }),
                None => word,
            },
            _ => word,
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let start = word_start(self.text, self.at);
        let first = self.byte(start)?;
        Some(if first.is_ascii_digit() { self.at_digit(start) } else { self.at_letter(start) })
    }
}

/// `k`, `M` and `bn` directly behind a number, or a word for a power of ten behind a space.
fn scale_behind(text: &str, end: usize) -> Option<(usize, Decimal)> {
    let bytes = text.as_bytes();
    let at = if bytes.get(end) == Some(&b' ') { end + 1 } else { end };
    if !bytes.get(at)?.is_ascii_alphabetic() {
        return None;
    }
    let window = bytes.get(at..at + MEANING_BYTES_MAX);
    if window.is_some_and(|window| window.iter().all(u8::is_ascii_alphanumeric)) {
        return None;
    }
    let (word_end, hash, _) = hashed_word_end(text, at);
    let word = text.get(at..word_end)?;
    let power = match (word, meaning(word, hash)) {
        ("k" | "K", _) if at == end => 3,
        ("M", _) if at == end => 6,
        (_, Some(Meaning::Scale(power))) => power,
        _ => return None,
    };
    Some((word_end, Decimal::whole(10_i64.checked_pow(power.into())?)))
}

/// Where digits and points end that follow each other.
fn chain_end(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count()
}
