use super::super::checks::check;
use crate::{SamePrincipal, egress_text};

/// Lines of base64 that begin with `start`.
fn body(start: &str, lines: usize, line_break: &str) -> String {
    let all: String = start.chars().chain("FAKEfake0NOTreal1".chars().cycle()).take(64 * lines).collect();
    let lines: Vec<&str> = (0..lines).filter_map(|line| all.get(64 * line..64 * line + 64)).collect();
    lines.join(line_break)
}

#[test]
fn a_body_without_its_first_line() {
    for start in [
        "MIIEvQIBADANBgkqhkiG9w0B",
        "MIICWwIBAAKBgQ",
        "MIIFHDBOBgkqhkiG9w0BBQ0w",
        "MHcCAQEEI",
        "b3BlbnNzaC1rZXktdjEAAAAA",
    ] {
        for line_break in ["\n", "\r\n", "\\n", "\n+", "%0A"] {
            let text = format!("key {}\nand then: it stops", body(start, 3, line_break));
            check(&text, "key [REDACTED:private-key]\nand then: it stops");
        }
        check(&format!("\"{}\", \"x\": 1", body(start, 3, "")), "\"[REDACTED:private-key]\", \"x\": 1");
    }
}

#[test]
fn what_is_public_stays() {
    for start in
        ["MIIDXTCCAkWgAwIBAgIJ", "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A", "MIIBCgKCAQEA", "MIICijCCAXICAQAw"]
    {
        let text = format!("-----BEGIN CERTIFICATE-----\n{}\n", body(start, 3, "\n"));
        check(&text, &text);
    }
}

#[test]
fn a_key_of_putty_and_a_seed() {
    let putty = format!("Public-Lines: 1\nAAAA\nPrivate-Lines: 2\n{}\nPrivate-MAC: x", body("", 2, "\n"));
    check(&putty, "Public-Lines: 1\nAAAA\nPrivate-Lines: 2\n[REDACTED:private-key]\nPrivate-MAC: x");
    let seed = format!("-----BEGIN {}-----\nSUAFAKEFAKEFAKEFAKEFAKEFAKE\n------END x", "USER NKEY SEED");
    assert!(!egress_text::<SamePrincipal>(&seed).as_str().contains("SUAFAKE"));
}
