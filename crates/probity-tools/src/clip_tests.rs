use super::*;

#[test]
fn no_part_of_a_credential_is_left_at_a_cut() {
    // Made here, so that nothing in the source looks like a credential.
    let token: String =
        "ghp_".chars().chain((0..36_u32).filter_map(|n| char::from_digit(n * 11 % 36, 36))).collect();
    let part = token.get(..12).unwrap();
    for before in 150..210 {
        let shown = word(&format!("{} {token} and more", "x".repeat(before)));
        assert!(!shown.contains(part), "{before}: {shown}");
    }
    let tail = token.get(token.len() - 8..).unwrap();
    for after in 60..130 {
        let shown = last_words(&format!("started {token} {}", "x".repeat(after)), 120);
        assert!(!shown.contains(tail), "{after}: {shown}");
    }
}

#[test]
fn short_texts_are_whole_and_hidden_characters_are_marked() {
    assert_eq!(word("a\u{202e}b"), "a\u{fffd}b");
    assert_eq!(last_words("waiting\n", 120), "waiting");
}
