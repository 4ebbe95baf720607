use super::{CREDENTIALS, FILLERS, Mention, NOT, mention};

#[test]
fn lists_are_sorted_and_apart() {
    for list in [CREDENTIALS, FILLERS, NOT] {
        assert!(list.is_sorted());
    }
    assert!(CREDENTIALS.iter().all(|word| !FILLERS.contains(word) && !NOT.contains(word)));
    assert!(FILLERS.iter().all(|word| !NOT.contains(word)));
}

#[test]
fn words_say_what_they_say() {
    for (word, says) in [
        ("twitch", Mention::Service),
        ("twitchtoken", Mention::Service),
        ("twitchapikey", Mention::Service),
        ("mytwitchapi", Mention::Service),
        ("twitchsecrettest", Mention::Service),
        ("twitchtest", Mention::Unknown),
        ("tokenizer", Mention::Unknown),
        ("stripe", Mention::Word),
        ("stripeapikey", Mention::Service),
        ("privatekey", Mention::Credential),
        ("value", Mention::Filler),
        ("2", Mention::Filler),
        ("sha256", Mention::Not),
        ("public", Mention::Not),
        ("house", Mention::Unknown),
    ] {
        assert_eq!(mention(word), says, "{word}");
    }
}
