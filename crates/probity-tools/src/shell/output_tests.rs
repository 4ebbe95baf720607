use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn any_chunking_keeps_the_same(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12), max in 0..64_usize) {
        let whole = chunks.concat();
        let (mut once, mut parts) = (HeadTail::new(max), HeadTail::new(max));
        once.push(&whole);
        for chunk in &chunks {
            parts.push(chunk);
        }
        prop_assert_eq!(once.text(), parts.text());
        prop_assert!(parts.head.len() + parts.tail.len() <= max);
        prop_assert_eq!(&parts.head, &whole[..whole.len().min(max / 2)]);
        if whole.len() <= max {
            prop_assert_eq!(parts.text(), String::from_utf8_lossy(&whole));
        }
    }
}

#[test]
fn a_cut_is_said_with_its_size() {
    let mut kept = HeadTail::new(4);
    kept.push(b"abcdefgh");
    assert_eq!(kept.text(), "ab\n[… 4 bytes cut here …]\ngh");
}
