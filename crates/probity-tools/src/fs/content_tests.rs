use super::*;

#[test]
fn text_is_told_from_binary() {
    let cases: &[(&[u8], Option<&str>)] = &[
        (b"", None),
        (b"plain text\n", None),
        ("käse ✓".as_bytes(), None),
        (b"BM is also how a bitmap starts", None),
        (b"caf\xe9 in Latin-1", None),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Some("image/png")),
        (b"\x1f\x8b\x08\0\0\0\0\0", Some("application/gzip")),
        (b"%PDF-1.7\n%text so far", Some("application/pdf")),
        (b"a\0b", Some("of unknown type")),
        (b"\xff\xfeh\0i\0", Some("text in UTF-16")),
    ];
    for (head, expected) in cases {
        assert_eq!(binary_kind(head), *expected, "{head:?}");
    }
}

#[test]
fn a_character_cut_by_the_end_of_the_head_is_still_text() {
    let mut head = b"BM".to_vec();
    head.extend("ä".repeat(20).bytes());
    head.pop();
    assert_eq!(binary_kind(&head), None);
}
