use probity_egress::{Human, Redactor, SamePrincipal, Tier, egress_text};
use probity_testkit::{
    RedactionFigure, RedactionScore, RedactionTarget, redaction_figures, redaction_rows, removed_by_pass,
};

/// Where the figures of `cargo xtask redaction-report` are, by the start of their names. None may get worse; the one
/// who makes one better says so here.
const MEASURED: &[(&str, f64)] = &[
    ("realistic secrets wholly covered", 0.859),
    ("all secrets wholly covered", 0.800),
    ("secrets cut", 0.039),
    ("hard negatives unchanged", 0.991),
    ("lockfile integrity lines unchanged", 1.0),
    ("digests unchanged", 1.0),
    ("UUIDs unchanged", 1.0),
    ("pinned actions unchanged", 1.0),
    ("data URIs unchanged", 1.0),
    ("commit links unchanged", 1.0),
    ("long URLs unchanged", 1.0),
    ("realistic, worst source", 0.636),
    ("01-json-escaped", 1.0),
    ("02-json-escaped-twice", 1.0),
    ("03-percent-encoded", 0.975),
    ("04-base64-wrapped", 0.0),
    ("05-ansi-around", 1.0),
    ("06-ansi-inside", 1.0),
    ("07-zero-width-inside", 1.0),
    ("08-hard-wrap-crlf", 0.0),
    ("09-crlf-lines", 1.0),
    ("10-diff-plus", 1.0),
    ("11-glued-left", 0.814),
    ("13-html-entity", 1.0),
    ("20-pem-raw", 0.833),
    ("21-pem-json", 1.0),
    ("22-pem-truncated", 0.833),
    ("23-pem-no-header", 0.833),
    ("24-pem-prefixed-log", 0.833),
    ("25-pem-crlf", 0.833),
];

#[test]
fn corpus_redaction_secrets_are_wholly_covered() {
    check(&["realistic", "all secrets"]);
}

#[test]
fn corpus_redaction_secrets_are_not_cut() {
    check(&["secrets cut"]);
}

#[test]
fn corpus_redaction_hard_negatives_are_unchanged() {
    check(&["hard", "lockfile", "digests", "UUIDs", "pinned", "data URIs", "commit", "long URLs"]);
}

#[test]
fn corpus_redaction_tokens_are_covered_in_every_wrapping() {
    check(&["0", "1"]);
}

#[test]
fn corpus_redaction_key_blocks_are_covered_in_every_form() {
    check(&["2"]);
}

/// The figures whose names start so, against what was measured.
fn check(starts: &[&str]) {
    let files = (redaction_rows("dev.jsonl.gz"), redaction_rows("transforms.jsonl.gz"));
    let (Some(dev), Some(variants)) = files else { return };
    let dev = RedactionScore::of(&dev, removed_by_pass::<SamePrincipal>);
    let variants = RedactionScore::of(&variants, removed_by_pass::<SamePrincipal>);
    let figures = redaction_figures(&dev, &variants);
    assert_eq!(figures.len(), MEASURED.len(), "each figure has a measured value, and each value a figure");
    let mut worse = Vec::new();
    for (figure, (name, measured)) in figures.iter().zip(MEASURED) {
        assert!(figure.name.starts_with(name), "`{}` stands where `{name}` is measured", figure.name);
        if starts.iter().any(|start| name.starts_with(start)) && is_worse(figure, *measured) {
            worse.push(format!("{}: {:.4}, was {measured}", figure.name, figure.share.ratio()));
        }
    }
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}

fn is_worse(figure: &RedactionFigure, measured: f64) -> bool {
    match figure.target {
        RedactionTarget::AtLeast(_) => figure.share.ratio() < measured,
        RedactionTarget::AtMost(_) => figure.share.ratio() > measured,
    }
}

#[test]
fn corpus_redaction_streams_and_twice() {
    let Some(rows) = redaction_rows("dev.jsonl.gz") else { return };
    for (number, row) in rows.iter().enumerate() {
        if number % 2 == 0 {
            check_stream::<SamePrincipal>(&row.text, number);
        } else {
            check_stream::<Human>(&row.text, number);
        }
    }
}

fn check_stream<T: Tier>(text: &str, number: usize) {
    let whole = egress_text::<T>(text);
    assert_eq!(egress_text::<T>(whole.as_str()), whole, "passing twice changed {text:?}");
    let chars: Vec<char> = text.chars().collect();
    let mut redactor = Redactor::<T>::new();
    let mut out = String::new();
    for chunk in chars.chunks(1 + number % 37) {
        out.push_str(redactor.push(&chunk.iter().collect::<String>()).as_str());
    }
    out.push_str(redactor.finish().as_str());
    assert_eq!(out, whole.as_str(), "chunks of {} changed {text:?}", 1 + number % 37);
}
