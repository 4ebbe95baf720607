use probity_testkit::redaction_rows;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::Engine;
use super::cursor::reads;
use crate::report::Report;

/// What the engine gives that asks the detectors at every position.
fn exhaustive(text: &str, locations: bool) -> String {
    let mut engine = Engine { exhaustive: true, ..Engine::new(locations) };
    let mut out = String::new();
    engine.pass(text, &mut out, &mut Report::new());
    out
}

fn marked(text: &str, locations: bool) -> String {
    let mut out = String::new();
    Engine::new(locations).pass(text, &mut out, &mut Report::new());
    out
}

#[test]
fn corpus_redaction_marks_overlook_nothing() {
    for file in ["dev.jsonl.gz", "transforms.jsonl.gz"] {
        for row in redaction_rows(file).unwrap_or_default() {
            for locations in [false, true] {
                let text = row.text.as_str();
                assert_eq!(marked(text, locations), exhaustive(text, locations), "in {text:?}");
            }
        }
    }
}

#[test]
fn names_are_found_however_they_are_tied_to_their_value() {
    for text in [
        // Backslashes before the quotes.
        r#"setPassword(\"hunter22x\")"#,
        r#"IDENTIFIED BY \"hunter22x\""#,
        r#"if (\"hunter22x\" == password)"#,
        // More blanks than one.
        "IDENTIFIED BY  'hunter22'",
        "db_password   \"aB3xY7kL2mQ9\"",
        "setopt(h, OPT_PASSWORD,  \"aB3xY7kL2mQ9\")",
        "(\"password\" , \"hunter22x\")",
        "<password >hunter22</password>",
        // Prefixed strings.
        "(\"password\", b\"hunter22x\")",
        "(\"password\", @\"hunter22x\")",
        // What is not ASCII.
        "<пароль>hunter22</пароль>",
        "--пароль hunter-xy",
        "--my-пароль hunter-xy",
        "password\u{a0}aB3xY7kL2mQ9",
        "DB_PASSWORD\u{a0}'hunter22x'",
        // What is encoded.
        "&lt;password&gt;hunter22&lt;/password&gt;",
        "password&colon; hunter22",
        r"password\\u003dhunter22",
        "(&quot;password&quot;, &quot;hunter22x&quot;)",
        r"\u0022password\u0022,\u0022hunter22x\u0022",
        // Signs that part the digits of a value.
        "password aB3$xY7&kL2m",
        // Blanks of two kinds, or many, and a prefix behind them.
        "DB_PASSWORD \u{a0}1oP4aS6dF8gH",
        "DB_PASSWORD @\"aB3xY7kL2mQ9\"",
        "DB_PASSWORD\tu'aB3xY7kL2mQ9'",
        "DB_PASSWORD &#39;hunter22x&#39;",
        "password%09aB3xY7kL2mQ9",
        "curl -u     admin:secretpass",
        "&quot;password&quot;\u{a0},&quot;hunter22x&quot;",
        "\"password\"\u{200b} , \"hunter22x\"",
        "-_PASS hunter-xy",
        // A quoted flag.
        "curl '-u' admin:secretpass",
        // What is invisible, before a value and inside a name.
        "wandb \u{1b}[31m0f3c9a7be1d24c5f8a6b7c8d9e0f1a2bdeadbeef",
        "--password\u{1b}[0m hunter-xy",
        "--pass\u{1b}[0mword hunter-xy",
        "-\u{1b}[1mpassword hunter-xy",
        "\u{1b}[38:5:1mpw=hunter22",
        &format!("pass\u{1b}[0mword_{}=hunter22", "a".repeat(60)),
    ] {
        for text in [text.to_owned(), format!(" {text}")] {
            let found = marked(&text, false);
            assert!(found.contains("[REDACTED:"), "nothing found in {text:?}");
            assert_eq!(found, exhaustive(&text, false), "in {text:?}");
        }
    }
}

