use super::super::checks::{check, stays};

#[test]
fn arguments_of_calls() {
    check("user.setPassword(\"hunter22!\")", "user.setPassword(\"[REDACTED:password]\")");
    check("password.assign(\"hunter22!\", 9)", "password.assign(\"[REDACTED:password]\", 9)");
    check("std::string secret(\"x9Kq2LmZ7pR4\");", "std::string secret(\"[REDACTED:secret]\");");
    check("setopt(h, OPT_PASSWORD, \"x9Kq2LmZ7pR4\");", "setopt(h, OPT_PASSWORD, \"[REDACTED:password]\");");
    stays("getPassword(\"main-database-1\")");
    stays("input.setPasswordField(\"login-1\")");
    stays("t(\"password must be longer\")");
}

#[test]
fn comparisons_turned_round() {
    check("if (\"hunter22\" == password) {", "if (\"[REDACTED:password]\" == password) {");
    check("x = 'x9Kq2LmZ7pR4' !== my_secret", "x = '[REDACTED:secret]' !== my_secret");
    stays("if (\"password\" == type) {");
    stays("if (\"password\" == password) {");
}

#[test]
fn pairs_of_members_and_attributes() {
    check(
        r#"{"key": "password", "value": "hunter22!"}"#,
        r#"{"key": "password", "value": "[REDACTED:password]"}"#,
    );
    check(
        r#"<add key="DbPassword" value="hunter22!"/>"#,
        r#"<add key="DbPassword" value="[REDACTED:password]"/>"#,
    );
    check("- name: DB_PASSWORD\n  value: hunter22!\n", "- name: DB_PASSWORD\n  value: [REDACTED:password]\n");
    stays(r#"{"key": "password_reset_url", "value": "h1-b2"}"#);
    stays(r#"{"name": "theme", "value": "hunter22!"}"#);
}

#[test]
fn statements_of_words() {
    check("CREATE USER bob IDENTIFIED BY 'hunter22!'", "CREATE USER bob IDENTIFIED BY '[REDACTED:password]'");
    check("requirepass password \"x9Kq2LmZ7pR4\"", "requirepass password \"[REDACTED:password]\"");
    check("IDENTIFIED BY 'tiger';", "IDENTIFIED BY '[REDACTED:password]';");
    check("create user bob identified by hunter2xyz;", "create user bob identified by [REDACTED:password];");
    check("-c 'IDENTIFIED BY hunter2xyz\\;'", "-c 'IDENTIFIED BY [REDACTED:password]'");
    stays("rows are identified by customer_number_12 here");
    stays("the password \"field\" is empty");
}

#[test]
fn password_hashes() {
    let digest = "FAKEfake0NOTreal1".repeat(6);
    let crypt = |start: &str, len: usize| format!("{start}{}", digest.get(..len).unwrap_or_default());
    check(&format!("bob:{}:1", crypt("$2y$10$", 53)), "bob:[REDACTED:password-hash]:1");
    check(&crypt("$6$salty$", 86), "[REDACTED:password-hash]");
    check(&crypt("$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ$", 43), "[REDACTED:password-hash]");
    check(&format!("bob:{}", crypt("{SHA}", 28)), "bob:[REDACTED:password-hash]");
    check(&format!("of bob, {}", crypt("{SSHA}", 32)), "of bob, [REDACTED:password-hash]");
    let other: String = "FA3KfaK0nO7rEa1x".chars().cycle().take(43).collect();
    check(&format!("bob:$sm3$salt/y.z${other}:1"), "bob:[REDACTED:password-hash]:1");
    check(&format!("$made-up$n=5$c2FsdHNhbHQ${other}"), "[REDACTED:password-hash]");
    stays("Outer$12$ALongNameOfAnInnerClass2");
    stays("echo $name$of$theVariableThatIsLongEnough2");
    stays("use {SHA} or {SSHA}here");
    stays("costs $1$ or $2a$ or $5$ each");
}

#[test]
fn what_a_secret_is_compared_with() {
    check("if creds.Secret != \"winter-apples\" {", "if creds.Secret != \"[REDACTED:secret]\" {");
    check("if (\"winter-apples\" == password)", "if (\"[REDACTED:password]\" == password)");
    stays("if creds.Secret != \"auto-generated\" {");
    stays("if (password === \"new-password\")");
    stays("if secret == \"not-found\":");
    stays("if token != \"winter-apples\" {");
    stays("secret = \"winter-apples\"");
}
