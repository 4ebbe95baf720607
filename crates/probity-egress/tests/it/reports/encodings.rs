//! The secret was there, written another way.

use probity_egress::{SamePrincipal, egress_text, egress_value, register_secret};
use serde_json::json;

use super::{BASE64, Draw, base64, becomes, gone, key_block, stays};

/// aquasecurity/trivy#2504, advanced-security/secret-scanning-custom-patterns#15: keys with written line breaks.
#[test]
fn report_21_key_blocks_with_escaped_line_breaks() {
    let mut draw = Draw::seeded(21);
    for line_break in ["\\n", "\\r\\n", "\\\\n", "\\\\r\\\\n", "\\n\\n"] {
        let lines = draw.key_lines(4);
        let block = key_block("RSA PRIVATE KEY", &lines, line_break);
        for line in &lines {
            gone(&format!("{{\"private_key\": \"{block}{line_break}\", \"id\": 1}}"), line);
            gone(&format!("KEY='{block}'"), line);
        }
    }
}

/// actions/runner#291: base64 of the secret with more behind it was another text than base64 of the secret.
#[test]
fn report_23_a_registered_value_in_base64_with_neighbours() {
    let mut draw = Draw::seeded(23);
    let value = draw.word(21);
    assert!(register_secret(&value));
    for before in ["", "a", "ab", "user:", "prefix "] {
        for after in ["", "\n", " tail", "==", "@host"] {
            let wrapped = base64(format!("{before}{value}{after}").as_bytes());
            let out = egress_text::<SamePrincipal>(&format!("log {wrapped} end")).to_string();
            // What depends on the secret alone is gone: at most the groups that its neighbours share are left.
            let clear = base64(format!("{before}{}", &value[..9]).as_bytes());
            assert!(!out.contains(&clear[clear.len() - 8..]), "{out}");
            assert!(out.contains("[REDACTED:"), "{out}");
        }
    }
}

/// actions/runner#475, #2960: a value with a percent sign was registered in one writing and printed in the other.
#[test]
fn report_23_a_registered_value_with_percent_signs() {
    let mut draw = Draw::seeded(232);
    let value = format!("{}%25{}%{}", draw.word(8), draw.word(8), draw.word(8));
    assert!(register_secret(&value));
    gone(&format!("echo {value}"), &value);
    gone(&format!("echo {}", value.replace('%', "%25")), &value[..8]);
}

/// actions/runner#161, #1521, #1488, #2232, #326: of a secret of several lines, or JSON, the braces alone were masked,
/// or every `e` and `f`.
#[test]
fn report_23_short_lines_of_a_registered_value_are_no_secrets() {
    let mut draw = Draw::seeded(233);
    let value = draw.word(24);
    assert!(register_secret(&format!("{{\n  \"password\": \"{value}\"\n}}\ne\nf\n")));
    stays("{ \"feels\": \"fine\" }");
    stays("e f e f");
    gone(&format!("x {value} y").replace("x ", "  \"password\": \"").replace(" y", "\""), &value);
}

/// fullsend#444, #1178: invisible characters inside a token, of every kind that exists.
#[test]
fn report_24_invisible_characters_inside() {
    let mut draw = Draw::seeded(24);
    for hidden in [
        '\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}', '\u{ad}', '\u{200e}', '\u{200f}',
        '\u{180e}', '\u{34f}', '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}', '\u{206a}', '\u{206f}',
        '\u{202a}', '\u{202e}', '\u{61c}',
    ] {
        let token = draw.github();
        for at in [1, 3, 4, 12, 39] {
            let (left, right) = token.split_at(at);
            let out = gone(&format!("see {left}{hidden}{right} now"), &token[8..30]);
            assert_eq!(out, "see [REDACTED:github-token] now", "{hidden:?} at {at}");
        }
        let value = draw.word(16);
        gone(&format!("pass{hidden}word={value}"), &value);
    }
}

/// NousResearch/hermes-agent#81121: colour and an invisible character together switched the join off.
#[test]
fn report_25_colour_and_invisible_characters_mixed() {
    let mut draw = Draw::seeded(25);
    let token = draw.github();
    for (one, two) in [
        ("\u{1b}[31m", "\u{200b}"),
        ("\u{200b}", "\u{1b}[0m"),
        ("\u{1b}[38;5;196m", "\u{1b}[1m"),
        ("\u{feff}", "\u{200d}"),
    ] {
        let text = format!("{}{one}{}{two}{}", &token[..9], &token[9..20], &token[20..]);
        becomes(&format!("key {text} end"), "key [REDACTED:github-token] end");
    }
    becomes(&format!("\u{1b}[32m{token}\u{1b}[0m"), "\u{1b}[32m[REDACTED:github-token]\u{1b}[0m");
}

/// Gitlawb/zero#978, #1013: with control bytes taken out first, a token was glued to the word before, or two tokens to
/// one, and stayed.
#[test]
fn report_26_control_bytes_glue_nothing() {
    let mut draw = Draw::seeded(26);
    for control in ["\u{0}", "\u{1}", "\u{7f}", "\u{85}", "\u{1b}", "\u{8}"] {
        let (one, two) = (draw.github(), draw.anthropic());
        gone(&format!("word{control}{one}"), &one);
        gone(&format!("word{control}{two}"), &two);
        gone(&format!("{one}{control}kebab-case tail"), &one);
        let (one, two) = (draw.jwt(), draw.jwt());
        gone(&format!("{one}{control}{two}"), &one[40..]);
        gone(&format!("{one}{control}{two}"), &two[40..]);
    }
}

/// opencode-swarm#2369: `access_token=` glued to what stands before it did not start a word.
#[test]
fn report_27_a_name_glued_to_what_stands_before() {
    let mut draw = Draw::seeded(27);
    for before in ["", "?", "&", "my_", "x-", "oauth2_", "_", "(", "\\n", "github.", "url:"] {
        let value = draw.word(24);
        gone(&format!("a {before}access_token={value} b"), &value);
    }
}

/// FerroxLabs/wayland#1048: beginnings of 25 vendors did not match with a letter directly before.
#[test]
fn report_28_tokens_glued_on_the_left() {
    let mut draw = Draw::seeded(28);
    for before in ["x", "xy", "key", "Z9", "_", "TOKEN", "prefix_"] {
        let token = draw.github();
        gone(&format!("a {before}{token} b"), &token);
        let token = format!("{}-{}", "glpat", draw.word(20));
        gone(&format!("a {before}{token} b"), &token);
        let token = draw.anthropic();
        gone(&format!("a {before}{token} b"), &token);
        let token = format!("{}_live_{}", "sk", draw.word(24));
        gone(&format!("a {before}{token} b"), &token);
    }
}

/// What the pass sees through in a text it sees through inside a value, whose texts JSON has already unescaped once.
#[test]
fn report_21_a_value_holds_escaped_text() {
    let mut draw = Draw::seeded(212);
    let lines = draw.key_lines(3);
    let inner = json!({"private_key": key_block("PRIVATE KEY", &lines, "\n")}).to_string();
    let out = egress_value::<SamePrincipal>(&json!({"file": inner, "n": draw.of(BASE64, 5)})).to_string();
    assert!(lines.iter().all(|line| !out.contains(&line[8..24])), "{out}");
}
