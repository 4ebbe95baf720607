use super::super::checks::check;

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
