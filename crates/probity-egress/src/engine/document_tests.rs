use super::super::checks::{check, stays};
use crate::{Redactor, SamePrincipal};

/// What a file of a service account holds, up to what is before its end.
const MEMBERS: &str = r#""type": "service_account",
  "project_id": "p-1",
  "private_key_id": "0f3c9a1b",
  "private_key": "-----BEGIN PRIVATE KEY-----\nFAKEfake0NOTreal1FAKEfake0NOTreal1\n-----END PRIVATE KEY-----\n",
  "client_email": "x@p-1.example",
  "scopes": ["a", {"b": 1.5e3}]"#;

#[test]
fn the_file_of_a_service_account_goes_whole() {
    check(&format!("a = {{\n  {MEMBERS}\n}}, next"), "a = [REDACTED:service-account], next");
    check(&format!("{{{MEMBERS}}}{{\"b\": 1}}"), "[REDACTED:service-account]{\"b\": 1}");
    let python = MEMBERS.replace('"', "'");
    check(&format!("{{{python}}}\nnext"), "[REDACTED:service-account]\nnext");
    let nested = format!("{{\n{MEMBERS}\n}}").replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    check(&format!("{{\"k\": \"{nested}\"}}"), "{\"k\": \"[REDACTED:service-account]\"}");
}

#[test]
fn where_it_is_cut_off_it_ends() {
    check(&format!("{MEMBERS}\n}}\nnext"), "[REDACTED:service-account]\nnext");
    let (cut, _) = MEMBERS.split_at(MEMBERS.find("NOT").unwrap_or_default());
    check(&format!("{{{cut}\n[... cut ...]\n"), "[REDACTED:service-account]\n[... cut ...]\n");
}

#[test]
fn where_the_text_begins_inside_of_it_it_begins_with_the_text() {
    let rest = format!("{MEMBERS}\n}}\nnext");
    for indent in ["  ", "\t", &" ".repeat(24)] {
        check(&format!("{indent}{rest}"), "[REDACTED:service-account]\nnext");
        // What stands before says whose the indent is.
        for before in ["\n", "key: |\n", "app | "] {
            let kept = format!("{before}{indent}[REDACTED:service-account]\nnext");
            check(&format!("{before}{indent}{rest}"), &kept);
        }
        let mut redactor = Redactor::<SamePrincipal>::new();
        let mut out = String::new();
        for c in format!("{indent}{rest}").chars() {
            out.push_str(redactor.push(c.encode_utf8(&mut [0; 4])).as_str());
        }
        out.push_str(redactor.finish().as_str());
        assert_eq!(out, "[REDACTED:service-account]\nnext");
        // An indent before the bracket is before the object.
        check(&format!("{indent}{{{rest}"), &format!("{indent}[REDACTED:service-account]\nnext"));
        stays(&format!("{indent}\"type\": \"service_account\", \"name\": \"x\"}}"));
    }
}

#[test]
fn the_line_that_it_ends_on_ends() {
    let object = format!("{{\n  {MEMBERS}\n}}");
    for line_break in ["\n", "\r\n", "\n\n"] {
        check(&format!("{object}{line_break}"), &format!("[REDACTED:service-account]{line_break}"));
    }
}

