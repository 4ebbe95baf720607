use crate::clean::{cut, inert};
use crate::egress::Egress;
use crate::line::{one_line_untrusted, settled};
use crate::pass::egress_text;
use crate::tier::Tier;

/// Code points of a fence's label.
const LABEL_CHARS_MAX: usize = 60;

/// Text of foreign origin for a person to read: passed, bounded to `max` code points, between a first and a last line of
/// ours that name it as untrusted.
///
/// Every line of the text begins with the fence's bar, so no line of it can be the last line of the fence, whatever it
/// says. Control sequences and direction marks are gone; line breaks are kept, as line feeds.
pub fn fenced_for_human<T: Tier>(label: &str, text: &str, max: usize) -> Egress<T> {
    let label = one_line_untrusted::<T>(label, LABEL_CHARS_MAX);
    let body = settled::<T>(text, max.max(1), |text| {
        let passed = egress_text::<T>(text);
        let inert = egress_text::<T>(&inert(passed.as_str()));
        cut(inert.as_str().trim_end(), max.max(1)).into_owned()
    });
    let mut fenced = format!("┌─ untrusted text: {label}\n");
    let lines = if body.is_empty() { "(empty)" } else { body.as_str() };
    for line in lines.split('\n') {
        fenced.push_str("│ ");
        fenced.push_str(line);
        fenced.push('\n');
    }
    fenced.push_str("└─ end of untrusted text");
    Egress::passed(fenced)
}
