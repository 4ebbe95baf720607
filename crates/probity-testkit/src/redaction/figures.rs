use std::collections::BTreeSet;

use super::row::{RedactionLabel, RedactionRow};
use super::score::{RedactionOutcome, RedactionScore, Share};

/// A figure that has a target.
#[derive(Debug, Clone)]
pub struct RedactionFigure {
    /// What is counted, such as `realistic secrets wholly covered`.
    pub name: String,
    pub share: Share,
    pub target: RedactionTarget,
}

/// What a share is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RedactionTarget {
    AtLeast(f64),
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
        name: format!("{variant}, of those covered raw"),
        share: variants.kept(variant, RAW),
        target: RedactionTarget::AtLeast(*least),
    }));
    figures.extend(KEY_BLOCKS.iter().map(|variant| RedactionFigure {
        name: format!("{variant} wholly covered"),
        share: variants.share(RedactionOutcome::Covered, |row| row.variant == *variant),
        target: RedactionTarget::AtLeast(1.0),
    }));
    figures
}

fn published(dev: &RedactionScore<'_>) -> Vec<RedactionFigure> {
    let figure = |name: &str, target, outcome, asked: &dyn Fn(&RedactionRow) -> bool| RedactionFigure {
        name: name.to_owned(),
        share: dev.share(outcome, asked),
        target,
    };
    let (covered, unchanged) = (RedactionOutcome::Covered, RedactionOutcome::Unchanged);
    let mut figures = vec![
        figure("realistic secrets wholly covered", RedactionTarget::AtLeast(0.95), covered, &|row| {
            row.label == RedactionLabel::Realistic
        }),
        figure("all secrets wholly covered", RedactionTarget::AtLeast(0.88), covered, &|row| {
            row.label.is_secret()
        }),
        figure("secrets cut", RedactionTarget::AtMost(0.003), RedactionOutcome::Cut, &|row| {
            row.label.is_secret()
        }),
        figure("hard negatives unchanged", RedactionTarget::AtLeast(0.996), unchanged, &|row| {
            row.label == RedactionLabel::Hard
        }),
    ];
    figures.extend(NATURAL.iter().map(|(class, words)| {
        figure(&format!("{words} unchanged"), RedactionTarget::AtLeast(1.0), unchanged, &|row| {
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
