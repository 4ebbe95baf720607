use super::super::checks::check;

#[test]
fn the_next_line_is_the_rest() {
    for end in ["\n", "\r\n"] {
        let value = format!("Qx7vKt2wZp9L{end}mR4sNb8cYd3f");
        check(&format!("api_key=\"{value}\";"), "api_key=\"[REDACTED:api-key]\";");
        check(&format!("api_key: {value}{end}next"), &format!("api_key: [REDACTED:api-key]{end}next"));
    }
}

#[test]
fn the_next_line_is_another() {
    check("api_key=Qx7vKt2wZp9L\nPORT=8080\n", "api_key=[REDACTED:api-key]\nPORT=8080\n");
    check("api_key=Qx7vKt2wZp9L\nconfiguration\n", "api_key=[REDACTED:api-key]\nconfiguration\n");
    check("api_key=Qx7vKt2wZp9L\nuser mR4sNb8cYd3f\n", "api_key=[REDACTED:api-key]\nuser mR4sNb8cYd3f\n");
}

#[test]
fn a_hash_on_the_next_line_is_no_rest() {
    let sha = "0f3c9a1b7e2d4c5f8a6b9d0e1f2a3b4c5d6e7f80";
    check(&format!("api_key: Qx7vKt2wZp9L\n{sha}\n"), &format!("api_key: [REDACTED:api-key]\n{sha}\n"));
}
