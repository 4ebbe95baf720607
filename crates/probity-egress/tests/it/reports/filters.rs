//! A filter against false findings took true ones away.

use super::{BASE64, Draw, becomes, gone};

/// gitleaks/gitleaks#2198: a password of 60 characters was dropped because `hook` stands in it.
#[test]
fn report_38_words_inside_a_password_do_not_clear_it() {
    let mut draw = Draw::seeded(38);
    for word in ["hook", "example", "test", "dummy", "client", "public", "null", "sample", "changeme", "node"]
    {
        let value = format!("{}{word}{}", draw.word(24), draw.word(24));
        becomes(&format!("password: {value}\n"), "password: [REDACTED:password]\n");
        gone(&format!("API_SECRET=\"{value}\""), &value);
    }
}

/// BerriAI/litellm#40190: with a limit of 4.5 bits no value under 23 characters can be found.
#[test]
fn report_39_short_values_under_a_telling_name() {
    let mut draw = Draw::seeded(39);
    for length in 8..24 {
        let value = draw.word(length);
        gone(&format!("DB_PASSWORD={value}"), &value);
        gone(&format!("\"client_secret\": \"{value}\""), &value);
    }
}

/// praetorian-inc/noseyparker#262, Samsung/CredSweeper#266: what the rule itself gives as an example was not found.
#[test]
fn report_40_plain_examples_are_found() {
    let mut draw = Draw::seeded(40);
    for name in
        ["password", "api_key", "secret", "auth_token", "access_token", "client_secret", "private_key"]
    {
        let value = draw.word(32);
        for text in [
            format!("{name} = \"{value}\""),
            format!("{name}: '{value}'"),
            format!("{name}={value}"),
            format!("\"{name}\":\"{value}\""),
            format!("export {}={value}", name.to_uppercase()),
            format!("--{} {value}", name.replace('_', "-")),
        ] {
            gone(&text, &value);
        }
    }
}

/// trufflesecurity/trufflehog#2949, #4535: the second secret of a chunk was not reported.
#[test]
fn report_40_the_second_secret_of_a_text() {
    let mut draw = Draw::seeded(402);
    let secrets: Vec<String> = (0..8).map(|_| draw.word(28)).collect();
    let text: String = secrets.iter().map(|value| format!("api_key={value}\n")).collect();
    for secret in &secrets {
        gone(&text, secret);
    }
    becomes(&text, &"api_key=[REDACTED:api-key]\n".repeat(8));
}

/// trusty-tools#4977: a fifth of all base64 secrets passed for file paths.
#[test]
fn report_41_base64_with_slashes_is_no_path() {
    let mut draw = Draw::seeded(41);
    for _ in 0..30 {
        let value = format!("{}/{}/{}", draw.of(BASE64, 12), draw.word(14), draw.of(BASE64, 14));
        gone(&format!("AWS_SECRET_ACCESS_KEY={value}"), &value);
        gone(&format!("\"secret_key\": \"{value}\""), &value);
        let rooted = format!("/{value}");
        gone(&format!("password={rooted} x"), &value);
    }
}
