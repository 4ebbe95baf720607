use crate::clean::{cut, fold_white_space, inert};
use crate::egress::Egress;
use crate::pass::egress_text;
use crate::tier::Tier;

/// What an empty text reads as.
const EMPTY: &str = "(empty)";
/// How often a line is made again until it no longer changes.
const ROUNDS_MAX: usize = 6;

/// Text of foreign origin as one line of at most `max_code_points`, never empty.
///
/// It is passed before anything else, so that no cut leaves half a credential. Then every Unicode line break and run of
/// white space is one space, control sequences, control characters, direction marks and zero-width characters are gone,
/// and imitations of a conversation's frames are inert. What that brings together is passed again before the cut. An
/// ellipsis shows the cut and counts. Doing it twice with the same limit changes nothing.
///
/// A limit below the length of `(empty)` still gives `(empty)` for an empty text: a line is never empty.
pub fn one_line_untrusted<T: Tier>(text: &str, max_code_points: usize) -> Egress<T> {
    if text == EMPTY {
        return Egress::fixed(EMPTY);
    }
    let max = max_code_points.max(1);
    settled(text, max, |text| {
        let passed = egress_text::<T>(text);
        let folded = egress_text::<T>(&fold_white_space(&inert(passed.as_str())));
        let line = cut(folded.as_str(), max).into_owned();
        if line.is_empty() { EMPTY.to_owned() } else { line }
    })
}

/// Makes a text until making it again changes nothing, so that what leaves is what a second door would let leave. Text
/// that does not settle is withheld.
pub(crate) fn settled<T: Tier>(text: &str, max: usize, make: impl Fn(&str) -> String) -> Egress<T> {
    let mut made = make(text);
    for _ in 0..ROUNDS_MAX {
        if made == EMPTY {
            return Egress::fixed(EMPTY);
        }
        let again = make(&made);
        if again == made {
            return Egress::passed(made);
        }
        made = again;
    }
    Egress::passed(cut("[REDACTED:unsettled]", max))
}

/// An extension's own words (a name it registered, a reason it gave) fit for one of our lines: passed, one line, bounded,
/// never empty.
pub fn extension_words<T: Tier>(text: &str, max: usize) -> Egress<T> {
    one_line_untrusted(text, max)
}
