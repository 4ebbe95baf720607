//! What the rank may know of a suspect: texts and places. A stand-in until the copy match of a record is asked instead.

use std::collections::{BTreeMap, BTreeSet};

use probity_why::{Features, SuspectKind};

use super::case::{Case, Stands};

/// Of every piece.
pub(crate) fn features(case: &Case, reply: &str) -> Vec<Features> {
    let texts: Vec<BTreeSet<String>> = case.pieces.iter().map(|piece| tokens(&piece.text)).collect();
    let asked = tokens(&case.ask);
    let holders = |token: &str| texts.iter().filter(|text| text.contains(token)).count();
    let rarity: BTreeMap<&String, f64> =
        asked.iter().map(|token| (token, 1.0 / to_f64(holders(token).max(1)))).collect();
    let all: f64 = asked.iter().map(|token| rarity[token]).sum();
    let alike = lexical(case, reply);
    let most = alike.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    (0..case.pieces.len())
        .map(|number| Features {
            copied: asked
                .iter()
                .filter(|token| texts[number].contains(*token))
                .map(|token| rarity[token])
                .sum::<f64>()
                / all.max(f64::MIN_POSITIVE),
            alike: alike[number] / most,
            distance: 0,
            kind: match case.pieces[number].stands {
                Stands::Page { .. } => SuspectKind::ToolResult,
                Stands::Reply { .. } => SuspectKind::Reply,
                Stands::Context(_) | Stands::Absent(_) => SuspectKind::Context,
            },
            recency: to_f64(number) / to_f64(case.pieces.len()),
        })
        .collect()
}

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
