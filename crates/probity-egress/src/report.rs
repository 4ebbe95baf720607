use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::Serialize;

use crate::fingerprint::Fingerprints;

/// How many findings a [`Report`] keeps; beyond it findings are counted and not kept.
pub const REPORT_FINDINGS_MAX: usize = 10_000;

/// What a pass removed: where and why, never the text.
///
/// Two removals of one text have one [fingerprint](Finding::fingerprint) within reports of one key, and nothing can be
/// concluded from fingerprints without it. A report that was made without a key has none.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    findings: Vec<Finding>,
    total: u64,
    #[serde(skip)]
    fingerprints: Fingerprints,
    /// Whether the last finding still grows.
    #[serde(skip)]
    open: bool,
    /// Whether the last removal was kept.
    #[serde(skip)]
    kept: bool,
}

impl Report {
    /// An empty report without fingerprints.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty report whose findings carry a fingerprint under `key`, which must be random and kept by nobody: with a
    /// known key, a short secret can be guessed from its fingerprint.
    pub fn with_key(key: [u8; 32]) -> Self {
        Self { fingerprints: Fingerprints::under(key), ..Self::default() }
    }

    /// The findings in the order of the text, at most [`REPORT_FINDINGS_MAX`] at a time.
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

    /// Takes the findings that are complete out of the report, which makes room for others; [`total`](Self::total) stays.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        let growing = usize::from(self.open && self.kept);
        let complete = self.findings.len().saturating_sub(growing);
        self.findings.drain(..complete).collect()
    }

    pub(crate) fn add(&mut self, finding: Finding, removed: &str) {
        self.close_last();
        self.total = self.total.saturating_add(1);
        self.kept = self.findings.len() < REPORT_FINDINGS_MAX;
        self.open = true;
        if self.kept {
            self.findings.push(finding);
            self.fingerprints.begin(removed);
        }
    }

    /// Adds removed text to the last finding, whose marker was emitted before its end was seen.
    pub(crate) fn grow_last(&mut self, removed: &str) {
        if self.kept
            && let Some(last) = self.findings.last_mut()
        {
            last.input.end = last.input.end.saturating_add(removed.len());
            self.fingerprints.extend(removed);
        }
    }

    /// Nothing more belongs to the last finding.
    pub(crate) fn close_last(&mut self) {
        if self.open
            && self.kept
            && let Some(last) = self.findings.last_mut()
        {
            last.fingerprint = self.fingerprints.end();
        }
        self.open = false;
    }
}

/// Reports are equal when they tell the same.
impl PartialEq for Report {
    fn eq(&self, other: &Self) -> bool {
        self.total == other.total && self.findings == other.findings
    }
}

impl Eq for Report {}

/// One removal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What recognised it: the id of a kind of the vocabulary, or a rule of the engine such as `name` or `cookie`.
    pub rule: &'static str,
    /// The kind, as the marker names it.
    pub kind: &'static str,
    /// What gave it away.
    pub source: Source,
    /// How sure the pass was. A low confidence is redacted like a high one.
    pub confidence: Confidence,
    /// What was removed, in bytes of the input.
    pub input: Range<usize>,
    /// Where the marker stands, in bytes of the output.
    pub output: Range<usize>,
    /// The first 64 bits of HMAC-SHA-256 over the removed text, in hexadecimal.
    pub fingerprint: Option<String>,
}

/// What gave a finding away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The host registered the value.
    Registered,
    /// The shape of the value: a vendor's prefix, a key block.
    Format,
    /// Its shape, and the checksum inside it holds.
    Checksum,
    /// Something was recognised inside an encoding (base64, say), which is removed whole.
    Decoded,
    /// The words around it, and a value that looks drawn.
    Context,
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
