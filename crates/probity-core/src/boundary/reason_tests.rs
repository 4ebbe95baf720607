use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn the_maximal_pieces_are_withheld_and_nothing_else() {
    let refused = json!({"a": "my card is 4111 1111 1111 1111", "the-member-name": ["line\nbreak of it"], "n": 1234567890123_u64});
    for (reason, expected) in [
        ("no cards", "no cards"),
        ("it has 4111 1111 1111 1111, which is a card", "it ha[withheld], which is a card"),
        ("1111 111", "[withheld]"),
        ("1111 11", "1111 11"),
        ("the-member-name is odd", "[withheld] is odd"),
        ("the-member-na", "[withheld]"),
        // As plain text and as it stands in JSON.
        ("line\nbreak of", "[withheld]"),
        ("line\\nbreak of", "[withheld]"),
        ("number 1234567890123 is too large", "number [withheld] is too large"),
        ("", ""),
    ] {
        assert_eq!(scrubbed(reason, [&refused]), expected, "{reason:?}");
    }
}

#[test]
fn a_character_that_is_withheld_in_part_is_withheld_whole() {
    let refused = json!("1234567\u{e9}");
    // The piece ends within `ê`, whose first byte is that of `é`.
    assert_eq!(scrubbed("x1234567\u{ea}y", [&refused]), "x[withheld]y");
}

#[test]
fn what_was_refused_may_hold_the_mark() {
    for refused in ["[withheld]", "secret-word [withheld] …", "a…b[…]", "see [withheld] and 1234567…"]
    {
        let refused = json!(refused);
        for reason in
            ["secret-word [withheld]", "see secret-word", "1234567… [withheld] a…b[…]", "[withheld]"]
        {
            let scrubbed = scrubbed(reason, [&refused]);
            assert!(
                Withheld::between([scrubbed.as_str()], [&refused]).0.is_empty(),
                "{refused} {reason} {scrubbed}"
            );
        }
    }
}

fn shares_a_piece(text: &str, value: &Value) -> bool {
    let mut found = false;
    let mut naive = |stored: &str| {
        let windows = text.as_bytes().windows(8);
        found |= windows.into_iter().any(|piece| stored.as_bytes().windows(8).any(|other| other == piece));
    };
    each_text(value, &mut naive);
    naive(&value.to_string());
    found
}

proptest! {
    /// Texts over few letters, so that pieces overlap and repeat.
    #[test]
    fn i14_no_piece_of_eight_bytes_survives(
        reason in "[ab…é\\[\\]]{0,60}|[a-z ]{0,40}\\[withheld\\][a-z ]{0,20}",
        refused in prop_oneof![
            "[ab…é\\[\\]]{0,60}".prop_map(|text| json!({"m": [text]})),
            "[a-z ]{0,40}\\[withheld\\]".prop_map(|text| json!(text)),
            super::super::testing::json(3),
        ],
    ) {
        let scrubbed = scrubbed(&reason, [&refused]);
        prop_assert!(!shares_a_piece(&scrubbed, &refused));
        if !shares_a_piece(&reason, &refused) {
            prop_assert_eq!(&scrubbed, &reason);
        }
        prop_assert_eq!(&super::scrubbed(&scrubbed, [&refused]), &scrubbed);
    }

    #[test]
    fn i14_a_quote_of_any_part_is_withheld(text in ".{8,80}", from in 0_usize..80, before in "[0-9 ]{0,7}") {
        let start = text.char_indices().map(|(at, _)| at).nth(from % text.chars().count()).unwrap_or(0);
        let quote = &text.as_bytes()[start..];
        let reason = format!("{before}{}", String::from_utf8_lossy(quote));
        let refused = json!({"text": text});
        let scrubbed = scrubbed(&reason, [&refused]);
        prop_assert!(!shares_a_piece(&scrubbed, &refused));
    }
}

#[test]
fn a_long_text_of_one_letter_takes_a_moment() {
    let refused = json!("a".repeat(1 << 18));
    let reason = "a".repeat(1 << 16);
    assert_eq!(scrubbed(&reason, [&refused]), "[withheld]");
}
