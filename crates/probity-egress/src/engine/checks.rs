//! What the tests of the detectors share.

use crate::{SamePrincipal, egress_text};

/// What the pass makes of `input`, once and twice.
pub(super) fn check(input: &str, expected: &str) {
    let out = egress_text::<SamePrincipal>(input);
    assert_eq!(out.as_str(), expected, "for {input:?}");
    assert_eq!(egress_text::<SamePrincipal>(out.as_str()), out, "twice for {input:?}");
}

/// Nothing is removed.
pub(super) fn stays(input: &str) {
    check(input, input);
}
