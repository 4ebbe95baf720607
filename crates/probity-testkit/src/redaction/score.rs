use std::collections::HashSet;
use std::ops::Range;

use probity_egress::{Report, Tier, egress_text_reporting};

use super::row::{RedactionLabel, RedactionRow};

/// What a pass did to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedactionOutcome {
    /// Every byte of every secret is gone.
    Covered,
    /// A byte of a secret is gone, and another of the same one is left.
    Cut,
    /// A secret is left as it was, and none is cut.
    Missed,
    /// There is no secret, and something is gone.
    Touched,
    /// There is no secret, and nothing is gone.
    Unchanged,
}

/// Rows, each with what a pass did to it.
#[derive(Debug, Clone)]
pub struct RedactionScore<'rows> {
    /// In the order of the corpus.
    pub rows: Vec<(&'rows RedactionRow, RedactionOutcome)>,
}

/// A part of a whole, both counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// How many are so.
    pub part: usize,
    /// How many there are.
    pub of: usize,
}

impl Share {
    /// Between 0 and 1; 1 where there is nothing to take a part of.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of rows")]
    pub fn ratio(self) -> f64 {
        if self.of == 0 { 1.0 } else { self.part as f64 / self.of as f64 }
    }
}

impl<'rows> RedactionScore<'rows> {
    /// Scores a pass, given as the function from a text to the bytes of it that do not come out.
    pub fn of(rows: &'rows [RedactionRow], mut removed: impl FnMut(&str) -> Vec<Range<usize>>) -> Self {
        Self { rows: rows.iter().map(|row| (row, outcome(row, &removed(&row.text)))).collect() }
    }

    /// Of the rows that are `asked` for, those with this outcome.
    pub fn share(&self, outcome: RedactionOutcome, asked: impl Fn(&RedactionRow) -> bool) -> Share {
        let mut share = Share::default();
        for (_, found) in self.rows.iter().filter(|(row, _)| asked(row)) {
            share.of += 1;
            share.part += usize::from(*found == outcome);
        }
        share
    }

    /// Of the rows that are wholly covered in variant `raw`, those that are so in `variant`, too. Rows without this
    /// variant do not count.
    #[must_use]
    pub fn kept(&self, variant: &str, raw: &str) -> Share {
        let covered = |wanted: &str| -> HashSet<&str> {
            let rows = self.rows.iter().filter(|(row, _)| row.variant == wanted);
            rows.filter(|(_, outcome)| *outcome == RedactionOutcome::Covered)
                .map(|(row, _)| row.id.as_str())
                .collect()
        };
        let (there, here) = (covered(raw), covered(variant));
        let rows = self.rows.iter().map(|(row, _)| row);
        let of: HashSet<&str> = rows
            .filter(|row| row.variant == variant && there.contains(row.id.as_str()))
            .map(|row| row.id.as_str())
            .collect();
        Share { part: of.intersection(&here).count(), of: of.len() }
    }
}

impl RedactionRow {
    /// A class of lines full of letters and digits that are no secret, such as `lock` (a lockfile's integrity line);
    /// `None` for other rows.
    #[must_use]
    pub fn natural(&self) -> Option<&str> {
        self.rule.strip_prefix("natural:").filter(|_| self.label == RedactionLabel::Hard)
    }
}

/// The bytes of the text that tier `T`'s pass removes, by its report.
///
/// # Panics
/// Where the report does not describe what the pass did: the text with the reported bytes replaced by the reported
/// markers is not what came out.
#[must_use]
#[expect(clippy::string_slice, reason = "a report that does not fit is a failed test")]
pub fn removed_by_pass<T: Tier>(text: &str) -> Vec<Range<usize>> {
    let mut report = Report::new();
    let passed = egress_text_reporting::<T>(text, &mut report);
    let (mut rebuilt, mut from) = (String::new(), 0);
    for finding in report.findings() {
        rebuilt.push_str(&text[from..finding.input.start]);
        rebuilt.push_str(&passed.as_str()[finding.output.clone()]);
        from = finding.input.end;
    }
    rebuilt.push_str(&text[from..]);
    assert_eq!(rebuilt, passed.as_str(), "the report on {text:?} does not say what was removed");
    report.findings().iter().map(|finding| finding.input.clone()).collect()
}

fn outcome(row: &RedactionRow, removed: &[Range<usize>]) -> RedactionOutcome {
    if !row.label.is_secret() {
        return if removed.is_empty() { RedactionOutcome::Unchanged } else { RedactionOutcome::Touched };
    }
    let gone = |byte: &usize| removed.iter().any(|range| range.contains(byte));
    let left = |secret: &Range<usize>| secret.clone().filter(|byte| !gone(byte)).count();
    let lefts: Vec<(usize, usize)> = row.secrets.iter().map(|secret| (left(secret), secret.len())).collect();
    if lefts.iter().all(|(left, _)| *left == 0) {
        RedactionOutcome::Covered
    } else if lefts.iter().any(|(left, len)| (1..*len).contains(left)) {
        RedactionOutcome::Cut
    } else {
        RedactionOutcome::Missed
    }
}

#[cfg(test)]
#[path = "score_tests.rs"]
mod tests;
