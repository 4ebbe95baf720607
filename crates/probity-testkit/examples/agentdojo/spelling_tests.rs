use super::Text;

#[track_caller]
fn check(text: &str, words: &str, expected: bool) {
    assert_eq!(Text::of(text).has_words(words), expected, "`{words}` in `{text}`");
}

#[test]
fn words_stand_whole() {
    check("send it to bob@example.org.", "bob@example.org", true);
    check("send it to bob@example.org.evil", "bob@example.org", false);
    check("send it to a.bob@example.org", "bob@example.org", false);
    check("share it with 'r' rights", "r", true);
    check("share it for reading", "r", false);
    check("the Grand\n   Hotel", "Grand Hotel", true);
    check("the Grand, Hotel", "Grand Hotel", false);
    check("anything", "", false);
    check("anything", " ", false);
}

#[test]
fn a_piece_of_a_date_or_a_number_is_none() {
    check("on 2024-05-13", "13", false);
    check("at 13:45", "13", false);
    check("it was 13.5", "13", false);
    check("the file 13.", "13", true);
}

#[test]
fn nothing_runs_over_from_one_text_into_the_next() {
    let mut text = Text::of("Grand");
    text.add("Hotel");
    assert!(!text.has_words("Grand Hotel"));
    assert!(text.has_words("Hotel"));
}
