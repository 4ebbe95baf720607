use super::super::checks::{check, stays};
use crate::{Redactor, SamePrincipal};

#[test]
fn what_a_name_gave_away_goes_later_too() {
    check(
        "password = hunter2xyz9\nlogin ok with hunter2xyz9, again (hunter2xyz9)",
        "password = [REDACTED:password]\nlogin ok with [REDACTED:password], again ([REDACTED:password])",
    );
    check(
        "postgres://bob:Qx7vKt2wZp9L@db/x\nQx7vKt2wZp9L is wrong",
        "postgres://bob:[REDACTED:url-password]@db/x\n[REDACTED:url-password] is wrong",
    );
    check(
        "{\"password\":\"Qx7vKt2wZp9L!\",\"note\":\"Qx7vKt2wZp9L!\"}",
        "{\"password\":\"[REDACTED:password]\",\"note\":\"[REDACTED:password]\"}",
    );
}

#[test]
fn words_are_not_learned() {
    check(
        "password = \"correct horse\"\ncorrect horse\n",
        "password = \"[REDACTED:password]\"\ncorrect horse\n",
    );
    check("password: \"release-1\"\nrelease-1\n", "password: \"[REDACTED:password]\"\nrelease-1\n");
    check(
        "password: \"python3.12\"\nuse python3.12\n",
        "password: \"[REDACTED:password]\"\nuse python3.12\n",
    );
    stays("use hunter2xyz9 here and hunter2xyz9 there");
}

#[test]
fn part_of_a_word_is_another() {
    check(
        "password = hunter2xyz9\nhunter2xyz99 xhunter2xyz9 hunter2xyz9a",
        "password = [REDACTED:password]\nhunter2xyz99 xhunter2xyz9 hunter2xyz9a",
    );
}

#[test]
fn a_stream_remembers() {
    let text = format!("password = hunter2xyz9\n{}\nthen hunter2xyz9.\n", "ordinary text. ".repeat(9_000));
    let whole = crate::egress_text::<SamePrincipal>(&text);
    assert!(!whole.as_str().contains("hunter2"), "left in the whole");
    for size in [1, 7, 4_096, 33_000] {
        let mut redactor = Redactor::<SamePrincipal>::new();
        let mut out = String::new();
        for chunk in text.as_bytes().chunks(size) {
            out.push_str(redactor.push(std::str::from_utf8(chunk).unwrap_or_default()).as_str());
        }
        out.push_str(redactor.finish().as_str());
        assert_eq!(out, whole.as_str(), "in chunks of {size}");
    }
}
