use super::{is_zero_width, zero_width_len};

#[test]
fn what_takes_no_room_is_told_by_its_bytes() {
    for c in '\0'..=char::MAX {
        let expected = if is_zero_width(c) { c.len_utf8() } else { 0 };
        let text = format!("{c}a");
        assert_eq!(zero_width_len(text.as_bytes()), expected, "{c:?}");
    }
    assert_eq!(zero_width_len(&[0xe2, 0x81]), 0);
}
