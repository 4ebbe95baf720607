use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::behind::Behind;
use super::super::cursor::{Cursor, Starved};
use super::super::seen::Seen;
use super::super::token;

/// Beginnings, middles and ends of tokens, and what tears them.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "\u{ad}", "\u{200b}", "\u{1b}[0m", "\u{1b}[38;5;1m", "\u{1b}[", "\u{1b}", "\u{200b}\u{200b}", "é", "漢",
    "eyJ", "eyJhbGciOiJIUzI1NiJ9", "FAKEfake0NOTreal1FAKEfake0NOTreal1", ".eyJ", ".", "ghp_", "sk_live_", "AKIA", "FAKE2NOT3REAL4FAKE",
    "hooks.slack.com/services/T", "/B", "/", ":", "-", "-----BEGIN ", "-----", "BEGIN", "Q~", "abc8", "AZDO", "JQQJ9", ".atlasv1.",
    "a", "0", "\n", " ", "\"", "0123456789", "0fa1de2fa3ce0fa1de2fa3ce0fa1de2fa3ce", "kJ8sD2fL9qW3eR5tY7uI1oP4aS6dF8gHkJ8sD2fL9qW3eR5tY7uI1oP4aS6",
    "[REDACTED:token]", "-us12", ".apps.googleusercontent.com", "sk-", "xoxb-", "glpat-", "_mmk", "//0",
];

/// Where the token ends that begins at `at`, with and without what was seen.
fn ends(
    text: &str,
    at: usize,
    last: bool,
    seen: Option<&Seen>,
) -> Result<Option<(&'static str, usize)>, Starved> {
    let cursor = Cursor::open(text, at, last);
    let first = cursor.peek()?.unwrap_or_default();
    let found = token::find(first, &cursor, &Behind::open(text, at, 0), true, seen)?;
    Ok(found.map(|found| (found.rule, found.keep + found.cut)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_read_once_rules_out_no_token(
        pieces in vec(select(PIECES), 2..24),
        times in 1..40_usize,
        // Places go forwards, and not only so.
        back in 0..7_usize,
    ) {
        let text = pieces.concat().repeat(times.min(4_000 / pieces.concat().len().max(1)).max(1));
        let seen = Seen::default();
        for place in 0..text.len() {
            for at in [place, place.saturating_sub(back)] {
                if text.is_char_boundary(at) && Cursor::open(&text, at, true).hidden() == Ok(0) {
                    let alone = ends(&text, at, true, None);
                    prop_assert_eq!(ends(&text, at, true, Some(&seen)), alone, "at {}", at);
                }
            }
        }
        // Where the text goes on, what was found before its end is the same.
        let seen = Seen::default();
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            if let Ok(found) = ends(&text, at, false, None)
                && Cursor::open(&text, at, false).hidden() == Ok(0)
            {
                prop_assert_eq!(ends(&text, at, false, Some(&seen)), Ok(found), "at {}", at);
            }
        }
    }
}
