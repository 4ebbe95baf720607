//! What came in pieces was searched piece by piece.

use probity_egress::{Redactor, STREAM_HOLDBACK_BYTES_MAX, SamePrincipal, egress_text, register_secret};

use super::{Draw, becomes, gone, key_block, pass};

/// gitleaks/gitleaks#1651: tokens on the border of two buffers were lost; in one long line most of all.
#[test]
fn report_15_tokens_at_every_offset_of_one_line() {
    let mut draw = Draw::seeded(15);
    let mut line = String::new();
    let mut expected = String::new();
    for at in 0..400 {
        let gap = ".".repeat(at % 53);
        line.push_str(&format!(" {gap} {}", draw.github()));
        expected.push_str(&format!(" {gap} [REDACTED:github-token]"));
    }
    becomes(&line, &expected);
    becomes(&line.replace("  ", "\n "), &expected.replace("  ", "\n "));
}

/// trufflesecurity/trufflehog#1537, #1619, #702, #791: at certain lengths of a line or file nothing was found.
#[test]
fn report_16_no_length_hides_a_token() {
    let mut draw = Draw::seeded(16);
    let token = draw.github();
    for length in [0, 1, 63, 64, 255, 1_023, 4_055, 4_094, 4_095, 4_096, 8_191, 8_192, 10_239, 65_535] {
        let filler = "-".repeat(length);
        let out = egress_text::<SamePrincipal>(&format!("{filler} {token} {filler}"));
        assert_eq!(out.as_str(), format!("{filler} [REDACTED:github-token] {filler}"), "after {length}");
    }
}

/// mastra-ai/mastra#21049, #21050: each piece of a model's answer was matched alone.
#[test]
fn report_17_a_token_in_two_deltas() {
    let mut draw = Draw::seeded(17);
    let text = format!("Here is the key: {} done", draw.anthropic());
    let whole = egress_text::<SamePrincipal>(&text);
    for cut in 0..=text.len() {
        let mut redactor = Redactor::<SamePrincipal>::new();
        let mut out = redactor.push(&text[..cut]).to_string();
        out.push_str(redactor.push(&text[cut..]).as_str());
        out.push_str(redactor.finish().as_str());
        assert_eq!(out, whole.as_str(), "cut at {cut}");
    }
}

/// pocketpaw#433: the beginning of a key was sent before the pattern's 95 characters could match.
#[test]
fn report_18_no_beginning_of_a_key_is_sent() {
    let mut draw = Draw::seeded(18);
    for key in [draw.anthropic(), draw.github(), draw.jwt()] {
        let mut redactor = Redactor::<SamePrincipal>::new();
        let mut out = redactor.push("key ").to_string();
        for c in key.chars() {
            out.push_str(redactor.push(c.encode_utf8(&mut [0; 4])).as_str());
            assert!(!out.contains(&key[..4]), "{out:?}");
        }
        out.push_str(redactor.finish().as_str());
        assert!(out.starts_with("key [REDACTED:"), "{out:?}");
    }
}

/// vm0#16565, #28474, datahub-project/datahub#19643, ModularPipelines#3091: secrets of several lines met
/// a mask that works by line.
#[test]
fn report_19_values_of_several_lines() {
    let mut draw = Draw::seeded(19);
    let lines: Vec<String> = (0..4).map(|_| draw.word(30)).collect();
    assert!(register_secret(&lines.join("\n")));
    for line in &lines {
        gone(&format!("2026-01-01 INFO out: {line}\n"), line);
    }
    gone(&format!("x {}\ny", lines.join("\r\n")), &lines[1]);
    gone(&format!("{{\"log\":\"{}\"}}", lines.join("\\n")), &lines[2]);
    let body = draw.key_lines(4);
    for prefix in ["", "2026-01-01T00:00:00Z out ", "app-1  | ", "> "] {
        let block = key_block("RSA PRIVATE KEY", &body, &format!("\n{prefix}"));
        for line in &body {
            gone(&format!("{prefix}{block}\n{prefix}done\n"), line);
        }
    }
}

/// apache/maka#2990, #3007: every prefix in every chunking must read as the whole does, with bounded state.
#[test]
fn report_20_every_prefix_in_every_chunking_with_bounded_state() {
    let mut draw = Draw::seeded(20);
    let text = format!(
        "see {} and Authorization: Basic {}== then password=\"{}\" {}",
        draw.jwt(),
        draw.of(super::BASE64, 30),
        draw.word(30),
        key_block("PRIVATE KEY", &draw.key_lines(2), "\n"),
    );
    for end in (0..=text.len()).step_by(3) {
        pass::<SamePrincipal>(&text[..end]);
    }
    let mut redactor = Redactor::<SamePrincipal>::new();
    redactor.push("password=\"");
    for _ in 0..3_000 {
        redactor.push(&draw.word(97));
        assert!(redactor.held_back_bytes() <= STREAM_HOLDBACK_BYTES_MAX);
    }
}
