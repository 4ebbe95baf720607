//! Numbers in English words: `twenty-five`, `two hundred and three thousand`.

use super::Decimal;
use super::chars::hashed_word_end;
use super::lexicon::{Meaning, meaning};

/// The most words of one number.
const WORDS_MAX: usize = 16;

/// The number that begins at `start`, and where it ends. `one` alone is a pronoun as often as not, and no number.
pub(crate) fn spelled_at(text: &str, start: usize) -> Option<(usize, Decimal)> {
    let (mut total, mut group, mut last) = (0_i64, 0_i64, None);
    let (mut at, mut end) = (start, start);
    for _ in 0..WORDS_MAX {
        let (word_end, hash, _) = hashed_word_end(text, at);
        let word = text.get(at..word_end)?;
        match (meaning(word, hash), last) {
            (Some(read @ Meaning::Small(number)), None | Some(Meaning::Hundred | Meaning::Scale(_))) => {
                (group, last) = (group + i64::from(number), Some(read));
            }
            (Some(read @ Meaning::Small(number @ 1..=9)), Some(Meaning::Tens(_))) => {
                (group, last) = (group + i64::from(number), Some(read));
            }
            (Some(read @ Meaning::Tens(number)), None | Some(Meaning::Hundred | Meaning::Scale(_))) => {
                (group, last) = (group + i64::from(number), Some(read));
            }
            (Some(read @ Meaning::Hundred), Some(Meaning::Small(_) | Meaning::Tens(_))) => {
                (group, last) = (group * 100, Some(read));
            }
            (
                Some(read @ Meaning::Scale(power)),
                Some(Meaning::Small(_) | Meaning::Tens(_) | Meaning::Hundred),
            ) => {
                (total, group, last) = (total + group * 10_i64.pow(power.into()), 0, Some(read));
            }
            _ if word.eq_ignore_ascii_case("and")
                && matches!(last, Some(Meaning::Hundred | Meaning::Scale(_))) =>
            {
                at = next_word(text, word_end)?;
                continue;
            }
            _ => break,
        }
        end = word_end;
        match next_word(text, word_end) {
            Some(next) => at = next,
            None => break,
        }
    }
    let is_pronoun = text.get(start..end).is_some_and(|read| read.eq_ignore_ascii_case("one"));
    (end > start && !is_pronoun).then(|| (end, Decimal::whole(total + group)))
}

fn next_word(text: &str, end: usize) -> Option<usize> {
    let next = text.get(end..)?.bytes().next()?;
    matches!(next, b' ' | b'-').then_some(end + 1)
}
