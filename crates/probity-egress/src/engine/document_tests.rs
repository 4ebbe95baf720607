use super::super::checks::{check, stays};

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