#[test]
fn it_goes_behind_a_prefix_on_each_line() {
    let object = format!("{{\n  {MEMBERS}\n}}");
    for prefix in [
        "app-1  | ",
        "> ",
        "//",
        " * ",
        "#\t",
        "2026-11-30T00:00:09.1Z web/7 INFO: ",
        "\u{1b}[36mlog |\u{1b}[0m ",
    ] {
        for line_break in ["\n", "\r\n"] {
            let lines = format!(
                "{prefix}{}{line_break}{prefix}Next",
                object.replace('\n', &format!("{line_break}{prefix}"))
            );
            let kept =
                format!("{prefix}{{{line_break}{prefix}  [REDACTED:service-account]{line_break}{prefix}Next");
            check(&lines, &kept);
            let mut redactor = Redactor::<SamePrincipal>::new();
            let mut out: String = lines
                .chars()
                .map(|c| redactor.push(c.encode_utf8(&mut [0; 4])).as_str().to_owned())
                .collect();
            out.push_str(redactor.finish().as_str());
            assert_eq!(out, kept);
        }
    }
    // Times go on, and numbers get longer.
    let mut second = 7;
    let lines = object.replace('\n', "\n@").split('@').fold(String::new(), |lines, line| {
        second += 1;
        format!("{lines}12:00:{second} W{second} | {line}")
    });
    check(&format!("{lines}\nNext"), "12:00:8 W8 | {\n12:00:9 W9 |   [REDACTED:service-account]\nNext");
}

#[test]
fn behind_a_prefix_it_ends_where_another_line_begins() {
    let (cut, _) = MEMBERS.split_at(MEMBERS.find("  \"scopes").unwrap_or_default());
    let lines = format!("{{\n  {}", cut.trim_end()).replace('\n', "\napp | ");
    for other in ["\napp | done with it", "\nweb | \"port\": 80", "\n\"port\": 80"] {
        check(
            &format!("app | {lines}{other}"),
            &format!("app | {{\napp |   [REDACTED:service-account]{other}"),
        );
    }
}

#[test]
fn other_objects_stay() {
    stays(r#"{"type": "service_account", "name": "x"}"#);
    stays(r#"{"type": "user", "private_key_id": "x"}"#);
}

#[test]
fn a_private_web_key_goes_whole() {
    let number: String = "FAKEfake0NOTreal1_".chars().cycle().take(43).collect();
    let members =
        format!("\"kty\": \"EC\",\n  \"x\": \"{number}\",\n  \"d\": \"{number}\",\n  \"ext\": true");
    check(&format!("a = {{\n  {members}\n}}, next"), "a = [REDACTED:private-key], next");
    check(
        &format!("{{\"keys\":[{{{members}}},{{{members}}}]}}"),
        "{\"keys\":[[REDACTED:private-key],[REDACTED:private-key]]}",
    );
    check(
        &format!("{{\"alg\":\"ES256\",\"kid\":\"2011-04-29\",{members}}}\nnext"),
        "[REDACTED:private-key]\nnext",
    );
    let nested = format!("{{{members}}}").replace('"', "\\\"").replace('\n', "\\n");
    check(&format!("{{\"jwk\": \"{nested}\"}}"), "{\"jwk\": \"[REDACTED:private-key]\"}");
    let (cut, _) = members.split_at(members.find("\"ext").unwrap_or_default());
    check(&format!("{{{cut}(cut)\n"), "[REDACTED:private-key](cut)\n");
}

#[test]
fn a_public_web_key_stays() {
    let number: String = "FAKEfake0NOTreal1_".chars().cycle().take(43).collect();
    stays(&format!("{{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"{number}\",\"y\":\"{number}\"}}"));
    stays("{\"kty\": \"oct\", \"k\": \"…\"}");
    stays("{\"kty\": \"RSA\", \"d\": \"the private exponent\"}");
}

#[test]
fn the_body_of_a_vault_goes() {
    let line = "62313365396662343061".repeat(4);
    check(
        &format!("$ANSIBLE_VAULT;1.2;AES256;dev\n{line}\n{line}\n3438\nnext"),
        "$ANSIBLE_VAULT;1.2;AES256;dev\n[REDACTED:ansible-vault]\nnext",
    );
    check(
        &format!("x: !vault |\n      $ANSIBLE_VAULT;1.1;AES256\n      {line}\n      3438\nother: 1\n"),
        "x: !vault |\n      $ANSIBLE_VAULT;1.1;AES256\n      [REDACTED:ansible-vault]\nother: 1\n",
    );
    stays("begins with $ANSIBLE_VAULT;1.1;AES256\nand then digits\n");
}
