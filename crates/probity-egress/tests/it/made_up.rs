use proptest::prelude::*;
use proptest::string::{RegexGeneratorStrategy, string_regex};

/// A token of the right shape that nobody issued, made here so that no file of ours holds one.
pub(crate) fn token(prefix: &str, body: usize) -> String {
    prefix.chars().chain("FAKEfake0NOTreal1".chars().cycle().take(body)).collect()
}

pub(crate) fn github() -> String {
    token("ghp_", 36)
}

pub(crate) fn key_block(lines: usize, line_break: &str) -> String {
    let line = token("", 64);
    let body: Vec<&str> = (0..lines).map(|_| line.as_str()).collect();
    [
        "-----BEGIN",
        " PRIVATE KEY-----",
        line_break,
        &body.join(line_break),
        line_break,
        "-----END",
        " PRIVATE KEY-----",
    ]
    .concat()
}

/// Texts in which everything that matters to the pass meets everything else.
pub(crate) fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![anything(), crate::seams::seams()]
}

fn anything() -> impl Strategy<Value = String> {
    let fixed = [
        " ",
        "\n",
        "\r\n",
        "\t",
        "=",
        ": ",
        ":",
        "\"",
        "'",
        "\\\"",
        "\\n",
        ",",
        ";",
        "&",
        "?",
        "@",
        "/",
        "//",
        "://",
        "-",
        "--",
        "_",
        ".",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        "`",
        "$",
        "%",
        "|",
        "+",
        "\u{1b}[31m",
        "\u{1b}[",
        "\u{1b}]8;;",
        "\u{7}",
        "\u{200b}",
        "\u{2028}",
        "\u{202e}",
        "é",
        "漢",
        "👩‍👧",
        "[REDACTED:",
        "[REDACTED:token]",
        "[REDACTED:url]",
        "password",
        "DB_PASSWORD=",
        "\"api_key\": \"",
        "token",
        "secret",
        "key",
        "Authorization: Bearer ",
        "Cookie: a=b1",
        "https://",
        "https://user:",
        "postgres://u:p4ss@h/d",
        "www.example.org",
        "file:/etc/x",
        "/etc/passwd",
        "~/x",
        "C:\\Users\\x",
        "\\\\host\\share",
        "-----BEGIN",
        " PRIVATE KEY-----",
        "-----END",
        "sk-",
        "ghp_",
        "eyJ",
        "xoxb-",
        "AKIA",
        "-u a:b3cd",
        "hunter22",
        "x9Kq2LmZ7pR4tV8w",
        "0123456789",
        "xxxx",
        "${TOKEN}",
        "<your-token>",
        "null",
        "```",
        "<system>",
        "[INST]",
        "<|",
        "Credential=",
        "-> ",
        "word",
        "...",
        "…",
    ];
    let piece = prop_oneof![
        6 => proptest::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        1 => Just(github()),
        1 => Just(token("sk-ant-", 40)),
        1 => Just(token("eyJ", 20) + "." + &token("eyJ", 30) + "." + &token("", 43)),
        1 => Just(key_block(2, "\n")),
        1 => Just(token("", 64)),
        1 => regex("[ -~]{1,12}"),
        1 => regex("\\PC{0,4}"),
        1 => regex("[a-zA-Z0-9]{1,30}"),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Texts that the expression matches. It is read once: as a strategy of its own, a pattern would be read for each text.
fn regex(pattern: &str) -> RegexGeneratorStrategy<String> {
    string_regex(pattern).unwrap()
}
