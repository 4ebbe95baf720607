use super::super::checks::{check, stays};

#[test]
fn behind_a_word_for_a_password() {
    check("router password Qx7vKt2w", "router password [REDACTED:password]");
    check("the pwd of bob is Qx7vKt2w", "the pwd of bob is [REDACTED:password]");
    check("ID/PW 10.0.0.7:80 bob/Qx7vKt2w", "ID/PW 10.0.0.7:80 bob/[REDACTED:password]");
    check("id(bob)/pw(Qx7vKt2w)", "id(bob)/pw([REDACTED:password])");
    check("비밀번호(Qx7vKt2w)", "비밀번호([REDACTED:password])");
    check("password for bob:Qx7vKt2w", "password for bob:[REDACTED:password]");
    check("key (secret): Qx7vKt2w", "key (secret): [REDACTED:password]");
}

#[test]
fn behind_a_login() {
    check("10.0.0.7 (bob/Qx7vKt2w)", "10.0.0.7 (bob/[REDACTED:password])");
    check("ssh bob@db.example.com bob/Qx7vKt2w", "ssh bob@db.example.com bob/[REDACTED:password]");
    check("login:Qx7vKt2w!", "login:[REDACTED:password]");
}

#[test]
fn not_code_and_not_prose() {
    stays("hashPassword(User2Model)");
    stays("password reset by Base64Codec");
    stays("see https://a.example/password/help/Qx7vKt2w.html");
    stays("login with bob/qx7vkt2w");
    stays("mail bob@a.example about build/Qx7vKt2w today");
    stays("docker pull a.example/bob/Image2Web");
}
