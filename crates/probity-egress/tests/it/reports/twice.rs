//! What had been redacted was redacted again.

use probity_egress::{Human, SamePrincipal, bounded_summary, egress_text, one_line_untrusted};

use super::{Draw, becomes, stays};

/// bastani/atomic#2825: a second pass made two markers of one. gitleaks/gitleaks#1188: a marker was a finding.
#[test]
fn report_50_a_marker_is_never_found() {
    let mut draw = Draw::seeded(50);
    for text in [
        format!("Authorization: Bearer {}", draw.word(30)),
        format!("password={} {}", draw.word(12), draw.github()),
        format!("https://u:{}@h/p?token={}", draw.word(12), draw.word(20)),
        format!("Cookie: a={}; b={}", draw.word(20), draw.word(20)),
    ] {
        let once = egress_text::<SamePrincipal>(&text);
        becomes(once.as_str(), once.as_str());
        let human = egress_text::<Human>(once.as_str());
        assert_eq!(egress_text::<Human>(human.as_str()), human);
        assert!(!human.as_str().contains("[REDACTED:[") && !human.as_str().contains("]["), "{human}");
        assert_eq!(one_line_untrusted::<Human>(human.as_str(), 500), human);
        assert_eq!(bounded_summary(&human, 500), human);
    }
    stays("password=[REDACTED:password][REDACTED:token]");
    stays("api_key: REDACTED, token: <redacted>, secret: ***");
}

/// Where a value ends, and whether it is one, may depend on what a removal takes away behind it.
#[test]
fn a_seam_is_judged_once() {
    let mut draw = Draw::seeded(51);
    let key = crate::made_up::key_block(2, "\n");
    let (drawn, base64) = (draw.word(20), "UGFzc3dvcmQ6aGhaanRaajIy");
    for text in [
        "https://\u{200b}\\\\host\\share".to_owned(),
        "Credential=,Basic file:/etc/x".to_owned(),
        format!("#access_token=,Bearer {drawn}; sessionid={drawn}"),
        "AccountKey=;machine h login a password -u a:b3cd".to_owned(),
        format!("?sig=sha256:->{key}"),
        format!("pw:aa3a->{key}"),
        format!("{base64}[REDACTED://a"),
        format!("Basic {drawn};a=/etc/x"),
        format!("pw=,wandb {drawn}:"),
        format!("authorization:aaaaaa7a\n{}...", draw.github()),
        "a://^aaaaaaaaaXaaa63@".to_owned(),
        "password: 1password: =Token ".to_owned(),
        // A marker where the reading of a long value ends.
        format!("=Token {}/{}://a", "a".repeat(15), crate::made_up::token("", 371)),
        format!("-u \"a:{}://a", crate::made_up::token("", 390)),
        format!("glrt-aaapassword-----BEGIN1{drawn}"),
        format!(
            "TOKEN=[aaaaaaaa\n69aaaa98\n{}",
            crate::made_up::token("eyJ", 20) + "." + &crate::made_up::token("", 43)
        ),
    ] {
        let once = egress_text::<SamePrincipal>(&text);
        becomes(once.as_str(), once.as_str());
        let human = egress_text::<Human>(&text);
        assert_eq!(egress_text::<Human>(human.as_str()), human, "twice for {text:?}");
    }
}

/// A caret may be of a password: the whole address goes, and no half of it stays.
#[test]
fn an_address_goes_with_all_of_its_password() {
    assert_eq!(egress_text::<Human>("see postgres://u:p^ss77@h/x now").as_str(), "see [REDACTED:url] now");
}

/// The secret ends what looked invisible: what stood before it in the sequence must not become text that is judged anew.
#[test]
fn a_registered_secret_in_a_control_sequence_goes_with_its_beginning() {
    assert!(probity_egress::register_secret("5550123456789"));
    becomes("a \u{1b}[1;5550123456789mb", "a [REDACTED:registered]mb");
    for text in [
        "\u{1b}[1://5550123456789",
        "\u{1b}[/15550123456789",
        "\u{1b}[://1/5550123456789",
        "a://\u{1b}[5550123456789m",
        "password: !brown \u{1b}[5550123456789m!brown",
        "password: !brown\u{1b}[5550123456789m!brown",
        "CLOJARS_FAKEnotAtoken0[REDACTED:5550123456789]",
        "password=a1b2c3d4[REDACTED:a-5550123456789-b]",
    ] {
        let once = egress_text::<SamePrincipal>(text);
        becomes(once.as_str(), once.as_str());
        let human = egress_text::<Human>(text);
        assert!(!human.as_str().contains("0123456789"), "{human}");
        assert_eq!(egress_text::<Human>(human.as_str()), human, "twice for {text:?}");
    }
}
