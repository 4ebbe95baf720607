//! The wrong span, or a part of it, was removed.

use super::{Draw, becomes, gone, key_block};

/// BerriAI/litellm#29018, #29149, #28614: of a PEM block the first line alone was masked, and the body went on.
#[test]
fn report_01_a_key_goes_with_its_body() {
    let mut draw = Draw::seeded(1);
    for label in ["RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"] {
        let lines = draw.key_lines(5);
        let block = key_block(label, &lines, "\n");
        let out = gone(&format!("use this:\n{block}\nthanks"), &lines.concat());
        assert_eq!(out, "use this:\n[REDACTED:private-key]\nthanks");
        for line in &lines {
            gone(&format!("{block}\n"), line);
        }
    }
}

/// protectai/llm-guard#305: of two secrets the second stayed, and the text came out twice.
#[test]
fn report_02_two_secrets_and_the_text_once() {
    let mut draw = Draw::seeded(2);
    let (one, two) = (draw.github(), draw.github());
    becomes(&format!("a {one} b {two} c"), "a [REDACTED:github-token] b [REDACTED:github-token] c");
    becomes(&format!("a {one} b {one} c"), "a [REDACTED:github-token] b [REDACTED:github-token] c");
    becomes(&format!("{one},{two}"), "[REDACTED:github-token],[REDACTED:github-token]");
    let (one, two) = (draw.word(16), draw.word(16));
    becomes(
        &format!("DB_PASSWORD={one}\nAPI_KEY={two}\n"),
        "DB_PASSWORD=[REDACTED:password]\nAPI_KEY=[REDACTED:api-key]\n",
    );
}

/// anthropics/claude-code#82796: a filter of letters and digits stopped at an underscore and left a key's tail.
#[test]
fn report_03_a_sign_inside_a_key_is_not_its_end() {
    let mut draw = Draw::seeded(3);
    for sign in ["_", "-", "__", "-_"] {
        let (left, right) = (draw.word(40), draw.word(40));
        gone(&format!("key {}-ant-api03-{left}{sign}{right} end", "sk"), &right);
        gone(&format!("OPENAI_API_KEY={}-proj-{left}{sign}{right}", "sk"), &right);
        gone(&format!("{}_pat_{}{sign}{}", "github", draw.word(22), draw.word(59)), &right);
    }
}

/// NousResearch/hermes-agent#56040: the hold-back knew fewer signs than the matcher, so a token with `=` was sent in two.
#[test]
fn report_04_a_token_is_held_back_with_all_its_signs() {
    let mut draw = Draw::seeded(4);
    for sign in ["=", "==", "+", "/", ".", "~"] {
        let value = format!("{}{sign}{}", draw.word(12), draw.word(24));
        gone(&format!("{} api_token={value} after", "word ".repeat(99)), &value);
        gone(&format!("{}Authorization: Bearer {value}\nHost: a", "word ".repeat(99)), &value);
    }
}

/// gitleaks/gitleaks#2223: an unrelated member before it took the finding away, or the next member's name was reported.
#[test]
fn report_05_an_unrelated_key_before_it_hides_nothing() {
    let mut draw = Draw::seeded(5);
    let value = draw.word(36);
    for before in ["", r#""service": "svc", "#, r#""service": "svc", "operation": "AuthService.register", "#]
    {
        becomes(
            &format!(r#"{{ {before}"auth_token": "{value}" }}"#),
            &format!(r#"{{ {before}"auth_token": "[REDACTED:token]" }}"#),
        );
        becomes(
            &format!(r#"{{ {before}"auth_token": "{value}", "duration_p50_ms": 45 }}"#),
            &format!(r#"{{ {before}"auth_token": "[REDACTED:token]", "duration_p50_ms": 45 }}"#),
        );
        super::stays(&format!(r#"{{ {before}"duration_p50_ms": 45 }}"#));
    }
}

/// data-privacy-stack/presidio#1925, #888: of several between blanks the first alone went; spans that overlap broke the
/// text.
#[test]
fn report_06_each_of_several_goes_and_overlaps_are_one() {
    let mut draw = Draw::seeded(6);
    for separator in [" ", "  ", ", ", "\t", "\n", " and "] {
        let tokens: Vec<String> = (0..6).map(|_| draw.github()).collect();
        let markers = ["[REDACTED:github-token]"; 6].join(separator);
        becomes(&format!("<{}>", tokens.join(separator)), &format!("<{markers}>"));
    }
    let token = draw.github();
    becomes(
        &format!("Authorization: Bearer {token}\nx"),
        "Authorization: Bearer [REDACTED:authorization]\nx",
    );
    gone(&format!("https://user:{token}@host/path?access_token={token}#token={token}"), &token);
    gone(&format!(r#"{{"password": "{token}"}}"#), &token);
}

/// browser-use/browser-use#5249: replacing one secret after the other found the second inside the first one's marker.
#[test]
fn report_07_a_marker_is_not_searched() {
    let mut draw = Draw::seeded(7);
    let value = draw.word(16);
    becomes(&format!("secret: redacted, password={value}"), "secret: redacted, password=[REDACTED:password]");
    becomes("password=[REDACTED:github-token]", "password=[REDACTED:github-token]");
    becomes("token: [REDACTED:password], key: x", "token: [REDACTED:password], key: x");
    becomes(
        &format!("{} [REDACTED:password] {}", draw.github(), draw.github()),
        "[REDACTED:github-token] [REDACTED:password] [REDACTED:github-token]",
    );
}
