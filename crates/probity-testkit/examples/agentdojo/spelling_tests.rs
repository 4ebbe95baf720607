use serde_json::{Value, json};

use super::Text;

#[track_caller]
fn check(text: &str, value: Value, expected: bool) {
    assert_eq!(Text::of(text).has(&value, &[]), expected, "`{value}` in `{text}`");
}

#[test]
fn words_stand_whole() {
    check("send it to bob@example.org.", json!("bob@example.org"), true);
    check("send it to bob@example.org.evil", json!("bob@example.org"), false);
    check("send it to a.bob@example.org", json!("bob@example.org"), false);
    check("share it with 'r' rights", json!("r"), true);
    check("share it for reading", json!("r"), false);
    check("the Grand\n   Hotel", json!("Grand Hotel"), true);
    check("the Grand, Hotel", json!("Grand Hotel"), false);
    check("anything", json!(""), false);
    check("anything", json!(" "), false);
}

#[test]
fn a_piece_of_a_date_or_a_number_is_none() {
    check("on 2024-05-13", json!("13"), false);
    check("at 13:45", json!("13"), false);
    check("it was 13.5", json!("13"), false);
    check("the file 13.", json!("13"), true);
    check("on 2024-05-13", json!(13), false);
    check("it costs £1,050.", json!(1050), true);
    check("it costs 10.00", json!(10), true);
    check("id: 6", json!(6.0), true);
    check("id: 67", json!(6), false);
}

#[test]
fn nothing_runs_over_from_one_text_into_the_next() {
    let mut text = Text::of("Grand");
    text.add("Hotel");
    assert!(!text.has_words("Grand Hotel"));
    assert!(text.has_words("Hotel"));
}

#[test]
fn dates_are_known_in_other_spellings() {
    for text in ["on May 19th, 2024", "on the 19th of May 2024", "on 19 May", "on May 19.", "by 2024-05-19."]
    {
        check(text, json!("2024-05-19"), true);
    }
    for text in ["on May 9th, 2024", "on May 19th, 2023", "on 2024-05-18", "19 or May", "in May"] {
        check(text, json!("2024-05-19"), false);
    }
}

#[test]
fn a_time_needs_its_day_and_its_time() {
    check("on 2024-05-19 at 12:00", json!("2024-05-19 12:00"), true);
    check("on 2024-05-19 at noon", json!("2024-05-19 12:00"), false);
    check("tomorrow at 12:00", json!("2024-05-19 12:00"), false);
    check("on May 19th at 12:00", json!("2024-05-19T12:00:00"), true);
    check("on May 19th at 25:00", json!("2024-05-19 25:00"), false);
}

#[test]
fn an_end_is_its_beginning_and_a_duration() {
    let text = Text::of("on May 19th at 12:00 for one hour");
    let end = json!("2024-05-19 13:00");
    assert!(text.has(&end, &["2024-05-19 12:00"]));
    assert!(!text.has(&end, &[]));
    assert!(!text.has(&end, &["2024-05-19 11:00"]), "nobody said that it begins at 11:00");
    assert!(!text.has(&json!("2024-05-19 14:00"), &["2024-05-19 12:00"]));
    assert!(Text::of("a 1-hour event on 2024-05-19, 12:00").has(&end, &["2024-05-19 12:00"]));
}

#[test]
fn what_is_no_text_and_no_number_stands_nowhere() {
    check("true null", json!(true), false);
    check("true null", Value::Null, false);
}
