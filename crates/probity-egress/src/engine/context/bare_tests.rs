use super::super::super::checks::{check, stays};

#[test]
fn pieces_of_known_lengths_are_tokens() {
    let hex = "f0a1d2e3f4a5b6c7d8e9f0a1b2c3d4e5";
    let made_up = |len: usize| "FAKEfake0NOTreal1".chars().cycle().take(len).collect::<String>();
    check(&format!("a {hex}.{} b", made_up(16)), "a [REDACTED:zhipu-key] b");
    check(&format!("a {hex}-us12 b"), "a [REDACTED:mailchimp-key] b");
    check(&format!("a web_{hex} b"), "a [REDACTED:dfuse-key] b");
    check(&format!("a 7-{} b", made_up(64)), "a [REDACTED:truenas-key] b");
    let discord = format!("{}.{}.{}", made_up(24), made_up(6), made_up(27));
    check(&format!("a {discord} b"), "a [REDACTED:discord-token] b");
    // `012345678901:` in base64, and 20 bytes.
    check(&format!("a MDEyMzQ1Njc4OTAxOg{} b", made_up(26)), "a [REDACTED:atlassian-token] b");
    for text in [
        format!("{hex}.js"),
        format!("{hex}-rc1"),
        format!("{hex}.{hex}"),
        format!("page_{hex}"),
        format!("12-{hex}{hex}"),
    ] {
        stays(&format!("a {text} b"));
    }
}

#[test]
fn halves_of_a_pair_go_together() {
    let made_up = |len: usize| "FAKEfake0NOTreal1".chars().cycle().take(len).collect::<String>();
    check(&format!("{}:{}", made_up(43), made_up(87)), "[REDACTED:vapid-key]");
    let id: String = "FAKE2KEY7".chars().cycle().take(61).collect();
    check(&format!("{id}\n{}\n", made_up(40)), "[REDACTED:access-key]\n");
    stays(&id);
    stays(&format!("{id} f0a1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f0a1d2e3"));
}

#[test]
fn a_long_drawn_body_behind_a_prefix_is_a_token() {
    let body: String = "FA3KfaK0nO7rEa1x".chars().cycle().take(36).collect();
    check(&format!("a acme_live_{body} b"), "a [REDACTED:api-key] b");
    check(&format!("a acmesvc-{body} b"), "a [REDACTED:api-key] b");
    let hex = "f0a1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f0a1d2e3";
    for text in [
        "acme_FA3KfaK0nO7rEa1xFA3KfaK0".to_owned(),
        format!("diff-{hex}L79"),
        format!("page_{hex}"),
        format!("Acme_{body}"),
        "get_longCamelCaseIdentifierOfVersion2AndMore17".to_owned(),
    ] {
        stays(&format!("a {text} b"));
    }
}
