use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// How many findings a [`Report`] keeps; beyond it findings are counted and not kept.
pub const REPORT_FINDINGS_MAX: usize = 10_000;

/// What a pass removed: where and why, never the text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    findings: Vec<Finding>,
    total: u64,
}

impl Report {
    /// An empty report.
    pub fn new() -> Self {
        Self::default()
    }

    /// The findings in the order of the text, at most [`REPORT_FINDINGS_MAX`].
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// How many findings there were, kept or not.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether nothing was removed.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    pub(crate) fn add(&mut self, finding: Finding) {
        self.total = self.total.saturating_add(1);
        if self.findings.len() < REPORT_FINDINGS_MAX {
            self.findings.push(finding);
        }
    }

    /// Adds removed bytes to the last finding, whose marker was emitted before its end was seen.
    pub(crate) fn grow_last(&mut self, bytes: usize) {
        if usize::try_from(self.total) == Ok(self.findings.len())
            && let Some(last) = self.findings.last_mut()
        {
            last.len = last.len.saturating_add(bytes);
        }
    }
}

/// One removal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The kind, as the marker names it.
    pub kind: &'static str,
    /// What gave it away.
    pub source: Source,
    /// How sure the pass was. A low confidence is redacted like a high one.
    pub confidence: Confidence,
    /// Where the marker stands in the output, in bytes.
    pub span: Range<usize>,
    /// How many bytes of the input it replaced.
    pub len: usize,
}

/// What gave a finding away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The host registered the value.
    Registered,
    /// The shape of the value: a vendor's prefix, a key block.
    Format,
    /// The name the value stands under.
    Name,
    /// Where it stands: the password of a URL, an authorization header.
    Structure,
    /// A location the tier removes.
    Location,
}

/// How sure the pass was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// A guess: the text ended before the candidate did.
    Low,
    /// A name or a place that credentials stand under, with a plausible value.
    Medium,
    /// A shape that hardly occurs otherwise.
    High,
    /// The value itself is known.
    Certain,
}

/// A report in one line: how many of which kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReportSummary {
    /// How many removals.
    pub total: u64,
    /// Kept removals by kind, in the order of the kinds' names.
    pub by_kind: BTreeMap<&'static str, u64>,
}

/// Counts a report by kind. `Display` reads `3 redacted: 2 github-token, 1 jwt`.
pub fn summarize(report: &Report) -> ReportSummary {
    let mut by_kind = BTreeMap::new();
    for finding in report.findings() {
        *by_kind.entry(finding.kind).or_insert(0) += 1;
    }
    ReportSummary { total: report.total(), by_kind }
}

impl fmt::Display for ReportSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.total == 0 {
            return f.write_str("nothing redacted");
        }
        write!(f, "{} redacted", self.total)?;
        for (index, (kind, count)) in self.by_kind.iter().enumerate() {
            let sep = if index == 0 { ": " } else { ", " };
            write!(f, "{sep}{count} {kind}")?;
        }
        Ok(())
    }
}
