//! What the baselines that only rank go by: words and lengths.

use std::collections::BTreeSet;

use super::case::Case;

/// BM25 of every piece for the words of question and answer.
pub(crate) fn lexical(case: &Case, reply: &str) -> Vec<f64> {
    const SATURATION: f64 = 1.2;
    const LENGTH: f64 = 0.75;
    let lists: Vec<Vec<String>> = case.pieces.iter().map(|piece| token_list(&piece.text)).collect();
    let total: usize = lists.iter().map(Vec::len).sum();
    let average = to_f64(total) / to_f64(lists.len().max(1));
    let mut query = tokens(&case.person);
    query.extend(tokens(reply));
    let mut scores = vec![0.0; lists.len()];
    for token in &query {
        let counts: Vec<usize> =
            lists.iter().map(|list| list.iter().filter(|word| *word == token).count()).collect();
        let holders = to_f64(counts.iter().filter(|count| **count > 0).count());
        let weight = (1.0 + (to_f64(lists.len()) - holders + 0.5) / (holders + 0.5)).ln();
        for (number, count) in counts.iter().enumerate() {
            let count = to_f64(*count);
            let long = 1.0 - LENGTH + LENGTH * to_f64(lists[number].len()) / average.max(1.0);
            scores[number] += weight * count * (SATURATION + 1.0) / (count + SATURATION * long);
        }
    }
    scores
}

/// The number of characters of the longest text that stands in both.
pub(crate) fn longest_overlap(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0_usize; b.len() + 1];
    let mut longest = 0;
    for left in &a {
        let mut now = vec![0_usize; b.len() + 1];
        for (at, right) in b.iter().enumerate() {
            if left == right {
                now[at + 1] = before[at] + 1;
                longest = longest.max(now[at + 1]);
            }
        }
        before = now;
    }
    longest
}

fn tokens(text: &str) -> BTreeSet<String> {
    token_list(text).into_iter().collect()
}

/// Words and figures in lower case, without the punctuation around them.
fn token_list(text: &str) -> Vec<String> {
    text.split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
pub(crate) fn to_f64(number: usize) -> f64 {
    number as f64
}
