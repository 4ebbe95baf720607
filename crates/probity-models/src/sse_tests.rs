use proptest::prelude::*;

use super::*;

fn read(pieces: &[&[u8]]) -> Vec<(String, String)> {
    let mut reader = SseReader::default();
    let mut events = Vec::new();
    for piece in pieces {
        reader.push(piece, &mut events).unwrap();
    }
    events.extend(reader.leftover().unwrap());
    events.into_iter().map(|event| (event.name, event.data)).collect()
}

fn check(text: &str, expected: &[(&str, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    assert_eq!(read(&[text.as_bytes()]), expected, "{text:?}");
    let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
    assert_eq!(read(&bytes), expected, "{text:?} byte by byte");
}

#[test]
fn events_are_split_at_blank_lines() {
    check("data: a\n\ndata: b\n\n", &[("", "a"), ("", "b")]);
    check("data: a\r\n\r\ndata: b\r\r", &[("", "a"), ("", "b")]);
    check("event: x\ndata: a\n\n", &[("x", "a")]);
    check("event: x\n\ndata: a\n\n", &[("", "a")]);
    check("data: a\ndata: b\n\n", &[("", "a\nb")]);
    check("data:a\n\n", &[("", "a")]);
    check("data:  a\n\n", &[("", " a")]);
    check("\u{feff}data: a\n\n", &[("", "a")]);
    check(": a comment\nid: 7\nretry: 9\n\n", &[]);
    check("no field at all\n\n", &[]);
    check("data\n\n", &[("", "")]);
}

#[test]
fn an_event_without_its_blank_line_is_left_over() {
    check("data: a\n", &[("", "a")]);
    check("data: [DONE]", &[("", "[DONE]")]);
    check("event: x\ndata: {\"a\":", &[("x", "{\"a\":")]);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let mut events = Vec::new();
    assert_eq!(SseReader::default().push(b"data: \xff\n\n", &mut events), Err(NotUtf8));
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same_events(text in "(data: ?[a-z\u{e4}]{0,4}|event: [a-z]|:|\n|\r\n|\r){0,24}", cut in 0usize..200) {
        let bytes = text.as_bytes();
        let (head, tail) = bytes.split_at(cut.min(bytes.len()));
        prop_assert_eq!(read(&[head, tail]), read(&[bytes]));
    }
}
