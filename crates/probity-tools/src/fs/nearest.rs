//! Which lines of a file come closest to a text that does not stand in it.

use std::collections::HashMap;

use probity_contract::ToolError;

use crate::clip;
use crate::stop::Stop;

/// Lines that are compared.
const LINES_MAX: usize = 50_000;
/// Lines that are named.
const NAMED_MAX: usize = 2;
/// Bytes of a line that are compared and shown.
const LINE_BYTES_MAX: usize = 400;
const SHOWN_CHARS_MAX: usize = 60;
/// Per cent of likeness from which a line is worth naming.
const LIKENESS_MIN: usize = 50;

/// The nearest lines in words: first those that differ in white space only, then those that share most letter pairs.
pub(super) fn nearest(content: &[u8], old: &str, stop: &Stop) -> Result<Option<String>, ToolError> {
    let Some(wanted) = old.lines().map(str::trim).find(|line| !line.is_empty()) else { return Ok(None) };
    let wanted = clip::prefix(wanted, LINE_BYTES_MAX);
    let pairs = pairs_of(wanted);
    let mut best: Vec<(usize, usize, String)> = Vec::new();
    for (index, line) in content.split(|&byte| byte == b'\n').take(LINES_MAX).enumerate() {
        if index % 1024 == 0 {
            stop.check()?;
        }
        let line = String::from_utf8_lossy(line.get(..line.len().min(LINE_BYTES_MAX)).unwrap_or_default());
        let line = line.trim();
        let score = if line == wanted { 101 } else { likeness(&pairs, line) };
        if score >= LIKENESS_MIN {
            best.push((score, index + 1, line.to_owned()));
            best.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            best.truncate(NAMED_MAX);
        }
    }
    let words: Vec<String> = best
        .iter()
        .map(|(score, line, text)| {
            let shown = clip::words(text, SHOWN_CHARS_MAX);
            let how =
                if *score > 100 { " has this line, so white space or the lines after it differ" } else { "" };
            format!("line {line} `{shown}`{how}")
        })
        .collect();
    Ok((!words.is_empty()).then(|| words.join(", ")))
}

fn pairs_of(text: &str) -> HashMap<(char, char), usize> {
    let mut pairs = HashMap::new();
    for pair in text.chars().zip(text.chars().skip(1)) {
        *pairs.entry(pair).or_insert(0) += 1;
    }
    pairs
}

/// Per cent of letter pairs in common (Dice's coefficient).
fn likeness(wanted: &HashMap<(char, char), usize>, line: &str) -> usize {
    let total: usize = wanted.values().sum();
    let count = line.chars().count().saturating_sub(1);
    // Lengths that differ too much cannot reach the mark; this spares most of the work.
    if total == 0 || count == 0 || 200 * total.min(count) < LIKENESS_MIN * (total + count) {
        return 0;
    }
    let found = pairs_of(line);
    let common: usize =
        found.iter().map(|(pair, n)| (*n).min(wanted.get(pair).copied().unwrap_or_default())).sum();
    200 * common / (total + count)
}
