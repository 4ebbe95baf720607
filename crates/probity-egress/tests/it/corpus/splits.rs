//! Every row of the corpus, cut in two at every place: what comes out is what the whole gives. The places are dealt out
//! to tests that run side by side.

use probity_egress::{Human, Redactor, SamePrincipal, Tier, egress_text};

use super::all_rows;

const HANDS: usize = 8;

/// Passes every row cut in two wherever the place is of this hand. The tiers take turns, by row and round.
fn check(hand: usize) {
    for (number, row) in all_rows().iter().enumerate() {
        let whole = (
            egress_text::<SamePrincipal>(&row.text).to_string(),
            egress_text::<Human>(&row.text).to_string(),
        );
        for (round, place) in (hand..=row.text.len()).step_by(HANDS).enumerate() {
            let Some((left, right)) = row.text.split_at_checked(place) else { continue };
            if (number + round).is_multiple_of(2) {
                split_gives::<SamePrincipal>(left, right, &whole.0);
            } else {
                split_gives::<Human>(left, right, &whole.1);
            }
        }
    }
}

fn split_gives<T: Tier>(left: &str, right: &str, whole: &str) {
    let mut redactor = Redactor::<T>::new();
    let mut out = redactor.push(left).to_string();
    out.push_str(redactor.push(right).as_str());
    out.push_str(redactor.finish().as_str());
    assert_eq!(out, whole, "{left:?} and {right:?}");
}

#[test]
fn corpus_redaction_two_splits_0() {
    check(0);
}

#[test]
fn corpus_redaction_two_splits_1() {
    check(1);
}

#[test]
fn corpus_redaction_two_splits_2() {
    check(2);
}

#[test]
fn corpus_redaction_two_splits_3() {
    check(3);
}

#[test]
fn corpus_redaction_two_splits_4() {
    check(4);
}

#[test]
fn corpus_redaction_two_splits_5() {
    check(5);
}

#[test]
fn corpus_redaction_two_splits_6() {
    check(6);
}

#[test]
fn corpus_redaction_two_splits_7() {
    check(7);
}
