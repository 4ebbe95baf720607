use std::any::Any;
use std::error::Error;

use crate::egress::Egress;
use crate::limits::ERROR_CHAIN_MAX;
use crate::pass::egress_text;
use crate::tier::Tier;

/// An error's words on their way out: its text and its sources' texts, joined by `: `, passed.
///
/// A source whose text already stands at the end of what was said is not said again. At most [`ERROR_CHAIN_MAX`] errors
/// are read, so a chain that loops ends.
pub fn egress_error<T: Tier>(error: &dyn Error) -> Egress<T> {
    let mut words = String::new();
    let mut next = Some(error);
    for _ in 0..ERROR_CHAIN_MAX {
        let Some(error) = next else { break };
        let text = error.to_string();
        if !text.is_empty() && !words.contains(text.as_str()) {
            if !words.is_empty() {
                words.push_str(": ");
            }
            words.push_str(&text);
        }
        next = error.source();
    }
    egress_text(&words)
}

/// A panic's words on their way out, passed.
pub fn egress_panic<T: Tier>(payload: Box<dyn Any + Send>) -> Egress<T> {
    let payload = match payload.downcast::<String>() {
        Ok(text) => return egress_text(&text),
        Err(payload) => payload,
    };
    match payload.downcast::<&'static str>() {
        Ok(text) => egress_text(&text),
        Err(_) => Egress::fixed("panic with a non-text payload"),
    }
}
