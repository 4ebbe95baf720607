use super::*;

#[test]
fn a_terminal_acts_on_nothing_in_the_text() {
    let text = "a\u{1b}[2Jb\u{9b}31mc\rd\u{8}e\u{202e}f\u{200b}g\u{7f}\n\th";
    assert_eq!(inert(text), "a[2Jb31mcdefg\n\th");
    assert_eq!(inert("naïve 日本 👩‍💻"), "naïve 日本 👩‍💻");
}

#[test]
fn a_line_of_json_holds_every_character() {
    let value = serde_json::json!({ "x": "a\u{202e}b\u{1b}[2J\u{e0041}\u{feff}ü" });
    let line = in_numbers(&value.to_string());
    assert!(!line.contains(['\u{202e}', '\u{1b}', '\u{e0041}', '\u{feff}']) && line.contains('ü'));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&line).ok(), Some(value));
}
