use super::*;

fn check(text: &str, expected: Result<&str, ToolErrorClass>) {
    let read = RelPath::parse(text).map(|path| path.to_string()).map_err(|error| error.class);
    assert_eq!(read, expected.map(str::to_owned), "{text:?}");
}

#[test]
fn paths_are_normalised_or_refused() {
    check("a/b.txt", Ok("a/b.txt"));
    check("./a//b/./c/", Ok("a/b/c"));
    check(".", Ok("."));
    check("./", Ok("."));
    check("...", Ok("..."));
    check("a b/ç", Ok("a b/ç"));
    for refused in
        ["..", "a/..", "../a", "a/../b", "/etc/passwd", "//a", "a\0b", "a\nb", "a\u{202e}b", "a\u{200b}"]
    {
        check(refused, Err(ToolErrorClass::Refused));
    }
    check("", Err(ToolErrorClass::InvalidArguments));
    check(&"x".repeat(255), Ok(&"x".repeat(255)));
    check(&"x".repeat(256), Err(ToolErrorClass::InvalidArguments));
    check(&"x/".repeat(2048), Err(ToolErrorClass::InvalidArguments));
}

#[test]
fn an_error_does_not_repeat_hidden_characters() {
    let error = RelPath::parse("a\u{1b}[31m\u{202e}b").unwrap_err();
    assert!(!error.message.chars().any(is_hard_to_see), "{}", error.message);
}
