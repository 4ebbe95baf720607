#![expect(clippy::single_range_in_vec_init, reason = "a list of ranges, often of one")]

use super::*;

fn row(id: &str, variant: &str, label: RedactionLabel, secrets: &[Range<usize>]) -> RedactionRow {
    RedactionRow {
        id: id.to_owned(),
        source: String::new(),
        rule: "natural:lock".to_owned(),
        kind: String::new(),
        variant: variant.to_owned(),
        label,
        text: "0123456789".to_owned(),
        secrets: secrets.to_vec(),
    }
}

#[test]
fn an_outcome_is_of_the_whole_row() {
    let check = |secrets: &[Range<usize>], removed: &[Range<usize>], expected| {
        let row = row("a", "", RedactionLabel::Realistic, secrets);
        assert_eq!(outcome(&row, removed), expected, "{secrets:?} {removed:?}");
    };
    check(&[2..6], &[0..4, 4..9], RedactionOutcome::Covered);
    check(&[2..6], &[0..5], RedactionOutcome::Cut);
    check(&[2..6], &[0..2, 6..9], RedactionOutcome::Missed);
    check(&[1..2, 4..6], &[4..6], RedactionOutcome::Missed);
    check(&[1..2, 4..6], &[5..6], RedactionOutcome::Cut);
    let hard = row("a", "", RedactionLabel::Hard, &[]);
    assert_eq!(outcome(&hard, &[]), RedactionOutcome::Unchanged);
    assert_eq!(outcome(&hard, &[8..9]), RedactionOutcome::Touched);
    assert_eq!((hard.natural(), row("a", "", RedactionLabel::Format, &[]).natural()), (Some("lock"), None));
}

#[test]
fn a_variant_is_compared_with_the_same_rows() {
    let secret = |id, variant| row(id, variant, RedactionLabel::Realistic, &[0..1]);
    let rows =
        [secret("a", "raw"), secret("b", "raw"), secret("c", "raw"), secret("a", "x"), secret("b", "x")];
    let outcomes = [
        RedactionOutcome::Covered,
        RedactionOutcome::Missed,
        RedactionOutcome::Covered,
        RedactionOutcome::Cut,
        RedactionOutcome::Covered,
    ];
    let score = RedactionScore { rows: rows.iter().zip(outcomes).collect() };
    assert_eq!(score.kept("x", "raw"), Share { part: 0, of: 1 });
    assert_eq!(score.share(RedactionOutcome::Covered, |row| row.variant == "raw"), Share { part: 2, of: 3 });
}
