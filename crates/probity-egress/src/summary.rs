use crate::clean::{cut, fold_white_space};
use crate::egress::Egress;
use crate::line::settled;
use crate::pass::egress_text;
use crate::tier::Tier;

/// A passed text in at most `max_chars` code points, white space folded.
///
/// The cut comes after the pass by construction, falls between graphemes and never inside a marker; what was cut is shown
/// by an ellipsis, which counts. Passing the summary changes nothing. Of an empty text, or with a limit of 0, it is empty.
pub fn bounded_summary<T: Tier>(text: &Egress<T>, max_chars: usize) -> Egress<T> {
    if max_chars == 0 {
        return Egress::empty();
    }
    settled(text.as_str(), max_chars, |text| {
        let folded = fold_white_space(text);
        let passed = egress_text::<T>(&cut(&folded, max_chars));
        cut(passed.as_str(), max_chars).into_owned()
    })
}