#[test]
fn tokens_are_found_that_something_invisible_tears() {
    let webhook = format!("/i{}", "5HTDJ5c7".repeat(4));
    for token in [
        "QN\u{200b}T8Q~.xA1aB3xY7kL2mQ9wE5rT8yU1iO4pZ6s".to_owned(),
        "Ug\u{1b}[0~T8Q~.xA1aB3xY7kL2mQ9wE5rT8yU1iO4pZ6s".to_owned(),
        format!("ho\u{202e}oks.slack.com/triggers{webhook}"),
        format!("hooks.slack.com/triggers\u{1b}[m\u{1b}[1m{webhook}"),
    ] {
        for text in [token.clone(), format!(" {token}")] {
            assert_eq!(marked(&text, false), exhaustive(&text, false), "in {text:?}");
        }
    }
}

#[test]
fn what_is_long_before_its_digit_is_asked_about_by_nobody() {
    let words = "correcthorsebatterystaple".repeat(4);
    for text in [
        format!("wandb {words}0f3c9a7be1d24c5f8a6b"),
        format!("DB_PASSWORD {words}0f3c9a7be1d24c5f8a6b"),
        "DB_PASSWORD xkqzvbtplm\naB3xY7kL2mQ9".to_owned(),
    ] {
        assert_eq!(marked(&text, false), exhaustive(&text, false), "in {text:?}");
    }
}

#[test]
fn authorization_before_a_comma_ties_only_what_is_quoted() {
    for text in ["(\"authorization\", request_headers_of_9)", "authorization%22,correcthorsebattery"] {
        assert_eq!(exhaustive(text, false), text);
    }
}

/// Names, values, and what ties them or stands around them.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "password", "secret", "token", "api_key", "pw", "DB_PASSWORD", "key", "value", "default", "data", "stringData",
    "IDENTIFIED BY", "machine h login a password ", "curl ", "-u", "--user", "--password", "role_id", "secret_id", "d",
    "authorization", "Cookie", "wandb", "пароль", "host", "5432:db:user:", "*:*:", "setPassword", "kind: Secret\n",
    "=", ":", ",", ";", ">", "<", "(", ")", "{", "]", "|", "&", "/", "://", "+", "-", "_", ".", "!", "@", "$", "%",
    "==", "!=", ": ", "= ", ", ", " ", "  ", "\t", "\n", "\n  ", "\"", "'", "`", "\\\"", "\\", "\\n", "b\"",
    "\\u0022", "\\u003d", "\\\\u003d", "%3D", "%22", "%20", "%253D", "&quot;", "&#61;", "&gt;", "&lt;", "&colon;",
    "\u{1b}[0m", "\u{1b}[38:5:1m", "\u{1b}", "\u{200b}", "é", "hunter22x", "aB3xY7kL2mQ9", "a1b2c!d3e4!f5",
    "0f3c9a7be1d24c5f8a6b7c8d9e0f1a2b", "Xy7$Kd9!Qm2@", "correcthorse", "9", "kJ8sD2fL9qW3eR5tY7uI1oP4aS6dF8gH",
    "ghp_", "service_account", "hooks.slack.com", "[REDACTED:token]", "\"value\"", "\"sensitive\": true",
    "AES_KEY", "key_of_a", "access_id", "密码DB", "FAKE2NOT3REAL4FAKE56", "'''", "# a secret\n", "QXFAKWZNVBTRJDPLMHCG",
    "0xfa, 0x4e, 0x00, 0x12, 0x7f, 0x12, 0xd, 0x09", "0xf", "{\"kty\": \"EC\"", ", \"d\": \"FA3KfaK0nO7rEa1xFA3KfaK0\"",
    "$sm3$", "$FA3KfaK0nO7rEa1xFA3KfaK0", "winter-apples", "uhfakenotfhureplbpno",
    // Blanks of every kind, and more of them than are read.
    "\u{a0}", "\u{2003}", "\r\n", "\u{2028}", "     ", "              ", "%09", "&nbsp;", "\\u0020", "%2520",
    // What is encoded or invisible where nobody expects it.
    "%2D", "&#45;", "%5D", "&lowbar;", "&#39;", "\\\\u0022", "%2C", "\u{ad}", "\u{1b}[0~", "\u{1b}[<", "_", "@\"",
    // Lines and values that are long before they say something.
    "\\\n", "\n> ", "correcthorsebatterystaplexkqzvbtplmnrswdfghjkl", "a-b_c.a-b_c.a-b_c.a-b_c.", "7", "u:hunter22x",
    "KqKqKqKqKqKqKqKqKqKqKqKqKqKqKqKqKqKqKqKq", "xkqzvbtplm", "sk_live_", "hooks.slack.com/triggers/", "Q~",
    "\"type\": \"service_account\", \"private_key\": ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 8_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn marks_overlook_nothing_that_is_put_together(pieces in vec(select(PIECES), 2..10)) {
        for text in [pieces.concat(), format!(" {}", pieces.concat())] {
            prop_assert_eq!(marked(&text, false), exhaustive(&text, false));
        }
    }
}

