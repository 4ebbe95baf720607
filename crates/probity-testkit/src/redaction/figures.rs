use std::collections::BTreeSet;

use super::row::{RedactionLabel, RedactionRow};
use super::score::{RedactionOutcome, RedactionScore, Share};

/// A figure that has a target.
#[derive(Debug, Clone)]
pub struct RedactionFigure {
    /// A short word for it: `realistic`, `lock`, the name of a variant.
    pub id: &'static str,
    /// What is counted, such as `realistic secrets wholly covered`.
    pub name: String,
    /// The counts.
    pub share: Share,
    /// Where it is to be.
    pub target: RedactionTarget,
}

/// What a share is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RedactionTarget {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
}

impl RedactionFigure {
    /// Whether the figure is where it is to be.
    #[must_use]
    pub fn is_met(&self) -> bool {
        match self.target {
            RedactionTarget::AtLeast(least) => self.share.ratio() >= least,
            RedactionTarget::AtMost(most) => self.share.ratio() <= most,
        }
    }
}

/// Lines that are to stay as they are, all of them: class of the corpus, and what a person calls it.
const NATURAL: [(&str, &str); 7] = [
    ("lock", "lockfile integrity lines"),
    ("hex-digest", "digests"),
    ("uuid", "UUIDs"),
    ("pinned-sha", "pinned actions"),
    ("data-uri", "data URIs"),
    ("commit-link", "commit links"),
    ("long-url", "long URLs"),
];

/// What variants of tokens are compared with.
const RAW: &str = "00-raw";

/// Variants of tokens, and the least share of what is covered without the wrapping or encoding.
const TOKENS: [(&str, f64); 12] = [
    ("01-json-escaped", 0.95),
    ("02-json-escaped-twice", 0.95),
    ("03-percent-encoded", 0.95),
    ("04-base64-wrapped", 0.80),
    ("05-ansi-around", 0.95),
    ("06-ansi-inside", 0.90),
    ("07-zero-width-inside", 0.90),
    ("08-hard-wrap-crlf", 0.50),
    ("09-crlf-lines", 0.95),
    ("10-diff-plus", 0.95),
    ("11-glued-left", 0.95),
    ("13-html-entity", 0.95),
];

/// Variants of key blocks, which are to be gone in every row.
const KEY_BLOCKS: [&str; 6] = [
    "20-pem-raw",
    "21-pem-json",
    "22-pem-truncated",
    "23-pem-no-header",
    "24-pem-prefixed-log",
    "25-pem-crlf",
];

/// The figures of a score that have a target, those of rows as published (`dev`) and of their `variants`.
#[must_use]
pub fn redaction_figures(dev: &RedactionScore<'_>, variants: &RedactionScore<'_>) -> Vec<RedactionFigure> {
    let mut figures = published(dev);
    figures.extend(worst_source(dev));
    figures.extend(TOKENS.iter().map(|(variant, least)| RedactionFigure {
        id: variant,
        name: format!("{variant}, of those covered raw"),
        share: variants.kept(variant, RAW),
        target: RedactionTarget::AtLeast(*least),
    }));
    figures.extend(KEY_BLOCKS.iter().map(|variant| RedactionFigure {
        id: variant,
        name: format!("{variant} wholly covered"),
        share: variants.share(RedactionOutcome::Covered, |row| row.variant == *variant),
        target: RedactionTarget::AtLeast(1.0),
    }));
    figures
}

fn published(dev: &RedactionScore<'_>) -> Vec<RedactionFigure> {
    let figure = |id, name: &str, target, outcome, asked: &dyn Fn(&RedactionRow) -> bool| RedactionFigure {
        id,
        name: name.to_owned(),
        share: dev.share(outcome, asked),
        target,
    };
    let (least, most) = (RedactionTarget::AtLeast, RedactionTarget::AtMost);
    let (covered, cut) = (RedactionOutcome::Covered, RedactionOutcome::Cut);
    let unchanged = RedactionOutcome::Unchanged;
    let is_realistic = |row: &RedactionRow| row.label == RedactionLabel::Realistic;
    let is_secret = |row: &RedactionRow| row.label.is_secret();
    let is_hard = |row: &RedactionRow| row.label == RedactionLabel::Hard;
    let mut figures = vec![
        figure("realistic", "realistic secrets wholly covered", least(0.95), covered, &is_realistic),
        figure("all", "all secrets wholly covered", least(0.88), covered, &is_secret),
        figure("realistic-cut", "realistic secrets cut", most(0.003), cut, &is_realistic),
        figure("cut", "all secrets cut", most(0.003), cut, &is_secret),
        figure("hard", "hard negatives unchanged", least(0.996), unchanged, &is_hard),
    ];
    figures.extend(NATURAL.iter().map(|(class, words)| {
        figure(class, &format!("{words} unchanged"), least(1.0), unchanged, &|row| {
            row.natural() == Some(class)
        })
    }));
    figures
}

/// The source of which the least is covered; small ones say nothing.
fn worst_source(dev: &RedactionScore<'_>) -> Option<RedactionFigure> {
    const ROWS_MIN: usize = 10;
    let sources: BTreeSet<&str> = dev.rows.iter().map(|(row, _)| row.source.as_str()).collect();
    let figures = sources.into_iter().map(|source| RedactionFigure {
        id: "worst-source",
        name: format!("realistic, worst source ({source})"),
        share: dev.share(RedactionOutcome::Covered, |row| {
            row.label == RedactionLabel::Realistic && row.source == source
        }),
        target: RedactionTarget::AtLeast(0.80),
    });
    figures
        .filter(|figure| figure.share.of >= ROWS_MIN)
        .min_by(|one, other| one.share.ratio().total_cmp(&other.share.ratio()))
}
