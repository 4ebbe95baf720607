use crate::egress::Egress;
use crate::engine::Engine;
use crate::report::Report;
use crate::tier::Tier;

/// Tier `T`'s one pass over a text.
///
/// Passing what came out once more changes nothing, but for the cases that the crate's documentation names. Linear in the
/// length of the text; never panics.
pub fn egress_text<T: Tier>(text: &str) -> Egress<T> {
    egress_text_reporting(text, &mut Report::new())
}

/// [`egress_text`], which also adds what it removed to `report`. Spans count from the start of this text's output.
pub fn egress_text_reporting<T: Tier>(text: &str, report: &mut Report) -> Egress<T> {
    let mut engine = Engine::new(T::REMOVES_LOCATIONS);
    let mut out = String::with_capacity(text.len());
    engine.pass(text, &mut out, report);
    Egress::passed(out)
}