/// Tokens of shapes that begin with their fixed text, have it further on, or both.
const TOKENS: &[&str] = &[
    "ghp_FAKEfake0NOTreal1FAKEfake0NOTreal1FA",
    "sk_live_FAKEfake0NOTreal1FAKEf",
    "AKIAFAKE2KEY7FAKE2KE",
    "Ug7T8Q~.xA1aB3xY7kL2mQ9wE5rT8yU1iO4pZ6s",
    "https://hooks.slack.com/services/T0FAKE0FAK/B0FAKE0FAK/FAKEfake0NOTreal1FAKEfak",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJGQUtFIn0.FAKEfake0NOTreal1FAKEfake0NOTreal1",
    "-----BEGIN PRIVATE KEY-----",
    "$apr1$FAKEsalt$FAKEfake0NOTreal1FAKEf",
    "password: hunter22x",
    "\"type\": \"service_account\", \"private_key\": ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn marks_overlook_nothing_that_is_torn(
        pieces in vec(prop_oneof![select(TOKENS), select(PIECES)], 1..4),
        tears in vec((any::<proptest::sample::Index>(), select(&["\u{200b}", "\u{ad}", "\u{202e}", "\u{1b}[0m", "\u{e0020}"][..])), 1..40),
    ) {
        let mut chars: Vec<String> = pieces.concat().chars().map(String::from).collect();
        for (place, tear) in tears {
            place.get_mut(&mut chars).push_str(tear);
        }
        for text in [chars.concat(), format!(" {}", chars.concat())] {
            for locations in [false, true] {
                prop_assert_eq!(marked(&text, locations), exhaustive(&text, locations));
            }
        }
    }
}

/// How many characters were looked at in a pass of both tiers over `piece`, repeated to about `bytes`.
fn work(piece: &str, bytes: usize) -> u64 {
    let text = piece.repeat(bytes / piece.len());
    let before = reads();
    let mut engine = Engine::new(true);
    engine.push(&text, &mut String::new(), &mut Report::new());
    engine.finish(&mut String::new(), &mut Report::new());
    reads() - before
}

#[test]
fn work_grows_with_the_text_and_no_faster() {
    for piece in [
        "sk-",
        "eyJ",
        "eyJ0.",
        "AES-",
        "password=",
        "https://a:b",
        "-----BEGIN ",
        "a@",
        "\u{200b}",
        "g\u{200b}\u{200b}",
        "g\u{200b}h\u{200b}p\u{200b}_\u{200b}",
        "a1\u{200b}_",
        "1\u{ad}",
        "eyJ\u{200b}",
        "sk_live_\u{ad}",
        "{\"type\":\"service_account\"",
        "{\"type\":\"service_account\",\n| \"private_key\":",
        "%25",
        "%3D",
        "password=\"",
        "\u{1b}[31m",
        "key: ",
        "/a",
        "\"token\",",
        "\u{1b}[",
        "\u{1b}]",
        "'",
        "\\",
        "a.b-c_",
        "token ",
        "{\"kty\":",
        "{\"kty\":\"a\",\"d\":",
        "$a",
        "$a$b",
        "key={0x1,",
        "key [0x1,",
        "qx",
        "key '''",
        "# secret\n",
        "(",
        "x:/",
    ] {
        let (short, long) = (work(piece, 3_000), work(piece, 12_000));
        assert!(long <= short * 5, "{piece:?}: {short} for 3 kB, {long} for 12 kB");
        assert!(long <= 12_000 * 600, "{piece:?}: {long} for 12 kB");
    }
}
