use crate::clean::{cut, fold_white_space};
use crate::egress::Egress;
use crate::tier::Tier;

/// A passed text in at most `max_chars` code points, white space folded.
///
/// The cut comes after the pass by construction, falls between graphemes and never inside a marker; what was cut is shown
/// by an ellipsis, which counts.
pub fn bounded_summary<T: Tier>(text: &Egress<T>, max_chars: usize) -> Egress<T> {
    Egress::passed(cut(&fold_white_space(text.as_str()), max_chars).into_owned())
}
