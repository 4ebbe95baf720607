use super::{Names, Without};
use crate::vocabulary::classify_name;

#[test]
fn what_was_looked_through_is_answered_as_if_it_were_again() {
    let text = b"aaaa@aaaaaaaa@aaa@@aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@";
    let find = |bytes: &[u8]| bytes.iter().position(|b| *b == b'@');
    for width in [1, 3, 8, 40] {
        let known = Without::default();
        // Not only forwards: a candidate inside what is kept is asked about again.
        let places = (0..text.len()).flat_map(|at| [at, at / 2, at]);
        for at in places {
            let bytes = text.get(at..text.len().min(at + width)).unwrap_or_default();
            assert_eq!(known.is_without(at, bytes, find), find(bytes).is_none(), "{width} bytes at {at}");
        }
    }
}

#[test]
fn a_name_says_the_same_the_second_time() {
    let names = Names::default();
    let all = [
        "password",
        "token",
        "max_tokens",
        "a",
        "",
        "api_key",
        "x",
        "a_name_longer_than_sixteen_secret",
        "ключ",
    ];
    for name in all.iter().chain(&all) {
        assert_eq!(names.classify(name), classify_name(name), "{name:?}");
    }
}
