use crate::clean::{cut, fold_white_space};
use crate::egress::Egress;
use crate::pass::egress_text;
use crate::tier::Tier;

/// Text of foreign origin as one line of at most `max_code_points`, passed before it is cut, never empty.
pub fn one_line_untrusted<T: Tier>(text: &str, max_code_points: usize) -> Egress<T> {
    let passed = egress_text::<T>(text);
    let line = cut(&fold_white_space(passed.as_str()), max_code_points).into_owned();
    if line.is_empty() { Egress::fixed("(empty)") } else { Egress::passed(line) }
}

/// An extension's own words (a name it registered, a reason it gave) fit for one of our lines.
pub fn extension_words<T: Tier>(text: &str, max: usize) -> Egress<T> {
    one_line_untrusted(text, max)
}

/// Text of foreign origin for a person to read, in a fence that cannot be closed from inside.
pub fn fenced_for_human<T: Tier>(label: &str, text: &str, max: usize) -> Egress<T> {
    let label = one_line_untrusted::<T>(label, 60);
    let body = egress_text::<T>(text);
    let body = cut(body.as_str(), max);
    let mut out = format!("┌─ untrusted: {label}\n");
    for line in body.lines() {
        out.push_str("│ ");
        out.push_str(line);
        out.push('\n');
    }
    out.push_str("└─ end of untrusted text");
    Egress::passed(out)
}
