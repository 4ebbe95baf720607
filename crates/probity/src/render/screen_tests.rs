use super::*;

#[test]
fn a_terminal_acts_on_nothing_in_the_text() {
    let text = "a\u{1b}[2Jb\u{9b}31mc\rd\u{8}e\u{202e}f\u{200b}g\u{7f}\n\th";
    assert_eq!(inert(text), "a[2Jb31mcdefg\n\th");
    assert_eq!(inert("naïve 日本 👩‍💻"), "naïve 日本 👩‍💻");
}
