use probity_trace::atoms_of_text;
use proptest::prelude::*;

use super::*;

#[test]
fn a_value_keeps_its_shape_and_nothing_else() {
    let text =
        r#"{"name": "Mia Li", "amounts": [1200.5, 7], "ok": true, "note": null, "more": {"id": "HAT136"}}"#;
    let neutral: Value = serde_json::from_str(&stand_in(text)).unwrap();
    assert_eq!(neutral["amounts"], serde_json::json!([null, null]));
    assert_eq!(neutral["name"], WORD);
    assert_eq!(neutral["more"], serde_json::json!({"id": WORD}));
    assert!(neutral["ok"].is_null() && neutral["note"].is_null());
}

#[test]
fn a_text_is_about_as_long_and_says_nothing() {
    let text = "The limit of Acme Ltd is 1,200.00 EUR since May 20th, by order HAT136. Ask bob@example.com for \"more\".";
    let neutral = stand_in(text);
    assert!(neutral.len() <= text.len() && neutral.len() * 2 > text.len(), "{neutral}");
    assert_eq!(atoms_of_text(&neutral), []);
    assert_eq!(stand_in("  \n"), "");
    assert_eq!(stand_in("42"), WORD);
}

proptest! {
    #[test]
    fn no_text_breaks_it_or_makes_an_atom(text in ".{0,300}") {
        let neutral = stand_in(&text);
        prop_assert!(neutral.len() <= text.len().max(WORD.len()) + 2 * text.len());
        if serde_json::from_str::<Value>(text.trim()).is_err() {
            prop_assert!(atoms_of_text(&neutral).is_empty(), "{}", neutral);
        }
    }
}
