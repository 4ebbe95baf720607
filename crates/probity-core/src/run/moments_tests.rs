use super::*;

#[track_caller]
fn check(text: &str, moment: &str, expected: bool) {
    assert_eq!(Moments::of(text).name(moment, &[]), expected, "`{moment}` in `{text}`");
}

#[test]
fn dates_are_known_in_other_spellings() {
    for text in ["on May 19th, 2024", "on the 19th of May 2024", "on 19 May", "on May 19.", "by 2024-05-19."]
    {
        check(text, "2024-05-19", true);
    }
    for text in [
        "on May 9th, 2024",
        "on May 19th, 2023",
        "on 2024-05-18",
        "19 or May",
        "in May",
        "the file 2024-05-190",
        "2024-05-19-b",
    ] {
        check(text, "2024-05-19", false);
    }
}

#[test]
fn a_time_needs_its_day_and_its_time() {
    check("on 2024-05-19 at 12:00", "2024-05-19 12:00", true);
    check("on 2024-05-19 at noon", "2024-05-19 12:00", false);
    check("tomorrow at 12:00", "2024-05-19 12:00", false);
    check("on May 19th at 12:00", "2024-05-19T12:00:00", true);
    check("on May 19th at 25:00", "2024-05-19 25:00", false);
    check("on May 19th", "19 May", false);
}

#[test]
fn an_end_is_its_beginning_and_a_duration() {
    let named = Moments::of("on May 19th at 12:00 for one hour");
    let end = "2024-05-19 13:00";
    assert!(named.name(end, &["2024-05-19 12:00"]));
    assert!(!named.name(end, &[]));
    assert!(!named.name(end, &["2024-05-19 11:00"]), "nobody said that it begins at 11:00");
    assert!(!named.name("2024-05-19 14:00", &["2024-05-19 12:00"]));
    assert!(Moments::of("a 1-hour event on 2024-05-19, 12:00").name(end, &["2024-05-19 12:00"]));
}
