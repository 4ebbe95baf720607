use std::io::Read as _;
use std::ops::Range;

use serde_json::Value;

use crate::corpora::corpus;

/// One text of the redaction corpus, and what in it is a secret.
#[derive(Debug, Clone)]
pub struct RedactionRow {
    /// Names the row; the variants of one row share it.
    pub id: String,
    /// The repository that the text was published in. Empty in variants.
    pub source: String,
    /// The rule of that repository that the text is an example of. Empty in variants.
    pub rule: String,
    /// What the secret is, such as `jwt`; empty where there is none.
    pub kind: String,
    /// How the text was wrapped or encoded, such as `05-ansi-around`; empty in rows as they were published.
    pub variant: String,
    /// What the row is for.
    pub label: RedactionLabel,
    /// The text.
    pub text: String,
    /// The bytes of the text that are secret.
    pub secrets: Vec<Range<usize>>,
}

/// What a row is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RedactionLabel {
    /// Holds a secret that looks like one.
    Realistic,
    /// Holds a secret that says that it is none, such as `changeme`.
    Dummy,
    /// Holds nothing that a pass may touch.
    Hard,
    /// Holds a dummy value under a credential's name: both answers are defensible.
    Placeholder,
    /// Holds a near miss of a format: both answers are defensible.
    Format,
}

impl RedactionLabel {
    /// Whether the row holds a secret.
    #[must_use]
    pub fn is_secret(self) -> bool {
        matches!(self, Self::Realistic | Self::Dummy)
    }

    /// The word of the corpus.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Realistic => "realistic",
            Self::Dummy => "dummy",
            Self::Hard => "hard",
            Self::Placeholder => "placeholder",
            Self::Format => "format",
        }
    }
}

/// The rows of a file of `redaction/` in the corpora, such as `dev.jsonl.gz`; `None` where it is missing, as
/// [`corpus`] says.
///
/// # Panics
/// Where the file is not what the corpus' description says.
#[must_use]
#[expect(clippy::expect_used, reason = "a corpus that cannot be read is a broken test bench")]
pub fn redaction_rows(file: &str) -> Option<Vec<RedactionRow>> {
    let packed = std::fs::read(corpus(&format!("redaction/{file}"))?).expect("read the corpus");
    let mut lines = String::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut lines).expect("unpack the corpus");
    let row = |line| serde_json::from_str(line).ok().as_ref().and_then(row);
    Some(lines.lines().map(|line| row(line).expect("a row of the redaction corpus")).collect())
}

fn row(value: &Value) -> Option<RedactionRow> {
    let word = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let label = match (value["label"].as_str()?, value["strength"].as_str(), value["neg_class"].as_str()) {
        ("secret", Some("dummy"), _) => RedactionLabel::Dummy,
        ("secret", ..) => RedactionLabel::Realistic,
        (_, _, Some("hard")) => RedactionLabel::Hard,
        (_, _, Some("placeholder")) => RedactionLabel::Placeholder,
        (_, _, Some("format")) => RedactionLabel::Format,
        _ => return None,
    };
    let text = value["text"].as_str()?.to_owned();
    let byte = |value: &Value| usize::try_from(value.as_u64()?).ok();
    let mut secrets = Vec::new();
    for span in value["secret_spans"].as_array().into_iter().flatten() {
        let range = byte(&span[0])?..byte(&span[1])?;
        text.get(range.clone()).filter(|secret| !secret.is_empty())?;
        secrets.push(range);
    }
    (label.is_secret() != secrets.is_empty()).then_some(RedactionRow {
        id: word("id"),
        source: word("source_repo"),
        rule: word("rule"),
        kind: word("kind"),
        variant: word("variant"),
        label,
        text,
        secrets,
    })
}
