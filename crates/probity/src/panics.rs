//! A panic is an exit, too: its words pass like any other text.

use std::any::Any;
use std::panic::{self, PanicHookInfo};
use std::sync::Arc;

use probity_egress::{Egress, SamePrincipal, Words, egress_panic, egress_text, one_line_untrusted};

use crate::render::Screen;

/// Code points of a panic's words that are told.
const PANIC_CHARS_MAX: usize = 2_000;

/// Tells every panic of the process on the screen, in one passed line and without a backtrace. It replaces the hook of the
/// standard library, which writes a panic's words as they are.
pub(crate) fn tell(screen: &Arc<Screen>) {
    let screen = Arc::clone(screen);
    panic::set_hook(Box::new(move |info| screen.tell(&line(info))));
}

fn line(info: &PanicHookInfo<'_>) -> Egress<SamePrincipal> {
    let at = info.location().map(ToString::to_string).unwrap_or_default();
    // The payload is only lent, so what can be read of it goes on in a payload of our own.
    let payload: Box<dyn Any + Send> = match info.payload_as_str() {
        Some(words) => Box::new(words.to_owned()),
        None => Box::new(()),
    };
    let words = egress_panic::<SamePrincipal>(payload);
    Words::new()
        .text("internal error at ")
        .passed(&egress_text(&at))
        .text(": ")
        .passed(&one_line_untrusted(words.as_str(), PANIC_CHARS_MAX))
        .done()
}

#[cfg(test)]
#[path = "panics_tests.rs"]
mod tests;
