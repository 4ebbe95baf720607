use super::{Decoder, restore};

/// Bytes come back as they were, however they are cut, and places are found.
fn check(bytes: &[u8]) {
    for cut in 0..=bytes.len() {
        let (first, second) = bytes.split_at(cut);
        let mut decoder = Decoder::default();
        let text = [decoder.push(first), decoder.push(second), decoder.finish()].concat();
        let mut back = Vec::new();
        restore(&text, &mut back);
        assert_eq!(back, bytes, "cut at {cut}");
        assert_eq!(decoder.text_len(), text.len());
        for at in text.char_indices().map(|(at, _)| at).chain([text.len()]) {
            let mut before = Vec::new();
            restore(text.get(..at).unwrap(), &mut before);
            assert_eq!(decoder.input_of(at), before.len(), "cut at {cut}, place {at}");
        }
    }
}

#[test]
fn bytes_come_back_as_they_were() {
    check(b"");
    check("plain, Gr\u{fc}\u{df}e, \u{1f600}".as_bytes());
    check(b"Gr\xfc\xdfe \xff\xfe \xf0\x9f\x98 \xe2\x82");
    check("genuine \u{f780}\u{f7ff}\u{f77f}\u{f800}".as_bytes());
    check(b"\xef\x9e\x80\xef\x9e\xef");
}
