//! How likely a value stands in an unrelated text by chance.
//!
//! `1 - (1 - p)^n`: `n` places of the same kind (numbers for a number, words for a name) stand in the sources, and `p` is how likely one
//! such place holds the value in a text that has nothing to do with it. `p` is set by the form of the value alone:
//!
//! - number: Benford's law for its significant digits, `log10(1 + 1/m)`, and one of five magnitudes;
//! - date: one of 120 days, and one of 3 years where the year is said;
//! - time: one of 48 for a full or half hour, of 288 for other steps of five minutes, of 1,440 for others;
//! - words: a word by its length and, with digits in it, by its alphabet; words of a phrase multiply, with a hundredfold for the
//!   company that words keep.
//!
//! It is a rule of thumb that is checked, not a law: `cargo xtask tau-bench` prints what it says beside how often the values
//! of one task do stand in the context of another.

use super::index::Places;
use crate::atoms::{Atom, AtomValue, is_common};

/// How likely a value stands in an unrelated text as long as the sources, and how that is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chance {
    /// Between 0 and 1.
    pub probability: f64,
    /// Places of the same kind in the sources.
    pub places: u32,
    /// How likely one such place holds it.
    pub per_place: f64,
}

impl Chance {
    pub(super) fn of(atom: &Atom, places: Places) -> Self {
        let (places, per_place) = match &atom.value {
            AtomValue::Number(number) => (places.numbers, number_chance(number.significand())),
            AtomValue::Date(date) => {
                let day = if date.day.is_some() { DAYS } else { MONTHS };
                let year = if date.year.is_some() { YEARS } else { 1.0 };
                (places.dates, 1.0 / (day * year))
            }
            AtomValue::Time(time) => {
                let of = match time.minute {
                    0 | 30 => 48.0,
                    minute if minute.is_multiple_of(5) => 288.0,
                    _ => 1440.0,
                };
                (places.times, 1.0 / of)
            }
            AtomValue::Words(words) => (places.words, words_chance(words.split(' '))),
            AtomValue::Literal(literal) => {
                let parts = literal.split(|character: char| !character.is_alphanumeric());
                (places.words, words_chance(parts.filter(|part| !part.is_empty())))
            }
        };
        Self { probability: at_least_one(per_place, places.into()), places, per_place }
    }
}

/// How likely at least one of so many places holds what one holds with a probability.
pub(super) fn at_least_one(per_place: f64, places: f64) -> f64 {
    -f64::exp_m1(places * f64::ln_1p(-per_place.clamp(0.0, 0.999_999)))
}

const DAYS: f64 = 120.0;
const MONTHS: f64 = 12.0;
const YEARS: f64 = 3.0;
const MAGNITUDES: f64 = 5.0;

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn number_chance(significand: u128) -> f64 {
    match significand {
        0 => 0.1,
        digits => (1.0 / digits as f64).ln_1p() / std::f64::consts::LN_10 / MAGNITUDES,
    }
}

fn words_chance<'w>(words: impl Iterator<Item = &'w str>) -> f64 {
    let (mut chance, mut count) = (1.0, 0);
    for word in words {
        chance *= word_chance(word);
        count += 1;
        if count > 1 {
            // The words of one phrase draw each other near.
            chance = (chance * 100.0).min(1.0);
        }
    }
    if count == 0 { 1.0 } else { chance }
}

/// The commonest words are every hundredth or so; others follow Zipf's law, where longer words are rarer.
fn word_chance(word: &str) -> f64 {
    let (mut chance, mut has_digit) = (1.0_f64, false);
    for character in word.chars().take(64) {
        let is_digit = character.is_ascii_digit();
        has_digit |= is_digit;
        chance /= if is_digit { 10.0 } else { 26.0 };
    }
    match word.chars().count() {
        _ if has_digit => chance,
        _ if is_common(word) => 1.0 / 100.0,
        0..=4 => 1.0 / 2_000.0,
        5..=7 => 1.0 / 5_000.0,
        _ => 1.0 / 10_000.0,
    }
}
