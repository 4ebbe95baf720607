use super::super::checks::{check, stays};

#[test]
fn private_members_of_a_web_key() {
    let number = "Qx7vKt2wZp9LmR4sNb8cYd3fGh6jWa".repeat(2);
    check(
        &format!(r#""kty":"RSA","n":"{number}","e":"AQAB","d":"{number}"}}"#),
        r#""kty":"RSA","n":"NUMBER","e":"AQAB","d":"[REDACTED:private-key]"}"#.replace("NUMBER", &number).as_str(),
    );
    let short = number.get(..22).unwrap_or_default();
    check(&format!(r#""kty":"oct","k":"{short}"}}"#), r#""kty":"oct","k":"[REDACTED:private-key]"}"#);
    let other = format!(r#"{{"x":1,"k":"{short}"}}"#);
    check(&other, &other);
}

#[test]
fn the_secret_half_of_a_role() {
    let id = "0f3c9a1b-7e2d-4c5f-8a6b-9d0e1f2a3b4c";
    check(
        &format!("vault write auth/approle/login role_id={id} secret_id={id}"),
        &format!("vault write auth/approle/login role_id={id} secret_id=[REDACTED:secret]"),
    );
    let other = format!("aws secret_id={id}");
    check(&other, &other);
}

#[test]
fn the_id_of_an_access_key() {
    let id = "FAKE2NOT3REAL4FAKE56";
    check(&format!("AWS_ACCESS_KEY_ID={id}\n"), "AWS_ACCESS_KEY_ID=[REDACTED:access-key]\n");
    check(&format!(r#"{{"access_id": "{id}"}}"#), r#"{"access_id": "[REDACTED:access-key]"}"#);
    stays(&format!("access_log_id: {id}"));
    stays("access_id: 1234567890");
    stays("accessKeyId: process.env.ACCESS_KEY_ID");
}

#[test]
fn what_surely_is_drawn_under_a_name_with_key() {
    let drawn = "FAKEfake0NOTreal1xQzW7";
    check(&format!("key_alice = \"{drawn}\""), "key_alice = \"[REDACTED:api-key]\"");
    check(&format!("{{\"keyOfBob2\": \"{drawn}==\"}}"), "{\"keyOfBob2\": \"[REDACTED:api-key]\"}");
    for name in ["key_id", "key_hash", "keyboard", "public_key_pem", "sort_key_cursor", "key_file"] {
        stays(&format!("{name} = \"{drawn}\""));
    }
    stays("key_alice = \"f0a1d2e3f4a5b6c7d8e9f0a1b2c3d4e5\"");
    stays("key_alice = \"aLongNameThatIsWrittenInHumps2\"");
}
