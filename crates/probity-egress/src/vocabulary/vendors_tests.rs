use super::vendors;

#[test]
fn vendors_are_words_in_lower_case_in_one_section_each() {
    let (names, words) = vendors();
    for list in [names, words] {
        assert!(list.is_sorted());
        for name in list {
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()), "{name}");
            assert!(name.len() >= 3, "{name}");
        }
    }
    assert!(names.len() > 700 && words.len() > 60, "{} and {}", names.len(), words.len());
    for name in names {
        assert!(!words.contains(name), "{name}");
    }
}
