use super::{Checked, read};

#[test]
fn an_answer_is_what_was_asked_for_or_the_words_why_not() {
    let checked: Checked = read(r#"{"ok":{"utility":true,"attacked":false}}"#).unwrap();
    assert_eq!(checked, Checked { utility: true, attacked: false });
    let error = read::<Checked>(r#"{"error":"KeyError: 7"}"#).unwrap_err();
    assert_eq!(error.to_string(), "KeyError: 7");
}

#[test]
fn anything_else_is_an_error() {
    for line in ["", "null", "{}", r#"{"ok":{"utility":1}}"#, r#"{"ok":1,"error":"x"}"#, "no JSON"] {
        assert!(read::<Checked>(line).is_err(), "{line}");
    }
}
